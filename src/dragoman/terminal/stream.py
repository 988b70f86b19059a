"""A terminal's stream inside the journal's segments: one frame a record.

Redaction changes lengths, so each frame carries two counts. `received` is how many bytes of output the client had sent
with this frame: after a death, the client's own count is compared with it. `shown` is how many bytes of output stand in
the stream before this frame: an offset of a command's output is found with it, without reading all before.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Literal, NamedTuple

from dragoman.terminal.model import Piece

_HEAD = struct.Struct(">BQQQ")
HEAD_BYTES = _HEAD.size
# A record of the journal holds a frame whole.
DATA_LIMIT_BYTES = 128 * 1024
_GREATEST = (1 << 64) - 1


class Kind(IntEnum):
    INPUT = 0
    OUTPUT = 1
    GAP = 2
    """Its data is the number of lost bytes, in decimal."""
    BEGAN = 3
    """A command begins to run; its data is the command line."""
    ENDED = 4
    """A command ended; its data is the command's id."""
    SKIPPED = 5
    """Output came that nobody wants kept."""


class Frame(NamedTuple):
    kind: Kind
    at_ms: int
    received: int
    shown: int
    data: bytes

    def encoded(self) -> bytes:
        return _HEAD.pack(self.kind, min(self.at_ms, _GREATEST), self.received, self.shown) + self.data

    @property
    def piece(self) -> Piece | None:
        kind = _PIECES.get(self.kind)
        return Piece(self.at_ms, kind, self.data) if kind else None


_PIECES: dict[Kind, Literal["input", "output", "gap"]] = {Kind.INPUT: "input", Kind.OUTPUT: "output", Kind.GAP: "gap"}


def decoded(payload: bytes) -> Frame | None:
    """None for what is no frame of ours: a stream's name is a peer's choice, and its bytes may be anybody's."""
    if len(payload) < HEAD_BYTES or payload[0] > max(Kind):
        return None
    kind, at_ms, received, shown = _HEAD.unpack_from(payload)
    return Frame(Kind(kind), at_ms, received, shown, payload[HEAD_BYTES:])
