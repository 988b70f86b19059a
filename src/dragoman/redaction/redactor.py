"""The one judge of what is shown and recorded: texts, values of variables, settings, events, streams.

Terminals, debug output, the journal with its stores, evidence, reports and logs all ask it, so that none of them knows
fewer secrets than another. What is sent to a program is never touched, nor what has to be sent to it again (a
breakpoint's condition in its store). What was replaced once stays as it is, however often a text comes by.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from dragoman.events import Event
from dragoman.redaction import values
from dragoman.redaction.forms import NAMES
from dragoman.redaction.shapes import Shapes, Span
from dragoman.redaction.stream import SecretStream, mark

ENGINE_VERSION = 5
"""Raised when more secrets are known: what older ones left on the disk is then scrubbed once more."""

_SHORTEST = 4
# Replacing one secret may show that the next one stands free; more rounds than this find nothing new.
_ROUNDS = 4
_LIST_ITEMS = 1_000
_NAME_CHARACTERS = 60
_EXPRESSION_CHARACTERS = 2_000
# C has the address first; a value that the debugger cut has no closing quote.
_QUOTED = re.compile(r"(['\"`])((?:\\.|(?!\1)[^\\])*)(\1|\\?\Z)", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$-]*")
# Members that name a thing, and those that hold what it is: one tells what the other hides.
_NAMING = ("name", "key", "variable", "expression", "evaluate_name", "evaluateName", "watch")
_NAMED = frozenset({"value", "result", "before", "after", "old", "new", "from", "to", "default", "was", "now"})


@dataclass(frozen=True, slots=True)
class Redactor:
    enabled: bool = True
    names: tuple[str, ...] = ()
    """Names that tell of a secret, besides those that do everywhere."""

    def text(self, text: str) -> str:
        """Output, source lines, messages, command lines: what looks like a secret, and what stands beside a name."""
        if not self.enabled or len(text) < _SHORTEST:
            return text
        if "\x1b" in text:  # colours may stand in the middle of a secret, and of what tells of it
            return self._coloured(text)
        data, shapes = text.encode("utf-8", "surrogatepass"), _shapes(self.names)
        found = shapes.secrets(data)
        if not found:
            return text
        for _ in range(_ROUNDS):
            data = _replaced(data, found)
            found = shapes.secrets(data)
            if not found:
                break
        return data.decode("utf-8", "surrogatepass")

    def _coloured(self, text: str) -> str:
        stream = self.program_output()
        data = text.encode("utf-8", "surrogatepass")
        return (stream.feed(data) + stream.flush()).decode("utf-8", "surrogatepass")

    def value(self, name: str, value: str) -> str:
        """A variable or an expression: every text in it where a name tells; a number or an object tells nothing."""
        if not self.enabled or not self._tells(name, value):
            return self.text(value)
        if values.is_bare(value.encode("utf-8", "replace")):  # debuggers of shells show texts without quotes
            return _marked(value)
        return self.text(_QUOTED.sub(_without_text, value))

    def setting(self, name: str, text: str) -> str:
        """A text of a file, by its key. What stands for something else, such as ${env:TOKEN}, gives nothing away."""
        if self.enabled and len(text) >= _SHORTEST and _telling(self.names).search(name[-_NAME_CHARACTERS:]):
            return _marked(text) if values.is_value(text.encode("utf-8", "replace")) else text
        return self.text(text)

    def event(self, event: Event) -> Event:
        """As it may stand in the record, which is there to be searched and kept."""
        if not self.enabled:
            return event
        return msgspec.structs.replace(event, text=self.text(event.text), body=self.document(event.body))

    def document(self, document: Any, name: str = "") -> Any:
        """JSON types, through and through: by their names, by what is named beside them, and by their shape."""
        if not self.enabled:
            return document
        if isinstance(document, Mapping):
            return self._members(document)
        if isinstance(document, list | tuple):
            return self._items(name, document)
        return self.setting(name, document) if isinstance(document, str) else document

    def stream(self) -> SecretStream:
        """For bytes that come in any pieces."""
        return SecretStream(_shapes(self.names) if self.enabled else None)

    def program_output(self) -> SecretStream:
        """As `stream`, for what a program under the debugger prints: all of it is text there, titles too."""
        return SecretStream(_shapes(self.names) if self.enabled else None, keeps_titles=True)

    def mask(self) -> SecretStream:
        """For bytes that stand in a file already and are pointed into: their number stays the same."""
        return SecretStream(_shapes(self.names) if self.enabled else None, in_place=True)

    def line(self, text: str) -> str:
        """A whole text as a terminal would show it: escape sequences stay, titles go."""
        stream = self.stream()
        data = text.encode("utf-8", "surrogateescape")
        return (stream.feed(data) + stream.flush()).decode("utf-8", "replace")

    def _tells(self, name: str, value: str) -> bool:
        """An expression tells by every name in it; `token`, which parsers have by the thousand, by its value too."""
        named = _names_in(name[-_EXPRESSION_CHARACTERS:], self.names)
        return bool(named) and (not all(map(_WEAK.fullmatch, named)) or _is_opaque(value))

    def _members(self, document: Mapping[Any, Any]) -> dict[Any, Any]:
        named = " ".join(it for key in _NAMING if isinstance(it := document.get(key), str))
        return {
            self._key(key): self._beside(named, inner)
            if named and key in _NAMED and isinstance(inner, str)
            else self.document(inner, str(key))
            for key, inner in document.items()
        }

    def _key(self, key: Any) -> Any:
        return self.text(key) if isinstance(key, str) else key

    def _beside(self, named: str, value: str) -> str:
        if '"' in value or "'" in value or not _IDENTIFIER.fullmatch(named):
            return self.value(named, value)
        return self.setting(named, value)

    def _items(self, name: str, items: Sequence[Any]) -> list[Any]:
        """Words of a command line are judged together: what an option is given stands beside it."""
        if name and _telling(self.names).search(name[-_NAME_CHARACTERS:]):
            return [self.document(item, name) for item in items]
        if len(items) > _LIST_ITEMS or not all(isinstance(item, str) for item in items):
            return [self.document(item, name) for item in items]
        return _apart(items, _shapes(self.names))


def _apart(items: Sequence[str], shapes: Shapes) -> list[str]:
    words = [item.encode("utf-8", "surrogatepass") for item in items]
    found = shapes.secrets(b" ".join(words))
    shown: list[str] = []
    starts, ends = [low for low, _ in found], [high for _, high in found]
    at = 0
    for word in words:
        end = at + len(word)
        some = found[bisect_right(ends, at) : bisect_left(starts, end)]
        inside = [(max(low, at) - at, min(high, end) - at) for low, high in some]
        shown.append((_replaced(word, inside) if inside else word).decode("utf-8", "surrogatepass"))
        at = end + 1
    return shown


def _replaced(data: bytes, found: list[Span]) -> bytes:
    pieces: list[bytes] = []
    done = 0
    for start, end in found:
        pieces += [data[done:start], mark(data[start:end])]
        done = end
    return b"".join([*pieces, data[done:]])


def _without_text(found: re.Match[str]) -> str:
    quote, inner, end = found.groups()
    is_secret = len(inner) >= _SHORTEST and values.is_value(inner.encode("utf-8", "replace"))
    return f"{quote}{_marked(inner)}{end}" if is_secret else found[0]


def _marked(secret: str) -> str:
    return secret if secret.startswith("<redacted ") else f"<redacted {len(secret)} chars>"


_WEAK = re.compile(r"(?:(?:next|prev|previous|cur|current|last|first|peek|lookahead|start|end|new|old)_)?token")


def _is_opaque(value: str) -> bool:
    return any(values.is_opaque(found[2].encode("utf-8", "replace")) for found in _QUOTED.finditer(value))


@lru_cache(maxsize=8)
def _shapes(names: tuple[str, ...]) -> Shapes:
    return Shapes(names)


@lru_cache(maxsize=4096)
def _names_in(expression: str, more: tuple[str, ...]) -> tuple[str, ...]:
    """The names in it that tell of a secret."""
    telling = _telling(more)
    found = dict.fromkeys(_IDENTIFIER.findall(expression))
    return tuple(name for name in found if telling.search(name[-_NAME_CHARACTERS:]))


@lru_cache(maxsize=8)
def _telling(more: tuple[str, ...]) -> re.Pattern[str]:
    names = [f"(?:{it.before}){it.name}" for it in NAMES if it.literal != "auth" or it.name != "auth"]
    return re.compile(rf"(?i)(?:{'|'.join([*names, *map(re.escape, more)])})\Z")
