"""Reads and writes asciicast 2 and 3: a JSON header, then one event per line.

Version 2 counts time from the start, version 3 from the previous event. Bytes that are not UTF-8 are replaced, as
asciinema does. What the format has no place for (folders, exit codes) is in the header under our own key, which other
programs skip.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from dragoman.core.localization import localize
from dragoman.terminal.errors import bad_recording
from dragoman.terminal.exchange.recording_model import (
    LINE_CHARACTERS,
    NAME_CHARACTERS,
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
from dragoman.terminal.screen import resize_sequence

OURS = "dragoman"
_RESIZED = re.compile(r"\x1b\[8;\d{1,4};\d{1,4}t\x1b\[8;(\d{1,4});(\d{1,4})t")
_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")
_KINDS = {"output": "o", "input": "i"}


class AsciicastWriter:
    def __init__(self, header: RecordingHeader, version: Literal[2, 3]) -> None:
        self._version = version
        self._header = header
        self._last_ms = header.started_ms
        self._letters = {kind: codecs.getincrementaldecoder("utf-8")("replace") for kind in _KINDS}

    def begin(self) -> Iterator[ExportedPart]:
        head = self._header
        size = {"width": head.columns, "height": head.rows}
        term = {"term": {"cols": head.columns, "rows": head.rows}}
        ours = {"id": head.id, "started_ms": head.started_ms, "attributes": dict(head.attributes)}
        ends = {"ended_ms": head.ended_ms, "exit_code": head.exit_code, "parent": head.parent}
        about = {"timestamp": head.started_ms // 1000, "env": {"SHELL": head.attributes.get("shell", "")}}
        yield json_line(
            {"version": self._version, **(size if self._version == 2 else term), **about, OURS: ours | ends}
        )

    def record(self, item: RecordingItem) -> Iterator[ExportedPart]:
        if isinstance(item, CommandStart):
            yield self._event(item.at_ms, "m", item.line)
        elif isinstance(item, CommandEnd):
            yield self._comment(item)
        elif item.kind in _KINDS:
            yield from self._shown(item)

    def finish(self) -> Iterator[ExportedPart]:
        if self._version == 3 and self._header.exit_code is not None:
            yield self._event(self._header.ended_ms or self._last_ms, "x", str(self._header.exit_code))

    def _shown(self, piece: StreamPiece) -> Iterator[ExportedPart]:
        """A window resize is an event of its own."""
        shown, at = self._letters[piece.kind].decode(piece.data), 0
        for found in _RESIZED.finditer(shown) if piece.kind == "output" else ():
            if found.start() > at:
                yield self._event(piece.at_ms, "o", shown[at : found.start()])
            yield self._event(piece.at_ms, "r", f"{int(found[2])}x{int(found[1])}")
            at = found.end()
        if shown[at:]:
            yield self._event(piece.at_ms, _KINDS[piece.kind], shown[at:])

    def _event(self, at_ms: int, code: str, data: str) -> ExportedPart:
        """Times never decrease: a player would wait forever, or refuse the file."""
        since = self._last_ms if self._version == 3 else self._header.started_ms
        self._last_ms = max(at_ms, self._last_ms)
        elapsed = (self._last_ms - since) / 1000
        return json_line([elapsed, code, data])

    def _comment(self, ended: CommandEnd) -> ExportedPart:
        """A marker of ours. Players that display markers show it at the end of the command."""
        record = {"id": ended.id, "line": ended.line, "cwd": ended.cwd, "exit_code": ended.exit_code}
        times = {"started_ms": ended.started_ms, "ended_ms": ended.ended_ms, "summary": ended.summary}
        return self._event(ended.at_ms, "m", _END + json.dumps(record | times, ensure_ascii=False))


_END = f"{OURS}:end "


def read_asciicast(first: Any, lines: Iterable[Any]) -> tuple[RecordingHeader, Iterator[RecordingItem]]:
    """`first` is the JSON of the header, `lines` that of the events. Comments are already removed."""
    version = first.get("version") if isinstance(first, dict) else None
    if version not in (2, 3):
        raise bad_recording(reason=localize("the version is neither 2 nor 3"))
    return _header(first), _AsciicastReader(version, _header(first)).items(lines)


def _header(first: dict[str, Any]) -> RecordingHeader:
    ours = first[OURS] if isinstance(first.get(OURS), dict) else {}
    term = first["term"] if isinstance(first.get("term"), dict) else {}
    env = first["env"] if isinstance(first.get("env"), dict) else {}
    started = (
        read_time_ms(ours["started_ms"]) if "started_ms" in ours else read_time_ms(first.get("timestamp", 0)) * 1000
    )
    columns, rows = first.get("width", term.get("cols")), first.get("height", term.get("rows"))
    shell = {"shell": read_text(env.get("SHELL"), NAME_CHARACTERS)} if env.get("SHELL") else {}
    return read_header(ours, started, columns, rows, shell)


class _AsciicastReader:
    def __init__(self, version: int, header: RecordingHeader) -> None:
        self._version = version
        self._at_ms = self._started_ms = header.started_ms
        self._size = (header.columns, header.rows)

    def items(self, lines: Iterable[Any]) -> Iterator[RecordingItem]:
        for line in lines:
            if not isinstance(line, list) or len(line) < 3 or not all(isinstance(it, str) for it in line[1:3]):
                raise bad_recording(reason=localize("a line is not an event"))
            elapsed = read_time_ms(line[0] * 1000 if isinstance(line[0], int | float) else line[0])
            self._at_ms = (self._at_ms if self._version == 3 else self._started_ms) + elapsed
            yield from self._item(line[1], line[2])

    def _item(self, code: str, data: str) -> Iterator[RecordingItem]:
        if code in ("o", "i"):
            yield StreamPiece(self._at_ms, "output" if code == "o" else "input", data.encode("utf-8", "replace"))
        elif code == "m" and data.startswith(_END):
            yield from _ended(data.removeprefix(_END))
        elif code == "m" and data:
            yield CommandStart(self._at_ms, data[:LINE_CHARACTERS])
        elif code == "r" and (match := _SIZE.fullmatch(data)):
            yield self._resized(int(match[1]), int(match[2]))

    def _resized(self, columns: int, rows: int) -> RecordingItem:
        before, self._size = self._size, (columns, rows)
        return StreamPiece(self._at_ms, "output", resize_sequence(before, self._size))


def _ended(record: str) -> Iterator[RecordingItem]:
    """A marker that only resembles ours is ordinary text."""
    try:
        value = json.loads(record)
    except ValueError:
        return
    if isinstance(value, dict):
        yield read_command_end(value)
