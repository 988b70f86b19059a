"""RFC 6901 pointers into a data model, with A2UI's additions: `/` is the whole model, and a set makes what is missing.

Written here because the jsonpointer package copies the whole document to keep the old one, creates no lists, bounds no
index, and (rightly, by the RFC) reads `/` as the key ``""``. Nothing is changed in place: a set copies one path.
"""

from __future__ import annotations

import re
from typing import Any

from dragoman.protocols.a2ui.messages import DEFAULT_LIMITS, A2uiLimits

Tokens = tuple[str, ...]

MISSING: Any = object()

# RFC 6901, 4: no leading zeros; ASCII digits only, which \d and str.isdigit are not.
_INDEX = re.compile(r"0|[1-9][0-9]*")
_BAD_ESCAPE = re.compile(r"~(?![01])")
_APPEND = "-"


class PointerError(ValueError):
    """A pointer that cannot be parsed or followed. `code` is stable; the text is for the author of the pointer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def parse(pointer: str, limits: A2uiLimits = DEFAULT_LIMITS) -> Tokens:
    """An absolute pointer. Both `` and `/` name the whole data model (A2UI 0.9, updateDataModel)."""
    if pointer in ("", "/"):
        return ()
    if not pointer.startswith("/"):
        raise PointerError("invalid_pointer", f"A pointer starts with '/': {_shown(pointer)}")
    return _tokens(pointer[1:], limits)


def scoped(path: str, scope: Tokens, limits: A2uiLimits = DEFAULT_LIMITS) -> Tokens:
    """A binding's path: absolute, or relative to the item of the list template around it (`.` is the item itself)."""
    if path.startswith("/"):
        return parse(path, limits)
    if path in ("", "."):
        return scope
    return scope + _tokens(path, limits)


def format_pointer(tokens: Tokens) -> str:
    return "".join("/" + escape(token) for token in tokens)


def escape(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")


def get(document: Any, tokens: Tokens) -> Any:
    """The value there, or MISSING."""
    for token in tokens:
        if isinstance(document, dict):
            document = document.get(token, MISSING)
        elif isinstance(document, list) and _is_index(token) and int(token) < len(document):
            document = document[int(token)]
        else:
            return MISSING
    return document


def put(document: Any, tokens: Tokens, value: Any, limits: A2uiLimits = DEFAULT_LIMITS) -> Any:
    """A document with the value set. Missing containers are created: a list before an index or `-`, else an object."""
    if not tokens:
        return value
    head, rest = tokens[0], tokens[1:]
    if document is None:
        document = [] if head == _APPEND or _is_index(head) else {}
    if isinstance(document, dict):
        return {**document, head: put(document.get(head), rest, value, limits)}
    if isinstance(document, list):
        return _put_item(document, head, rest, value, limits)
    raise PointerError("not_a_container", f"{_shown(head)} cannot be set inside a {_kind(document)}.")


def remove(document: Any, tokens: Tokens) -> Any:
    """A document without the value.

    A missing value is not an error; a list keeps its length and gets a null (A2UI 0.9).
    """
    if not tokens:
        return {}
    if get(document, tokens) is MISSING:
        return document
    head, rest = tokens[0], tokens[1:]
    if isinstance(document, dict):
        if not rest:
            return {key: value for key, value in document.items() if key != head}
        return {**document, head: remove(document[head], rest)}
    index = int(head)
    return [*document[:index], remove(document[index], rest) if rest else None, *document[index + 1 :]]


def _put_item(items: list[Any], head: str, rest: Tokens, value: Any, limits: A2uiLimits) -> list[Any]:
    index = len(items) if head == _APPEND else _index(head, limits)
    old = items[index] if index < len(items) else None
    padding = [None] * (index - len(items))
    return [*items[:index], *padding, put(old, rest, value, limits), *items[index + 1 :]]


def _index(token: str, limits: A2uiLimits) -> int:
    if not _is_index(token):
        raise PointerError("invalid_index", f"{_shown(token)} is not an index of a list.")
    index = int(token)
    if index > limits.array_index:
        raise PointerError("index_too_large", f"Index {_shown(token)} is above {limits.array_index}.")
    return index


def _tokens(text: str, limits: A2uiLimits) -> Tokens:
    if len(text) >= limits.pointer_length:
        raise PointerError("pointer_too_long", f"A pointer has at most {limits.pointer_length} characters.")
    if _BAD_ESCAPE.search(text):
        raise PointerError("invalid_pointer", f"In a pointer '~' is written '~0' and '/' is '~1': {_shown(text)}")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/"))


def _is_index(token: str) -> bool:
    return _INDEX.fullmatch(token) is not None


def _kind(value: object) -> str:
    return {str: "string", bool: "boolean"}.get(type(value), "number")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
