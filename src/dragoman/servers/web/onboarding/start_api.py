"""The first visit: the folder and whether it is trusted, and which of the first steps were done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from dragoman.core.events import RecordedEvent
from dragoman.servers.web.bodies import json_response
from dragoman.servers.web.onboarding.demo_api import AGENT_NAME, is_demo_folder
from dragoman.servers.web.tool_api import ToolApi

_SEARCHED = 50
"""Events of one kind: enough to find one that was not the demo's."""
_EVIDENCE = "evidence-"


class StepJournal(Protocol):
    """What the first steps left in the journal."""

    async def read(self, after: int = 0, *, limit: int, kinds: Sequence[str] = ()) -> Sequence[RecordedEvent]: ...

    async def search(self, query: str, /, *, limit: int, kinds: Sequence[str]) -> Sequence[RecordedEvent]: ...


@dataclass(frozen=True, slots=True)
class StartApi:
    journal: StepJournal
    calls: ToolApi
    trusts: Callable[[Path], Awaitable[bool]]

    async def show(self, _: Request) -> Response:
        folder = self.calls.caller.workspace
        trusted = await self.trusts(folder)
        started = await self._first("debug.started")
        own = [it for it in started if not is_demo_folder(it.event.workspace)]
        terminals = await self._first("terminal.began")
        messages = await self.journal.read(limit=1, kinds=("chat.said",))
        return json_response(
            {
                "folder": str(folder),
                "is_trusted": trusted,
                "may_trust": not trusted and await self.calls.offer_trust(str(folder)),
                "is_connected": await self._was_connected(),
                "was_demo_run": len(own) < len(started),
                "was_explained": any(str(it.event.body.get("by")).startswith(_EVIDENCE) for it in own),
                "is_shell_recorded": any(it.event.body.get("by") == "terminal" for it in terminals),
                "is_new": not (own or terminals or messages),
            }
        )

    async def _first(self, kind: str) -> Sequence[RecordedEvent]:
        return await self.journal.read(limit=_SEARCHED, kinds=(kind,))

    async def _was_connected(self) -> bool:
        """Whether an agent other than the demo's has connected."""
        connected: dict[str, Any] = {"limit": _SEARCHED, "kinds": ("mcp.connected",)}
        return any(it.event.body.get("client") != AGENT_NAME for it in await self.journal.search("mcp", **connected))
