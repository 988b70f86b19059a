"""Where a terminal's stream stood when we last wrote to it, read from the stream itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from dragoman.journal import Journal, Place, Record, Span
from dragoman.terminal.recorder import Stretch
from dragoman.terminal.stream import Frame, Kind, decoded

# A command that printed more than this before the daemon died is shown from here on.
_FILES_LOOKED_AT = 64
_FILE_BYTES = 64 * 1024 * 1024
_BOUNDARIES = (Kind.BEGAN, Kind.ENDED)


@dataclass(frozen=True, slots=True)
class Left:
    """What an earlier life of ours left."""

    received: int = 0
    shown: int = 0
    last_at_ms: int = 0
    last: tuple[Kind, bytes] | None = None
    began: Frame | None = None
    """The command that ran."""
    stretch: Stretch = field(default_factory=Stretch)


async def left_in(journal: Journal, stream: str) -> Left:
    """Back to the last boundary of a command, file by file."""
    newer: list[tuple[Record, Frame]] = []
    for number in list(reversed(await journal.segments_of(stream)))[:_FILES_LOOKED_AT]:
        found = await _frames_of(journal, stream, number)
        boundary = max((at for at, (_, frame) in enumerate(found) if frame.kind in _BOUNDARIES), default=-1)
        newer = found[max(boundary, 0) :] + newer
        if boundary >= 0:
            break
    return _summed(stream, newer)


async def _frames_of(journal: Journal, stream: str, number: int) -> list[tuple[Record, Frame]]:
    found: list[tuple[Record, Frame]] = []
    place = Place(number)
    while True:
        reading = await journal.records(stream, place)
        own = [record for record in reading.records if record.place.segment == number]
        found += [(record, frame) for record in own if (frame := decoded(record.payload))]
        if len(own) < len(reading.records) or not own:
            return found
        place = reading.upto


def _summed(stream: str, found: list[tuple[Record, Frame]]) -> Left:
    if not found:
        return Left()
    began = found[0][1] if found[0][1].kind is Kind.BEGAN else None
    stretch = Stretch()
    for record, frame in found:
        if frame.kind not in _BOUNDARIES:
            stretch = _grown(stretch, Span(stream, *record.place, len(record.payload)), frame)
    last = found[-1][1]
    shown = last.shown + (len(last.data) if last.kind is Kind.OUTPUT else 0)
    return Left(last.received, shown, last.at_ms, (last.kind, last.data[:32]), began, stretch)


def _grown(stretch: Stretch, span: Span, frame: Frame) -> Stretch:
    lost = int(frame.data) if frame.kind is Kind.GAP and frame.data.isdigit() else 0
    return stretch._replace(
        span=stretch.span.plus(span) if stretch.span else span,
        output_bytes=stretch.output_bytes + (len(frame.data) if frame.kind is Kind.OUTPUT else 0),
        lost_bytes=stretch.lost_bytes + lost,
    )
