"""FILE:LINE as people write it, and which condition belongs to which `--break`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from dragoman.cli.hello import working_folder
from dragoman.errors import DragomanError
from dragoman.phrases import say

_BREAK = ("--break", "-b")
_CONDITIONS = {"--if": "condition", "--hit": "hit_condition", "--log": "log_message"}
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?", re.DOTALL)
# Options of the commands, and how many words each takes.
_SHARED = {"--json": 1, "--session": 2, "--workspace": 2, "--timeout": 2, "--frame": 2, "--thread": 2}
# No argument can hold it, so it ends one without doubt.
_END = "\0"


def word_first(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """`debug --json eval x` is `debug eval --json x`: these options mean the same to every command that has them."""
    at = 1
    while at < len(arguments) and arguments[at].partition("=")[0] in _SHARED:
        at += 1 if "=" in arguments[at] else _SHARED[arguments[at]]
    if at == 1 or at >= len(arguments) or arguments[at] not in commands or arguments[at].startswith("-"):
        return list(arguments)
    return [*arguments[:1], arguments[at], *arguments[1:at], *arguments[at + 1 :]]


def folded(arguments: Sequence[str]) -> list[str]:
    """`--break a.py:3 --if x` becomes one token: a parser of options does not tell which of them stood behind which."""
    done: list[str] = []
    is_behind_break = False
    rest = iter(_separated(arguments))
    for word in rest:
        if word == "--":
            return [*done, word, *rest]
        value = next(rest, None) if word in (*_BREAK, *_CONDITIONS) else None
        if value is not None and word in _CONDITIONS and is_behind_break:
            done[-1] += f"{_END}{word}{_END}{value}"
            continue
        is_behind_break = word in _BREAK and value is not None
        done += [word] if value is None else [word, value]
    return done


def _separated(arguments: Sequence[str]) -> Iterator[str]:
    """`--if=x` is `--if x`."""
    words = iter(arguments)
    for word in words:
        if word == "--":
            yield word
            yield from words
            return
        name, equals, value = word.partition("=")
        yield from (name, value) if equals and name in (*_BREAK, *_CONDITIONS) else (word,)


def breakpoint_of(token: str) -> dict[str, Any]:
    """A `--break` with what was folded into it, as `set_breakpoint` takes it."""
    place, *words = token.split(_END)
    conditions = dict(zip(words[::2], words[1::2], strict=True))
    return breakpoint_at(place, **{_CONDITIONS[name]: value for name, value in conditions.items()})


def breakpoint_at(place: str, **conditions: str) -> dict[str, Any]:
    file, line, column = place_of(place)
    asked = {"file_path": file, "line_number": line, "column_number": column, **conditions}
    return {name: value for name, value in asked.items() if value}


def place_of(text: str) -> tuple[str, int, int | None]:
    found = _PLACE.fullmatch(text)
    if found is None:
        raise DragomanError(
            "bad_place",
            say("{text} is not a place in a file.", text=ascii(text[:200])),
            hint=say("Write FILE:LINE, for example app.py:12."),
        )
    return here(found["file"]), int(found["line"]), int(found["column"]) if found["column"] else None


def here(path: str) -> str:
    """Names of files mean what they mean to the shell: relative to where one stands, not to the workspace."""
    return str(Path(working_folder()) / Path(path).expanduser())
