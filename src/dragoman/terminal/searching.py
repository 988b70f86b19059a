"""Search in output: what the index has not seen yet is read, then the index says where to look; newest first."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import anyio.to_thread
import apsw

from dragoman.clock import Clock
from dragoman.journal import Journal, Place, Record
from dragoman.terminal.commands import CommandStore
from dragoman.terminal.index import Block, OutputIndex, Reach
from dragoman.terminal.indexing import Indexer
from dragoman.terminal.matching import Wanted, wanted
from dragoman.terminal.plain import plain
from dragoman.terminal.stream import Kind, decoded
from dragoman.terminal.told import Hit, OutputSearch

_BLOCKS_A_LOOK = 40
_HITS_LIMIT = 1_000
_NEWEST = 1 << 62
_END = Place(_NEWEST)
_CARRY_BYTES = 512
_LINE_BYTES = 16 * 1024
_SCAN_READ = 1024 * 1024
_BLOCK_READ = 96 * 1024
_BESIDE = (Kind.INPUT, Kind.SKIPPED)


class _Found(NamedTuple):
    terminal: str
    place: Place
    at_ns: int
    line: str


@dataclass(slots=True)
class _Look:
    """One search on its way."""

    wanted: Wanted
    terminal: str
    limit: int
    ends_s: float
    found: list[_Found] = field(default_factory=list)
    scanned_bytes: int = 0
    complete: bool = True


class OutputSearching:
    def __init__(
        self, journal: Journal, store: CommandStore, index: OutputIndex, indexer: Indexer, clock: Clock
    ) -> None:
        self._journal = journal
        self._store = store
        self._index = index
        self._indexer = indexer
        self._clock = clock

    async def search(self, words: str, terminal: str, limit: int, timeout_s: float) -> OutputSearch:
        look = _Look(wanted(words), terminal, max(1, min(limit, _HITS_LIMIT)), self._clock.monotonic_s() + timeout_s)
        reaches = dict(await self._indexer.reaches())
        waiting = [name for name in self._indexer.waiting() if terminal in ("", name)]
        for name in waiting:
            await self._scan(look, name, reaches.get(name, Reach()))
        if len(look.found) < look.limit:
            await self._ask_the_index(look, {name: reaches.get(name, Reach()).place for name in waiting})
        upto = min((reaches.get(name, Reach()).at_ns for name in waiting), default=self._clock.wall_ns())
        newest = sorted(look.found, key=lambda it: (it.at_ns, it.place), reverse=True)[: look.limit]
        return OutputSearch(
            hits=await self._hits(newest),
            indexed_upto_ns=upto,
            scanned_bytes=look.scanned_bytes,
            complete=look.complete,
        )

    async def _scan(self, look: _Look, terminal: str, reach: Reach) -> None:
        """What came after the index: forward, keeping the newest."""
        newest: deque[_Found] = deque(maxlen=look.limit)
        async for found in self._lines(look, terminal, reach.place, None, reach.carry):
            if len(newest) == look.limit:
                look.complete = False
            newest.append(found)
        look.found += newest

    async def _ask_the_index(self, look: _Look, scanned_from: dict[str, Place]) -> None:
        below = _NEWEST
        while self._left_s(look) > 0:
            blocks = await self._blocks(look, below)
            for number, block in blocks:
                below = number
                if block.start >= scanned_from.get(block.terminal, _END):  # indexed while we read it
                    continue
                lines = self._lines(look, block.terminal, block.start, block.until, block.carry)
                here = [found async for found in lines]
                look.found += reversed(here)
                if len(look.found) >= look.limit:
                    look.complete = False
                    return
            if len(blocks) < _BLOCKS_A_LOOK:
                return
        look.complete = False

    async def _blocks(self, look: _Look, below: int) -> list[tuple[int, Block]]:
        ask = partial(
            self._index.find, look.wanted.expression, look.terminal, below, _BLOCKS_A_LOOK, self._left_s(look)
        )
        try:
            return await anyio.to_thread.run_sync(ask)
        except apsw.InterruptError:
            look.complete = False
            return []

    async def _lines(
        self, look: _Look, terminal: str, start: Place, until: Place | None, carry: bytes
    ) -> AsyncGenerator[_Found, None]:
        """Lines that end between two places; one that goes on after them is found where it ends."""
        last: Record | None = None
        async for record in self._records(look, terminal, start, until):
            frame = decoded(record.payload)
            if frame is None or frame.kind in _BESIDE:
                continue
            if frame.kind is not Kind.OUTPUT:
                whole, carry = carry, b""
            elif until is not None and record.place >= until:
                return
            else:
                look.scanned_bytes += len(frame.data)
                whole, carry = _cut(carry + frame.data)
                last = record
            for line in _matching(look.wanted, whole):
                yield _Found(terminal, record.place, record.at_ns, line)
            if until is not None and record.place >= until:
                return
        if last is not None:
            for line in _matching(look.wanted, carry):
                yield _Found(terminal, last.place, last.at_ns, line)

    async def _records(
        self, look: _Look, terminal: str, start: Place, until: Place | None
    ) -> AsyncGenerator[Record, None]:
        """From a place on; with an end, up to the first one after it."""
        while True:
            if self._left_s(look) <= 0:
                look.complete = False
                return
            reading = await self._journal.records(terminal, start, limit=_BLOCK_READ if until else _SCAN_READ)
            for record in reading.records:
                yield record
                if until is not None and record.place >= until:
                    return
            if not reading.records:
                return
            start = reading.upto

    async def _hits(self, found: list[_Found]) -> list[Hit]:
        names: dict[tuple[str, Place], str] = {}
        for terminal in {one.terminal for one in found}:
            places = {one.place for one in found if one.terminal == terminal}
            rows = (await self._journal.query(self._store.printing(terminal, places))).rows
            names |= {(terminal, Place(segment, offset)): name or "" for segment, offset, name in rows}
        return [
            Hit(command_id=names[one.terminal, one.place], terminal=one.terminal, line=one.line, at_ns=one.at_ns)
            for one in found
        ]

    def _left_s(self, look: _Look) -> float:
        return look.ends_s - self._clock.monotonic_s()


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """Whole lines, and the beginning of the next; a line without end is cut."""
    end = data.rfind(b"\n") + 1
    return (data, data[-_CARRY_BYTES:]) if len(data) - end > _LINE_BYTES else (data[:end], data[end:])


def _matching(wanted: Wanted, data: bytes) -> list[str]:
    """A word is looked for in the bytes first, unless colours or another script may stand in the middle of it."""
    if not data:
        return []
    if b"\x1b" not in data and wanted.rarest.isascii() and wanted.rarest not in data.lower():
        return []
    return list(wanted.lines(plain(data)))
