"""Decode and check JSON values once on arrival, so that later code never meets an endlessly nested or broken one."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar

import msgspec

from dragoman.protocols.a2ui.messages import A2uiError, A2uiLimits
from dragoman.protocols.a2ui.pointer import escape

T = TypeVar("T")

# A path from the root, newest key first: built only when an error needs it.
_PathNode = tuple["_PathNode | None", str | int] | None

_CONVERT_PATH = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_PATH_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN_FIELD = re.compile(r"unknown field `([^`]*)`")


def decode(data: bytes) -> Any:
    """One JSON document."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise A2uiError("too_deep", "", "The JSON is nested far too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise A2uiError("invalid_json", "", f"This is not JSON: {error}") from None


def check(value: Any, limits: A2uiLimits) -> None:
    """Refuse a value that is not JSON or is nested too deeply.

    Decoded input is checked too: a caller's parser may allow more.
    """
    stack: list[tuple[Any, int, _PathNode]] = [(value, 0, None)]
    while stack:
        item, depth, path = stack.pop()
        problem = _json_problem(item)
        if problem:
            raise A2uiError("invalid_json", path_pointer(path), problem)
        if not isinstance(item, (dict, list)):
            continue
        if depth >= limits.json_depth:
            raise A2uiError("too_deep", path_pointer(path), f"JSON is nested at most {limits.json_depth} deep.")
        entries = item.items() if isinstance(item, dict) else enumerate(item)
        stack.extend((inner, depth + 1, (path, key)) for key, inner in entries)


def _json_problem(item: object) -> str:
    if item is None or isinstance(item, (bool, int)):
        return ""
    if isinstance(item, str):
        return "" if _is_unicode(item) else "A string has half of a surrogate pair."
    if isinstance(item, float):
        return "" if math.isfinite(item) else "A number is not finite."
    if isinstance(item, list):
        return ""
    if isinstance(item, dict):
        return "" if all(isinstance(key, str) and _is_unicode(key) for key in item) else "A key is not a string."
    return f"A {type(item).__name__} is not JSON."


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def path_pointer(path: _PathNode) -> str:
    keys: list[str] = []
    while path is not None:
        path, key = path
        keys.append("/" + escape(str(key).encode(errors="replace").decode()))
    return "".join(reversed(keys))


def depth_of(value: Any) -> int:
    """Containers on the longest way down: 0 for a scalar."""
    deepest = 0
    stack = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, (dict, list)):
            deepest = max(deepest, depth)
            stack.extend((inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item))
    return deepest


def size_of(value: Any) -> int:
    return len(msgspec.json.encode(value))


def to_text(value: Any) -> str:
    """A value as text (0.9, type conversion): empty for null, JSON for lists and objects."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))  # as every browser writes it
    return msgspec.json.encode(value).decode()


def convert(body: object, shape: type[T], pointer: str) -> T:
    """A typed body, or an error that points at the field."""
    try:
        return msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        what, where = _explained(str(error))
        raise A2uiError("invalid_message", pointer + where, what) from None


def _explained(text: str) -> tuple[str, str]:
    match = _CONVERT_PATH.match(text)
    assert match is not None
    steps = _PATH_STEP.findall(match["path"] or "")
    pointer = "".join("/" + escape(name or index) for name, index in steps)
    unknown = _UNKNOWN_FIELD.search(match["what"])
    return match["what"] + ".", pointer + ("/" + escape(unknown[1]) if unknown else "")
