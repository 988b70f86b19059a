"""What a call may weigh, judged before anything of it is looked at: whoever judges later has paid already."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from dragoman.errors import DragomanError
from dragoman.phrases import say

# Slips of the pen beyond the parameters there are; from there on it is no call.
_BESIDES = 8
MOST_PARTS = 10_000
MOST_CHARACTERS = 2_000_000
MOST_DEPTH = 50
_NAMED = 5
_NAME = 60


def require_bounded(tool: str, known: Collection[str], arguments: Mapping[str, Any]) -> None:
    if len(arguments) > len(known) + _BESIDES:
        raise _too_many_parameters(tool, known, arguments)
    if not _is_bounded(arguments):
        raise _too_large(tool)


def _is_bounded(arguments: Mapping[str, Any]) -> bool:
    """Level by level, and given up at the first excess: a hostile call costs no more than an honest one."""
    parts, characters = 0, 0
    level: list[Any] = [arguments]
    for _ in range(MOST_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, Mapping | list | tuple):
                parts += len(value)
                if parts > MOST_PARTS:
                    return False
                inner += _within(value)
        if characters > MOST_CHARACTERS:
            return False
        if not inner:
            return True
        level = inner
    return False


def _within(value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> list[Any]:
    return [*value.keys(), *value.values()] if isinstance(value, Mapping) else list(value)


def _too_many_parameters(tool: str, known: Collection[str], arguments: Mapping[str, Any]) -> DragomanError:
    unknown = islice((name for name in arguments if name not in known), _NAMED)
    return DragomanError(
        "bad_arguments",
        say(
            "{tool} cannot be called with {count} arguments; it has none called {names}.",
            tool=tool,
            count=len(arguments),
            names=", ".join(ascii(str(name)[:_NAME]) for name in unknown),
        ),
        hint=say("Its parameters are: {names}.", names=", ".join(known) or "-"),
    )


def _too_large(tool: str) -> DragomanError:
    return DragomanError(
        "bad_arguments",
        say("The arguments of {tool} are too large to be taken.", tool=tool),
        hint=say(
            "In all at most {characters} characters, {parts} members and elements, and {depth} levels.",
            characters=MOST_CHARACTERS,
            parts=MOST_PARTS,
            depth=MOST_DEPTH,
        ),
    )
