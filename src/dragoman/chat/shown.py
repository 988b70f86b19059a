"""What tools answer, as a person reads it: text that stays text, without the numbers that only other tools take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

_REFERENCE = re.compile(r"  \[\d+\]$", re.MULTILINE)
_STACK = re.compile(r"^stack: .*$", re.MULTILINE)
_FRAME = re.compile(r"(?<=^stack: )#\d+ |(?<= < )#\d+ ")
_TICKS = re.compile("`{3,}")


def fenced(text: str) -> str:
    """As a block of Markdown that shows it as it is: its fence is longer than any that stands in it."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def for_people(text: str, data: Mapping[str, Any]) -> str:
    """Only numbers that the answer's data names are taken away: what a program printed is not touched."""
    references = set(_named(data, "variables_reference"))
    frames = set(_named(data, "frame_id"))
    text = _REFERENCE.sub(partial(_without, references), text)
    text = _STACK.sub(lambda line: _FRAME.sub(partial(_without, frames), line[0]), text)
    for session in set(_named(data, "session_id")):
        text = text.replace(f", {session})", ")", 1)
    return text


def _without(numbers: set[int], found: re.Match[str]) -> str:
    return "" if int(found[0].strip(" #[]")) in numbers else found[0]


def _named(data: Any, name: str) -> Iterator[Any]:
    """Values of this name, wherever they stand."""
    if isinstance(data, Mapping):
        yield from (it for key, it in data.items() if key == name and it is not None)
        yield from (found for it in data.values() for found in _named(it, name))
    elif isinstance(data, list):
        yield from (found for it in data for found in _named(it, name))
