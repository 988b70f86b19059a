"""Editors put together with debugging: a person's own sessions as sessions of ours, and what only an editor can say."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from anyio.abc import TaskGroup

from dragoman.debug.adapters import AdapterSpec
from dragoman.debug.dialect import Dialect
from dragoman.debug.lent import LentSession, lent, read_marked, read_offer
from dragoman.debug.persons import person_at
from dragoman.debug.service import Client, DebugService
from dragoman.debug.session import Session
from dragoman.editor import Editor, Editors
from dragoman.errors import DragomanError
from dragoman.phrases import say

log = logging.getLogger(__name__)

LENT_AT_MOST = 16
_VARIABLE_WITHIN_S = 120.0

Json = dict[str, Any]


async def editors_variable(editors: Editors, workspace: Path, variable: str) -> str | None:
    """What a variable of launch.json stands for; None where no editor is there to say."""
    try:
        told = await editors.ask(workspace, "variable", {"variable": variable}, _VARIABLE_WITHIN_S)
    except DragomanError as error:
        if error.code in {"no_editor", "editor_cannot"}:
            return None
        raise
    return told.get("value") if isinstance(told, dict) and isinstance(told.get("value"), str) else None


@dataclass(frozen=True, slots=True)
class _Loan:
    backend: LentSession
    client: Client
    """The person, in the folder of the session."""


class Lending:
    """Sessions by the editor that lends them and its own name for them. Ends with the editor, or with the session."""

    def __init__(
        self, editors: Editors, service: DebugService, group: TaskGroup, adapters: Sequence[AdapterSpec]
    ) -> None:
        self._service = service
        self._group = group
        self._dialects: Mapping[str, Dialect] = {type: spec.dialect for spec in adapters for type in spec.types}
        self._lent: dict[tuple[str, str], _Loan] = {}
        editors.calls.update({"debug.offered": self._offered, "debug.event": self._heard, "debug.ended": self._ended})
        editors.calls["debug.breakpoint"] = self._marked
        editors.when_left = self._left

    async def _offered(self, editor: Editor, params: Json) -> Json:
        offer, folder = read_offer(params), _folder(editor, params)
        key = (editor.id, offer.session)
        if key in self._lent or len(self._lent) >= LENT_AT_MOST:
            raise DragomanError("not_taken", say("This session cannot be taken, or is lent already."))
        client = Client(person_at(editor.about.name), folder, folder)
        dialect = self._dialects.get(offer.type, Dialect())
        backend, prepared = lent(offer, editor.ask, client.id, dialect, partial(_release, editor))
        self._lent[key] = _Loan(backend, client)
        try:
            session = await self._service.adopt(client, prepared)
        except BaseException:
            self._lent.pop(key, None)
            raise
        self._group.start_soon(self._hold, key, session, client.id)
        return {"session_id": session.id}

    async def _heard(self, editor: Editor, params: Json) -> None:
        loan, body = self._lent.get(_key(editor, params)), params.get("body")
        if loan is not None:
            loan.backend.heard(str(params.get("event", "")), body if isinstance(body, dict) else {})

    async def _ended(self, editor: Editor, params: Json) -> None:
        loan = self._lent.get(_key(editor, params))
        if loan is not None:
            loan.backend.ended()

    async def _marked(self, editor: Editor, params: Json) -> Json:
        """The last writer wins, also where it is the person: in the folder of the session, whoever set it."""
        marked, loan = read_marked(params), self._lent.get(_key(editor, params))
        if loan is None:
            raise DragomanError("not_lent", say("This session is not lent."))
        if marked.now is None:
            gone = await self._service.remove_breakpoints(loan.client, marked.means)
            return {"count": len(gone)}
        found = [it.id for it, _ in self._service.breakpoints(loan.client) if marked.means(it)]
        for id in found:
            await self._service.change_breakpoint(loan.client, id, **msgspec.structs.asdict(marked.now))
        return {"count": len(found)}

    def _left(self, editor: Editor) -> None:
        for (id, _), loan in list(self._lent.items()):
            if id == editor.id:
                loan.backend.lost()

    async def _hold(self, key: tuple[str, str], session: Session, person: str) -> None:
        """As long as the person debugs, it is in use, whether an agent looks at it or not."""
        try:
            with self._service.followed(session.id, person):
                while session.ended is None:
                    await session.outcome(session.last_stop, _FOR_LONG_S)
        finally:
            self._lent.pop(key, None)


_FOR_LONG_S = 3600.0


def _key(editor: Editor, params: Json) -> tuple[str, str]:
    return editor.id, str(params.get("session", ""))


def _release(editor: Editor, session: str) -> None:
    editor.tell("debug.released", {"session": session})


def _folder(editor: Editor, params: Json) -> Path:
    """One that the editor has open: sessions of a window without a folder belong nowhere."""
    folder = Path(str(params.get("folder", "")))
    if folder not in editor.about.folders:
        raise DragomanError("not_taken", say("The editor does not have the folder of this session open."))
    return folder
