"""A terminal's stream read back: whole, from its end, or one command's output by offset."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple

from dragoman.errors import DragomanError
from dragoman.journal import Journal, Place, Span
from dragoman.phrases import say
from dragoman.terminal.model import Command, Piece
from dragoman.terminal.stream import Frame, Kind, decoded
from dragoman.terminal.told import OutputPage

PAGE_LIMIT_BYTES = 8 * 1024 * 1024
_BEGINNING = Place()


class Placed(NamedTuple):
    place: Place
    frame: Frame


class Streams:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def frames(self, stream: str, after: Place = _BEGINNING) -> AsyncGenerator[Placed, None]:
        """From a place on, oldest first, up to what stands there now."""
        while True:
            reading = await self._journal.records(stream, after)
            if not reading.records:
                return
            for record in reading.records:
                if frame := decoded(record.payload):
                    yield Placed(record.place, frame)
            after = reading.upto

    async def pieces(self, stream: str) -> AsyncGenerator[Piece, None]:
        async for _, frame in self.frames(stream):
            if piece := frame.piece:
                yield piece

    async def tail(self, stream: str, max_bytes: int) -> bytes:
        """The last bytes of output: whole files from the newest back, until there are enough."""
        found: list[bytes] = []
        size = 0
        for number in reversed(await self._journal.segments_of(stream)):
            newer = [frame.data async for frame in self._outputs_of(stream, number)]
            found = newer + found
            size += sum(map(len, newer))
            if size >= max_bytes:
                break
        return b"".join(found)[-max_bytes:] if max_bytes > 0 else b""

    async def output(self, command: Command, offset: int, limit: int) -> OutputPage:
        total = command.output_bytes
        if command.output is None or total == 0:
            return OutputPage(data=b"", offset=0, total=total)
        offset = max(0, total + offset) if offset < 0 else min(offset, total)
        limit = max(0, min(limit, PAGE_LIMIT_BYTES, total - offset))
        base = await self._base(command.output)
        start = await self._nearest(command.output, base + offset)
        return await self._page(command, base, offset, limit, start)

    async def _page(self, command: Command, base: int, offset: int, limit: int, start: Place) -> OutputPage:
        assert command.output is not None
        found = bytearray()
        wanted = base + offset
        async for _, frame in self.frames(command.output.stream, start):
            if frame.kind is not Kind.OUTPUT or frame.shown + len(frame.data) <= wanted:
                continue
            if frame.shown >= base + offset + limit:
                break
            if frame.shown > wanted and found:  # what stood between was erased: the next page begins after it
                break
            if frame.shown > wanted:
                offset, wanted = frame.shown - base, frame.shown
            found += frame.data[wanted - frame.shown :]
            wanted = base + offset + len(found)
            if len(found) >= limit:
                break
        return OutputPage(data=bytes(found[:limit]), offset=offset, total=command.output_bytes)

    async def _outputs_of(self, stream: str, number: int) -> AsyncGenerator[Frame, None]:
        async for place, frame in self.frames(stream, Place(number)):
            if place.segment != number:
                return
            if frame.kind is Kind.OUTPUT:
                yield frame

    async def _base(self, span: Span) -> int:
        """How much the terminal had shown before this span."""
        reading = await self._journal.records(span.stream, Place(span.segment, span.offset), limit=1)
        record = reading.records[0] if reading.records else None
        frame = decoded(record.payload) if record else None
        if record is None or frame is None or record.place != (span.segment, span.offset):
            raise output_gone()
        return frame.shown

    async def _nearest(self, span: Span, shown: int) -> Place:
        """The last file of the span that begins at or before what is wanted: a long output is not read to its end."""
        later = [number for number in await self._journal.segments_of(span.stream) if number > span.segment]
        best = Place(span.segment, span.offset)
        low, high = 0, len(later)
        while low < high:
            middle = (low + high) // 2
            begins = await self._begins(span.stream, later[middle])
            if begins is None or begins > shown:
                high = middle
            else:
                best, low = Place(later[middle]), middle + 1
        return best

    async def _begins(self, stream: str, number: int) -> int | None:
        reading = await self._journal.records(stream, Place(number), limit=1)
        frame = decoded(reading.records[0].payload) if reading.records else None
        return frame.shown if frame else None


def output_gone() -> DragomanError:
    return DragomanError(
        "output_gone",
        say("The output of this command is no longer kept."),
        hint=say(
            "It was forgotten, or older or more than terminal_max_age_days and journal_max_size_mb allow; its command "
            "line and exit code are kept."
        ),
    )
