"""Indexes streams in the background, in small steps and a few seconds behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import anyio
import anyio.to_thread
import apsw

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.journal import Journal, RecordPage, RecordPlace, SegmentRecord
from dragoman.journal.event_rows import split_words
from dragoman.terminal.plain_text import to_plain_text
from dragoman.terminal.record.stream import HEAD_BYTES, FrameKind, StreamFrame, decode_frame
from dragoman.terminal.search.index import IndexBlock, IndexPosition, OutputIndex

log = logging.getLogger(__name__)

# The size of a block that is read again for a hit: small enough to read at once, large enough to be few.
BLOCK_BYTES = 16 * 1024
STEP_BYTES = 2 * 1024 * 1024
_EVERY_S = 5.0
# While terminals print much, the indexer waits; after that it uses at most a tenth of a core.
_BUSY_BYTES_A_S = 4 * 1024 * 1024
_POLL_INTERVAL_S = 0.5
_WAITS_AT_MOST_S = 20.0
_PAUSE_S = 0.005
_BUSY_PAUSE = 9.0
_LINE_BYTES = 4_096
_WORD_BYTES = 512
_BOUNDARIES = (FrameKind.BEGAN, FrameKind.ENDED)


class RecordFrame(NamedTuple):
    record: SegmentRecord
    frame: StreamFrame

    @property
    def until(self) -> RecordPlace:
        """Not the start of the next record, but no later than that: a safe place to stop reading."""
        return RecordPlace(self.record.place.segment, self.record.place.offset + HEAD_BYTES + len(self.frame.data))


class Indexer:
    def __init__(
        self, journal: Journal, index: OutputIndex, grown: dict[str, int], known: Callable[[], list[str]], clock: Clock
    ) -> None:
        self._journal = journal
        self._known = known
        self._clock = clock
        self._taken = 0
        self._looked_s = clock.monotonic_s()
        self._busy = False
        self._index = index
        self._grown = grown
        self._thread = anyio.CapacityLimiter(1)
        self._turn = anyio.Lock()
        self._reaches: dict[str, IndexPosition] = {}
        self._generation = -1

    async def run(self) -> None:
        """Run until cancelled. A failing disk is logged once per round, and retried."""
        while True:
            await self._wait_until_idle()
            try:
                await self.catch_up()
            except (DragomanError, apsw.Error, OSError) as error:
                log.warning("output could not be indexed: %s", error)
            await anyio.sleep(_EVERY_S)

    def note_recorded(self, length: int) -> None:
        """Count the bytes that were just recorded."""
        self._taken += length

    async def _wait_until_idle(self) -> None:
        """Wait until a burst is over or has lasted long enough."""
        ends_s = self._clock.monotonic_s() + _WAITS_AT_MOST_S
        while True:
            await anyio.sleep(_POLL_INTERVAL_S)
            self._measure_load()
            if not self._busy or self._clock.monotonic_s() > ends_s:
                return

    def _measure_load(self) -> None:
        """Measure whether much is being recorded."""
        now_s = self._clock.monotonic_s()
        passed_s = now_s - self._looked_s
        if passed_s >= _POLL_INTERVAL_S:
            self._busy = self._taken > _BUSY_BYTES_A_S * passed_s
            self._taken, self._looked_s = 0, now_s

    async def catch_up(self) -> None:
        """Advance each stream one step in turn, so that an endless stream does not delay the others."""
        async with self._turn:
            reaches = await self.reaches()
            while behind := list(self._grown):
                for terminal in behind:
                    await self._advance(terminal, reaches)

    async def _advance(self, terminal: str, reaches: dict[str, IndexPosition]) -> None:
        """A stream is behind until a step finds nothing and nothing arrived since."""
        seen, began_s = self._grown[terminal], self._clock.monotonic_s()
        if await self._step(terminal, reaches):
            self._measure_load()
            took_s = self._clock.monotonic_s() - began_s
            await anyio.sleep(took_s * _BUSY_PAUSE if self._busy else _PAUSE_S)
        elif self._grown.get(terminal) == seen:
            del self._grown[terminal]

    async def reaches(self) -> dict[str, IndexPosition]:
        """How far each stream is indexed. With a new index, every stream may be behind."""
        if self._generation != self._index.generation:
            generation = self._index.generation
            self._reaches = await anyio.to_thread.run_sync(self._index.reaches, limiter=self._thread)
            self._mark(self._known())
            self._generation = generation
        return self._reaches

    def waiting(self) -> list[str]:
        """Streams with bytes that are not indexed yet."""
        return list(self._grown)

    def _mark(self, terminals: list[str]) -> None:
        self._grown.update({terminal: self._grown.get(terminal, 0) + 1 for terminal in terminals})

    async def _step(self, terminal: str, reaches: dict[str, IndexPosition]) -> bool:
        """Do one step; return whether there was anything to do. If the index was reset meanwhile, `reaches` no
        longer applies."""
        generation = self._index.generation
        if generation != self._generation:
            return False
        reach = reaches.get(terminal, IndexPosition())
        reading = await self._journal.records(terminal, reach.place, limit=STEP_BYTES)
        if not reading.records:
            return False
        work = partial(self._indexed, generation, terminal, reading, reach)
        reached = await anyio.to_thread.run_sync(work, limiter=self._thread)
        if generation == self._index.generation:
            reaches[terminal] = reached
        return generation == self._index.generation

    def _indexed(self, generation: int, terminal: str, reading: RecordPage, reach: IndexPosition) -> IndexPosition:
        blocks: list[tuple[IndexBlock, str]] = []
        carry = reach.carry
        for group in _groups(reading.records):
            first, last = group[0], group[-1]
            data = b"".join(followed.frame.data for followed in group)
            for low, high in _slices(data) if len(group) == 1 else [(0, len(data))]:
                piece = carry + data[low:high]
                block = IndexBlock(terminal, first.record.place, last.until, low, high, last.record.at_ns, carry)
                text = to_plain_text(piece)
                blocks.append((block, text if text.isascii() else split_words(text)))
                carry = split_whole_lines(piece)[1]
            if last.frame.kind in _BOUNDARIES:
                carry = b""
        reached = IndexPosition(reading.upto, reading.records[-1].at_ns, carry)
        self._index.add(generation, terminal, blocks, reached)
        return reached


def _groups(records: list[SegmentRecord]) -> Iterator[list[RecordFrame]]:
    """Group frames of output: one long frame, or several short ones, never across a command boundary."""
    group: list[RecordFrame] = []
    size = 0
    for record in records:
        frame = decode_frame(record.payload)
        if frame is None or frame.kind is FrameKind.INPUT:
            continue
        data = frame.data if frame.kind is FrameKind.OUTPUT else b""
        if group and size + len(data) > BLOCK_BYTES:
            yield group
            group, size = [], 0
        group.append(RecordFrame(record, frame._replace(data=data)))
        size += len(data)
        if size >= BLOCK_BYTES or frame.kind in _BOUNDARIES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _slices(data: bytes) -> Iterator[tuple[int, int]]:
    """Split a long frame into several blocks, at line ends if possible."""
    low = 0
    while low < len(data):
        high = min(low + BLOCK_BYTES, len(data))
        if high < len(data):
            high = data.rfind(b"\n", low, high) + 1 or high
        yield low, high
        low = high


def split_whole_lines(data: bytes) -> tuple[bytes, bytes]:
    """Split into whole lines and the start of the next one. An endless line is cut before its last word, which may
    continue."""
    end = data.rfind(b"\n") + 1
    if len(data) - end > _LINE_BYTES:
        end = max(data.rfind(b" ") + 1, len(data) - _WORD_BYTES)
    return data[:end], data[end:]
