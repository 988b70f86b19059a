"""One terminal's stream being written: redacted, framed and counted, off the event loop.

Used by one thread at a time. A write that fails is not tried again here: what it held is lost, the next write that
succeeds says so with a gap, and recording goes on. Where a client can send it again, `failed` says that it must.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import NamedTuple

from dragoman.errors import DragomanError
from dragoman.journal import AppendBytes, Place, Span
from dragoman.redaction import SecretStream
from dragoman.terminal.stream import DATA_LIMIT_BYTES, Frame, Kind

log = logging.getLogger(__name__)

_SHORT_BYTES = 32


class Stretch(NamedTuple):
    """What was written since the last boundary of a command."""

    span: Span | None = None
    output_bytes: int = 0
    lost_bytes: int = 0


class Boundary(NamedTuple):
    done: Stretch
    """What was written since the boundary before it."""
    place: Place | None
    """Where it stands; none where it could not be written."""
    shown: bytes


@dataclass(slots=True)
class Recorder:
    stream: str
    output: SecretStream
    input: SecretStream
    received: int = 0
    """Bytes of output that the client has sent, with those that were lost, held or not wanted."""
    shown: int = 0
    stretch: Stretch = field(default_factory=Stretch)
    last: tuple[Kind, bytes] | None = None
    """The last frame's kind, and its data where that is short."""
    failed: bool = False
    """Whether something that was taken since it began is not in the record."""
    _owed_gap: int = 0
    _failing: bool = False

    @property
    def holds(self) -> bool:
        return self.output.holds

    def take(self, append: AppendBytes, kind: Kind, at_ms: int, data: bytes, may_hold: bool) -> bytes:
        """What of it was written now, as it stands in the record; where nothing may be held back, all of it."""
        if kind is Kind.INPUT:
            shown = self.input.feed(data) + self.input.flush()
            self._write(append, kind, at_ms, shown)
            return b""
        self.received += len(data)
        shown = self.output.feed(data) if may_hold else self.output.feed(data) + self.output.settle()
        self._write(append, kind, at_ms, shown)
        return shown

    def flush(self, append: AppendBytes, at_ms: int) -> bytes:
        """What was held back because it might have become a secret."""
        shown = self.output.flush()
        self._write(append, Kind.OUTPUT, at_ms, shown)
        return shown

    def gap(self, append: AppendBytes, at_ms: int, count: int) -> bytes:
        """Bytes that were never sent."""
        shown = self.flush(append, at_ms)
        self._lose(count)
        self._settle_gap(append, at_ms)
        return shown

    def miss(self, append: AppendBytes, at_ms: int, count: int) -> bytes:
        """Bytes that were sent and are not here: they died with an earlier life of ours."""
        shown = self.flush(append, at_ms)
        self.received += count
        return shown + self.gap(append, at_ms, count)

    def skip(self, append: AppendBytes, at_ms: int, count: int) -> None:
        """Bytes that are not to be kept: only their number is, so that a resumed stream is counted right."""
        self.received += count
        self._append(append, Frame(Kind.SKIPPED, at_ms, self.received, self.shown, b""))

    def boundary(self, append: AppendBytes, kind: Kind, at_ms: int, text: str) -> Boundary:
        """A command begins or ends."""
        shown = self.flush(append, at_ms)
        self._settle_gap(append, at_ms)
        done, self.stretch = self.stretch, Stretch()
        data = text.encode("utf-8", "replace")[:DATA_LIMIT_BYTES]
        self._append(append, Frame(kind, at_ms, self.received, self.shown, data))
        at, self.stretch = self.stretch.span, Stretch()  # the boundary itself is nobody's output
        return Boundary(done, Place(at.segment, at.offset) if at else None, shown)

    def _write(self, append: AppendBytes, kind: Kind, at_ms: int, data: bytes) -> None:
        written = self.received - self.output.held_bytes
        for start in range(0, len(data), DATA_LIMIT_BYTES):
            piece = data[start : start + DATA_LIMIT_BYTES]
            left = len(data) - start - len(piece)
            received = max(0, written - left) if kind is Kind.OUTPUT else written
            self._settle_gap(append, at_ms)
            if self._append(append, Frame(kind, at_ms, received, self.shown, piece)):
                self._count(kind, len(piece))
            elif kind is Kind.OUTPUT:
                self._lose(len(piece))

    def _count(self, kind: Kind, length: int) -> None:
        if kind is Kind.OUTPUT:
            self.shown += length
            self.stretch = self.stretch._replace(output_bytes=self.stretch.output_bytes + length)

    def _lose(self, count: int) -> None:
        self._owed_gap += count
        self.stretch = self.stretch._replace(lost_bytes=self.stretch.lost_bytes + count)

    def _settle_gap(self, append: AppendBytes, at_ms: int) -> None:
        if self._owed_gap:
            received = self.received - self.output.held_bytes
            frame = Frame(Kind.GAP, at_ms, received, self.shown, b"%d" % self._owed_gap)
            if self._append(append, frame):
                self._owed_gap = 0

    def _append(self, append: AppendBytes, frame: Frame) -> bool:
        try:
            span = append(self.stream, frame.encoded())
        except DragomanError as error:
            if not self._failing:
                log.warning("the output of terminal %s is not recorded: %s", self.stream, error)
            self._failing = self.failed = True
            return False
        self._failing = False
        self.last = (frame.kind, frame.data[:_SHORT_BYTES])
        begun = self.stretch.span
        self.stretch = self.stretch._replace(span=begun.plus(span) if begun else span)
        return True
