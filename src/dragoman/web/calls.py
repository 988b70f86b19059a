"""Every tool of the toolbox on behalf of the person at the page, and the end of waits that a person wishes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.chat.approvals import shown_start
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.tools import Caller, Toolbox
from dragoman.web.bodies import Body, as_json, read_as
from dragoman.web.errors import language_of
from dragoman.workspace.trust import can_be_asked_about, real_folder

OPEN_AT_MOST = 32
CALLS_PER_S = 100.0
AT_ONCE = 300.0
REFUSED_AT_MOST = 32


class _Call(Body):
    tool: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    workspace: str = ""
    """Where it is not the daemon's own: one that somebody debugs in."""

    all_workspaces: bool = False
    """A person's switch on the page: what is looked for in the record may be of any folder."""


class _Trust(Body):
    folder: str


class _StopWaiting(Body):
    session_id: str = ""


@dataclass(slots=True)
class Pace:
    """How much is open at once, and how often something begins: a page gone wild costs itself, not the daemon."""

    left: float = AT_ONCE
    filled_at_s: float = 0.0
    open: int = 0

    def require_room(self, now_s: float) -> None:
        self.left = min(AT_ONCE, self.left + (now_s - self.filled_at_s) * CALLS_PER_S)
        self.filled_at_s = now_s
        if self.open >= OPEN_AT_MOST or self.left < 1:
            raise DragomanError(
                "too_many_calls",
                say("The page calls more tools at once than the daemon takes."),
                hint=say("Wait a moment, then try again."),
            )
        self.left -= 1


@dataclass(frozen=True, slots=True)
class CallsApi:
    toolbox: Toolbox
    caller: Caller
    interrupt: Callable[[str], int]
    """Ends the waits for a session, or all; how many there were."""
    debugged: Callable[[], Collection[str]]
    """The folders that have sessions. A page may look into no other than these and its own."""
    trust: Callable[[Path, Path], Awaitable[object]]
    """A person says that what a folder holds may run; the second is where it lay when they were asked."""
    refused: dict[str, Path] = field(default_factory=dict)
    """Folders that something was refused in for want of trust, and where they lie: those the person was shown, and may
    trust."""
    pace: Pace = field(default_factory=Pace)

    async def call(self, request: Request) -> Response:
        """What a caller did wrong is an answer. Whoever leaves takes the call along; what it started lives on."""
        wanted = await read_as(request, _Call)
        caller = replace(self._caller_in(wanted.workspace), sees_every_workspace=wanted.all_workspaces)
        self.pace.require_room(anyio.current_time())
        self.pace.open += 1
        answer: dict[str, Any] = {}
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_until_left, request, group.cancel_scope)
                answer = await self._answer(wanted, replace(caller, language=language_of(request)))
                group.cancel_scope.cancel("it is answered")
        finally:
            self.pace.open -= 1
        return as_json(answer)

    async def folders(self, _: Request) -> Response:
        return as_json({"own": str(self.caller.workspace), "all": sorted(self.debugged())})

    async def trust_folder(self, request: Request) -> Response:
        """Trust is given where it was refused, for the very folder that was named there, and for no other."""
        wanted = await read_as(request, _Trust)
        if wanted.folder not in self.refused:
            raise DragomanError(
                "unknown_folder",
                say("Nothing was refused in this folder."),
                hint=say("Trust it on the command line: dragoman trust DIR"),
            )
        await self.trust(Path(wanted.folder), self.refused.pop(wanted.folder))
        return as_json({"trusted": wanted.folder})

    async def _noted(self, data: dict[str, Any]) -> dict[str, Any]:
        """A start that was refused for want of trust, with what would run as a person reads it, and without the folder
        where that cannot be asked about at the page."""
        details = data.get("details") or {}
        folder = details.get("folder")
        if data.get("code") != "needs_trust" or not isinstance(folder, str):
            return data
        shown = {**details, "shown": shown_start(details.get("would_run") or [])}
        place = await anyio.to_thread.run_sync(_place_to_ask_about, Path(folder))
        if place is None:
            return {**data, "details": {**shown, "folder": ""}}
        self.refused[folder] = place
        while len(self.refused) > REFUSED_AT_MOST:
            del self.refused[next(iter(self.refused))]
        return {**data, "details": shown}

    async def stop_waiting(self, request: Request) -> Response:
        wanted = await read_as(request, _StopWaiting)
        return as_json({"count": self.interrupt(wanted.session_id)})

    def _caller_in(self, workspace: str) -> Caller:
        if workspace in ("", str(self.caller.workspace)):
            return self.caller
        if workspace not in self.debugged():
            raise DragomanError(
                "unknown_folder",
                say("Nothing is debugged in this folder."),
                hint=say("`/api/debug/folders` lists those with sessions."),
            )
        place = Path(workspace)
        return replace(self.caller, workspace=place, cwd=place)

    async def _answer(self, wanted: _Call, caller: Caller) -> dict[str, Any]:
        try:
            outcome = await self.toolbox.call(wanted.tool, wanted.arguments, caller)
        except DragomanError as error:
            return _failed(error, caller)
        text = "\n".join(line.in_language(caller.language) for line in outcome.lines)
        data = await self._noted(outcome.data.model_dump(mode="json"))
        return {"text": text, "data": data, "is_error": outcome.is_error}


def _place_to_ask_about(folder: Path) -> Path | None:
    """Where it really lies. None where that is as wide as a home folder, or its name was spelled out on the way here
    because it hides something: then the command line is the place for it."""
    place = real_folder(folder)
    return place if can_be_asked_about(place) else None


async def _until_left(request: Request, scope: anyio.CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel("the caller left")


def _failed(error: DragomanError, caller: Caller) -> dict[str, Any]:
    message = error.message.in_language(caller.language)
    hint = error.hint.in_language(caller.language) if error.hint else ""
    return {
        "text": error.in_language(caller.language),
        "data": {"code": error.code, "message": message, "hint": hint},
        "is_error": True,
    }
