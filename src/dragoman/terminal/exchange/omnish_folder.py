"""Reads and writes the session folders of omnish: `meta.json`, `commands.json`, and `stream.bin` with a header before
each piece.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO

from dragoman.core.localization import localize
from dragoman.terminal.errors import bad_recording
from dragoman.terminal.exchange.recording_model import (
    NAME_CHARACTERS,
    CommandEnd,
    CommandStart,
    ExportedPart,
    RecordingHeader,
    RecordingItem,
    read_attributes,
    read_exit_code,
    read_optional_text,
    read_text,
    read_time_ms,
)
from dragoman.terminal.model import StreamPiece

META, COMMANDS, STREAM = "meta.json", "commands.json", "stream.bin"
FILES = (META, COMMANDS, STREAM)
MOST_JSON = 64 << 20
MOST_COMMANDS = 100_000
_HEAD = struct.Struct(">QBI")
_DIRECTIONS = {"input": 0, "output": 1}
_KINDS: dict[int, Any] = {0: "input", 1: "output"}
_MOST_PIECE = 16 << 20


class OmnishFolderWriter:
    """Writes the parts of the stream first: only then is it known where each command's output is."""

    def __init__(self, header: RecordingHeader) -> None:
        self._header = header
        self._at = self._began_at = 0
        self._commands: list[dict[str, Any]] = []

    def begin(self) -> Iterator[ExportedPart]:
        yield ExportedPart(b"", STREAM)

    def record(self, item: RecordingItem) -> Iterator[ExportedPart]:
        if isinstance(item, CommandStart):
            self._began_at = self._at
        elif isinstance(item, CommandEnd):
            self._commands.append(_record(self._header, item, self._began_at, self._at - self._began_at))
            self._began_at = self._at
        elif item.kind in _DIRECTIONS:
            part = _HEAD.pack(item.at_ms, _DIRECTIONS[item.kind], len(item.data)) + item.data
            self._at += len(part)
            yield ExportedPart(part, STREAM)

    def finish(self) -> Iterator[ExportedPart]:
        yield ExportedPart(_pretty(self._commands), COMMANDS)
        yield ExportedPart(_pretty(_meta(self._header)), META)


def _record(header: RecordingHeader, ended: CommandEnd, offset: int, length: int) -> dict[str, Any]:
    return {
        "command_id": ended.id,
        "session_id": header.id,
        "command_line": ended.line,
        "cwd": ended.cwd or None,
        "started_at": ended.started_ms,
        "ended_at": ended.ended_ms,
        "output_summary": ended.summary,
        "stream_offset": offset,
        "stream_length": length,
        "exit_code": ended.exit_code,
    }


def _meta(header: RecordingHeader) -> dict[str, Any]:
    return {
        "session_id": header.id,
        "parent_session_id": header.parent or None,
        "started_at": _rfc3339(header.started_ms),
        "ended_at": None if header.ended_ms is None else _rfc3339(header.ended_ms),
        "attrs": dict(header.attributes),
    }


def _pretty(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _rfc3339(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03}000000+00:00"


def read_omnish_folder(
    meta: bytes, commands: bytes, stream: BinaryIO
) -> tuple[RecordingHeader, Iterator[RecordingItem]]:
    record = _object(meta)
    started = _instant(record.get("started_at"))
    if started is None:
        raise bad_recording(reason=localize("a timestamp is invalid"))
    header = RecordingHeader(
        id=read_text(record.get("session_id"), NAME_CHARACTERS),
        started_ms=started,
        ended_ms=_instant(record.get("ended_at")),
        parent=read_text(record.get("parent_session_id"), NAME_CHARACTERS),
        attributes=read_attributes(record.get("attrs")),
    )
    return header, _merged(_commands(commands), _pieces(stream))


def _object(data: bytes) -> dict[str, Any]:
    value = _json(data)
    if not isinstance(value, dict):
        raise bad_recording(reason=localize("{name} is invalid", name=META))
    return value


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise bad_recording(reason=localize("one of its files is not JSON")) from error


def _instant(value: Any) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        return max(0, round(datetime.fromisoformat(value[:40]).timestamp() * 1000))
    except (ValueError, OverflowError):
        return None


def _commands(data: bytes) -> list[tuple[int, int, CommandEnd]]:
    """The commands in stream order, each with the start and end of its output in the stream."""
    listed = _json(data) if data.strip() else []
    if not isinstance(listed, list) or len(listed) > MOST_COMMANDS:
        raise bad_recording(reason=localize("{name} is invalid", name=COMMANDS))
    return sorted((_command(it) for it in listed if isinstance(it, dict)), key=lambda it: it[:2])


def _command(value: dict[str, Any]) -> tuple[int, int, CommandEnd]:
    started = read_time_ms(value.get("started_at", 0))
    ends = value.get("ended_at")
    offset, length = read_time_ms(value.get("stream_offset", 0)), read_time_ms(value.get("stream_length", 0))
    ended = CommandEnd(
        id=read_text(value.get("command_id"), NAME_CHARACTERS),
        line=read_optional_text(value.get("command_line"), 100_000),
        cwd=read_text(value.get("cwd"), 4096),
        started_ms=started,
        ended_ms=None if ends is None else max(started, read_time_ms(ends)),
        exit_code=read_exit_code(value.get("exit_code")),
        summary=read_text(value.get("output_summary"), 100_000),
    )
    return offset, offset + length, ended


def _pieces(stream: BinaryIO) -> Iterator[tuple[int, StreamPiece]]:
    """The pieces, each with its offset. A torn tail is dropped."""
    at = 0
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        at_ms, direction, length = _HEAD.unpack(head)
        if direction not in _KINDS or length > _MOST_PIECE:
            raise bad_recording(reason=localize("{name} is invalid", name=STREAM))
        data = stream.read(length)
        if len(data) < length:
            return
        yield at, StreamPiece(read_time_ms(at_ms), _KINDS[direction], data)
        at += _HEAD.size + length


def _merged(
    commands: list[tuple[int, int, CommandEnd]], pieces: Iterable[tuple[int, StreamPiece]]
) -> Iterator[RecordingItem]:
    """omnish records no start of a command, only the end of the one before."""
    waiting, running = iter([*commands, None]), None
    following = next(waiting)
    for at, piece in pieces:
        while running is not None and at >= running[1]:
            yield running[2]
            running = None
        while running is None and following is not None and at >= following[0]:
            yield CommandStart(following[2].started_ms, following[2].line or "")
            running, following = following, next(waiting)
            if at >= running[1]:
                yield running[2]
                running = None
        yield piece
    if running is not None:
        yield running[2]
    while following is not None:
        yield CommandStart(following[2].started_ms, following[2].line or "")
        yield following[2]
        following = next(waiting)
