"""The frames of a terminal's stream in the journal, the writer that redacts, frames and counts them, and the masking
of secrets that were found later.

Redaction changes lengths, so each frame carries two counts. `received` is how many bytes of output the client had
sent up to this frame; after a crash it is compared with the client's own count. `shown` is how many bytes of output
the stream holds before this frame; it locates an offset in a command's output without reading everything before it.

A secret in a recorded frame is masked with as many stars, so no offset changes.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple

from dragoman.core.errors import DragomanError
from dragoman.core.redaction import LONGEST_BYTES, Redactor, SecretStream
from dragoman.journal import AppendBytes, RecordPlace, SegmentRecords, Span
from dragoman.terminal.model import StreamPiece

# One journal record holds one whole frame.
DATA_LIMIT_BYTES = 128 * 1024
_GREATEST = (1 << 64) - 1
log = logging.getLogger(__name__)
_SHORT_BYTES = 32
# Small frames are scanned together, but in pieces short enough that an echo is still recognised.
_PIECE_BYTES = 8_000

_HEAD = struct.Struct(">BQQQ")
HEAD_BYTES = _HEAD.size


class FrameKind(IntEnum):
    INPUT = 0
    OUTPUT = 1
    GAP = 2
    """Its data is the number of lost bytes, in decimal."""
    BEGAN = 3
    """A command starts; the data is the command line."""
    ENDED = 4
    """A command ended; the data is the command's id."""
    SKIPPED = 5
    """Output that must not be recorded."""


class StreamFrame(NamedTuple):
    kind: FrameKind
    at_ms: int
    received: int
    shown: int
    data: bytes

    def encode(self) -> bytes:
        return _HEAD.pack(self.kind, min(self.at_ms, _GREATEST), self.received, self.shown) + self.data

    @property
    def piece(self) -> StreamPiece | None:
        kind = _PIECES.get(self.kind)
        return StreamPiece(self.at_ms, kind, self.data) if kind else None


_PIECES: dict[FrameKind, Literal["input", "output", "gap"]] = {
    FrameKind.INPUT: "input",
    FrameKind.OUTPUT: "output",
    FrameKind.GAP: "gap",
}


def decode_frame(payload: bytes) -> StreamFrame | None:
    """None if it is not a frame of ours: clients choose stream names, so the bytes may be anything."""
    if len(payload) < HEAD_BYTES or payload[0] > max(FrameKind):
        return None
    kind, at_ms, received, shown = _HEAD.unpack_from(payload)
    return StreamFrame(FrameKind(kind), at_ms, received, shown, payload[HEAD_BYTES:])


class OutputRange(NamedTuple):
    """What was written since the last command boundary."""

    span: Span | None = None
    output_bytes: int = 0
    lost_bytes: int = 0


class StreamBoundary(NamedTuple):
    done: OutputRange
    """What was written since the previous boundary."""
    place: RecordPlace | None
    """The place of the boundary; None if it could not be written."""
    shown: bytes


@dataclass(slots=True)
class StreamWriter:
    """Writes one terminal's stream, redacted, framed and counted, in a worker thread.

    Used by one thread at a time. A failed write is not retried here: the next write that succeeds records a gap.
    Where a client can send the data again, `failed` says that it must.
    """

    stream: str
    output: SecretStream
    input: SecretStream
    received: int = 0
    """Bytes of output that the client sent, including those that were lost, held back or skipped."""
    shown: int = 0
    output_range: OutputRange = field(default_factory=OutputRange)
    last: tuple[FrameKind, bytes] | None = None
    """The kind of the last frame, and its data if that is short."""
    failed: bool = False
    """Whether received data is missing from the record."""
    _owed_gap: int = 0
    _failing: bool = False

    @property
    def holds(self) -> bool:
        return self.output.holds

    def append(self, append: AppendBytes, kind: FrameKind, at_ms: int, data: bytes, may_hold: bool) -> bytes:
        """Write the data; return what was written now, as recorded. If nothing may be held back, that is all of it."""
        if kind is FrameKind.INPUT:
            shown = self.input.feed(data) + self.input.flush()
            self._write(append, kind, at_ms, shown)
            return b""
        self.received += len(data)
        shown = self.output.feed(data) if may_hold else self.output.feed(data) + self.output.settle()
        self._write(append, kind, at_ms, shown)
        return shown

    def flush(self, append: AppendBytes, at_ms: int) -> bytes:
        """Write what was held back because it might have become a secret."""
        shown = self.output.flush()
        self._write(append, FrameKind.OUTPUT, at_ms, shown)
        return shown

    def gap(self, append: AppendBytes, at_ms: int, count: int) -> bytes:
        """Record bytes that were never sent."""
        shown = self.flush(append, at_ms)
        self._lose(count)
        self._settle_gap(append, at_ms)
        return shown

    def miss(self, append: AppendBytes, at_ms: int, count: int) -> bytes:
        """Record bytes that were sent but lost with an earlier daemon."""
        shown = self.flush(append, at_ms)
        self.received += count
        return shown + self.gap(append, at_ms, count)

    def skip(self, append: AppendBytes, at_ms: int, count: int) -> None:
        """Count bytes that must not be recorded, so that a resumed stream is counted right."""
        self.received += count
        self._append(append, StreamFrame(FrameKind.SKIPPED, at_ms, self.received, self.shown, b""))

    def boundary(self, append: AppendBytes, kind: FrameKind, at_ms: int, text: str) -> StreamBoundary:
        """A command begins or ends."""
        shown = self.flush(append, at_ms)
        self._settle_gap(append, at_ms)
        done, self.output_range = self.output_range, OutputRange()
        data = text.encode("utf-8", "replace")[:DATA_LIMIT_BYTES]
        self._append(append, StreamFrame(kind, at_ms, self.received, self.shown, data))
        at, self.output_range = self.output_range.span, OutputRange()  # the boundary itself is not output
        return StreamBoundary(done, RecordPlace(at.segment, at.offset) if at else None, shown)

    def _write(self, append: AppendBytes, kind: FrameKind, at_ms: int, data: bytes) -> None:
        written = self.received - self.output.held_bytes
        for start in range(0, len(data), DATA_LIMIT_BYTES):
            piece = data[start : start + DATA_LIMIT_BYTES]
            left = len(data) - start - len(piece)
            received = max(0, written - left) if kind is FrameKind.OUTPUT else written
            self._settle_gap(append, at_ms)
            if self._append(append, StreamFrame(kind, at_ms, received, self.shown, piece)):
                self._count(kind, len(piece))
            elif kind is FrameKind.OUTPUT:
                self._lose(len(piece))

    def _count(self, kind: FrameKind, length: int) -> None:
        if kind is FrameKind.OUTPUT:
            self.shown += length
            self.output_range = self.output_range._replace(output_bytes=self.output_range.output_bytes + length)

    def _lose(self, count: int) -> None:
        self._owed_gap += count
        self.output_range = self.output_range._replace(lost_bytes=self.output_range.lost_bytes + count)

    def _settle_gap(self, append: AppendBytes, at_ms: int) -> None:
        if self._owed_gap:
            received = self.received - self.output.held_bytes
            frame = StreamFrame(FrameKind.GAP, at_ms, received, self.shown, b"%d" % self._owed_gap)
            if self._append(append, frame):
                self._owed_gap = 0

    def _append(self, append: AppendBytes, frame: StreamFrame) -> bool:
        try:
            span = append(self.stream, frame.encode())
        except DragomanError as error:
            if not self._failing:
                log.warning("the output of terminal %s is not recorded: %s", self.stream, error)
            self._failing = self.failed = True
            return False
        self._failing = False
        self.last = (frame.kind, frame.data[:_SHORT_BYTES])
        begun = self.output_range.span
        self.output_range = self.output_range._replace(span=begun.plus(span) if begun else span)
        return True


# Frames of output continue each other, and so do frames of input; a command line stands alone.
_FLOWING = (FrameKind.OUTPUT, FrameKind.INPUT)


def mask_records(records: SegmentRecords, redactor: Redactor) -> list[bytes]:
    """The masked payloads, each with its length unchanged."""
    fresh = list(records.payloads)
    every = [decode_frame(payload) for payload in fresh]
    for kind in _FLOWING:
        places = [place for place, frame in enumerate(every) if frame and frame.kind is kind]
        before, after = _end(records.before, kind), _beginning(records.after, kind)
        flow = _masked_flow([fresh[place][HEAD_BYTES:] for place in places], before, after, redactor)
        for place, data in zip(places, flow, strict=True):
            fresh[place] = fresh[place][:HEAD_BYTES] + data
    for place, frame in enumerate(every):
        if frame is None:
            (fresh[place],) = _masked_flow([fresh[place]], b"", b"", redactor)
        elif frame.kind is FrameKind.BEGAN:
            (line,) = _masked_flow([frame.data], b"", b"", redactor)
            fresh[place] = fresh[place][:HEAD_BYTES] + line
    return fresh


def _masked_flow(pieces: Sequence[bytes], before: bytes, after: bytes, redactor: Redactor) -> list[bytes]:
    stream = redactor.mask()
    if before:
        stream.resume_after(before)
    shown = [stream.feed(piece) for piece in _joined(pieces)]
    if after.startswith(b"*"):  # the rest of a secret, masked with the next file: mask its start here too
        shown += [stream.settle(), stream.flush()]
    else:
        shown += [stream.feed(after), stream.flush()]
    return _cut(b"".join(shown), pieces)


def _joined(pieces: Sequence[bytes]) -> Iterator[bytes]:
    few: list[bytes] = []
    size = 0
    for piece in pieces:
        if few and size + len(piece) > _PIECE_BYTES:
            yield b"".join(few)
            few, size = [], 0
        few.append(piece)
        size += len(piece)
    if few:
        yield b"".join(few)


def _cut(data: bytes, pieces: Sequence[bytes]) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    for piece in pieces:
        found.append(data[at : at + len(piece)])
        at += len(piece)
    return found


def _beginning(payloads: Sequence[bytes], kind: FrameKind) -> bytes:
    found = b""
    for frame in _frames(payloads, kind):
        found += frame.data
        if len(found) >= LONGEST_BYTES:
            break
    return found[:LONGEST_BYTES]


def _end(payloads: Sequence[bytes], kind: FrameKind) -> bytes:
    found = b""
    for frame in _frames(reversed(payloads), kind):
        found = frame.data + found
        if len(found) >= LONGEST_BYTES:
            break
    return found[-LONGEST_BYTES:]


def _frames(payloads: Sequence[bytes] | Iterator[bytes], kind: FrameKind) -> Iterator[StreamFrame]:
    return (frame for payload in payloads if (frame := decode_frame(payload)) and frame.kind is kind)
