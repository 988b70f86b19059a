"""Asks the person whether an agent's command may run here.

No message grants it: the verdict comes only from a key that is pressed in this terminal after the request could be
read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dragoman.core.localization import localize
from dragoman.core.safe_text import escape_invisible
from dragoman.protocols.omnish.messages import Request, Response, Sessions
from dragoman.shell.overlay.cell_grid import cut, one_line, width, wrapped
from dragoman.shell.overlay.keys import KeyInput
from dragoman.shell.overlay.panel import PanelRow, in_user_language

CONSENT_TIMEOUT_S = 60.0
READING_S = 0.5
"""Keys within this time after drawing were meant for what was shown before."""
TYPING_PAUSE_S = 1.0
"""The prompt is not drawn while the person types."""
MAX_COMMAND = 4000

ConsentVerdict = Literal["accepted", "refused", "postponed"]


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    request_id: str
    by: str
    command: str
    until_s: float


class ConsentPrompt:
    """One consent request at a time. A request without a key press counts as unanswered, not as refused."""

    def __init__(self) -> None:
        self.pending: ConsentRequest | None = None
        self._drawn_at_s: float | None = None
        self._is_whole = self._could_be_read = False

    def ask(self, request: Request, now_s: float, *, possible: bool = True) -> Response | None:
        """Ask. Return a response at once if the person cannot be asked."""
        command = request.query.rstrip("\n")
        if not possible or not _can_be_typed(command):
            return _answer(request.request_id, "cannot")
        if self.pending is not None:
            return _answer(request.request_id, "no_answer")
        by = ", ".join(request.scope.session_ids) if isinstance(request.scope, Sessions) else ""
        self.pending = ConsentRequest(request.request_id, by, command, now_s + CONSENT_TIMEOUT_S)
        return None

    def rows(self, columns: int, height: int) -> list[PanelRow]:
        """Show the whole command, or do not offer to run it: nobody should agree to what they cannot see."""
        assert self.pending is not None
        lines = [f"  {line}" for line in wrapped(escape_invisible(self.pending.command), max(8, columns - 2))]
        self._is_whole = len(lines) + 2 <= height and all(width(line) <= columns for line in lines)
        shown = lines if self._is_whole else lines[: max(0, height - 2)]
        return [
            PanelRow(_request_title(self.pending.by), "warning"),
            *map(PanelRow, shown),
            PanelRow(self._offer(), "dim"),
        ]

    @property
    def is_drawn(self) -> bool:
        return self._drawn_at_s is not None

    @property
    def readable_at_s(self) -> float:
        return float("-inf") if self._drawn_at_s is None else self._drawn_at_s + READING_S

    def drawn(self, now_s: float) -> None:
        self._drawn_at_s, self._could_be_read = now_s, False

    def confirm_readable(self, now_s: float) -> None:
        """Called when no key is left unread. A key that is read late, after a pause, may be older than the request:
        only keys read after this count."""
        self._could_be_read = self._drawn_at_s is not None and now_s >= self.readable_at_s

    def hidden(self) -> None:
        self._drawn_at_s = None

    def judge(self, key: KeyInput, now_s: float, *, alone: bool) -> ConsentVerdict:
        """A key that did not arrive alone from the keyboard is not an answer."""
        if not self._could_be_read or self._drawn_at_s is None or now_s < self.readable_at_s or not alone:
            return "postponed"
        if key.name == "text" and key.raw in (b"y", b"Y"):
            return "accepted" if self._is_whole else "postponed"
        is_no = key.name in {"escape", "interrupt"} or (key.name == "text" and key.raw in (b"n", b"N"))
        return "refused" if is_no else "postponed"

    def withdraw(self) -> None:
        """Withdraw the request: nobody waits for the answer any more, so a yes must not run anything."""
        self.pending = self._drawn_at_s = None

    def settle(self, verdict: Literal["accepted", "refused", "no_answer"]) -> Response:
        assert self.pending is not None
        request_id = self.pending.request_id
        self.withdraw()
        return _answer(request_id, verdict)

    def _offer(self) -> str:
        if self._is_whole:
            return in_user_language(localize("y to run, n to refuse"))
        return in_user_language(localize("too long for this window: enlarge it to see everything, or press n"))


def typed_form(command: str, *, bracketed: bool) -> bytes:
    """The command as keys: as a paste if the shell supports it, so that no line runs before the last one is there
    and a tab stays a tab."""
    text = command.encode(errors="replace")
    if bracketed:
        return b"\x1b[200~" + text + b"\x1b[201~\r"
    return text.replace(b"\t", b" ").replace(b"\n", b"\r") + b"\r"


def _can_be_typed(command: str) -> bool:
    """Whether it can be typed: a control character would act as a key, and an invalid code point is not one."""
    plain = command.replace("\n", "").replace("\t", "")
    return 0 < len(plain) <= MAX_COMMAND and all(c.isprintable() or ord(c) > 0x9F for c in plain)


def _request_title(by: str) -> str:
    return in_user_language(localize("{name} wants to run here:", name=cut(one_line(escape_invisible(by)), 40) or "?"))


def _answer(request_id: str, verdict: str) -> Response:
    return Response(request_id, verdict, is_streaming=False, is_final=True)
