"""Text that programs and people wrote, prepared for an agent: escaped, shortened, and never mistaken for Dragoman's
own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dragoman.core.safe_text import BLANK, is_drawn

_NAME = 200
_PATH = 4096
_TAB = 4

_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


class TruncatedText(NamedTuple):
    """The beginning of a text; `length` is the length of the whole text."""

    text: str
    length: int

    @property
    def is_whole(self) -> bool:
        return len(self.text) >= self.length


def truncate(text: str, most: int) -> TruncatedText:
    return TruncatedText(text[:most], len(text))


def escaped(text: str) -> str:
    """Escape control and invisible characters, except line ends and tabs."""
    if text.isprintable() and not BLANK.search(text):
        return text
    return "".join(char if char in "\n\t" else _escape(char) for char in text.replace("\r\n", "\n"))


def one_line(text: str, most: int = 0) -> str:
    """The same on one line, cut to `most` characters."""
    shown = text[:most] if most else text
    if not (shown.isprintable() and not BLANK.search(shown)):
        shown = "".join(map(_escape, shown))
    return shown if len(text) <= most or not most else f"{shown}…"


def source_line(text: str) -> str:
    """A source line with its tabs expanded as editors show them."""
    return one_line(text.expandtabs(_TAB))


def path(text: str) -> str:
    """A path, never cut, because its end matters most. File names may contain anything, so they are escaped."""
    return one_line(text, _PATH)


def map_strings(value: Any, shown: Callable[[str, str], str], name: str = "") -> Any:
    """Foreign data with each string replaced by `shown(name, text)`, where `name` is the key it belongs to."""
    if isinstance(value, Mapping):
        return {one_line(str(key), _NAME): map_strings(inner, shown, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [map_strings(inner, shown, name) for inner in value]
    return shown(name, value) if isinstance(value, str) else value


def _escape(char: str) -> str:
    if is_drawn(char):
        return char
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
