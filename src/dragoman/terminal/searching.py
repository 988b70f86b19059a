"""Search in output: what the index has not seen yet is read, then the index says where to look; newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import anyio.to_thread
import apsw
import msgspec

from dragoman.clock import Clock
from dragoman.journal import Journal, Place, ReadRecords, Record
from dragoman.journal.database import DamagedError
from dragoman.terminal.commands import CommandStore
from dragoman.terminal.echoes import Echoes
from dragoman.terminal.index import NEWEST, Block, Candidates, OutputIndex, Reach, Sought
from dragoman.terminal.indexing import Indexer, cut
from dragoman.terminal.matching import Wanted, wanted
from dragoman.terminal.plain import plain
from dragoman.terminal.stream import Frame, Kind, decoded
from dragoman.terminal.told import Hit, OutputSearch

# A word that comes everywhere is found in the newest block; one that does not needs many looks.
_BLOCKS_AT_FIRST = 2
_BLOCKS_A_LOOK = 64
_HITS_LIMIT = 1_000
_MORE = 8
_END = Place(NEWEST)
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
    """One search on its way; what reads for it runs in a thread, one at a time."""

    wanted: Wanted
    terminal: str
    besides: Set[str]
    limit: int
    left_s: Callable[[], float]
    found: list[_Found] = field(default_factory=list)
    scanned_bytes: int = 0
    complete: bool = True
    back_to_ns: int | None = None
    """Of the oldest block that was looked at."""
    held_at: tuple[str, Place] | None = None
    held: tuple[Record | None, Frame | None] = (None, None)

    @property
    def sought(self) -> Sought:
        return Sought(self.wanted.expression, self.terminal, self.besides, self.wanted.parts)

    @property
    def full(self) -> bool:
        return len(self.found) >= self.limit

    def scan(self, read: ReadRecords, terminal: str, reach: Reach, files: Sequence[int]) -> None:
        """What came after the index: the newest file first, each forward, until there are enough."""
        starts = [reach.place, *(Place(number) for number in files if number > reach.place.segment)]
        found: list[_Found] = []
        for start, until in reversed(list(zip(starts, [*starts[1:], None], strict=True))):
            carry = reach.carry if start == reach.place else None
            here = list(self._lines_of_file(read, terminal, start, until, carry))
            found = here + found
            if len(found) > self.limit or (len(found) == self.limit and carry is None):
                self.complete, self.back_to_ns = False, max(self.back_to_ns or 0, found[0].at_ns)
                break
        self.found += reversed(found[-self.limit :])

    def look_into(self, read: ReadRecords, blocks: Sequence[Block]) -> None:
        for block in blocks:
            here = list(self._lines_of(read, block))
            self.found += reversed(here)
            self.back_to_ns = block.at_ns
            if self.full or self.left_s() <= 0:
                self.complete = False
                return

    def _lines_of(self, read: ReadRecords, block: Block) -> Iterator[_Found]:
        """A block that is the middle of a long frame has whole lines alone: what it cuts belongs to the next one."""
        record, frame = self._first_of(read, block)
        if record is None or frame is None or record.place != block.start or block.high >= len(frame.data):
            yield from self._lines(read, block.terminal, block.start, block.until, block.carry, block.low)
            return
        data = block.carry + frame.data[block.low : block.high]
        self.scanned_bytes += block.high - block.low
        for line in _matching(self.wanted, cut(data)[0]):
            yield _Found(block.terminal, block.start, record.at_ns, line)

    def _first_of(self, read: ReadRecords, block: Block) -> tuple[Record | None, Frame | None]:
        """Of a long frame that is several blocks, which are looked into one after another, read once."""
        if self.held_at != (block.terminal, block.start):
            records = read(block.terminal, block.start, 1).records
            self.held = (records[0], decoded(records[0].payload)) if records else (None, None)
            self.held_at = (block.terminal, block.start)
        return self.held

    def _lines_of_file(
        self, read: ReadRecords, terminal: str, start: Place, until: Place | None, carry: bytes | None
    ) -> Iterator[_Found]:
        """With the first line of the next file, which may have begun in this one, and without its own (no carry)."""
        place, at_ns = start, 0
        skips, carry = carry is None, carry or b""
        for record in self._records(read, terminal, start, until):
            frame = decoded(record.payload)
            beyond = until is not None and record.place >= until
            is_output = frame is not None and frame.kind is Kind.OUTPUT
            if frame is None or (frame.kind in _BESIDE and not beyond):
                skips = False
                continue
            data = frame.data if is_output else b""
            first = data.find(b"\n") + 1 or len(data)
            data = data[first:] if skips else data[:first] if beyond else data
            self.scanned_bytes += len(data)
            whole, carry = cut(carry + data) if is_output and not beyond else (carry + data, b"")
            skips = False
            for line in _matching(self.wanted, whole):
                yield _Found(terminal, record.place, record.at_ns, line)
            place, at_ns = record.place, record.at_ns
        for line in _matching(self.wanted, carry):
            yield _Found(terminal, place, at_ns, line)

    def _lines(
        self, read: ReadRecords, terminal: str, start: Place, until: Place, carry: bytes, low: int
    ) -> Iterator[_Found]:
        """Lines that end between two places; one that goes on after them is found where it ends."""
        last: Record | None = None
        for record in self._records(read, terminal, start, until):
            frame = decoded(record.payload)
            if frame is None or frame.kind in _BESIDE:
                continue
            beyond = record.place >= until
            if frame.kind is not Kind.OUTPUT:
                whole, carry = carry, b""
            elif beyond:
                return
            else:
                self.scanned_bytes += len(frame.data) - low
                whole, carry = cut(carry + frame.data[low:])
                last, low = record, 0
            for line in _matching(self.wanted, whole):
                yield _Found(terminal, record.place, record.at_ns, line)
            if beyond:
                return
        if last is not None:
            for line in _matching(self.wanted, carry):
                yield _Found(terminal, last.place, last.at_ns, line)

    def _records(self, read: ReadRecords, terminal: str, start: Place, until: Place | None) -> Iterator[Record]:
        """From a place on; with an end, up to the first one after it."""
        while True:
            if self.left_s() <= 0:
                self.complete = False
                return
            reading = read(terminal, start, _BLOCK_READ if until else _SCAN_READ)
            for record in reading.records:
                yield record
                if until is not None and record.place >= until:
                    return
            if not reading.records:
                return
            start = reading.upto


class OutputSearching:
    def __init__(
        self, journal: Journal, store: CommandStore, index: OutputIndex, indexer: Indexer, echoes: Echoes, clock: Clock
    ) -> None:
        self._journal = journal
        self._store = store
        self._index = index
        self._indexer = indexer
        self._echoes = echoes
        self._clock = clock

    async def search(
        self, words: str, terminal: str, limit: int, timeout_s: float, *, besides: Set[str] = frozenset()
    ) -> OutputSearch:
        """What is left out makes room: then more is looked for, as far as the time goes."""
        ends_s = self._clock.monotonic_s() + timeout_s

        def left_s() -> float:
            return ends_s - self._clock.monotonic_s()

        limit = most = max(1, min(limit, _HITS_LIMIT))
        while True:
            found = await self._found(_Look(wanted(words), terminal, besides, most, left_s))
            hits = await self._echoes.left_out(words, [hit for hit in found.hits if hit.terminal not in besides])
            if len(hits) >= limit or found.complete or most >= _HITS_LIMIT or left_s() <= 0:
                complete = found.complete and len(hits) <= limit
                return msgspec.structs.replace(found, hits=hits[:limit], complete=complete)
            most = min(most * _MORE, _HITS_LIMIT)

    async def _found(self, look: _Look) -> OutputSearch:
        terminal = look.terminal
        reaches = await self._reaches()
        behind = {name: reaches.get(name, Reach()) for name in self._indexer.waiting() if terminal in ("", name)}
        for name, reach in behind.items():
            files = await self._journal.segments_of(name)
            await self._journal.reading(partial(look.scan, terminal=name, reach=reach, files=files))
        if not look.full:
            await self._ask_the_index(look, behind)
        upto = min((reach.at_ns for reach in behind.values()), default=self._clock.wall_ns())
        newest = sorted(look.found, key=lambda it: (it.at_ns, it.place), reverse=True)[: look.limit]
        hits = await self._hits(newest)
        back_to_ns = look.back_to_ns or self._clock.wall_ns()
        return OutputSearch(
            hits=hits,
            indexed_upto_ns=upto,
            scanned_bytes=look.scanned_bytes,
            complete=look.complete,
            back_to_ns=None if look.complete else back_to_ns,
        )

    async def _ask_the_index(self, look: _Look, behind: dict[str, Reach]) -> None:
        below, most = NEWEST, _BLOCKS_AT_FIRST
        while not look.full and look.left_s() > 0:
            found = await self._candidates(look, below, most)
            if not found.blocks:
                return
            # What was indexed while we read it has been looked at.
            blocks = [block for block in found.blocks if block.start < _scanned_from(behind, block.terminal)]
            await self._journal.reading(partial(look.look_into, blocks=blocks))
            below, most = found.below, min(most * 4, _BLOCKS_A_LOOK)
        look.complete = False

    async def _candidates(self, look: _Look, below: int, most: int) -> Candidates:
        ask = partial(self._index.find, look.sought, below, most, look.left_s())
        try:
            found = await anyio.to_thread.run_sync(ask)
            look.complete = look.complete and found.whole
            return found
        except (apsw.Error, DamagedError):  # out of time, or damaged: then it is made again
            look.complete = False
            return Candidates([], 0)

    async def _reaches(self) -> dict[str, Reach]:
        """Without an index everything is read, as far as the time goes."""
        try:
            return dict(await self._indexer.reaches())
        except (apsw.Error, DamagedError, OSError):
            return {}

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


def _scanned_from(behind: dict[str, Reach], terminal: str) -> Place:
    return behind[terminal].place if terminal in behind else _END


def _matching(wanted: Wanted, data: bytes) -> Iterator[str]:
    return wanted.lines(plain(data)) if data and wanted.may_stand_in(data) else iter(())
