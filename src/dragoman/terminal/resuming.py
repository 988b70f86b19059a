"""Where a terminal's stream stood when we last wrote to it, read from the stream itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dragoman.journal import Journal, Place, Record, Span
from dragoman.redaction import LONGEST_BYTES
from dragoman.terminal.reading import Streams
from dragoman.terminal.recorder import Stretch
from dragoman.terminal.stream import Frame, Kind, decoded

# A command that printed more than this before the daemon died is shown from here on.
_FILES_LOOKED_AT = 64
_BOUNDARIES = (Kind.BEGAN, Kind.ENDED)
_KEPT_BYTES = 32


class _Seen(NamedTuple):
    """A record without its output: a command may have printed more than memory holds."""

    place: Place
    length: int
    output_bytes: int
    frame: Frame


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
    tail: bytes = b""
    """What was shown last: a secret may have begun in it."""


async def left_in(journal: Journal, stream: str) -> Left:
    """Back to the last boundary of a command, file by file."""
    newer: list[_Seen] = []
    for number in list(reversed(await journal.segments_of(stream)))[:_FILES_LOOKED_AT]:
        found = await _frames_of(journal, stream, number)
        boundary = max((at for at, seen in enumerate(found) if seen.frame.kind in _BOUNDARIES), default=-1)
        newer = found[max(boundary, 0) :] + newer
        if boundary >= 0:
            break
    return _summed(stream, newer, await Streams(journal).tail(stream, LONGEST_BYTES))


async def _frames_of(journal: Journal, stream: str, number: int) -> list[_Seen]:
    found: list[_Seen] = []
    place = Place(number)
    while True:
        reading = await journal.records(stream, place)
        own = [record for record in reading.records if record.place.segment == number]
        found += [_seen(record, frame) for record in own if (frame := decoded(record.payload))]
        if len(own) < len(reading.records) or not own:
            return found
        place = reading.upto


def _seen(record: Record, frame: Frame) -> _Seen:
    is_output = frame.kind is Kind.OUTPUT
    kept = frame._replace(data=frame.data[:_KEPT_BYTES]) if is_output else frame
    return _Seen(record.place, len(record.payload), len(frame.data) if is_output else 0, kept)


def _summed(stream: str, found: list[_Seen], tail: bytes) -> Left:
    if not found:
        return Left()
    began = found[0].frame if found[0].frame.kind is Kind.BEGAN else None
    stretch = Stretch()
    for seen in found:
        if seen.frame.kind not in _BOUNDARIES:
            stretch = _grown(stretch, Span(stream, *seen.place, seen.length), seen)
    last = found[-1].frame
    shown = last.shown + found[-1].output_bytes
    return Left(last.received, shown, last.at_ms, (last.kind, last.data[:_KEPT_BYTES]), began, stretch, tail)


def _grown(stretch: Stretch, span: Span, seen: _Seen) -> Stretch:
    frame = seen.frame
    lost = int(frame.data) if frame.kind is Kind.GAP and frame.data.isdigit() else 0
    return stretch._replace(
        span=stretch.span.plus(span) if stretch.span else span,
        output_bytes=stretch.output_bytes + seen.output_bytes,
        lost_bytes=stretch.lost_bytes + lost,
    )
