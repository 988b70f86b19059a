"""Searches output, newest first: reads what is not indexed yet, then asks the index where to look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import anyio.to_thread
import apsw
import msgspec

from dragoman.core.clock import Clock
from dragoman.journal import Journal, ReadRecords, RecordPlace, SegmentRecord, Statement
from dragoman.journal.database import DamagedError
from dragoman.terminal.model import CommandFilter, OutputLine, OutputSearchResult, RecordedCommand
from dragoman.terminal.plain_text import to_plain_text
from dragoman.terminal.record.command_store import CommandStore, command_from_row
from dragoman.terminal.record.stream import FrameKind, StreamFrame, decode_frame
from dragoman.terminal.search.index import NEWEST, IndexBlock, IndexCandidates, IndexPosition, IndexQuery, OutputIndex
from dragoman.terminal.search.indexer import Indexer, split_whole_lines
from dragoman.terminal.search.query import OutputQuery, parse_output_query

_LINES_OF_A_TERMINAL = 1_000
# A common word is in the newest block; a rare one needs many reads.
_BLOCKS_AT_FIRST = 2
_BLOCKS_PER_ROUND = 64
_HITS_LIMIT = 1_000
_MORE = 8
_SCAN_READ = 1024 * 1024
_BLOCK_READ = 96 * 1024


class EchoFilter:
    """Removes hits that no program printed: the echo of typed command lines, and the output of commands that query
    the record."""

    def __init__(self, journal: Journal, store: CommandStore, running: Callable[[str], RecordedCommand | None]) -> None:
        self._journal = journal
        self._store = store
        self._running = running

    async def without_echoes(self, words: str, hits: Sequence[OutputLine]) -> list[OutputLine]:
        """The hits without echoes. Otherwise each search would find the previous search, and its own words."""
        printed_by = {hit.command_id for hit in hits if hit.command_id}
        named = await self._commands(self._store.named(printed_by)) if printed_by else []
        again = {command.id for command in named if command.reads_the_record}
        typed = {name: await self._typed(words, name) for name in {hit.terminal for hit in hits if not hit.command_id}}
        return [
            hit
            for hit in hits
            if (hit.command_id not in again if hit.command_id else not _folded(hit.line).endswith(typed[hit.terminal]))
        ]

    async def _typed(self, words: str, terminal: str) -> tuple[str, ...]:
        """An echo that contains the words belongs to a command line that contains them."""
        wanted = CommandFilter(text=words, terminal=terminal, verified=True)
        known = await self._commands(self._store.chosen(wanted, limit=_LINES_OF_A_TERMINAL, before_ns=None))
        running = self._running(terminal)
        lines = (_folded(command.line) for command in [*known, *([running] if running else [])])
        return tuple({line for line in lines if line})

    async def _commands(self, statement: Statement) -> list[RecordedCommand]:
        return [command_from_row(row) for row in (await self._journal.query(statement)).rows]


def _folded(line: str) -> str:
    """A line editor wraps and pads typed text."""
    return "".join(line.split())


_END = RecordPlace(NEWEST)
_NOT_OUTPUT = (FrameKind.INPUT, FrameKind.SKIPPED)


class _MatchedLine(NamedTuple):
    terminal: str
    place: RecordPlace
    at_ns: int
    line: str


@dataclass(slots=True)
class _SearchRun:
    """One running search. Its reads run in a thread, one at a time."""

    wanted: OutputQuery
    terminal: str
    besides: Set[str]
    limit: int
    left_s: Callable[[], float]
    found: list[_MatchedLine] = field(default_factory=list)
    scanned_bytes: int = 0
    complete: bool = True
    back_to_ns: int | None = None
    """The time of the oldest block that was searched."""
    held_at: tuple[str, RecordPlace] | None = None
    held: tuple[SegmentRecord | None, StreamFrame | None] = (None, None)

    @property
    def query(self) -> IndexQuery:
        return IndexQuery(self.wanted.expression, self.terminal, self.besides, self.wanted.parts)

    @property
    def full(self) -> bool:
        return len(self.found) >= self.limit

    def scan(self, read: ReadRecords, terminal: str, reach: IndexPosition, files: Sequence[int]) -> None:
        """Scan what is not indexed yet: newest file first, each forward, until there are enough hits."""
        starts = [reach.place, *(RecordPlace(number) for number in files if number > reach.place.segment)]
        lines: list[_MatchedLine] = []
        for start, until in reversed(list(zip(starts, [*starts[1:], None], strict=True))):
            carry = reach.carry if start == reach.place else None
            here = list(self._lines_of_file(read, terminal, start, until, carry))
            lines = here + lines
            if len(lines) > self.limit or (len(lines) == self.limit and carry is None):
                self.complete, self.back_to_ns = False, max(self.back_to_ns or 0, lines[0].at_ns)
                break
        self.found += reversed(lines[-self.limit :])

    def read_blocks(self, read: ReadRecords, blocks: Sequence[IndexBlock]) -> None:
        for block in blocks:
            here = list(self._lines_of(read, block))
            self.found += reversed(here)
            self.back_to_ns = block.at_ns
            if self.full or self.left_s() <= 0:
                self.complete = False
                return

    def _lines_of(self, read: ReadRecords, block: IndexBlock) -> Iterator[_MatchedLine]:
        """A block in the middle of a long frame has whole lines only: a cut line belongs to the next block."""
        record, frame = self._first_of(read, block)
        if record is None or frame is None or record.place != block.start or block.high >= len(frame.data):
            yield from self._lines(read, block.terminal, block.start, block.until, block.carry, block.low)
            return
        data = block.carry + frame.data[block.low : block.high]
        self.scanned_bytes += block.high - block.low
        for line in _matching(self.wanted, split_whole_lines(data)[0]):
            yield _MatchedLine(block.terminal, block.start, record.at_ns, line)

    def _first_of(self, read: ReadRecords, block: IndexBlock) -> tuple[SegmentRecord | None, StreamFrame | None]:
        """Read a long frame once, for its several blocks."""
        if self.held_at != (block.terminal, block.start):
            records = read(block.terminal, block.start, 1).records
            self.held = (records[0], decode_frame(records[0].payload)) if records else (None, None)
            self.held_at = (block.terminal, block.start)
        return self.held

    def _lines_of_file(
        self, read: ReadRecords, terminal: str, start: RecordPlace, until: RecordPlace | None, carry: bytes | None
    ) -> Iterator[_MatchedLine]:
        """The lines of a file, with the first line of the next file, which may have begun here, and without its own
        (no carry)."""
        place, at_ns = start, 0
        skips, carry = carry is None, carry or b""
        for record in self._records(read, terminal, start, until):
            frame = decode_frame(record.payload)
            beyond = until is not None and record.place >= until
            is_output = frame is not None and frame.kind is FrameKind.OUTPUT
            if frame is None or (frame.kind in _NOT_OUTPUT and not beyond):
                skips = False
                continue
            data = frame.data if is_output else b""
            first = data.find(b"\n") + 1 or len(data)
            data = data[first:] if skips else data[:first] if beyond else data
            self.scanned_bytes += len(data)
            whole, carry = split_whole_lines(carry + data) if is_output and not beyond else (carry + data, b"")
            skips = False
            for line in _matching(self.wanted, whole):
                yield _MatchedLine(terminal, record.place, record.at_ns, line)
            place, at_ns = record.place, record.at_ns
        for line in _matching(self.wanted, carry):
            yield _MatchedLine(terminal, place, at_ns, line)

    def _lines(
        self, read: ReadRecords, terminal: str, start: RecordPlace, until: RecordPlace, carry: bytes, low: int
    ) -> Iterator[_MatchedLine]:
        """Lines that end between two places. A line that continues is found where it ends."""
        last: SegmentRecord | None = None
        for record in self._records(read, terminal, start, until):
            frame = decode_frame(record.payload)
            if frame is None or frame.kind in _NOT_OUTPUT:
                continue
            beyond = record.place >= until
            if frame.kind is not FrameKind.OUTPUT:
                whole, carry = carry, b""
            elif beyond:
                return
            else:
                self.scanned_bytes += len(frame.data) - low
                whole, carry = split_whole_lines(carry + frame.data[low:])
                last, low = record, 0
            for line in _matching(self.wanted, whole):
                yield _MatchedLine(terminal, record.place, record.at_ns, line)
            if beyond:
                return
        if last is not None:
            for line in _matching(self.wanted, carry):
                yield _MatchedLine(terminal, last.place, last.at_ns, line)

    def _records(
        self, read: ReadRecords, terminal: str, start: RecordPlace, until: RecordPlace | None
    ) -> Iterator[SegmentRecord]:
        """Records from a place on; with an end, up to the first record after it."""
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


class OutputSearcher:
    def __init__(
        self,
        journal: Journal,
        store: CommandStore,
        index: OutputIndex,
        indexer: Indexer,
        echoes: EchoFilter,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._store = store
        self._index = index
        self._indexer = indexer
        self._echoes = echoes
        self._clock = clock

    async def search(
        self, words: str, terminal: str, limit: int, timeout_s: float, *, besides: Set[str] = frozenset()
    ) -> OutputSearchResult:
        """Search. Filtered hits make room, so the search continues as long as time allows."""
        ends_s = self._clock.monotonic_s() + timeout_s

        def left_s() -> float:
            return ends_s - self._clock.monotonic_s()

        limit = most = max(1, min(limit, _HITS_LIMIT))
        while True:
            found = await self._found(_SearchRun(parse_output_query(words), terminal, besides, most, left_s))
            hits = await self._echoes.without_echoes(words, [hit for hit in found.hits if hit.terminal not in besides])
            if len(hits) >= limit or found.complete or most >= _HITS_LIMIT or left_s() <= 0:
                complete = found.complete and len(hits) <= limit
                return msgspec.structs.replace(found, hits=hits[:limit], complete=complete)
            most = min(most * _MORE, _HITS_LIMIT)

    async def _found(self, run: _SearchRun) -> OutputSearchResult:
        terminal = run.terminal
        reaches = await self._reaches()
        behind = {
            name: reaches.get(name, IndexPosition()) for name in self._indexer.waiting() if terminal in ("", name)
        }
        for name, reach in behind.items():
            files = await self._journal.segments_of(name)
            await self._journal.reading(partial(run.scan, terminal=name, reach=reach, files=files))
        if not run.full:
            await self._search_index(run, behind)
        upto = min((reach.at_ns for reach in behind.values()), default=self._clock.wall_ns())
        newest = sorted(run.found, key=lambda it: (it.at_ns, it.place), reverse=True)[: run.limit]
        hits = await self._hits(newest)
        back_to_ns = run.back_to_ns or self._clock.wall_ns()
        return OutputSearchResult(
            hits=hits,
            indexed_upto_ns=upto,
            scanned_bytes=run.scanned_bytes,
            complete=run.complete,
            back_to_ns=None if run.complete else back_to_ns,
        )

    async def _search_index(self, run: _SearchRun, behind: dict[str, IndexPosition]) -> None:
        below, most = NEWEST, _BLOCKS_AT_FIRST
        while not run.full and run.left_s() > 0:
            found = await self._candidates(run, below, most)
            if not found.blocks:
                return
            # What was indexed during the scan has been searched already.
            blocks = [block for block in found.blocks if block.start < _scanned_from(behind, block.terminal)]
            await self._journal.reading(partial(run.read_blocks, blocks=blocks))
            below, most = found.below, min(most * 4, _BLOCKS_PER_ROUND)
        run.complete = False

    async def _candidates(self, run: _SearchRun, below: int, most: int) -> IndexCandidates:
        ask = partial(self._index.find, run.query, below, most, run.left_s())
        try:
            found = await anyio.to_thread.run_sync(ask)
            run.complete = run.complete and found.whole
            return found
        except (apsw.Error, DamagedError):  # timed out, or damaged: then it is rebuilt
            run.complete = False
            return IndexCandidates([], 0)

    async def _reaches(self) -> dict[str, IndexPosition]:
        """Without an index everything is scanned, as long as time allows."""
        try:
            return dict(await self._indexer.reaches())
        except (apsw.Error, DamagedError, OSError):
            return {}

    async def _hits(self, found: list[_MatchedLine]) -> list[OutputLine]:
        names: dict[tuple[str, RecordPlace], str] = {}
        for terminal in {one.terminal for one in found}:
            places = {one.place for one in found if one.terminal == terminal}
            rows = (await self._journal.query(self._store.printing(terminal, places))).rows
            names |= {(terminal, RecordPlace(segment, offset)): name or "" for segment, offset, name in rows}
        return [
            OutputLine(command_id=names[one.terminal, one.place], terminal=one.terminal, line=one.line, at_ns=one.at_ns)
            for one in found
        ]


def _scanned_from(behind: dict[str, IndexPosition], terminal: str) -> RecordPlace:
    return behind[terminal].place if terminal in behind else _END


def _matching(wanted: OutputQuery, data: bytes) -> Iterator[str]:
    return wanted.lines(to_plain_text(data)) if data and wanted.may_contain(data) else iter(())
