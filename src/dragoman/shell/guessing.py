"""Where a shell prints no marks: its prompt by its looks, and the line by its echo. Nothing of it is ever verified."""

from __future__ import annotations

import re

_KEPT = 4096
_LONGEST_PROMPT = 200
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_PROMPT = re.compile(r".*(?:[$#%>]|\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}|\N{RIGHTWARDS ARROW}) ?")
_ENTER = re.compile(rb"[\r\n]")


class PromptGuess:
    def __init__(self) -> None:
        self._last = b""
        self._prompt = ""
        self._line = ""

    @property
    def at_prompt(self) -> bool:
        return bool(self._prompt)

    def printed(self, data: bytes) -> None:
        """On the hot path: only the end is kept, and looked at when it has been quiet for a moment."""
        self._last = data[-_KEPT:] if len(data) >= _KEPT else (self._last + data)[-_KEPT:]

    def look(self) -> None:
        """The last line is a prompt if it looks like one."""
        self._last = self._last.rpartition(b"\n")[2]
        shown = _shown(self._last)
        if not self._prompt and len(shown) <= _LONGEST_PROMPT and _PROMPT.fullmatch(shown):
            self._prompt, self._line = shown, ""

    def entered(self, data: bytes, *, echoes: bool) -> str:
        """The line that these keys end, where they do and a prompt stood before it."""
        if not self._prompt:
            return ""
        if not echoes:  # an editor in the shell draws the line itself
            self._line = _shown(self._last)[len(self._prompt) :]
        ending = _ENTER.search(data)
        if echoes:
            self._line = _edited(self._line + data[: ending.start() if ending else len(data)].decode(errors="replace"))
        if not ending:
            return ""
        line, self._prompt, self._line, self._last = self._line.strip(), "", "", b""
        return line


def _shown(line: bytes) -> str:
    """As it stands on the screen, roughly: backspaces taken, the last rewriting of the line."""
    text = _ESCAPES.sub(b"", line).rpartition(b"\r")[2].decode(errors="replace")
    return _edited(text)


def _edited(text: str) -> str:
    if not any(each in text for each in "\b\x7f\x15\x07"):
        return text
    kept: list[str] = []
    for each in text:
        if each in "\b\x7f":
            kept[-1:] = []
        elif each == "\x15":
            kept.clear()
        elif each != "\a":
            kept.append(each)
    return "".join(kept)
