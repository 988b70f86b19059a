"""The question line and the answer to it: what is typed, what is sent, and what stands on our rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.shell.cells import one_line, wrapped
from dragoman.shell.editing import LineEditor
from dragoman.shell.keys import Key
from dragoman.shell.panel import Row, spoken
from dragoman.shell.saving import Target, save, split_target
from dragoman.visible import visible
from dragoman.wire.omnish.messages import AllSessions, Request, Response

ANSWER_WITHIN_S = 120.0
MAX_ANSWER = 64 * 1024
_KEPT_QUESTIONS = 100
_SIGN = "? "

Step = Literal["typing", "closed", "asked"]


class QuestionLine:
    """One question being typed; up and down bring back those of this session."""

    def __init__(self, earlier: list[str]) -> None:
        self._earlier = earlier
        self._at = len(earlier)
        self._typed = ""
        self.editor = LineEditor()

    def take(self, key: Key) -> Step:
        if key.name in {"escape", "interrupt"} or (key.name == "backspace" and not self.editor.text):
            return "closed"
        if key.name == "enter":
            return "asked" if self.editor.text.strip() else "closed"
        if key.name in {"up", "down"}:
            self._recall(-1 if key.name == "up" else 1)
        else:
            self.editor.apply(key)
        return "typing"

    def rows(self, columns: int) -> tuple[list[Row], tuple[int, int]]:
        shown, at = self.editor.window(columns - len(_SIGN))
        hint = spoken(say("Enter asks, Esc closes, `> file` keeps the answer"))
        return [Row(_SIGN + shown, "accent"), Row(hint, "dim")], (0, len(_SIGN) + at)

    def _recall(self, step: int) -> None:
        if self._at == len(self._earlier):
            self._typed = self.editor.text
        self._at = min(max(0, self._at + step), len(self._earlier))
        self.editor.replace([*self._earlier, self._typed][self._at])


@dataclass(slots=True)
class Answer:
    """One answer, while it comes in and after."""

    question: str
    request_id: str
    until_s: float
    target: Target | None = None
    is_final: bool = False
    is_quiet: bool = False
    _parts: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def text(self) -> str:
        return "".join(self._parts).strip("\n")

    def take(self, response: Response) -> None:
        content = response.content[: MAX_ANSWER - self._length]
        self._parts.append(content)
        self._length += len(content)
        self.is_final = response.is_final

    def end(self, why: Phrase) -> None:
        """A word of ours below what came."""
        self._parts.append(("\n" if self._parts else "") + spoken(why))
        self.is_final = True

    def rows(self, columns: int, height: int) -> list[Row]:
        """The end of it, where it is longer than the room; and only that is broken into rows, however long it is."""
        room = max(0, height - 2)
        end = "\n".join(self.text.rsplit("\n", room)[-room:])[-columns * room :] if room else ""
        lines = wrapped(end, columns) if end else []
        hint = spoken(say("any key goes to the shell") if self.is_final else say("asking; Esc cancels"))
        return [self._head(), *map(Row, lines[len(lines) - min(len(lines), room) :]), Row(hint, "dim")]

    def lasting(self) -> list[Row]:
        """What is left in the scrollback; the terminal breaks its lines."""
        return [self._head(), *map(Row, visible(self.text).split("\n"))]

    def _head(self) -> Row:
        return Row(_SIGN + one_line(self.question), "accent")


class Questions:
    """Those of one session: ids, what was asked before, and the last answer."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._count = 0
        self._earlier: list[str] = []
        self._last_answer = ""
        self.line: QuestionLine | None = None
        self.answer: Answer | None = None

    @property
    def shown(self) -> Answer | None:
        return None if self.answer is None or self.answer.is_quiet else self.answer

    def open(self) -> QuestionLine:
        """An earlier answer that has not come by now is no longer waited for."""
        self.line, self.answer = QuestionLine(self._earlier), None
        return self.line

    def close_answer(self) -> None:
        self.answer = None

    def forget_whole(self) -> None:
        """It is in the scrollback; one that is still awaited is not."""
        if self.answer is not None and self.answer.is_final:
            self.answer = None

    def close_line(self) -> None:
        self.line = None

    def go_quiet(self) -> None:
        """The person goes on working: the answer comes in unseen and is shown when it is whole."""
        if self.answer is not None:
            self.answer.is_quiet = True

    def ask(self, connected: bool, folder: str | None, now_s: float) -> Request | None:
        """What is to be sent; None where there is an answer already."""
        assert self.line is not None
        text, self.line = self.line.editor.text.strip(), None
        others = [each for each in self._earlier if each != text]
        self._earlier[:] = [*others[1 - _KEPT_QUESTIONS :], text]
        self._count += 1
        question, target = split_target(text)
        self.answer = Answer(text, f"{self._session_id}:question:{self._count}", now_s + ANSWER_WITHIN_S, target)
        if not question:
            self._keep_last(folder)
        elif not connected:
            self.answer.end(say("No daemon is running: start one with `dragoman up`."))
        else:
            return Request(self.answer.request_id, self._session_id, question, AllSessions())
        return None

    def heard(self, response: Response, folder: str | None) -> bool:
        answer = self.answer
        if answer is None or answer.is_final or response.request_id != answer.request_id:
            return False
        answer.take(response)
        if answer.is_final:
            self._last_answer = answer.text
            self._save(answer, folder)
        return True

    def lost(self, connected: bool, now_s: float) -> bool:
        """Whether an answer that is still awaited will not come."""
        answer = self.answer
        if answer is None or answer.is_final or (connected and now_s < answer.until_s):
            return False
        answer.end(say("No answer came in time.") if connected else say("The daemon went away."))
        return True

    def _keep_last(self, folder: str | None) -> None:
        assert self.answer is not None
        if not self._last_answer:
            self.answer.end(say("There is no answer yet that could be written."))
            return
        self.answer.is_final = True
        self._save(self.answer, folder)

    def _save(self, answer: Answer, folder: str | None) -> None:
        if answer.target is None:
            return
        try:
            save(self._last_answer, answer.target, folder)
        except DragomanError as error:
            answer.end(error.message)
            if error.hint:
                answer.end(error.hint)
        else:
            answer.end(say("Written to {path}.", path=answer.target.path))
