"""Wires editors to debugging: sessions that a user lends to agents, sessions that an editor is asked to start, and
variables that only an editor knows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from anyio.abc import TaskGroup

from dragoman.chat.approvals import CURRENT_START, require_approved
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import localize
from dragoman.debug.backends.adapters import AdapterSpec
from dragoman.debug.backends.editor import (
    EditorBackend,
    PersonBreakpoint,
    SessionOffer,
    person_ownership,
    prepare_shared_session,
    read_breakpoint_change,
    read_offer,
    read_person_breakpoints,
)
from dragoman.debug.backends.editor_launch import EditorLaunch, EditorLaunchBackend, editor_configuration, launch_quirks
from dragoman.debug.backends.port import BackendOwnership
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.launch import ResolvedConfiguration
from dragoman.debug.model import new_person_id
from dragoman.debug.service import DebugService
from dragoman.debug.session.session import DebugSession
from dragoman.editors import Editor, EditorRegistry
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)
MAX_LENT_SESSIONS = 16
_VARIABLE_TIMEOUT_S = 120.0
_OUTCOME_TIMEOUT_S = 3600.0

_FEATURES = frozenset({"debug.start", "debug.stop"})


Released = Callable[[Editor, str, str], None]
"""Called with an editor, its id for a session, and why the daemon no longer uses that session."""


@dataclass(eq=False, slots=True)
class PendingEditorLaunch:
    """A session that an editor was asked to start and has not lent yet."""

    editor: Editor
    backend: EditorLaunchBackend
    caller: Caller
    """The user, in the workspace of the client that asked."""
    session: DebugSession | None = None


@dataclass(frozen=True, slots=True)
class WindowDebugger:
    """One type of debugger, in one window."""

    window: Editor
    quirks: AdapterQuirks
    ownership: BackendOwnership
    launches: EditorLaunches = field(repr=False)

    @property
    def editor(self) -> str:
        return self.window.about.name

    def open(self, caller: Caller, session: ResolvedConfiguration, *, no_debug: bool) -> EditorLaunchBackend:
        return self.launches.request(self, caller, session, no_debug=no_debug)


class EditorLaunches:
    def __init__(self, editors: EditorRegistry, adapters: Sequence[AdapterSpec]) -> None:
        self.when_released: Released = lambda *_: None
        self._editors = editors
        self._dialects = {type: spec.quirks for spec in adapters for type in spec.types}
        self._requested: dict[str, PendingEditorLaunch] = {}

    def debuggers(self, workspace: Path) -> Mapping[str, WindowDebugger]:
        """By type. If several windows offer one, the window that the user focused last is used."""
        able = [it for it in self._editors.editors_for_folder(workspace) if it.about.features >= _FEATURES]
        return {type: self._debugger(it, type) for it in reversed(able) for type in it.about.debug_types}

    def _debugger(self, window: Editor, type: str) -> WindowDebugger:
        ownership = person_ownership(new_person_id(window.about.name))
        return WindowDebugger(
            window, launch_quirks(self._dialects.get(type, AdapterQuirks(has_console=True))), ownership, self
        )

    def request(
        self, debugger: WindowDebugger, caller: Caller, session: ResolvedConfiguration, *, no_debug: bool
    ) -> EditorLaunchBackend:
        window, id = debugger.window, new_id("start")
        by, folder = caller.name or caller.id, window.about.editor_path(str(caller.workspace))
        launch = EditorLaunch(id, editor_configuration(session), folder, by, no_debug)

        def released(why: str) -> None:
            self.when_released(window, backend.editor_session_id, why)

        def over() -> None:
            self._requested.pop(id, None)

        def made(session: DebugSession | None) -> None:
            requested.session = session

        backend = EditorLaunchBackend(launch, debugger.editor, window.ask, debugger.ownership.person, released, over)
        backend.made = made
        person = Caller(debugger.ownership.person, caller.workspace, caller.workspace)
        self._requested[id] = requested = PendingEditorLaunch(window, backend, person)
        return backend

    def lent(self, editor: Editor, id: str) -> PendingEditorLaunch | None:
        """Take the request that this editor was asked to start; None if it is unknown or already taken."""
        requested = self._requested.get(id)
        if requested is None or requested.editor is not editor:
            return None
        return self._requested.pop(id)


Json = dict[str, Any]


async def editor_variable(editors: EditorRegistry, workspace: Path, variable: str) -> str | None:
    """The value of a launch.json variable from an editor; None if no editor can tell. A `command:` variable runs a
    command.
    """
    start = CURRENT_START.get()
    if start is not None and variable in start.variables:
        return start.variables[variable]
    if variable.startswith("command:"):
        asked_for = [{"what": "editor", "name": variable, "line": variable, "cwd": str(workspace)}]
        require_approved(asked_for, sha256(f"{workspace}\n{variable}".encode(errors="replace")).hexdigest())
    try:
        answer = await editors.ask(workspace, "variable", {"variable": variable}, _VARIABLE_TIMEOUT_S)
    except DragomanError as error:
        if error.code in {"no_editor", "editor_cannot"}:
            return None
        raise
    value = answer.get("value") if isinstance(answer, dict) and isinstance(answer.get("value"), str) else None
    if start is not None and value is not None:
        start.variables[variable] = value
    return value


@dataclass(slots=True)
class _Loan:
    backend: EditorBackend
    caller: Caller
    """The user, in the workspace of the session."""
    session: DebugSession | None = None


class _UnsharedSession(msgspec.Struct, frozen=True):
    name: str
    folder: str


class LentSessions:
    """Debug sessions that a user lends to agents, by editor and the editor's session id.

    A loan ends with the editor, with the session, or when the user takes it back. It never removes the user's own
    breakpoints.
    """

    def __init__(
        self,
        editors: EditorRegistry,
        service: DebugService,
        group: TaskGroup,
        adapters: Sequence[AdapterSpec],
        launches: EditorLaunches,
    ) -> None:
        self._service = service
        self._group = group
        self._dialects: Mapping[str, AdapterQuirks] = {type: spec.quirks for spec in adapters for type in spec.types}
        self._lent: dict[tuple[str, str], _Loan] = {}
        self._unshared: dict[str, tuple[_UnsharedSession, ...]] = {}
        editors.calls.update(
            {"debug.offered": self._offered, "debug.event": self._on_event, "debug.ended": self._ended}
        )
        editors.calls |= {
            "debug.breakpoint": self._on_breakpoint_changed,
            "debug.own": self._on_own_breakpoints,
            "debug.lendable": self._lendable,
        }
        editors.on_disconnect = self._left
        self._launches = launches
        launches.when_released = self._released

    async def _offered(self, editor: Editor, params: Json) -> Json:
        offer, folder = read_offer(params), _folder(editor, params)
        key = (editor.id, offer.session)
        if not offer.session or key in self._lent or len(self._lent) >= MAX_LENT_SESSIONS:
            raise DragomanError("not_taken", localize("This session cannot be shared or is already shared."))
        if "start" in params:
            return self._begin_requested(editor, offer, str(params["start"]))
        client = Caller(new_person_id(editor.about.name), folder, folder)
        quirks = self._dialects.get(offer.type, AdapterQuirks(has_console=True))
        released = partial(self._released, editor, offer.session)
        backend, prepared = prepare_shared_session(offer, editor.ask, client.id, quirks, released)
        self._lent[key] = loan = _Loan(backend, client)
        try:
            loan.session = await self._service.add_editor_session(client, prepared)
        except BaseException:
            self._drop(key, loan)
            raise
        self._group.start_soon(self._hold, key, loan, loan.session)
        return {"session_id": loan.session.id}

    def _begin_requested(self, editor: Editor, offer: SessionOffer, start: str) -> Json:
        """Adopt a session that an agent asked this editor to start. It returns at once: the editor's events follow."""
        requested = self._launches.lent(editor, start)
        if requested is None:
            raise DragomanError("not_taken", localize("The request for this session has expired."))
        self._lent[editor.id, offer.session] = _Loan(requested.backend, requested.caller, requested.session)
        requested.backend.lent(offer)
        return {"session_id": requested.session.id if requested.session else ""}

    def not_lent(self, workspace: Path) -> list[str]:
        """Names of sessions that the user is debugging in this folder and has not lent."""
        every = (it for sessions in self._unshared.values() for it in sessions)
        return [it.name for it in every if Path(it.folder) == workspace]

    async def _lendable(self, editor: Editor, params: Json) -> None:
        try:
            sessions = msgspec.convert(params.get("sessions"), list[_UnsharedSession])
        except msgspec.ValidationError as error:
            raise DragomanError("bad_offer", localize("Invalid request from the editor to share a session.")) from error
        self._unshared[editor.id] = tuple(sessions[:MAX_LENT_SESSIONS])

    async def _on_event(self, editor: Editor, params: Json) -> None:
        loan, body = self._lent.get(_key(editor, params)), params.get("body")
        if loan is not None:
            loan.backend.handle_event(str(params.get("event", "")), body if isinstance(body, dict) else {})

    async def _ended(self, editor: Editor, params: Json) -> None:
        loan = self._lent.pop(
            _key(editor, params), None
        )  # first: the same session may be lent again while this loan is closed
        if loan is None:
            return
        if params.get("why") == "taken_back":
            word = localize("The user took this session back; it continues in their editor.")
            loan.backend.handle_event("output", {"category": "console", "output": f"{word}\n"})
        loan.backend.ended()

    async def _on_breakpoint_changed(self, editor: Editor, params: Json) -> Json:
        """Apply the user's change to an agent's breakpoint in the session's workspace: the last writer wins."""
        marked, loan = read_breakpoint_change(params), self._loan(editor, params)

        def matches(it: Breakpoint) -> bool:
            return marked.means(it) and it.owner != loan.caller.id

        if marked.now is None:
            gone = await self._service.remove_breakpoints(loan.caller, matches)
            return {"count": len(gone)}
        found = [it.id for it, _ in self._service.breakpoints(loan.caller) if matches(it)]
        for id in found:
            await self._service.change_breakpoint(loan.caller, id, **msgspec.structs.asdict(marked.now))
        return {"count": len(found)}

    async def _on_own_breakpoints(self, editor: Editor, params: Json) -> Json:
        """Record the user's own breakpoints, which the editor sets itself, so that everyone sees the same set."""
        loan, own = self._loan(editor, params), read_person_breakpoints(params)
        session = loan.session
        if session is None:
            raise DragomanError("not_lent", localize("This session is not shared."))
        wanted = [_own_breakpoint(it, loan.caller.id, session.id) for it in own]
        made = await self._service.replace_breakpoints(
            loan.caller, lambda it: (it.owner, it.session) == (loan.caller.id, session.id), wanted
        )
        for mark, breakpoint in zip(own, made, strict=True):
            session.breakpoint_sync.add_lent(breakpoint, is_bound=mark.is_bound)
        return {"count": len(made)}

    def _loan(self, editor: Editor, params: Json) -> _Loan:
        loan = self._lent.get(_key(editor, params))
        if loan is None:
            raise DragomanError("not_lent", localize("This session is not shared."))
        return loan

    def _released(self, editor: Editor, session: str, why: str) -> None:
        """Remove the loan before the editor is notified, so that it can lend the session again at once."""
        self._lent.pop((editor.id, session), None)
        editor.notify("debug.released", {"session": session, "why": why})

    def _drop(self, key: tuple[str, str], loan: _Loan) -> None:
        """Remove the loan, unless the session was lent again meanwhile."""
        if self._lent.get(key) is loan:
            del self._lent[key]

    def _left(self, editor: Editor) -> None:
        self._unshared.pop(editor.id, None)
        for key, loan in list(self._lent.items()):
            if key[0] == editor.id:
                loan.backend.handle_editor_gone()
                self._drop(key, loan)

    async def _hold(self, key: tuple[str, str], loan: _Loan, session: DebugSession) -> None:
        """Keep the session in use while the user debugs, whether or not an agent inspects it."""
        try:
            with self._service.keep_open(session.id, loan.caller.id):
                while session.ended is None:
                    await session.outcome(session.last_stop, _OUTCOME_TIMEOUT_S)
        finally:
            self._drop(key, loan)


def _key(editor: Editor, params: Json) -> tuple[str, str]:
    return editor.id, str(params.get("session", ""))


def _own_breakpoint(mark: PersonBreakpoint, owner: str, session: str) -> Breakpoint:
    return Breakpoint(
        id=0,
        owner=owner,
        session=session,
        path=mark.path,
        line=mark.line,
        column=mark.column,
        condition=mark.condition,
        hit_condition=mark.hit_condition,
        log_message=mark.log_message,
        enabled=mark.enabled,
    )


def _folder(editor: Editor, params: Json) -> Path:
    """The session's folder, which must be open in the editor."""
    folder = Path(str(params.get("folder", "")))
    if folder not in editor.about.folders:
        raise DragomanError("not_taken", localize("This session's folder is not open in the editor."))
    return folder
