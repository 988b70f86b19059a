"""Exports a recorded terminal: its stream, with its commands inserted where they ran.

A command's place in the stream is found by its time and its first bytes: times are in milliseconds, and much can
happen within one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

import msgspec

from dragoman.terminal.exchange import asciicast, omnish_folder, recording_model
from dragoman.terminal.exchange.recording_model import (
    CommandEnd,
    CommandStart,
    ExportedPart,
    RecordingHeader,
    RecordingItem,
    RecordingWriter,
)
from dragoman.terminal.model import CommandFilter, OutputPage, RecordedCommand, StreamPiece, TerminalStatus
from dragoman.terminal.screen import first_size, terminal_size

_COMMANDS = 1000
_HEAD_BYTES = 64
_LATE_MS = 1000
"""After this, a command whose first bytes were not found is placed by its time."""


class ExportSource(Protocol):
    def terminal(self, terminal_id: str) -> TerminalStatus: ...

    def pieces(self, terminal_id: str) -> AsyncIterator[StreamPiece]: ...

    async def commands(
        self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None
    ) -> list[RecordedCommand]: ...

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65536) -> OutputPage: ...


async def export_recording(record: ExportSource, terminal_id: str, format: str) -> AsyncGenerator[ExportedPart, None]:
    seen = record.terminal(terminal_id)
    writer = _WRITERS[format](_header(seen, await _first_size(record, terminal_id) or terminal_size(seen.terminal)))
    for part in writer.begin():
        yield part
    last_ms = 0
    async for item in _merged(record.pieces(terminal_id), await _commands(record, terminal_id), record):
        last_ms = max(last_ms, item.at_ms)
        for part in writer.record(_not_before(item, last_ms)):
            yield part
    for part in writer.finish():
        yield part


async def _first_size(record: ExportSource, terminal_id: str) -> tuple[int, int] | None:
    """The first resize in the record also states the size before it."""
    async for piece in record.pieces(terminal_id):
        if piece.kind == "output" and (size := first_size(piece.data)):
            return size
    return None


def _header(seen: TerminalStatus, size: tuple[int, int]) -> RecordingHeader:
    terminal, (columns, rows) = seen.terminal, size
    return RecordingHeader(
        id=terminal.id,
        started_ms=terminal.started_ns // 1_000_000,
        ended_ms=None if terminal.ended_ns is None else terminal.ended_ns // 1_000_000,
        exit_code=terminal.exit_code,
        parent=terminal.parent,
        attributes=terminal.attributes,
        columns=columns,
        rows=rows,
    )


_WRITERS: Mapping[str, Callable[[RecordingHeader], RecordingWriter]] = {
    "asciicast": lambda header: asciicast.AsciicastWriter(header, 2),
    "asciicast3": lambda header: asciicast.AsciicastWriter(header, 3),
    "omnish": omnish_folder.OmnishFolderWriter,
    "jsonl": recording_model.JsonLinesWriter,
}
FORMATS = tuple(_WRITERS)


async def _commands(record: ExportSource, terminal_id: str) -> list[RecordedCommand]:
    """The commands, oldest first."""
    found, before_ns = list[RecordedCommand](), None
    while page := await record.commands(CommandFilter(terminal=terminal_id), limit=_COMMANDS, before_ns=before_ns):
        found += page
        before_ns = page[-1].started_ns
    return sorted(found, key=lambda command: command.started_ns)


async def _merged(
    pieces: AsyncIterator[StreamPiece], commands: list[RecordedCommand], record: ExportSource
) -> AsyncIterator[RecordingItem]:
    merger = _CommandMerger(commands)
    async for piece in pieces:
        if piece.kind == "output":
            async for item in merger.before(piece, record):
                yield item
        yield piece
        for item in merger.after(piece):
            yield item
    for item in merger.rest():
        yield item


class _CommandMerger:
    """Where in the stream each command begins and ends: its output is a number of bytes from its first one."""

    def __init__(self, commands: list[RecordedCommand]) -> None:
        self._waiting = deque(commands)
        self._running: RecordedCommand | None = None
        self._left = 0
        self._head: bytes | None = None

    async def before(self, piece: StreamPiece, record: ExportSource) -> AsyncIterator[RecordingItem]:
        while self._running is None and self._waiting and _started_ms(self._waiting[0]) <= piece.at_ms:
            command = self._waiting[0]
            if not await self._is_its_first(command, piece, record):
                return
            self._waiting.popleft()
            self._head = None
            for item in self._begun(command):
                yield item

    def after(self, piece: StreamPiece) -> Iterator[RecordingItem]:
        if self._running is not None and piece.kind == "output":
            self._left -= len(piece.data)
            if self._left <= 0:
                yield _ended(self._running)
                self._running = None

    def rest(self) -> Iterator[RecordingItem]:
        if self._running is not None:
            yield _ended(self._running)
        for command in self._waiting:
            yield from (_began(command), _ended(command))

    def _begun(self, command: RecordedCommand) -> Iterator[RecordingItem]:
        yield _began(command)
        if command.output_bytes:
            self._running, self._left = command, command.output_bytes
        else:
            yield _ended(command)

    async def _is_its_first(self, command: RecordedCommand, piece: StreamPiece, record: ExportSource) -> bool:
        if not command.output_bytes or piece.at_ms - _started_ms(command) > _LATE_MS:
            return True
        if self._head is None:
            self._head = (await record.output(command.id, limit=_HEAD_BYTES)).data
        return piece.data.startswith(self._head[: len(piece.data)])


def _not_before(item: RecordingItem, at_ms: int) -> RecordingItem:
    """Clocks are set back, and a command may claim an earlier start than its output; the export's times never
    decrease."""
    if isinstance(item, StreamPiece):
        return msgspec.structs.replace(item, at_ms=at_ms)
    return replace(item, at_ms=at_ms) if isinstance(item, CommandStart) else item


def _started_ms(command: RecordedCommand) -> int:
    return command.started_ns // 1_000_000


def _began(command: RecordedCommand) -> CommandStart:
    return CommandStart(_started_ms(command), command.line)


def _ended(command: RecordedCommand) -> CommandEnd:
    return CommandEnd(
        id=command.id,
        line=command.line if command.line_told else None,
        cwd=command.cwd,
        started_ms=_started_ms(command),
        ended_ms=None if command.ended_ns is None else command.ended_ns // 1_000_000,
        exit_code=command.exit_code,
        summary=command.summary,
        claimed_ms=None if command.claimed_ns is None else command.claimed_ns // 1_000_000,
    )
