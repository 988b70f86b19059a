"""The redactor: decides what is shown and recorded of texts, variables, settings, events and streams.

Terminals, debug output, the journal with its stores, evidence, reports and logs all use it, so that they all hide the
same secrets. It never changes what is sent to a program, nor what must be sent again (a breakpoint's condition in its
store). Redacting a text again changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from dragoman.core.events import Event
from dragoman.core.redaction import value_checks
from dragoman.core.redaction.patterns import SECRET_NAMES
from dragoman.core.redaction.scanner import SecretScanner, Span
from dragoman.core.redaction.stream import SecretStream, redaction_mark

ENGINE_VERSION = 5
"""Increased when more secrets are recognised: data that older versions left on disk is then redacted again."""

_SHORTEST = 4
# Replacing one secret may expose the next one; more rounds than this find nothing new.
_ROUNDS = 4
_LIST_ITEMS = 1_000
_NAME_CHARACTERS = 60
_EXPRESSION_CHARACTERS = 2_000
# C shows the address first; a value that the debugger cut has no closing quote.
_QUOTED = re.compile(r"(['\"`])((?:\\.|(?!\1)[^\\])*)(\1|\\?\Z)", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$-]*")
# Members that hold a name, and those that hold its value: the name shows whether the value is a secret.
_NAMING = ("name", "key", "variable", "expression", "evaluate_name", "evaluateName", "watch")
_NAMED = frozenset({"value", "result", "before", "after", "old", "new", "from", "to", "default", "was", "now"})


@dataclass(frozen=True, slots=True)
class Redactor:
    enabled: bool = True
    names: tuple[str, ...] = ()
    """Names of secrets, besides the built-in ones."""

    def text(self, text: str) -> str:
        """Redact output, source lines, messages or command lines: secrets by their form, and values beside a secret's
        name.
        """
        if not self.enabled or len(text) < _SHORTEST:
            return text
        if "\x1b" in text:  # colour codes may be inside a secret, or inside its name
            return self._coloured(text)
        data, scanner = text.encode("utf-8", "surrogatepass"), _scanner(self.names)
        found = scanner.secrets(data)
        if not found:
            return text
        for _ in range(_ROUNDS):
            data = _replaced(data, found)
            found = scanner.secrets(data)
            if not found:
                break
        return data.decode("utf-8", "surrogatepass")

    def _coloured(self, text: str) -> str:
        stream = self.program_output()
        data = text.encode("utf-8", "surrogatepass")
        return (stream.feed(data) + stream.flush()).decode("utf-8", "surrogatepass")

    def value(self, name: str, value: str) -> str:
        """Redact the value of a variable or expression: all its text if the name is a secret's. Numbers and objects
        stay.
        """
        if not self.enabled or not self._names_secret(name, value):
            return self.text(value)
        if value_checks.is_bare_text(value.encode("utf-8", "replace")):  # debuggers of shells show text without quotes
            return _marked(value)
        return self.text(_QUOTED.sub(_without_text, value))

    def setting(self, name: str, text: str) -> str:
        """Redact a value in a file, by its key. References such as ${env:TOKEN} stay."""
        if (
            self.enabled
            and len(text) >= _SHORTEST
            and _secret_name_pattern(self.names).search(name[-_NAME_CHARACTERS:])
        ):
            return _marked(text) if value_checks.is_value(text.encode("utf-8", "replace")) else text
        return self.text(text)

    def event(self, event: Event) -> Event:
        """The event as it may be recorded, because the journal is searched and kept."""
        if not self.enabled:
            return event
        return msgspec.structs.replace(event, text=self.text(event.text), body=self.document(event.body))

    def document(self, document: Any, name: str = "") -> Any:
        """Redact JSON values at any depth: by their names, by a name beside them, and by their form."""
        if not self.enabled:
            return document
        if isinstance(document, Mapping):
            return self._members(document)
        if isinstance(document, list | tuple):
            return self._items(name, document)
        return self.setting(name, document) if isinstance(document, str) else document

    def stream(self) -> SecretStream:
        """For bytes that arrive in any chunks."""
        return SecretStream(_scanner(self.names) if self.enabled else None)

    def program_output(self) -> SecretStream:
        """Like `stream`, for the output of a debugged program, where titles are text too."""
        return SecretStream(_scanner(self.names) if self.enabled else None, keeps_titles=True)

    def mask(self) -> SecretStream:
        """For bytes in a file that others refer to by offset: the length stays the same."""
        return SecretStream(_scanner(self.names) if self.enabled else None, in_place=True)

    def line(self, text: str) -> str:
        """Redact a whole text as a terminal would show it: escape sequences stay, titles are removed."""
        stream = self.stream()
        data = text.encode("utf-8", "surrogateescape")
        return (stream.feed(data) + stream.flush()).decode("utf-8", "replace")

    def _names_secret(self, name: str, value: str) -> bool:
        """Whether an expression names a secret: any name in it counts; `token`, common in parsers, only with a fitting
        value.
        """
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
        """Redact a list. The words of a command line are checked together, because a value follows its option."""
        if name and _secret_name_pattern(self.names).search(name[-_NAME_CHARACTERS:]):
            return [self.document(item, name) for item in items]
        if len(items) > _LIST_ITEMS or not all(isinstance(item, str) for item in items):
            return [self.document(item, name) for item in items]
        return _joined_words(items, _scanner(self.names))


def _joined_words(items: Sequence[str], scanner: SecretScanner) -> list[str]:
    words = [item.encode("utf-8", "surrogatepass") for item in items]
    found = scanner.secrets(b" ".join(words))
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
        pieces += [data[done:start], redaction_mark(data[start:end])]
        done = end
    return b"".join([*pieces, data[done:]])


def _without_text(found: re.Match[str]) -> str:
    quote, inner, end = found.groups()
    is_secret = len(inner) >= _SHORTEST and value_checks.is_value(inner.encode("utf-8", "replace"))
    return f"{quote}{_marked(inner)}{end}" if is_secret else found[0]


def _marked(secret: str) -> str:
    return secret if secret.startswith("<redacted ") else f"<redacted {len(secret)} chars>"


_WEAK = re.compile(r"(?:(?:next|prev|previous|cur|current|last|first|peek|lookahead|start|end|new|old)_)?token")


def _is_opaque(value: str) -> bool:
    return any(value_checks.is_opaque(found[2].encode("utf-8", "replace")) for found in _QUOTED.finditer(value))


@lru_cache(maxsize=8)
def _scanner(names: tuple[str, ...]) -> SecretScanner:
    return SecretScanner(names)


@lru_cache(maxsize=4096)
def _names_in(expression: str, more: tuple[str, ...]) -> tuple[str, ...]:
    """The names in the text that indicate a secret."""
    telling = _secret_name_pattern(more)
    found = dict.fromkeys(_IDENTIFIER.findall(expression))
    return tuple(name for name in found if telling.search(name[-_NAME_CHARACTERS:]))


@lru_cache(maxsize=8)
def _secret_name_pattern(more: tuple[str, ...]) -> re.Pattern[str]:
    names = [f"(?:{it.before}){it.name}" for it in SECRET_NAMES if it.literal != "auth" or it.name != "auth"]
    return re.compile(rf"(?i)(?:{'|'.join([*names, *map(re.escape, more)])})\Z")
