"""Which editors are connected, and how to ask one.

Every question has a deadline, and a later answer is dropped. What waits to be sent to an editor is bounded: an editor
that does not read is disconnected, and connects again with nothing owed on either side.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from dragoman.core.errors import DragomanError, ErrorSpec, quoted
from dragoman.core.ids import new_id
from dragoman.core.safe_text import printable

_SHOWN = 300


def _shown(text: str) -> str:
    """The editor's own text, cut to one short line."""
    return printable(" ".join(text.split()))[:_SHOWN]


no_editor = ErrorSpec(
    "no_editor",
    "No connected editor has {folder} open.",
    (
        "Ask the user to open this folder in VS Code (or Cursor, code-server) with the Dragoman extension, "
        "which connects automatically. `make vsix` builds the extension."
    ),
)


editor_unsupported = ErrorSpec(
    "editor_cannot",
    "{editor} is connected but does not support `{method}`.",
    "Its extension is older than the daemon. Ask the user to update it.",
    editor=_shown,
)
editor_timeout = ErrorSpec(
    "editor_silent",
    "{editor} did not answer within {seconds} seconds.",
    "It may be waiting for the user to allow this. Try again later.",
    editor=_shown,
    seconds=lambda within_s: round(within_s, 1),
)
editor_disconnected = ErrorSpec(
    "editor_gone",
    "{editor} disconnected before it answered: it was closed or reloaded.",
    "It reconnects automatically. Then try again.",
    editor=_shown,
)
not_allowed = ErrorSpec(
    "not_allowed",
    "The user did not allow this in the editor.",
    "Do not ask again unless the user wants it. Only the user can undo a permanent refusal.",
)
editor_failed = ErrorSpec(
    "editor_refused", "{editor} failed: {reason}", editor=_shown, reason=lambda reason: _shown(reason) or "?"
)
too_many_questions = ErrorSpec(
    "too_many_questions",
    "{editor} has not answered earlier requests yet.",
    "Wait for them to finish, then try again.",
    editor=_shown,
)
too_many_editors = ErrorSpec(
    "too_many_editors",
    "Limit reached: {limit} editors are connected.",
    "Close a window you do not need.",
)
unknown_method = ErrorSpec("unknown_method", "Editors cannot call {method}.", method=quoted(60))


_NAME = 60
_FOLDERS = 100
_TYPES = 300
log = logging.getLogger(__name__)
EDITORS_AT_MOST = 32
QUESTIONS_AT_MOST = 64
OUTGOING_AT_MOST = 256
_PATH_PARAMETERS = ("path", "folder")
"""Parameters that name a file or a folder."""

_TYPE = re.compile(r"[\w.+-]{1,60}", re.ASCII)


Json = dict[str, Any]


EditorMethod = Callable[["Editor", Json], Awaitable[Any]]
"""Methods that an editor may call."""


@dataclass(frozen=True, slots=True)
class EditorInfo:
    """What an editor says about itself."""

    name: str
    folders: tuple[Path, ...]
    features: frozenset[str]
    """The methods that it serves. They differ between editors and between versions of the extension."""
    debug_types: frozenset[str] = frozenset()
    """The configuration types that its extensions have debuggers for."""

    def holds(self, workspace: Path) -> bool:
        """Whether the editor has that folder open, or one above or below it."""
        real = _real_path(workspace)
        return any(real.is_relative_to(it) or it.is_relative_to(real) for it in map(_real_path, self.folders))

    def editor_path(self, path: str) -> str:
        """The path as the editor names it: a folder may be open through a link, and the editor knows a file by one
        name."""
        for folder in self.folders:
            if Path(path).is_relative_to(_real_path(folder)):
                return str(folder / Path(path).relative_to(_real_path(folder)))
        return path


def read_editor_info(given: Mapping[str, Any]) -> EditorInfo | None:
    """None if the message is not valid."""
    name, folders, features = given.get("name"), given.get("folders"), given.get("features")
    if not isinstance(name, str) or not _is_string_list(folders) or not _is_string_list(features):
        return None
    places = tuple(Path(folder) for folder in folders or () if folder.startswith("/") and "\0" not in folder)
    return EditorInfo(
        name[:_NAME], places[:_FOLDERS], frozenset(features or ()), _debug_types(given.get("debug_types"))
    )


def _debug_types(given: object) -> frozenset[str]:
    """The debug types. An older extension sends none; invalid names are left out."""
    names = given if isinstance(given, list) else []
    return frozenset([it for it in names if isinstance(it, str) and _TYPE.fullmatch(it)][:_TYPES])


def _real_path(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_string_list(value: object) -> bool:
    return isinstance(value, list) and len(value) <= _FOLDERS and all(isinstance(it, str) for it in value)


@dataclass(slots=True)
class _PendingQuestion:
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Any = None
    error: DragomanError | None = None


class Editor:
    """One editor window. The connection sends what `outgoing` yields, and hands over the answers."""

    def __init__(self, about: EditorInfo) -> None:
        self.id = new_id("editor")
        self.about = about
        self.focused = 0
        """A higher number means that a person looked at it later."""
        self._questions: dict[int, _PendingQuestion] = {}
        self._question_count = 0
        self._put, self.outgoing = anyio.create_memory_object_stream[Json](OUTGOING_AT_MOST)

    async def ask(self, method: str, params: Json, within_s: float) -> Any:
        if len(self._questions) >= QUESTIONS_AT_MOST:
            raise too_many_questions(editor=self.about.name)
        self._question_count += 1
        number, question = self._question_count, _PendingQuestion()
        self._questions[number] = question
        try:
            self._send({"id": number, "method": method, "params": params})
            with anyio.move_on_after(within_s):
                await question.done.wait()
        finally:
            del self._questions[number]
            if not question.done.is_set():
                self.notify("withdrawn", {"id": number})
        return self._outcome(question, within_s)

    def notify(self, method: str, params: Json) -> None:
        """Send a message that needs no answer. Nothing is sent to an editor that has disconnected."""
        try:
            self._send({"method": method, "params": params})
        except DragomanError:
            log.debug("an editor that has disconnected did not get %s", method)

    def handle_answer(self, number: int, result: Any, error: Mapping[str, Any] | None) -> None:
        question = self._questions.get(number)
        if question is None or question.done.is_set():
            return
        question.result = result
        if error is not None:
            question.error = self._refusal(str(error.get("code", "")), str(error.get("message", "")))
        question.done.set()

    def close(self) -> None:
        """Close the editor; everyone who waits for its answer gets an error."""
        for question in self._questions.values():
            if not question.done.is_set():
                question.error = editor_disconnected(editor=self.about.name)
                question.done.set()
        self._put.close()
        self.outgoing.close()

    def reply(self, number: int, result: Any, error: Json | None) -> None:
        """Answer a call of the editor."""
        try:
            self._send({"id": number, "error": error} if error else {"id": number, "result": result})
        except DragomanError:
            log.debug("an editor left before its call was answered")

    def _outcome(self, question: _PendingQuestion, within_s: float) -> Any:
        if not question.done.is_set():
            raise editor_timeout(editor=self.about.name, seconds=within_s)
        if question.error is not None:
            raise question.error
        return question.result

    def _refusal(self, code: str, reason: str) -> DragomanError:
        return not_allowed() if code == "not_allowed" else editor_failed(editor=self.about.name, reason=reason)

    def _send(self, message: Json) -> None:
        try:
            self._put.send_nowait(message)
        except anyio.WouldBlock as error:
            self._put.close()  # disconnect: it cannot catch up with what it missed
            raise editor_disconnected(editor=self.about.name) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise editor_disconnected(editor=self.about.name) from error


class EditorRegistry:
    """The connected editors, and the methods that an editor may call.

    Of several editors that have a folder open, the one that a person looked at last is asked.
    """

    def __init__(self) -> None:
        self.calls: dict[str, EditorMethod] = {"focused": self._focused, "moved": self._moved}
        """The methods that an editor may call; other modules add theirs."""
        self.on_disconnect: Callable[[Editor], None] = lambda _: None
        self._editors: dict[str, Editor] = {}
        self._focus_count = 0

    @property
    def all(self) -> tuple[Editor, ...]:
        return tuple(self._editors.values())

    @contextmanager
    def connected(self, about: EditorInfo) -> Iterator[Editor]:
        if len(self._editors) >= EDITORS_AT_MOST:
            raise too_many_editors(limit=EDITORS_AT_MOST)
        editor = Editor(about)
        self._editors[editor.id] = editor
        self._mark_focused(editor)
        log.info("the editor %s is connected", editor.id)
        try:
            yield editor
        finally:
            del self._editors[editor.id]
            editor.close()
            self.on_disconnect(editor)
            log.info("the editor %s has left", editor.id)

    async def ask(self, workspace: Path, method: str, params: Json, within_s: float) -> Any:
        """Ask the editor that has the folder open. Of several, the one that a person looked at last."""
        editor = self.of(workspace, method)
        named = {name: editor.about.editor_path(str(params[name])) for name in _PATH_PARAMETERS if name in params}
        return await editor.ask(method, {**params, **named}, within_s)

    def editors_for_folder(self, workspace: Path) -> list[Editor]:
        """The editor that a person looked at last comes first."""
        return sorted((it for it in self.all if it.about.holds(workspace)), key=lambda it: it.focused, reverse=True)

    def of(self, workspace: Path, method: str) -> Editor:
        there = self.editors_for_folder(workspace)
        if not there:
            raise no_editor(folder=workspace)
        able = next((it for it in there if method in it.about.features), None)
        if able is None:
            raise editor_unsupported(editor=there[0].about.name, method=method)
        return able

    async def call(self, editor: Editor, method: str, params: Json) -> Any:
        if method not in self.calls:
            raise unknown_method(method=method)
        return await self.calls[method](editor, params)

    async def _focused(self, editor: Editor, _: Json) -> None:
        self._mark_focused(editor)

    async def _moved(self, editor: Editor, params: Json) -> None:
        """The editor's folders have changed."""
        editor.about = read_editor_info(params) or editor.about

    def _mark_focused(self, editor: Editor) -> None:
        self._focus_count += 1
        editor.focused = self._focus_count
