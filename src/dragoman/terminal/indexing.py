"""The index follows the streams: in small steps in the background, a few seconds behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import anyio
import anyio.to_thread
import apsw

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.journal import Journal, Place, Reading, Record
from dragoman.journal.records import split_words
from dragoman.terminal.index import Block, OutputIndex, Reach
from dragoman.terminal.plain import plain
from dragoman.terminal.stream import HEAD_BYTES, Frame, Kind, decoded

log = logging.getLogger(__name__)

# What is read again for a line that has the words: small enough to be read at once, large enough to be few.
BLOCK_BYTES = 16 * 1024
STEP_BYTES = 2 * 1024 * 1024
_EVERY_S = 5.0
# While terminals print much, the index waits; then it takes a tenth of a core, whatever comes.
_BUSY_BYTES_A_S = 4 * 1024 * 1024
_LOOK_S = 0.5
_WAITS_AT_MOST_S = 20.0
_PAUSE_S = 0.005
_BUSY_PAUSE = 9.0
_LINE_BYTES = 4_096
_WORD_BYTES = 512
_BOUNDARIES = (Kind.BEGAN, Kind.ENDED)


class Followed(NamedTuple):
    record: Record
    frame: Frame

    @property
    def until(self) -> Place:
        """Not where the next record begins, but no later than that: enough to stop reading at."""
        return Place(self.record.place.segment, self.record.place.offset + HEAD_BYTES + len(self.frame.data))


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
        self._reaches: dict[str, Reach] = {}
        self._generation = -1

    async def run(self) -> None:
        """For ever. A disk that fails is said once a round, and tried again."""
        while True:
            await self._calm()
            try:
                await self.catch_up()
            except (DragomanError, apsw.Error, OSError) as error:
                log.warning("output could not be indexed: %s", error)
            await anyio.sleep(_EVERY_S)

    def took(self, length: int) -> None:
        """So much was recorded just now."""
        self._taken += length

    async def _calm(self) -> None:
        """A burst is over, or has lasted long enough."""
        ends_s = self._clock.monotonic_s() + _WAITS_AT_MOST_S
        while True:
            await anyio.sleep(_LOOK_S)
            self._look()
            if not self._busy or self._clock.monotonic_s() > ends_s:
                return

    def _look(self) -> None:
        """Whether much is being recorded."""
        now_s = self._clock.monotonic_s()
        passed_s = now_s - self._looked_s
        if passed_s >= _LOOK_S:
            self._busy = self._taken > _BUSY_BYTES_A_S * passed_s
            self._taken, self._looked_s = 0, now_s

    async def catch_up(self) -> None:
        """One step of each stream after another, so that one that never ends holds up no other."""
        async with self._turn:
            reaches = await self.reaches()
            while behind := list(self._grown):
                for terminal in behind:
                    await self._advance(terminal, reaches)

    async def _advance(self, terminal: str, reaches: dict[str, Reach]) -> None:
        """A stream counts as behind until a look finds nothing and nothing has come since."""
        seen, began_s = self._grown[terminal], self._clock.monotonic_s()
        if await self._step(terminal, reaches):
            self._look()
            took_s = self._clock.monotonic_s() - began_s
            await anyio.sleep(took_s * _BUSY_PAUSE if self._busy else _PAUSE_S)
        elif self._grown.get(terminal) == seen:
            del self._grown[terminal]

    async def reaches(self) -> dict[str, Reach]:
        """Up to where each stream is indexed now; of an index that is new to us, every stream may be behind."""
        if self._generation != self._index.generation:
            generation = self._index.generation
            self._reaches = await anyio.to_thread.run_sync(self._index.reaches, limiter=self._thread)
            self._mark(self._known())
            self._generation = generation
        return self._reaches

    def waiting(self) -> list[str]:
        """Streams with bytes that it has not seen."""
        return list(self._grown)

    def _mark(self, terminals: list[str]) -> None:
        self._grown.update({terminal: self._grown.get(terminal, 0) + 1 for terminal in terminals})

    async def _step(self, terminal: str, reaches: dict[str, Reach]) -> bool:
        """Whether there was anything to do; where the index was thrown away, `reaches` speaks of another one."""
        generation = self._index.generation
        if generation != self._generation:
            return False
        reach = reaches.get(terminal, Reach())
        reading = await self._journal.records(terminal, reach.place, limit=STEP_BYTES)
        if not reading.records:
            return False
        work = partial(self._indexed, generation, terminal, reading, reach)
        reached = await anyio.to_thread.run_sync(work, limiter=self._thread)
        if generation == self._index.generation:
            reaches[terminal] = reached
        return generation == self._index.generation

    def _indexed(self, generation: int, terminal: str, reading: Reading, reach: Reach) -> Reach:
        blocks: list[tuple[Block, str]] = []
        carry = reach.carry
        for group in _groups(reading.records):
            first, last = group[0], group[-1]
            data = b"".join(followed.frame.data for followed in group)
            for low, high in _slices(data) if len(group) == 1 else [(0, len(data))]:
                piece = carry + data[low:high]
                block = Block(terminal, first.record.place, last.until, low, high, last.record.at_ns, carry)
                text = plain(piece)
                blocks.append((block, text if text.isascii() else split_words(text)))
                carry = cut(piece)[1]
            if last.frame.kind in _BOUNDARIES:
                carry = b""
        reached = Reach(reading.upto, reading.records[-1].at_ns, carry)
        self._index.add(generation, terminal, blocks, reached)
        return reached


def _groups(records: list[Record]) -> Iterator[list[Followed]]:
    """Frames of output that belong together: one that is long, or several; never over the boundary of a command."""
    group: list[Followed] = []
    size = 0
    for record in records:
        frame = decoded(record.payload)
        if frame is None or frame.kind is Kind.INPUT:
            continue
        data = frame.data if frame.kind is Kind.OUTPUT else b""
        if group and size + len(data) > BLOCK_BYTES:
            yield group
            group, size = [], 0
        group.append(Followed(record, frame._replace(data=data)))
        size += len(data)
        if size >= BLOCK_BYTES or frame.kind in _BOUNDARIES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _slices(data: bytes) -> Iterator[tuple[int, int]]:
    """A long frame in several blocks, each to the end of a line where one ends."""
    low = 0
    while low < len(data):
        high = min(low + BLOCK_BYTES, len(data))
        if high < len(data):
            high = data.rfind(b"\n", low, high) + 1 or high
        yield low, high
        low = high


def cut(data: bytes) -> tuple[bytes, bytes]:
    """Whole lines, and the beginning of the next; of a line that does not end, all but the word that may go on."""
    end = data.rfind(b"\n") + 1
    if len(data) - end > _LINE_BYTES:
        end = max(data.rfind(b" ") + 1, len(data) - _WORD_BYTES)
    return data[:end], data[end:]
