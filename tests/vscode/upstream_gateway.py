"""A gateway behind the daemon's own, with a scripted agent: it changes files, or writes without end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from anyio.from_thread import start_blocking_portal

from tests.daemons import eventually
from tests.support.fake_gateway import AcceptedConnection, fake_gateway
from tests.vscode.editor import Editor

Json = dict[str, Any]
SESSION = "agent:main:main"


@dataclass
class AgentGateway:
    changes: dict[str, Json] = field(default_factory=dict)
    """By what is said: the change that the agent makes then, in the specification's words. Else it never ends."""
    messages: list[str] = field(default_factory=list)
    aborted: list[Json] = field(default_factory=list)
    histories: int = 0
    """How often a chat has read what was said: it has come to this gateway then."""

    async def script(self, accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        async for text in accepted.socket:
            asked = json.loads(text)
            method, params = asked["method"], asked.get("params", {})
            if method == "chat.send":
                await self._run(accepted, asked, params)
            elif method == "chat.abort":
                self.aborted.append(params)
                await accepted.answer(asked, {"aborted": True})
                await accepted.event("chat", {**self._of("never ends"), "state": "aborted"})
            else:
                self.histories += method == "chat.history"
                await accepted.answer(asked, {"sessions": [], "messages": [], "subscribed": True})

    async def _run(self, accepted: AcceptedConnection, asked: Json, params: Json) -> None:
        entries, run = params["message"], {"runId": params["idempotencyKey"], "sessionKey": SESSION}
        self.messages.append(entries)
        self._runs[entries] = run
        await accepted.answer(asked, {"runId": run["runId"], "status": "started"})
        await accepted.event("agent", {**run, "kind": "text_delta", "content": f"You said: {entries}"})
        if entries in self.changes:
            await accepted.event("agent", {**run, "kind": "diff", **self.changes[entries]})
            await accepted.event("agent", {**run, "kind": "done", "stopReason": "end_turn"})

    def _of(self, result: str) -> Json:
        return self._runs.get(result, {"sessionKey": SESSION})

    _runs: dict[str, Json] = field(default_factory=dict)


@contextmanager
def gateway_behind(editor: Editor, changes: dict[str, Json]) -> Iterator[AgentGateway]:
    """The daemon is restarted in front of it, and at the end without it; a chat is open."""
    made = AgentGateway(changes)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(fake_gateway(made.script)) as fake:
        for key, value in (("gateway_address", fake.url), ("gateway_relay", "true")):
            assert editor.cli("config", "set", key, value).returncode == 0
        editor.cli("restart", "--yes")
        try:
            eventually(lambda: made.histories, within_s=20, every_s=0.1)
            yield made
        finally:
            assert editor.cli("config", "set", "gateway_relay", "false").returncode == 0
            editor.cli("restart", "--yes")
