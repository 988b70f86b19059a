"""Reads a terminal's stream: the whole stream, its end, one command's output by offset, or the state to resume from."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import NamedTuple

from dragoman.core.redaction import LONGEST_BYTES
from dragoman.journal import Journal, RecordPlace, SegmentRecord, Span
from dragoman.terminal.errors import output_gone
from dragoman.terminal.model import OutputPage, RecordedCommand, StreamPiece
from dragoman.terminal.record.stream import FrameKind, OutputRange, StreamFrame, decode_frame

PAGE_LIMIT_BYTES = 8 * 1024 * 1024
# If a command's output fills more files than this before the daemon dies, only its end is found again.
_FILES_LOOKED_AT = 64
_KEPT_BYTES = 32

_BEGINNING = RecordPlace()


class PlacedFrame(NamedTuple):
    place: RecordPlace
    frame: StreamFrame


class StreamReader:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def frames(self, stream: str, after: RecordPlace = _BEGINNING) -> AsyncGenerator[PlacedFrame, None]:
        """The frames from a place on, oldest first, up to the present end."""
        while True:
            reading = await self._journal.records(stream, after)
            if not reading.records:
                return
            for record in reading.records:
                if frame := decode_frame(record.payload):
                    yield PlacedFrame(record.place, frame)
            after = reading.upto

    async def pieces(self, stream: str) -> AsyncGenerator[StreamPiece, None]:
        async for _, frame in self.frames(stream):
            if piece := frame.piece:
                yield piece

    async def tail(self, stream: str, max_bytes: int) -> bytes:
        """The last bytes of output: whole files, newest first, until there are enough."""
        found: list[bytes] = []
        size = 0
        for number in reversed(await self._journal.segments_of(stream)):
            newer = [frame.data async for frame in self._outputs_of(stream, number)]
            found = newer + found
            size += sum(map(len, newer))
            if size >= max_bytes:
                break
        return b"".join(found)[-max_bytes:] if max_bytes > 0 else b""

    async def output(self, command: RecordedCommand, offset: int, limit: int) -> OutputPage:
        total = command.output_bytes
        if command.output is None or total == 0:
            return OutputPage(data=b"", offset=0, total=total)
        offset = max(0, total + offset) if offset < 0 else min(offset, total)
        limit = max(0, min(limit, PAGE_LIMIT_BYTES, total - offset))
        base = await self._base(command.output)
        start = await self._nearest(command.output, base + offset)
        return await self._page(command, base, offset, limit, start)

    async def _page(
        self, command: RecordedCommand, base: int, offset: int, limit: int, start: RecordPlace
    ) -> OutputPage:
        assert command.output is not None
        found = bytearray()
        wanted = base + offset
        async for _, frame in self.frames(command.output.stream, start):
            if frame.kind is not FrameKind.OUTPUT or frame.shown + len(frame.data) <= wanted:
                continue
            if frame.shown >= base + offset + limit:
                break
            if frame.shown > wanted and found:  # the part in between was erased, so the next page begins after it
                break
            if frame.shown > wanted:
                offset, wanted = frame.shown - base, frame.shown
            found += frame.data[wanted - frame.shown :]
            wanted = base + offset + len(found)
            if len(found) >= limit:
                break
        return OutputPage(data=bytes(found[:limit]), offset=offset, total=command.output_bytes)

    async def _outputs_of(self, stream: str, number: int) -> AsyncGenerator[StreamFrame, None]:
        async for place, frame in self.frames(stream, RecordPlace(number)):
            if place.segment != number:
                return
            if frame.kind is FrameKind.OUTPUT:
                yield frame

    async def _base(self, span: Span) -> int:
        """How many bytes the terminal had shown before this span."""
        reading = await self._journal.records(span.stream, RecordPlace(span.segment, span.offset), limit=1)
        record = reading.records[0] if reading.records else None
        frame = decode_frame(record.payload) if record else None
        if record is None or frame is None or record.place != (span.segment, span.offset):
            raise output_gone()
        return frame.shown

    async def _nearest(self, span: Span, shown: int) -> RecordPlace:
        """The last file of the span that begins at or before the wanted offset, so that a long output is not read
        whole."""
        later = [number for number in await self._journal.segments_of(span.stream) if number > span.segment]
        best = RecordPlace(span.segment, span.offset)
        low, high = 0, len(later)
        while low < high:
            middle = (low + high) // 2
            begins = await self._begins(span.stream, later[middle])
            if begins is None or begins > shown:
                high = middle
            else:
                best, low = RecordPlace(later[middle]), middle + 1
        return best

    async def _begins(self, stream: str, number: int) -> int | None:
        reading = await self._journal.records(stream, RecordPlace(number), limit=1)
        frame = decode_frame(reading.records[0].payload) if reading.records else None
        return frame.shown if frame else None


_BOUNDARIES = (FrameKind.BEGAN, FrameKind.ENDED)


class _FrameInfo(NamedTuple):
    """A record without its output: a command may have printed more than fits in memory."""

    place: RecordPlace
    length: int
    output_bytes: int
    frame: StreamFrame


@dataclass(frozen=True, slots=True)
class ResumeState:
    """The state of a stream when it was last written to, by this daemon or an earlier one."""

    received: int = 0
    shown: int = 0
    last_at_ms: int = 0
    last: tuple[FrameKind, bytes] | None = None
    began: StreamFrame | None = None
    """The command that was running."""
    output_range: OutputRange = field(default_factory=OutputRange)
    tail: bytes = b""
    """The last output: a secret may begin in it."""


async def read_resume_state(journal: Journal, stream: str) -> ResumeState:
    """Read back to the last command boundary, file by file."""
    newer: list[_FrameInfo] = []
    for number in list(reversed(await journal.segments_of(stream)))[:_FILES_LOOKED_AT]:
        found = await _frames_of(journal, stream, number)
        boundary = max((at for at, seen in enumerate(found) if seen.frame.kind in _BOUNDARIES), default=-1)
        newer = found[max(boundary, 0) :] + newer
        if boundary >= 0:
            break
    return _resume_state(stream, newer, await StreamReader(journal).tail(stream, LONGEST_BYTES))


async def _frames_of(journal: Journal, stream: str, number: int) -> list[_FrameInfo]:
    frames: list[_FrameInfo] = []
    place = RecordPlace(number)
    while True:
        reading = await journal.records(stream, place)
        own = [record for record in reading.records if record.place.segment == number]
        frames += [_frame_info(record, frame) for record in own if (frame := decode_frame(record.payload))]
        if len(own) < len(reading.records) or not own:
            return frames
        place = reading.upto


def _frame_info(record: SegmentRecord, frame: StreamFrame) -> _FrameInfo:
    is_output = frame.kind is FrameKind.OUTPUT
    kept = frame._replace(data=frame.data[:_KEPT_BYTES]) if is_output else frame
    return _FrameInfo(record.place, len(record.payload), len(frame.data) if is_output else 0, kept)


def _resume_state(stream: str, found: list[_FrameInfo], tail: bytes) -> ResumeState:
    if not found:
        return ResumeState()
    began = found[0].frame if found[0].frame.kind is FrameKind.BEGAN else None
    output_range = OutputRange()
    for seen in found:
        if seen.frame.kind not in _BOUNDARIES:
            output_range = _extended(output_range, Span(stream, *seen.place, seen.length), seen)
    last = found[-1].frame
    shown = last.shown + found[-1].output_bytes
    return ResumeState(
        last.received, shown, last.at_ms, (last.kind, last.data[:_KEPT_BYTES]), began, output_range, tail
    )


def _extended(output_range: OutputRange, span: Span, seen: _FrameInfo) -> OutputRange:
    frame = seen.frame
    lost = int(frame.data) if frame.kind is FrameKind.GAP and frame.data.isdigit() else 0
    return output_range._replace(
        span=output_range.span.plus(span) if output_range.span else span,
        output_bytes=output_range.output_bytes + seen.output_bytes,
        lost_bytes=output_range.lost_bytes + lost,
    )
