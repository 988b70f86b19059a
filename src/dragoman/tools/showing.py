"""What others said, as an agent may see it: escaped, cut where it is long, and never mistaken for our own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dragoman.visible import BLANK, draws

_NAME = 200
_PATH = 4096
_TAB = 4

_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


class Cut(NamedTuple):
    """`length` is that of the whole."""

    text: str
    length: int

    @property
    def is_whole(self) -> bool:
        return len(self.text) >= self.length


def cut(text: str, most: int) -> Cut:
    return Cut(text[:most], len(text))


def escaped(text: str) -> str:
    """Every control and invisible character as an escape; lines and tabs stay what they are."""
    if text.isprintable() and not BLANK.search(text):
        return text
    return "".join(char if char in "\n\t" else _visible(char) for char in text.replace("\r\n", "\n"))


def one_line(text: str, most: int = 0) -> str:
    """The same within one line; what goes over `most` characters is replaced by a mark."""
    shown = text[:most] if most else text
    if not (shown.isprintable() and not BLANK.search(shown)):
        shown = "".join(map(_visible, shown))
    return shown if len(text) <= most or not most else f"{shown}…"


def source_line(text: str) -> str:
    """A tab in a source is no secret: as wide as editors draw it."""
    return one_line(text.expandtabs(_TAB))


def path(text: str) -> str:
    """A file's name is anybody's to choose. Whole: its end is the part that matters."""
    return one_line(text, _PATH)


def through(value: Any, shown: Callable[[str, str], str], name: str = "") -> Any:
    """Data that others wrote, each text of it as it may be shown by the name it goes by."""
    if isinstance(value, Mapping):
        return {one_line(str(key), _NAME): through(inner, shown, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [through(inner, shown, name) for inner in value]
    return shown(name, value) if isinstance(value, str) else value


def _visible(char: str) -> str:
    if draws(char):
        return char
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
