"""A recording, independent of its file format: a header, then items in order. Values from a file are bounded or
dropped.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
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


FORMAT = "dragoman.terminal/1"


class JsonLinesWriter:
    def __init__(self, header: RecordingHeader) -> None:
        self._header = header

    def begin(self) -> Iterator[ExportedPart]:
        yield json_line({"format": FORMAT, **asdict(self._header), "attributes": dict(self._header.attributes)})

    def record(self, item: RecordingItem) -> Iterator[ExportedPart]:
        yield json_line(_encoded(item))

    def finish(self) -> Iterator[ExportedPart]:
        yield from ()


def _encoded(item: RecordingItem) -> dict[str, Any]:
    if isinstance(item, CommandStart):
        return {"kind": "began", "at_ms": item.at_ms, "line": item.line}
    if isinstance(item, CommandEnd):
        return {"kind": "ended", **asdict(item)}
    try:
        return {"kind": item.kind, "at_ms": item.at_ms, "text": item.data.decode()}
    except UnicodeDecodeError:
        return {"kind": item.kind, "at_ms": item.at_ms, "base64": base64.b64encode(item.data).decode()}


def read_json_lines(first: dict[str, Any], lines: Iterable[Any]) -> tuple[RecordingHeader, Iterator[RecordingItem]]:
    head = read_header(first, read_time_ms(first.get("started_ms")), first.get("columns"), first.get("rows"))
    return head, map(_item, lines)


def _item(line: Any) -> RecordingItem:
    if not isinstance(line, dict):
        raise bad_recording(reason=localize("a line is not an event"))
    kind, at_ms = line.get("kind"), line.get("at_ms", 0)
    if kind == "began":
        return CommandStart(read_time_ms(at_ms), read_text(line.get("line"), LINE_CHARACTERS))
    if kind == "ended":
        return read_command_end(line)
    if kind in ("input", "output", "gap"):
        return StreamPiece(read_time_ms(at_ms), kind, _data(line))
    raise bad_recording(reason=localize("a line is not an event"))


def _data(line: dict[str, Any]) -> bytes:
    if "base64" not in line:
        return read_text(line.get("text"), 1 << 30).encode("utf-8", "replace")
    try:
        return base64.b64decode(read_text(line["base64"], 1 << 30), validate=True)
    except binascii.Error as error:
        raise bad_recording(reason=localize("a line is not an event")) from error
