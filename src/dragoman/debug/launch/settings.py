"""`${config:KEY}`: a value of the workspace's own settings.json, under a dotted key or nested objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dragoman.debug.launch.faults import UnresolvableError, choice, quoted
from dragoman.debug.launch.nodes import Node
from dragoman.phrases import say

_MOST_KNOWN = 200


def setting_text(settings: Node | None, key: str) -> str:
    values = {} if settings is None else settings.object()
    found = next(_found(values, key), None)
    if found is None:
        raise UnresolvableError(
            "unresolved_variable",
            say("the workspace's settings.json has no {key}; other settings are not read", key=quoted(key)),
            choice(key, _keys(values)),
            key=key,
            known=[*islice(_keys(values), _MOST_KNOWN)],
        )
    if isinstance(found, dict | list):
        raise UnresolvableError(
            "unresolved_variable",
            say("the setting {key} is not a single value", key=quoted(key)),
            choice(key, (name for name in _keys(values) if name != key)),
            key=key,
            known=[*islice((name for name in _keys(values) if name != key), _MOST_KNOWN)],
        )
    return found if isinstance(found, str) else json.dumps(found)


def _found(values: dict[str, Any], key: str) -> Iterator[Any]:
    """Every way to read the key: `a.b.c` may be one name, or `a` that holds `b.c`, and so on."""
    if values.get(key) is not None:
        yield values[key]
    for end in (index for index, char in enumerate(key) if char == "."):
        inner = values.get(key[:end])
        if isinstance(inner, dict):
            yield from _found(inner, key[end + 1 :])


def _keys(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{name}.")
