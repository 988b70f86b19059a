"""A recorded terminal goes out: its stream with its commands woven in where they ran, in one of the formats.

A command's place in the stream is found by its time and by its first bytes: moments are milliseconds, and much can
happen within one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

import msgspec

from dragoman.terminal.exchange import asciicast, folders, json_lines
from dragoman.terminal.exchange.recording import Began, Ended, Exported, Header, Item, Writer
from dragoman.terminal.model import Command, Piece
from dragoman.terminal.screen import first_size, size_of
from dragoman.terminal.told import CommandFilter, OutputPage, TerminalSeen

_COMMANDS = 1000
_HEAD_BYTES = 64
_LATE_MS = 1000
"""From here on a command whose first bytes were not met is put where its time says."""


class Record(Protocol):
    def terminal(self, terminal_id: str) -> TerminalSeen: ...

    def pieces(self, terminal_id: str) -> AsyncIterator[Piece]: ...

    async def commands(
        self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None
    ) -> list[Command]: ...

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65536) -> OutputPage: ...


async def export(record: Record, terminal_id: str, format: str) -> AsyncGenerator[Exported, None]:
    seen = record.terminal(terminal_id)
    writer = _WRITERS[format](_header(seen, await _first_size(record, terminal_id) or size_of(seen.terminal)))
    for part in writer.begin():
        yield part
    last_ms = 0
    async for item in _woven(record.pieces(terminal_id), await _commands(record, terminal_id), record):
        last_ms = max(last_ms, item.at_ms)
        for part in writer.told(_not_before(item, last_ms)):
            yield part
    for part in writer.finished():
        yield part


async def _first_size(record: Record, terminal_id: str) -> tuple[int, int] | None:
    """What the record says where its window first changed is how large it had been until then."""
    async for piece in record.pieces(terminal_id):
        if piece.kind == "output" and (size := first_size(piece.data)):
            return size
    return None


def _header(seen: TerminalSeen, size: tuple[int, int]) -> Header:
    terminal, (columns, rows) = seen.terminal, size
    return Header(
        id=terminal.id,
        started_ms=terminal.started_ns // 1_000_000,
        ended_ms=None if terminal.ended_ns is None else terminal.ended_ns // 1_000_000,
        exit_code=terminal.exit_code,
        parent=terminal.parent,
        attributes=terminal.attributes,
        columns=columns,
        rows=rows,
    )


_WRITERS: Mapping[str, Callable[[Header], Writer]] = {
    "asciicast": lambda header: asciicast.Writer(header, 2),
    "asciicast3": lambda header: asciicast.Writer(header, 3),
    "omnish": folders.Writer,
    "jsonl": json_lines.Writer,
}
FORMATS = tuple(_WRITERS)


async def _commands(record: Record, terminal_id: str) -> list[Command]:
    """Oldest first."""
    found, before_ns = list[Command](), None
    while page := await record.commands(CommandFilter(terminal=terminal_id), limit=_COMMANDS, before_ns=before_ns):
        found += page
        before_ns = page[-1].started_ns
    return sorted(found, key=lambda command: command.started_ns)


async def _woven(pieces: AsyncIterator[Piece], commands: list[Command], record: Record) -> AsyncIterator[Item]:
    loom = _Loom(commands)
    async for piece in pieces:
        if piece.kind == "output":
            async for item in loom.before(piece, record):
                yield item
        yield piece
        for item in loom.after(piece):
            yield item
    for item in loom.rest():
        yield item


class _Loom:
    """Where in the stream each command begins and ends: its output is so many bytes from its first ones on."""

    def __init__(self, commands: list[Command]) -> None:
        self._waiting = deque(commands)
        self._running: Command | None = None
        self._left = 0
        self._head: bytes | None = None

    async def before(self, piece: Piece, record: Record) -> AsyncIterator[Item]:
        while self._running is None and self._waiting and _started_ms(self._waiting[0]) <= piece.at_ms:
            command = self._waiting[0]
            if not await self._is_its_first(command, piece, record):
                return
            self._waiting.popleft()
            self._head = None
            for item in self._begun(command):
                yield item

    def after(self, piece: Piece) -> Iterator[Item]:
        if self._running is not None and piece.kind == "output":
            self._left -= len(piece.data)
            if self._left <= 0:
                yield _ended(self._running)
                self._running = None

    def rest(self) -> Iterator[Item]:
        if self._running is not None:
            yield _ended(self._running)
        for command in self._waiting:
            yield from (_began(command), _ended(command))

    def _begun(self, command: Command) -> Iterator[Item]:
        yield _began(command)
        if command.output_bytes:
            self._running, self._left = command, command.output_bytes
        else:
            yield _ended(command)

    async def _is_its_first(self, command: Command, piece: Piece, record: Record) -> bool:
        if not command.output_bytes or piece.at_ms - _started_ms(command) > _LATE_MS:
            return True
        if self._head is None:
            self._head = (await record.output(command.id, limit=_HEAD_BYTES)).data
        return piece.data.startswith(self._head[: len(piece.data)])


def _not_before(item: Item, at_ms: int) -> Item:
    """Clocks are set back, and a command may say that it began before what was shown: an export runs on."""
    if isinstance(item, Piece):
        return msgspec.structs.replace(item, at_ms=at_ms)
    return replace(item, at_ms=at_ms) if isinstance(item, Began) else item


def _started_ms(command: Command) -> int:
    return command.started_ns // 1_000_000


def _began(command: Command) -> Began:
    return Began(_started_ms(command), command.line)


def _ended(command: Command) -> Ended:
    return Ended(
        id=command.id,
        line=command.line if command.line_told else None,
        cwd=command.cwd,
        started_ms=_started_ms(command),
        ended_ms=None if command.ended_ns is None else command.ended_ns // 1_000_000,
        exit_code=command.exit_code,
        summary=command.summary,
        claimed_ms=None if command.claimed_ns is None else command.claimed_ns // 1_000_000,
    )
