"""Reads and writes Dragoman's own JSON lines format, which is lossless. Bytes that are not UTF-8 are in base64."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from dragoman.core.localization import localize
from dragoman.terminal.errors import bad_recording
from dragoman.terminal.exchange.recording_model import (
    LINE_CHARACTERS,
    CommandEnd,
    CommandStart,
    ExportedPart,
    RecordingHeader,
    RecordingItem,
    json_line,
    read_command_end,
    read_header,
    read_text,
    read_time_ms,
)
from dragoman.terminal.model import StreamPiece

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
