"""The question line with its editor, and the answer shown below it.

An answer can be saved to a file below the shell's folder. The folder is opened once, and every part of the path by
handle without following links. There is no check before the opening, so nothing can be swapped in between.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from dragoman.core.errors import DragomanError, ErrorSpec, system_refused
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable
from dragoman.protocols.omnish.messages import AllSessions, Request, Response
from dragoman.shell.overlay.cell_grid import one_line, width, wrapped
from dragoman.shell.overlay.keys import KeyInput
from dragoman.shell.overlay.panel import PanelRow, in_user_language

# A name with a dot or a slash: “is a > b” stays a question.
_REDIRECTED = re.compile(r"(?P<question>.*?)(?:^|\s)>(?P<over>!?)\s*(?P<path>\S*[./]\S*)\s*", re.DOTALL)
_ALONE = re.compile(r">(?P<over>!?)\s*(?P<path>\S+)\s*")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class AnswerFile:
    path: str
    replaces: bool


def split_redirection(text: str) -> tuple[str, AnswerFile | None]:
    """`QUESTION > file` and `> file`, which saves the last answer; `>!` may replace a file."""
    found = _ALONE.fullmatch(text) or _REDIRECTED.fullmatch(text)
    if found is None:
        return text, None
    question = found.groupdict().get("question") or ""
    return question.strip(), AnswerFile(found["path"], bool(found["over"]))


def save_answer(text: str, target: AnswerFile, folder: str | None) -> None:
    if folder is None:
        raise DragomanError("unknown_folder", localize("The shell's current folder is unknown. Nothing was written."))
    try:
        with _opened(folder, target) as file:
            os.truncate(file, 0)
            _write_all(file, printable(text.rstrip("\n") + "\n").encode(errors="replace"))
    except FileExistsError as error:
        raise DragomanError(
            "file_exists",
            localize("{path} already exists. Nothing was written.", path=printable(target.path)),
            hint=localize("Use `>!` instead of `>` to overwrite it."),
        ) from error
    except OSError as error:
        error.filename = printable(target.path)
        raise system_refused(error) from error


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


@contextlib.contextmanager
def _opened(folder: str, target: AnswerFile) -> Iterator[int]:
    *folders, name = _parts(target.path)
    with contextlib.ExitStack() as stack:
        at = _kept(stack, os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for each in folders:
            at = _kept(stack, os.open(each, _FOLDER, dir_fd=at))
        file = _kept(stack, os.open(name, _FILE | (0 if target.replaces else os.O_EXCL), 0o600, dir_fd=at))
        status = os.fstat(file)
        # A hard link of the same file may be anywhere.
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise _not_below(path=target.path)
        yield file


def _kept(stack: contextlib.ExitStack, handle: int) -> int:
    stack.callback(os.close, handle)
    return handle


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    is_below = parts and ".." not in parts and not path.startswith(("/", "~")) and path.isprintable()
    if not is_below or path.endswith("/"):
        raise _not_below(path=path)
    return parts


_not_below = ErrorSpec(
    "path_outside",
    "{path} is not a regular file in the shell's folder or below. Nothing was written.",
    "Choose a file in this folder or a subfolder.",
    path=lambda path: printable(path)[:200],
)


MAX_LENGTH = 4000
ANSWER_TIMEOUT_S = 120.0
MAX_ANSWER = 64 * 1024
_KEPT_QUESTIONS = 100
_SIGN = "? "

_decoder = codecs.getincrementaldecoder("utf-8")


class LineEditor:
    """Text arrives as bytes and may be cut inside a character. Lines of a paste are joined by spaces."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._decoder = _decoder(errors="replace")
        self._edits: dict[str, Callable[[], None]] = {
            "backspace": lambda: self._remove(self.cursor - 1, self.cursor),
            "delete": lambda: self._remove(self.cursor, self.cursor + 1),
            "kill_to_start": lambda: self._remove(0, self.cursor),
            "kill_to_end": lambda: self._remove(self.cursor, len(self.text)),
            "kill_word": lambda: self._remove(self._word_start(), self.cursor),
            "left": lambda: self._move(self.cursor - 1),
            "right": lambda: self._move(self.cursor + 1),
            "home": lambda: self._move(0),
            "end": lambda: self._move(len(self.text)),
        }

    def apply(self, key: KeyInput) -> None:
        if key.is_text:
            self._insert(key.raw)
        elif key.name in self._edits:
            self._decoder.reset()
            self._edits[key.name]()

    def replace(self, text: str) -> None:
        self.text, self.cursor = text, len(text)

    def window(self, room: int) -> tuple[str, int]:
        """The part that fits into a row, and the cursor's cell in it: the line scrolls sideways."""
        start = 0
        while width(self.text[start : self.cursor]) >= room:
            start += 1
        end = len(self.text)
        while width(self.text[start:end]) >= room:
            end -= 1
        return self.text[start:end], width(self.text[start : self.cursor])

    def _insert(self, raw: bytes) -> None:
        typed = "".join(map(_typed, self._decoder.decode(raw)))[: MAX_LENGTH - len(self.text)]
        self.text = self.text[: self.cursor] + typed + self.text[self.cursor :]
        self._move(self.cursor + len(typed))

    def _remove(self, start: int, end: int) -> None:
        start = max(0, start)
        self.text = self.text[:start] + self.text[end:]
        self._move(start)

    def _move(self, to: int) -> None:
        self.cursor = min(max(0, to), len(self.text))

    def _word_start(self) -> int:
        before = self.text[: self.cursor].rstrip()
        return before.rfind(" ") + 1


def _typed(character: str) -> str:
    if character in "\r\n\t":
        return " "
    return character if character.isprintable() else ""


QuestionStep = Literal["typing", "closed", "asked"]


class QuestionLine:
    """One question being typed; up and down recall earlier ones of this session."""

    def __init__(self, earlier: list[str]) -> None:
        self._earlier = earlier
        self._at = len(earlier)
        self._typed = ""
        self.editor = LineEditor()

    def handle_key(self, key: KeyInput) -> QuestionStep:
        if key.name in {"escape", "interrupt"} or (key.name == "backspace" and not self.editor.text):
            return "closed"
        if key.name == "enter":
            return "asked" if self.editor.text.strip() else "closed"
        if key.name in {"up", "down"}:
            self._recall(-1 if key.name == "up" else 1)
        else:
            self.editor.apply(key)
        return "typing"

    def rows(self, columns: int) -> tuple[list[PanelRow], tuple[int, int]]:
        shown, at = self.editor.window(columns - len(_SIGN))
        hint = in_user_language(localize("Enter to ask, Esc to close, `> FILE` to save the answer"))
        return [PanelRow(_SIGN + shown, "accent"), PanelRow(hint, "dim")], (0, len(_SIGN) + at)

    def _recall(self, step: int) -> None:
        if self._at == len(self._earlier):
            self._typed = self.editor.text
        self._at = min(max(0, self._at + step), len(self._earlier))
        self.editor.replace([*self._earlier, self._typed][self._at])


@dataclass(slots=True)
class PanelAnswer:
    """One answer, while it arrives and after."""

    question: str
    request_id: str
    until_s: float
    target: AnswerFile | None = None
    is_final: bool = False
    is_hidden: bool = False
    _parts: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def text(self) -> str:
        return "".join(self._parts).strip("\n")

    def handle_response(self, response: Response) -> None:
        content = response.content[: MAX_ANSWER - self._length]
        self._parts.append(content)
        self._length += len(content)
        self.is_final = response.is_final

    def end(self, why: LocalizedText) -> None:
        """End with a note of ours below the answer."""
        self._parts.append(("\n" if self._parts else "") + in_user_language(why))
        self.is_final = True

    def rows(self, columns: int, height: int) -> list[PanelRow]:
        """The end of the answer if it is longer than the room. Only that part is wrapped, however long the answer
        is."""
        room = max(0, height - 2)
        end = "\n".join(self.text.rsplit("\n", room)[-room:])[-columns * room :] if room else ""
        lines = wrapped(end, columns) if end else []
        hint = in_user_language(
            localize("any key returns to the shell") if self.is_final else localize("asking; Esc cancels")
        )
        return [self._head(), *map(PanelRow, lines[len(lines) - min(len(lines), room) :]), PanelRow(hint, "dim")]

    def scrollback_rows(self) -> list[PanelRow]:
        """The rows for the scrollback; the terminal wraps their lines."""
        return [self._head(), *map(PanelRow, printable(self.text).split("\n"))]

    def _head(self) -> PanelRow:
        return PanelRow(_SIGN + one_line(self.question), "accent")


class QuestionPanel:
    """The questions of one session: the line being typed, earlier questions, and the last answer."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._count = 0
        self._earlier: list[str] = []
        self._last_answer = ""
        self.line: QuestionLine | None = None
        self.answer: PanelAnswer | None = None

    @property
    def shown(self) -> PanelAnswer | None:
        return None if self.answer is None or self.answer.is_hidden else self.answer

    def open(self) -> QuestionLine:
        """Open the line. An earlier answer that has not arrived is no longer awaited."""
        self.line, self.answer = QuestionLine(self._earlier), None
        return self.line

    def close_answer(self) -> None:
        self.answer = None

    def forget_final(self) -> None:
        """Forget a complete answer: it is in the scrollback. One that is still awaited is kept."""
        if self.answer is not None and self.answer.is_final:
            self.answer = None

    def close_line(self) -> None:
        self.line = None

    def hide_answer(self) -> None:
        """The person continues working: the answer arrives unseen, and is shown when it is complete."""
        if self.answer is not None:
            self.answer.is_hidden = True

    def ask(self, connected: bool, folder: str | None, now_s: float) -> Request | None:
        """The message to send; None if the answer needs no daemon, or there is none."""
        assert self.line is not None
        text, self.line = self.line.editor.text.strip(), None
        others = [each for each in self._earlier if each != text]
        self._earlier[:] = [*others[1 - _KEPT_QUESTIONS :], text]
        self._count += 1
        question, target = split_redirection(text)
        self.answer = PanelAnswer(text, f"{self._session_id}:question:{self._count}", now_s + ANSWER_TIMEOUT_S, target)
        if not question:
            self._keep_last(folder)
        elif not connected:
            self.answer.end(localize("No daemon is running. Start one with `dragoman up`."))
        else:
            return Request(self.answer.request_id, self._session_id, question, AllSessions())
        return None

    def received(self, response: Response, folder: str | None) -> bool:
        answer = self.answer
        if answer is None or answer.is_final or response.request_id != answer.request_id:
            return False
        answer.handle_response(response)
        if answer.is_final:
            self._last_answer = answer.text
            self._save(answer, folder)
        return True

    def lost(self, connected: bool, now_s: float) -> bool:
        """Whether an awaited answer will not arrive."""
        answer = self.answer
        if answer is None or answer.is_final or (connected and now_s < answer.until_s):
            return False
        answer.end(
            localize("Timed out waiting for an answer.")
            if connected
            else localize("Lost the connection to the daemon.")
        )
        return True

    def _keep_last(self, folder: str | None) -> None:
        assert self.answer is not None
        if not self._last_answer:
            self.answer.end(localize("There is no answer to save yet."))
            return
        self.answer.is_final = True
        self._save(self.answer, folder)

    def _save(self, answer: PanelAnswer, folder: str | None) -> None:
        if answer.target is None:
            return
        try:
            save_answer(self._last_answer, answer.target, folder)
        except DragomanError as error:
            answer.end(error.message)
            if error.hint:
                answer.end(error.hint)
        else:
            answer.end(localize("Saved to {path}.", path=answer.target.path))
