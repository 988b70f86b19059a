"""The daemon with a model: its agent uses our own tools, and runs something new only when a person allows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from dragoman.access.tokens import Tokens
from dragoman.core.paths import find_paths
from tests.daemons import daemon_here
from tests.servers.gateway.gateway_fixture import ManualClient, window
from tests.servers.gateway.test_connections import is_end
from tests.support.fake_model import Calls, Ends, FakeModel, Says, Step

pytestmark = pytest.mark.anyio


def asked_for_leave(frame: dict[str, Any]) -> bool:
    return frame.get("event") == "dragoman.approval.requested"


async def test_the_models_tool_calls_are_ours_and_a_new_command_waits_for_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "made by the agent"
    command = json.dumps({"command": f"touch '{marker}'"})
    first: list[Step] = [Says(["I look."]), Calls("dragoman_status", ["{}"], "c1"), Ends("tool_calls")]
    second: list[Step] = [Calls("run_in_terminal", [command], "c2"), Ends("tool_calls")]
    async with FakeModel.running(first, second, [Says(["Not allowed,", " then."]), Ends()]) as fake:
        for name, value in (("MODEL", "openai"), ("MODEL_NAME", "small"), ("MODEL_ADDRESS", fake.address)):
            monkeypatch.setenv(f"DRAGOMAN_{name}", value)
        async with daemon_here() as running:
            url = f"ws://127.0.0.1:{running.state.port}/gateway"
            async with connect(url, compression=None, proxy=None, close_timeout=0.5) as socket:
                peer = ManualClient(socket)
                await peer.connect(Tokens(find_paths().tokens_folder).of("gateway"))
                send = {"sessionKey": "main", "message": "look", "idempotencyKey": "r1"}
                await peer.ask("chat.send", send)
                wanted = (await peer.until(asked_for_leave))["payload"]
                assert (wanted["tool"], str(marker) in wanted["subject"]) == ("run_in_terminal", True)
                answer = {"id": wanted["id"], "decision": "deny"}
                assert not (await peer.ask("dragoman.approval.resolve", answer))["ok"]
                async with window(find_paths()) as person:
                    await person.connect("")
                    assert (await person.ask("dragoman.approval.resolve", answer))["payload"]["counted"]
                end = (await peer.until(is_end))["payload"]
                assert end["message"]["content"][0]["text"] == "I look.\n\nNot allowed, then."
    assert not marker.exists()
    assert "Dragoman" in str(fake.requests[1].body)
