"""A recording as every format means it: who it was, then what happened, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.terminal.model import Piece

MOST_AT_MS = 1 << 53
_EXIT_CODES = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True, slots=True)
class Header:
    id: str
    started_ms: int
    ended_ms: int | None = None
    exit_code: int | None = None
    parent: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    columns: int = 80
    rows: int = 24


@dataclass(frozen=True, slots=True)
class Began:
    """A command begins to run."""

    at_ms: int
    line: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A command ended; its output is what was shown since it began."""

    id: str
    line: str | None
    """None where its client did not tell it."""
    cwd: str
    started_ms: int
    ended_ms: int | None
    exit_code: int | None
    summary: str = ""
    claimed_ms: int | None = None
    """When its client says that it began, where that cannot be."""

    @property
    def at_ms(self) -> int:
        return self.started_ms if self.ended_ms is None else self.ended_ms


Item: TypeAlias = Piece | Began | Ended


@dataclass(frozen=True, slots=True)
class Exported:
    """A part of a file. A format of one file has but one name for it, which is empty."""

    data: bytes
    file: str = ""


class Writer(Protocol):
    """Items in, parts of files out."""

    def begin(self) -> Iterator[Exported]: ...

    def told(self, item: Item) -> Iterator[Exported]: ...

    def finished(self) -> Iterator[Exported]: ...


def json_line(value: Any) -> Exported:
    """ASCII, as is every JSON of ours: a terminal that it lands on obeys none of it."""
    return Exported(json.dumps(value, separators=(",", ":")).encode() + b"\n")


def instant_ms(value: Any) -> int:
    """Of a file that anybody may have written: a moment that can be one, or the nearest."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124  not a number
        raise bad_recording(say("a time is not a number"))
    return int(min(max(value, 0), MOST_AT_MS))


def exit_code(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in _EXIT_CODES else None


def text(value: Any, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def optional_text(value: Any, most: int) -> str | None:
    return None if value is None else text(value, most)


def bad_recording(reason: object) -> DragomanError:
    return DragomanError(
        "bad_recording",
        say("This is not a recording that can be read: {reason}.", reason=reason),
        hint=say("asciicast 2 and 3, session folders of omnish, and the JSON lines of Dragoman can be."),
    )
