"""A recording, independent of its file format: a header, then items in order. Values from a file are bounded or
dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from dragoman.core.localization import localize
from dragoman.terminal.errors import bad_recording
from dragoman.terminal.model import StreamPiece

MOST_AT_MS = 1 << 53
NAME_CHARACTERS = 200
LINE_CHARACTERS = 100_000
_VALUE_CHARACTERS = 4096
_ATTRIBUTES = 50

_EXIT_CODES = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True, slots=True)
class RecordingHeader:
    id: str
    started_ms: int
    ended_ms: int | None = None
    exit_code: int | None = None
    parent: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    columns: int = 80
    rows: int = 24


@dataclass(frozen=True, slots=True)
class CommandStart:
    """A command starts."""

    at_ms: int
    line: str


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """A command ended. Its output is what was shown since it started."""

    id: str
    line: str | None
    """None if the client did not report it."""
    cwd: str
    started_ms: int
    ended_ms: int | None
    exit_code: int | None
    summary: str = ""
    claimed_ms: int | None = None
    """The start that the client claimed, if that is impossible."""

    @property
    def at_ms(self) -> int:
        return self.started_ms if self.ended_ms is None else self.ended_ms


RecordingItem: TypeAlias = StreamPiece | CommandStart | CommandEnd


@dataclass(frozen=True, slots=True)
class ExportedPart:
    """A part of an export. A format with one file uses a single, empty name."""

    data: bytes
    file: str = ""


class RecordingWriter(Protocol):
    """Takes items and returns parts of files."""

    def begin(self) -> Iterator[ExportedPart]: ...

    def record(self, item: RecordingItem) -> Iterator[ExportedPart]: ...

    def finish(self) -> Iterator[ExportedPart]: ...


def json_line(value: Any) -> ExportedPart:
    """ASCII only, like all our JSON: a terminal that displays it executes nothing."""
    return ExportedPart(json.dumps(value, separators=(",", ":")).encode() + b"\n")


def read_time_ms(value: Any) -> int:
    """A time from an untrusted file, clamped to a valid moment."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124  not a number
        raise bad_recording(reason=localize("a timestamp is invalid"))
    return int(min(max(value, 0), MOST_AT_MS))


def read_exit_code(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in _EXIT_CODES else None


def read_text(value: Any, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def read_optional_text(value: Any, most: int) -> str | None:
    return None if value is None else read_text(value, most)


def read_header(
    values: dict[str, Any], started_ms: int, columns: Any, rows: Any, more: dict[str, str] | None = None
) -> RecordingHeader:
    """`more` are attributes from elsewhere in the file; named fields take precedence."""
    ends = values.get("ended_ms")
    return RecordingHeader(
        id=read_text(values.get("id"), NAME_CHARACTERS),
        started_ms=started_ms,
        ended_ms=None if ends is None else read_time_ms(ends),
        exit_code=read_exit_code(values.get("exit_code")),
        parent=read_text(values.get("parent"), NAME_CHARACTERS),
        attributes=(more or {}) | read_attributes(values.get("attributes")),
        columns=columns if isinstance(columns, int) else 80,
        rows=rows if isinstance(rows, int) else 24,
    )


def read_attributes(value: Any) -> dict[str, str]:
    pairs = list(value.items())[:_ATTRIBUTES] if isinstance(value, dict) else []
    return {
        read_text(name, NAME_CHARACTERS): read_text(it, _VALUE_CHARACTERS) for name, it in pairs if isinstance(it, str)
    }


def read_command_end(value: dict[str, Any]) -> CommandEnd:
    started = read_time_ms(value.get("started_ms", 0))
    ends = value.get("ended_ms", started)
    return CommandEnd(
        id=read_text(value.get("id"), NAME_CHARACTERS),
        line=read_optional_text(value.get("line"), LINE_CHARACTERS),
        cwd=read_text(value.get("cwd"), _VALUE_CHARACTERS),
        started_ms=started,
        ended_ms=None if ends is None else max(started, read_time_ms(ends)),
        exit_code=read_exit_code(value.get("exit_code")),
        summary=read_text(value.get("summary"), LINE_CHARACTERS),
    )
