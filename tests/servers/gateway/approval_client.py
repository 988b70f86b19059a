"""A whole daemon with an agent that makes scripted calls, and a person who answers its questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from dragoman.core.paths import find_paths
from tests.daemons import call, daemon_here
from tests.servers.gateway.gateway_fixture import window
from tests.servers.gateway.test_connections import is_end
from tests.support.fake_model import Calls, Ends, FakeModel, Says, Step

Json = dict[str, Any]
Decide = Callable[[Json], bool]


async def questions_of(
    calls: list[tuple[str, Json]],
    decide: Decide,
    monkeypatch: pytest.MonkeyPatch,
    workspace: Path,
    *,
    settings: str = "",
    trusted: bool = True,
) -> tuple[list[Json], list[str]]:
    """What the person was asked, and what the agent was told of each call."""
    monkeypatch.chdir(workspace)
    paths = find_paths()
    paths.config.mkdir(parents=True, exist_ok=True)
    paths.settings_file.write_text(settings)
    replies: list[list[Step]] = [
        [Calls(name, [json.dumps(arguments)], f"c{number}"), Ends("tool_calls")]
        for number, (name, arguments) in enumerate(calls)
    ]
    async with FakeModel.running(*replies, [Says(["done"]), Ends()]) as fake:
        for name, value in (("MODEL", "openai"), ("MODEL_NAME", "small"), ("MODEL_ADDRESS", fake.address)):
            monkeypatch.setenv(f"DRAGOMAN_{name}", value)
        async with daemon_here():
            if trusted:
                await anyio.to_thread.run_sync(call, paths, "trust_add", {"folder": str(workspace)})
            asked = await _answered(decide)
        messages = fake.requests[-1].body["messages"]
        return asked, [str(it["content"]) for it in messages if it["role"] == "tool"]


async def _answered(decide: Decide) -> list[Json]:
    asked: list[Json] = []
    async with window(find_paths()) as peer:
        await peer.connect("")
        await peer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": "r1"})
        while not is_end(frame := await peer.until(_is_relevant)):
            asked.append(frame["payload"])
            answer = {"id": frame["payload"]["id"], "decision": "allow" if decide(frame["payload"]) else "deny"}
            await peer.send({"type": "req", "id": "d", "method": "dragoman.approval.resolve", "params": answer})
    return asked


def _is_relevant(frame: Json) -> bool:
    return is_end(frame) or frame.get("event") == "dragoman.approval.requested"
