"""Where a shell prints no marks: its prompt by its looks, and the line by its echo. Nothing of it is ever verified."""

from __future__ import annotations

import re
from collections.abc import Callable

_KEPT = 4096
_LONGEST_PROMPT = 200
_PROMPT = re.compile(r".*(?:[$#%>]|\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}|\N{RIGHTWARDS ARROW}) ?")
_ENTER = re.compile(rb"[\r\n]")


class PromptGuess:
    def __init__(self) -> None:
        self._last = b""
        self._prompt = ""
        self._is_entered = False

    @property
    def at_prompt(self) -> bool:
        return bool(self._prompt) and not self._is_entered

    def printed(self, data: bytes) -> None:
        """On the hot path: the end is cut and looked at when it has been quiet for a moment."""
        self._last = data if len(data) >= _KEPT else (self._last[-_KEPT:] + data)[-_KEPT:]

    def look(self) -> None:
        """The last line is a prompt if it looks like one."""
        self._last = self._last[-_KEPT:].rpartition(b"\n")[2]
        shown = _shown(self._last)
        if not self._prompt and len(shown) <= _LONGEST_PROMPT and _PROMPT.fullmatch(shown):
            self._prompt = shown

    def entered(self, data: bytes) -> None:
        """Keys were typed. What a line was is read from its echo, once that is there: they may be faster than it."""
        self._is_entered = self._is_entered or (bool(self._prompt) and _ENTER.search(data) is not None)

    def echoed(self, data: bytes) -> int:
        """Where in this output a line that was entered ends; before the first byte of it where it does not."""
        return data.find(b"\n") + 1 if self._is_entered else 0

    def line(self) -> str:
        """The line that was entered, once its end is on the screen."""
        shown = _shown(self._last[-_KEPT:].rstrip(b"\r\n").rpartition(b"\n")[2])
        line = shown.removeprefix(self._prompt) if shown.startswith(self._prompt) else ""
        self._prompt, self._is_entered, self._last = "", False, b""
        return line.strip()


def _shown(line: bytes) -> str:
    """As it stands on the screen, roughly: line editors go back and forth in it, and write over what stands there."""
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
