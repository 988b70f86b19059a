"""May this be run here? Shown to the person, and answered by a key that they press after they could read it.

No message grants it: an answer is made here alone, from the keyboard of this terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dragoman.phrases import say
from dragoman.shell.cells import cut, one_line, width, wrapped
from dragoman.shell.keys import Key
from dragoman.shell.panel import Row, spoken
from dragoman.visible import spelled_out
from dragoman.wire.omnish.messages import Request, Response, Sessions

WAITS_S = 60.0
READING_S = 0.5
"""Keys within this time of the drawing were meant for what stood there before."""
HANDS_OFF_S = 1.0
"""It is not drawn under the fingers of somebody who types."""
MAX_COMMAND = 4000

Verdict = Literal["accepted", "refused", "postponed"]


@dataclass(frozen=True, slots=True)
class Asked:
    request_id: str
    by: str
    command: str
    until_s: float


class Consent:
    """One request at a time. What no key was pressed for was not refused, and is not said to have been."""

    def __init__(self) -> None:
        self.asked: Asked | None = None
        self._drawn_at_s: float | None = None
        self._is_whole = self._could_be_read = False

    def ask(self, request: Request, now_s: float, *, possible: bool = True) -> Response | None:
        """An answer at once where it cannot even be asked."""
        command = request.query.rstrip("\n")
        if not possible or not _can_be_typed(command):
            return _answer(request.request_id, "cannot")
        if self.asked is not None:
            return _answer(request.request_id, "no_answer")
        by = ", ".join(request.scope.session_ids) if isinstance(request.scope, Sessions) else ""
        self.asked = Asked(request.request_id, by, command, now_s + WAITS_S)
        return None

    def rows(self, columns: int, height: int) -> list[Row]:
        """All of the command, or no offer to run it: nobody agrees to what they cannot see."""
        assert self.asked is not None
        lines = [f"  {line}" for line in wrapped(spelled_out(self.asked.command), max(8, columns - 2))]
        self._is_whole = len(lines) + 2 <= height and all(width(line) <= columns for line in lines)
        shown = lines if self._is_whole else lines[: max(0, height - 2)]
        return [Row(_spoken_by(self.asked.by), "warning"), *map(Row, shown), Row(self._offer(), "dim")]

    @property
    def is_drawn(self) -> bool:
        return self._drawn_at_s is not None

    @property
    def readable_at_s(self) -> float:
        return float("-inf") if self._drawn_at_s is None else self._drawn_at_s + READING_S

    def drawn(self, now_s: float) -> None:
        self._drawn_at_s, self._could_be_read = now_s, False

    def looked_at(self, now_s: float) -> None:
        """With no key left unread. One that is read late, after we stood still, may be older than the question: only
        what is read after this is an answer."""
        self._could_be_read = self._drawn_at_s is not None and now_s >= self.readable_at_s

    def hidden(self) -> None:
        self._drawn_at_s = None

    def judge(self, key: Key, now_s: float, *, alone: bool) -> Verdict:
        """A key that did not come alone from the keyboard was not an answer."""
        if not self._could_be_read or self._drawn_at_s is None or now_s < self.readable_at_s or not alone:
            return "postponed"
        if key.name == "text" and key.raw in (b"y", b"Y"):
            return "accepted" if self._is_whole else "postponed"
        is_no = key.name in {"escape", "interrupt"} or (key.name == "text" and key.raw in (b"n", b"N"))
        return "refused" if is_no else "postponed"

    def withdraw(self) -> None:
        """Nobody waits for an answer any more: a yes would run what nobody expects."""
        self.asked = self._drawn_at_s = None

    def settle(self, verdict: Literal["accepted", "refused", "no_answer"]) -> Response:
        assert self.asked is not None
        request_id = self.asked.request_id
        self.withdraw()
        return _answer(request_id, verdict)

    def _offer(self) -> str:
        if self._is_whole:
            return spoken(say("y runs it, n does not"))
        return spoken(say("too long for this window: make it larger to see all of it, or press n"))


def typed_form(command: str, *, bracketed: bool) -> bytes:
    """As keys: in a paste where the shell takes one, so that no line runs before the last is there and a tab is one."""
    text = command.encode(errors="replace")
    if bracketed:
        return b"\x1b[200~" + text + b"\x1b[201~\r"
    return text.replace(b"\t", b" ").replace(b"\n", b"\r") + b"\r"


def _can_be_typed(command: str) -> bool:
    """A control character would be a key, and what is not a letter of Unicode cannot be one."""
    plain = command.replace("\n", "").replace("\t", "")
    return 0 < len(plain) <= MAX_COMMAND and all(c.isprintable() or ord(c) > 0x9F for c in plain)


def _spoken_by(by: str) -> str:
    return spoken(say("{name} asks to run here:", name=cut(one_line(spelled_out(by)), 40) or "?"))


def _answer(request_id: str, verdict: str) -> Response:
    return Response(request_id, verdict, is_streaming=False, is_final=True)
