"""Which editors are there, and how one is asked.

Every question has a deadline, and an answer that comes after it is nobody's. What is on its way to an editor is
bounded: one that does not take it any more is let go, and connects again with nothing owed on either side.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from dragoman.editor import faults
from dragoman.editor.model import About, Called, Json, read_about
from dragoman.errors import DragomanError
from dragoman.ids import new_id

log = logging.getLogger(__name__)

EDITORS_AT_MOST = 32
QUESTIONS_AT_MOST = 64
OUTGOING_AT_MOST = 256
_PLACES = ("path", "folder")
"""Parameters that name a file or a folder."""


@dataclass(slots=True)
class _Question:
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Any = None
    error: DragomanError | None = None


class Editor:
    """One window. Whoever carries its messages sends what `outgoing` yields, and hands over what it answers."""

    def __init__(self, about: About) -> None:
        self.id = new_id("editor")
        self.about = about
        self.focused = 0
        """The higher, the later a person looked at it."""
        self._questions: dict[int, _Question] = {}
        self._asked = 0
        self._put, self.outgoing = anyio.create_memory_object_stream[Json](OUTGOING_AT_MOST)

    async def ask(self, method: str, params: Json, within_s: float) -> Any:
        if len(self._questions) >= QUESTIONS_AT_MOST:
            raise faults.too_many_questions(self.about.name)
        self._asked += 1
        number, question = self._asked, _Question()
        self._questions[number] = question
        try:
            self._send({"id": number, "method": method, "params": params})
            with anyio.move_on_after(within_s):
                await question.done.wait()
        finally:
            del self._questions[number]
            if not question.done.is_set():
                self.tell("withdrawn", {"id": number})
        return self._outcome(question, within_s)

    def tell(self, method: str, params: Json) -> None:
        """For what needs no answer; an editor that has left is told nothing."""
        try:
            self._send({"method": method, "params": params})
        except DragomanError:
            log.debug("an editor that has left was not told %s", method)

    def answered(self, number: int, result: Any, error: Mapping[str, Any] | None) -> None:
        question = self._questions.get(number)
        if question is None or question.done.is_set():
            return
        question.result = result
        if error is not None:
            question.error = self._refusal(str(error.get("code", "")), str(error.get("message", "")))
        question.done.set()

    def leave(self) -> None:
        """Whoever waits for it is told so."""
        for question in self._questions.values():
            if not question.done.is_set():
                question.error = faults.gone(self.about.name)
                question.done.set()
        self._put.close()
        self.outgoing.close()

    def reply(self, number: int, result: Any, error: Json | None) -> None:
        """To a call of its own."""
        try:
            self._send({"id": number, "error": error} if error else {"id": number, "result": result})
        except DragomanError:
            log.debug("an editor left before its call was answered")

    def _outcome(self, question: _Question, within_s: float) -> Any:
        if not question.done.is_set():
            raise faults.silent(self.about.name, within_s)
        if question.error is not None:
            raise question.error
        return question.result

    def _refusal(self, code: str, reason: str) -> DragomanError:
        return faults.not_allowed() if code == "not_allowed" else faults.refused(self.about.name, reason)

    def _send(self, message: Json) -> None:
        try:
            self._put.send_nowait(message)
        except anyio.WouldBlock as error:
            self._put.close()  # the door: what it missed cannot be made up for
            raise faults.gone(self.about.name) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise faults.gone(self.about.name) from error


class Editors:
    def __init__(self) -> None:
        self.calls: dict[str, Called] = {"focused": self._focused, "moved": self._moved}
        """What an editor may call; others add theirs."""
        self.when_left: Callable[[Editor], None] = lambda _: None
        self._editors: dict[str, Editor] = {}
        self._looks = 0

    @property
    def all(self) -> tuple[Editor, ...]:
        return tuple(self._editors.values())

    @contextmanager
    def connected(self, about: About) -> Iterator[Editor]:
        if len(self._editors) >= EDITORS_AT_MOST:
            raise faults.too_many_editors(EDITORS_AT_MOST)
        editor = Editor(about)
        self._editors[editor.id] = editor
        self._look_at(editor)
        log.info("the editor %s is connected", editor.id)
        try:
            yield editor
        finally:
            del self._editors[editor.id]
            editor.leave()
            self.when_left(editor)
            log.info("the editor %s has left", editor.id)

    async def ask(self, workspace: Path, method: str, params: Json, within_s: float) -> Any:
        """Of several that have the folder open, the one that a person looked at last."""
        editor = self.of(workspace, method)
        named = {name: editor.about.as_called(str(params[name])) for name in _PLACES if name in params}
        return await editor.ask(method, {**params, **named}, within_s)

    def of_folder(self, workspace: Path) -> list[Editor]:
        """The one that a person looked at last comes first."""
        return sorted((it for it in self.all if it.about.holds(workspace)), key=lambda it: it.focused, reverse=True)

    def of(self, workspace: Path, method: str) -> Editor:
        there = self.of_folder(workspace)
        if not there:
            raise faults.no_editor(workspace)
        able = next((it for it in there if method in it.about.features), None)
        if able is None:
            raise faults.cannot(there[0].about.name, method)
        return able

    async def call(self, editor: Editor, method: str, params: Json) -> Any:
        if method not in self.calls:
            raise faults.unknown_call(method)
        return await self.calls[method](editor, params)

    async def _focused(self, editor: Editor, _: Json) -> None:
        self._look_at(editor)

    async def _moved(self, editor: Editor, params: Json) -> None:
        """Its folders are others now."""
        editor.about = read_about(params) or editor.about

    def _look_at(self, editor: Editor) -> None:
        self._looks += 1
        editor.focused = self._looks
