"""Editors put together with debugging: a person's own sessions as sessions of ours, and what only an editor can say."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from anyio.abc import TaskGroup

from dragoman.chat.approvals import STARTING, require_approved
from dragoman.daemon.editor_launches import EditorLaunches
from dragoman.debug.adapters import AdapterSpec
from dragoman.debug.dialect import Dialect
from dragoman.debug.lent import LentSession, Offer, OwnMark, lent, read_marked, read_offer, read_own
from dragoman.debug.persons import person_at
from dragoman.debug.service import Client, DebugService
from dragoman.debug.session import Session
from dragoman.editor import Editor, Editors
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

LENT_AT_MOST = 16
_VARIABLE_WITHIN_S = 120.0

Json = dict[str, Any]


async def editors_variable(editors: Editors, workspace: Path, variable: str) -> str | None:
    """What a variable of launch.json stands for; None where no editor is there to say. A command of an editor runs."""
    start = STARTING.get()
    if start is not None and variable in start.variables:
        return start.variables[variable]
    if variable.startswith("command:"):
        asked_for = [{"what": "editor", "name": variable, "line": variable, "cwd": str(workspace)}]
        require_approved(asked_for, sha256(f"{workspace}\n{variable}".encode(errors="replace")).hexdigest())
    try:
        told = await editors.ask(workspace, "variable", {"variable": variable}, _VARIABLE_WITHIN_S)
    except DragomanError as error:
        if error.code in {"no_editor", "editor_cannot"}:
            return None
        raise
    value = told.get("value") if isinstance(told, dict) and isinstance(told.get("value"), str) else None
    if start is not None and value is not None:
        start.variables[variable] = value
    return value


@dataclass(slots=True)
class _Loan:
    backend: LentSession
    client: Client
    """The person, in the folder of the session."""
    session: Session | None = None


class _NotLent(msgspec.Struct, frozen=True):
    name: str
    folder: str


class Lending:
    """Sessions by the editor that lends them and its own name for them. Ends with the editor, or with the session."""

    def __init__(
        self,
        editors: Editors,
        service: DebugService,
        group: TaskGroup,
        adapters: Sequence[AdapterSpec],
        launches: EditorLaunches,
    ) -> None:
        self._service = service
        self._group = group
        self._dialects: Mapping[str, Dialect] = {type: spec.dialect for spec in adapters for type in spec.types}
        self._lent: dict[tuple[str, str], _Loan] = {}
        self._not_lent: dict[str, tuple[_NotLent, ...]] = {}
        editors.calls.update({"debug.offered": self._offered, "debug.event": self._heard, "debug.ended": self._ended})
        editors.calls |= {"debug.breakpoint": self._marked, "debug.own": self._own, "debug.lendable": self._lendable}
        editors.when_left = self._left
        self._launches = launches
        launches.when_released = self._released

    async def _offered(self, editor: Editor, params: Json) -> Json:
        offer, folder = read_offer(params), _folder(editor, params)
        key = (editor.id, offer.session)
        if not offer.session or key in self._lent or len(self._lent) >= LENT_AT_MOST:
            raise DragomanError("not_taken", say("This session cannot be taken, or is lent already."))
        if "start" in params:
            return self._begun(editor, offer, str(params["start"]))
        client = Client(person_at(editor.about.name), folder, folder)
        dialect = self._dialects.get(offer.type, Dialect(has_console=True))
        released = partial(self._released, editor, offer.session)
        backend, prepared = lent(offer, editor.ask, client.id, dialect, released)
        self._lent[key] = loan = _Loan(backend, client)
        try:
            loan.session = await self._service.adopt(client, prepared)
        except BaseException:
            self._drop(key, loan)
            raise
        self._group.start_soon(self._hold, key, loan, loan.session)
        return {"session_id": loan.session.id}

    def _begun(self, editor: Editor, offer: Offer, start: str) -> Json:
        """What an agent asked that editor to start. Nothing is waited for: the editor tells of it right after this."""
        requested = self._launches.lent(editor, start)
        if requested is None:
            raise DragomanError("not_taken", say("Nobody waits for this session any more."))
        self._lent[editor.id, offer.session] = _Loan(requested.backend, requested.client, requested.session)
        requested.backend.lent(offer)
        return {"session_id": requested.session.id if requested.session else ""}

    def not_lent(self, workspace: Path) -> list[str]:
        """What a person debugs in this folder and has not lent, by the names that the editor gives."""
        every = (it for told in self._not_lent.values() for it in told)
        return [it.name for it in every if Path(it.folder) == workspace]

    async def _lendable(self, editor: Editor, params: Json) -> None:
        try:
            told = msgspec.convert(params.get("sessions"), list[_NotLent])
        except msgspec.ValidationError as error:
            raise DragomanError("bad_offer", say("This is not how an editor lends a session.")) from error
        self._not_lent[editor.id] = tuple(told[:LENT_AT_MOST])

    async def _heard(self, editor: Editor, params: Json) -> None:
        loan, body = self._lent.get(_key(editor, params)), params.get("body")
        if loan is not None:
            loan.backend.heard(str(params.get("event", "")), body if isinstance(body, dict) else {})

    async def _ended(self, editor: Editor, params: Json) -> None:
        loan = self._lent.pop(
            _key(editor, params), None
        )  # at once: the same may be lent again while the last loan is put away
        if loan is None:
            return
        if params.get("why") == "taken_back":
            word = say("The person took this session back: it goes on in their editor.")
            loan.backend.heard("output", {"category": "console", "output": f"{word}\n"})
        loan.backend.ended()

    async def _marked(self, editor: Editor, params: Json) -> Json:
        """The last writer wins, also where it is the person: in the folder of the session, whoever set it."""
        marked, loan = read_marked(params), self._loan(editor, params)

        def is_meant(it: Breakpoint) -> bool:
            return marked.means(it) and it.owner != loan.client.id

        if marked.now is None:
            gone = await self._service.remove_breakpoints(loan.client, is_meant)
            return {"count": len(gone)}
        found = [it.id for it, _ in self._service.breakpoints(loan.client) if is_meant(it)]
        for id in found:
            await self._service.change_breakpoint(loan.client, id, **msgspec.structs.asdict(marked.now))
        return {"count": len(found)}

    async def _own(self, editor: Editor, params: Json) -> Json:
        """The person's own breakpoints, which the editor sets itself: told here so that all see one set."""
        loan, told = self._loan(editor, params), read_own(params)
        session = loan.session
        if session is None:
            raise DragomanError("not_lent", say("This session is not lent."))
        wanted = [_own(it, loan.client.id, session.id) for it in told]
        made = await self._service.replace_breakpoints(
            loan.client, lambda it: (it.owner, it.session) == (loan.client.id, session.id), wanted
        )
        for mark, breakpoint in zip(told, made, strict=True):
            session.bindings.know(breakpoint, is_bound=mark.is_bound)
        return {"count": len(made)}

    def _loan(self, editor: Editor, params: Json) -> _Loan:
        loan = self._lent.get(_key(editor, params))
        if loan is None:
            raise DragomanError("not_lent", say("This session is not lent."))
        return loan

    def _released(self, editor: Editor, session: str, why: str) -> None:
        """Before it is told, so that the editor may lend it again at once."""
        self._lent.pop((editor.id, session), None)
        editor.tell("debug.released", {"session": session, "why": why})

    def _drop(self, key: tuple[str, str], loan: _Loan) -> None:
        """Not where it was lent again meanwhile."""
        if self._lent.get(key) is loan:
            del self._lent[key]

    def _left(self, editor: Editor) -> None:
        self._not_lent.pop(editor.id, None)
        for key, loan in list(self._lent.items()):
            if key[0] == editor.id:
                loan.backend.lost()
                self._drop(key, loan)

    async def _hold(self, key: tuple[str, str], loan: _Loan, session: Session) -> None:
        """As long as the person debugs, it is in use, whether an agent looks at it or not."""
        try:
            with self._service.followed(session.id, loan.client.id):
                while session.ended is None:
                    await session.outcome(session.last_stop, _FOR_LONG_S)
        finally:
            self._drop(key, loan)


_FOR_LONG_S = 3600.0


def _key(editor: Editor, params: Json) -> tuple[str, str]:
    return editor.id, str(params.get("session", ""))


def _own(mark: OwnMark, owner: str, session: str) -> Breakpoint:
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
    """One that the editor has open: sessions of a window without a folder belong nowhere."""
    folder = Path(str(params.get("folder", "")))
    if folder not in editor.about.folders:
        raise DragomanError("not_taken", say("The editor does not have the folder of this session open."))
    return folder
