"""Tool calls on behalf of the person at the page, trust in a folder, and the end of waits."""

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

from dragoman.chat.approvals import start_description
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.servers.web.bodies import RequestBody, json_response, read_request
from dragoman.servers.web.errors import request_language
from dragoman.tools import ToolRegistry
from dragoman.workspace.caller import PAGE_ON_OTHER_MACHINE, Caller
from dragoman.workspace.trust import can_be_asked_about, real_folder

OPEN_AT_MOST = 32
CALLS_PER_S = 100.0
AT_ONCE = 300.0
REFUSED_AT_MOST = 32


class _ToolCall(RequestBody):
    tool: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    workspace: str = ""
    """The workspace, if it is not the daemon's own."""

    all_workspaces: bool = False
    """A person's switch on the page: what is looked for in the record may be of any folder."""


class _Trust(RequestBody):
    folder: str


class _StopWaiting(RequestBody):
    session_id: str = ""


@dataclass(slots=True)
class CallRateLimit:
    """Limits how many calls are open and how often one starts: a faulty page harms itself, not the daemon."""

    left: float = AT_ONCE
    filled_at_s: float = 0.0
    open: int = 0

    def require_capacity(self, now_s: float) -> None:
        self.left = min(AT_ONCE, self.left + (now_s - self.filled_at_s) * CALLS_PER_S)
        self.filled_at_s = now_s
        if self.open >= OPEN_AT_MOST or self.left < 1:
            raise DragomanError(
                "too_many_calls",
                localize("The page has too many tool calls in progress."),
                hint=localize("Wait a moment, then try again."),
            )
        self.left -= 1


@dataclass(frozen=True, slots=True)
class ToolApi:
    toolbox: ToolRegistry
    caller: Caller
    interrupt: Callable[[str], int]
    """Ends the waits for one session, or all; returns how many there were."""
    debugged: Callable[[], Collection[str]]
    """The folders that have sessions. A page may use only these and its own."""
    trust: Callable[[Path, Path], Awaitable[object]]
    """Trusts a folder for a person; the second path is its real location when the person was asked."""
    refused: dict[str, Path] = field(default_factory=dict)
    """Folders in which something was refused for lack of trust, and the daemon's own, with their real location.

    The person has seen these, and may trust them.
    """
    rate_limit: CallRateLimit = field(default_factory=CallRateLimit)

    async def call(self, request: Request) -> Response:
        """Call a tool.

        A mistake of the caller is a result. If the caller disconnects, the call ends; sessions that it started
        continue.
        """
        wanted = await read_request(request, _ToolCall)
        caller = replace(
            self._caller_for(wanted.workspace),
            sees_every_workspace=wanted.all_workspaces,
            remote=PAGE_ON_OTHER_MACHINE.get(),
        )
        self.rate_limit.require_capacity(anyio.current_time())
        self.rate_limit.open += 1
        answer: dict[str, Any] = {}
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_on_disconnect, request, group.cancel_scope)
                answer = await self._answer(wanted, replace(caller, language=request_language(request)))
                group.cancel_scope.cancel("it is answered")
        finally:
            self.rate_limit.open -= 1
        return json_response(answer)

    async def folders(self, _: Request) -> Response:
        return json_response({"own": str(self.caller.workspace), "all": sorted(self.debugged())})

    async def trust_folder(self, request: Request) -> Response:
        """Trust a folder: only one that the person was shown."""
        wanted = await read_request(request, _Trust)
        if wanted.folder not in self.refused:
            raise DragomanError(
                "unknown_folder",
                localize("No action was refused in this folder."),
                hint=localize("Trust it on the command line: dragoman trust DIR"),
            )
        await self.trust(Path(wanted.folder), self.refused.pop(wanted.folder))
        return json_response({"trusted": wanted.folder})

    async def _with_trust_details(self, data: dict[str, Any]) -> dict[str, Any]:
        """Add to a refused start what would run, as a person reads it.

        The folder is left out if the page must not ask about it.
        """
        details = data.get("details") or {}
        folder = details.get("folder")
        if data.get("code") != "needs_trust" or not isinstance(folder, str):
            return data
        shown = {**details, "shown": start_description(details.get("would_run") or [])}
        if not await self.offer_trust(folder):
            return {**data, "details": {**shown, "folder": ""}}
        return {**data, "details": shown}

    async def offer_trust(self, folder: str) -> bool:
        """Let the person at the page trust this folder, which they are shown. Returns whether a page may ask it."""
        place = await anyio.to_thread.run_sync(_trustable_folder, Path(folder))
        if place is None:
            return False
        self.refused[folder] = place
        while len(self.refused) > REFUSED_AT_MOST:
            del self.refused[next(iter(self.refused))]
        return True

    async def stop_waiting(self, request: Request) -> Response:
        wanted = await read_request(request, _StopWaiting)
        return json_response({"count": self.interrupt(wanted.session_id)})

    def _caller_for(self, workspace: str) -> Caller:
        if workspace in ("", str(self.caller.workspace)):
            return self.caller
        if workspace not in self.debugged():
            raise DragomanError(
                "unknown_folder",
                localize("No debug session in this folder."),
                hint=localize("`/api/debug/folders` lists the folders with sessions."),
            )
        place = Path(workspace)
        return replace(self.caller, workspace=place, cwd=place)

    async def _answer(self, wanted: _ToolCall, caller: Caller) -> dict[str, Any]:
        try:
            outcome = await self.toolbox.call(wanted.tool, wanted.arguments, caller)
        except DragomanError as error:
            return _error_body(error, caller)
        text = "\n".join(line.in_language(caller.language) for line in outcome.lines)
        data = await self._with_trust_details(outcome.data.model_dump(mode="json"))
        drawn = {"page_data": outcome.page_data} if outcome.page_data is not None else {}
        return {"text": text, "data": data, "is_error": outcome.is_error, **drawn}


def _trustable_folder(folder: Path) -> Path | None:
    """The real path of the folder.

    None if it is as wide as a home folder, or if its name contains hidden characters and was escaped: then only the
    command line can trust it.
    """
    place = real_folder(folder)
    return place if can_be_asked_about(place) else None


async def _cancel_on_disconnect(request: Request, scope: anyio.CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel("the caller left")


def _error_body(error: DragomanError, caller: Caller) -> dict[str, Any]:
    message = error.message.in_language(caller.language)
    hint = error.hint.in_language(caller.language) if error.hint else ""
    return {
        "text": error.in_language(caller.language),
        "data": {"code": error.code, "message": message, "hint": hint},
        "is_error": True,
    }
