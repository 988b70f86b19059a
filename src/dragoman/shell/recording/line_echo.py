"""The lines that a person types: entered lines, their echo, and detection of the prompt in shells without marks.

The echo of an edited line has backspaces and insertions between its letters, so a search for secrets would miss one.
Where there may be a secret, the line is recorded as it ran, or not at all if it did not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_LONGEST = 4096
SAME_MOMENT_MS = 25
_MOST_PIECES = 4096
_KEPT = 4096
_LONGEST_PROMPT = 200


class EnteredLines:
    """Lines that were entered and may not have run yet: a busy shell runs them later.

    A line begins anew only at a prompt that has been typed at, because that prompt has run everything before it.
    """

    def __init__(self) -> None:
        self.hidden = False
        """One of them was entered while recording was off."""
        self.spaced = False
        """One of them begins with a space, by which a person keeps it out of the shell's history."""
        self._is_prompted = self._is_spaced = False
        self._begins = True
        self._echo = b""

    def handle_prompt(self) -> None:
        self._is_prompted, self._echo = True, b""

    def ran(self) -> None:
        self._is_prompted = False

    def handle_keys(self, data: bytes, *, hidden: bool, echoed: bool) -> bytes:
        """The part that may be recorded: no line with a leading space, if the terminal `echoed` it while a command
        ran."""
        if self._is_prompted:
            self._is_prompted = self.hidden = self.spaced = False
            self._begins = True
        self.hidden |= hidden and (b"\r" in data or b"\n" in data)
        return b"".join(self._piece(piece, echoed=echoed) for piece in data.splitlines(keepends=True))

    def _piece(self, piece: bytes, *, echoed: bool) -> bytes:
        if self._begins:
            self._is_spaced = piece.startswith(b" ")
            self.spaced |= self._is_spaced
        self._begins = piece.endswith((b"\r", b"\n"))
        if not (echoed and self._is_spaced):
            return piece
        self._echo = (self._echo + (piece[:-1] + b"\r\n" if self._begins else piece))[-_LONGEST:]
        return b""

    def without_echo(self, data: bytes) -> bytes:
        """A command's output without the echo of what a person typed ahead."""
        if not self._echo:
            return data
        if (at := data.find(self._echo)) >= 0:
            echo, self._echo = self._echo, b""
            return data[:at] + data[at + len(echo) :]
        pairs = enumerate(zip(data, self._echo, strict=False))
        common = next((at for at, (one, other) in pairs if one != other), min(len(data), len(self._echo)))
        self._echo = self._echo[common:]
        return data[common:]


class HeldEcho:
    """What was shown at a prompt and is held back until the line runs, each piece with its time.

    Keys arrive one by one: pieces of the same moment are joined, and beyond a limit the oldest pieces are joined.
    """

    def __init__(self) -> None:
        self._pieces: list[tuple[int, bytearray]] = []
        self.size = 0

    def add(self, data: bytes, now_ms: int) -> None:
        self.size += len(data)
        if self._pieces and now_ms - self._pieces[-1][0] < SAME_MOMENT_MS:
            self._pieces[-1][1].extend(data)
            return
        self._pieces.append((now_ms, bytearray(data)))
        if len(self._pieces) > _MOST_PIECES:
            oldest = self._pieces[: _MOST_PIECES // 2]
            self._pieces[: _MOST_PIECES // 2] = [(oldest[0][0], bytearray(b"".join(data for _, data in oldest)))]

    def pieces(self) -> list[tuple[int, bytes]]:
        return [(at_ms, bytes(data)) for at_ms, data in self._pieces]


_EDITED = re.compile(rb"\x08|\r(?!\n)|\x1b\[[0-9;]*[CDGHP@X]")
_UNSEEN = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x1f]")
# How secrets begin, what precedes them, and what they are called. Matching too much does no harm here.
_SECRET_HINT = re.compile(
    rb"pass|secret|key|token|credential|authori[sz]ation|bearer|basic|://|-----begin|eyj|akia|asia|gh[pousr]|github_pat"
    rb"|glpat|xox|sk-|[rs]k_|aiza|npm_|pypi-|pwd|auth",
    re.IGNORECASE,
)


def recordable_echo(echo: bytes, line: str | None) -> bytes:
    """What may be recorded. `line` is what was run; None if nothing was."""
    run = (line or "").encode(errors="replace")
    if not _EDITED.search(echo) or not (_SECRET_HINT.search(run) or _SECRET_HINT.search(_UNSEEN.sub(b"", echo))):
        return echo
    return run.replace(b"\n", b"\r\n") + b"\r\n"


_PROMPT = re.compile(r".*(?:[$#%>]|\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}|\N{RIGHTWARDS ARROW}) ?")
_ENTER = re.compile(rb"[\r\n]")


class PromptDetector:
    """Detects the prompt by its look and the line by its echo, for shells that print no marks. The result is never
    verified.
    """

    def __init__(self) -> None:
        self._last = b""
        self._prompt = ""
        self._is_entered = False

    @property
    def at_prompt(self) -> bool:
        return bool(self._prompt) and not self._is_entered

    def handle_output(self, data: bytes) -> None:
        """On the hot path: the end is cut and checked after a moment of silence."""
        self._last = data if len(data) >= _KEPT else (self._last[-_KEPT:] + data)[-_KEPT:]

    def detect(self) -> None:
        """The last line is a prompt if it looks like one."""
        self._last = self._last[-_KEPT:].rpartition(b"\n")[2]
        shown = _shown(self._last)
        if not self._prompt and len(shown) <= _LONGEST_PROMPT and _PROMPT.fullmatch(shown):
            self._prompt = shown

    def handle_line(self, data: bytes) -> None:
        """Keys were typed. The line is read from its echo once that arrives: keys may be faster."""
        self._is_entered = self._is_entered or (bool(self._prompt) and _ENTER.search(data) is not None)

    def echoed(self, data: bytes) -> int:
        """Where in this output an entered line ends; before its first byte if it does not end."""
        return data.find(b"\n") + 1 if self._is_entered else 0

    def line(self) -> str:
        """The entered line, once its end is on the screen."""
        shown = _shown(self._last[-_KEPT:].rstrip(b"\r\n").rpartition(b"\n")[2])
        line = shown.removeprefix(self._prompt) if shown.startswith(self._prompt) else ""
        self._prompt, self._is_entered, self._last = "", False, b""
        return line.strip()


def _shown(line: bytes) -> str:
    """The approximate text on the screen: line editors move the cursor and overwrite."""
    cells: list[str] = []
    at = 0
    for token in _TOKEN.finditer(line.decode(errors="replace")):
        if token["text"]:
            cells += [" "] * (at - len(cells))
            cells[at : at + len(token["text"])] = token["text"]
            at += len(token["text"])
        elif token["kind"] == "K":
            del cells[at:]
        elif (move := token["kind"] or token[0]) in _MOVES:
            at = max(0, min(_MOVES[move](at, int(token["count"] or 1)), _KEPT))
    return "".join(cells)


_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)|\x1b\[(?P<count>\d*)(?P<kind>[CDGK])"
    r"|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x00-\x1f\x7f]"
)
_MOVES: dict[str, Callable[[int, int], int]] = {
    "\r": lambda _at, _count: 0,
    "\b": lambda at, _count: at - 1,
    "C": lambda at, count: at + count,
    "D": lambda at, count: at - count,
    "G": lambda _at, count: count - 1,
}
