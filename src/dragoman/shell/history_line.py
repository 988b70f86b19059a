"""The line that bash begins to run, as `history 1` prints it between two marks of the hook.

The shell that reads it for us would have to fork once more to quote it. What stands between two marks with our nonce
can be anything but the second mark, so it is taken as it is.
"""

from __future__ import annotations

import contextlib
import re

from dragoman.errors import LocalProtocolError
from dragoman.wire.osc import CommandLineReported, Mark, OutputStarted, Piece, PropertyReported, encode_mark

LINE = "Line"
"""The property that opens it; its value is the number that the line has where the shell lists it."""
_NUMBERED = re.compile(r"\s*(\d+)[* ] (.*)", re.DOTALL)
_MOST = 60_000
_GIVEN_UP = 4 * 1024 * 1024
"""No mark came after so much: then this was no line."""


class HistoryLine:
    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._expected: str | None = None
        self._line = bytearray()

    @property
    def is_open(self) -> bool:
        return self._expected is not None

    def pieces(self, pieces: list[Piece]) -> list[Piece]:
        """With the line as the mark that tells it, in the place of what the shell printed."""
        read: list[Piece] = []
        for piece in pieces:
            if isinstance(piece, bytes):
                read += self._bytes(piece)
            elif not self._nonce or piece.nonce != self._nonce:
                read += self._bytes(piece.raw) if self.is_open else [piece]
            else:
                read += self._mark(piece)
        return read

    def _bytes(self, data: bytes) -> list[Piece]:
        if not self.is_open:
            return [data]
        self._line += data
        if len(self._line) > _GIVEN_UP:
            self._expected, shown, self._line = None, bytes(self._line), bytearray()
            return [shown]
        return []

    def _mark(self, mark: Mark) -> list[Piece]:
        if isinstance(mark, PropertyReported) and mark.key == LINE:
            self._expected, self._line = mark.value, bytearray()
            return []
        expected, self._expected = self._expected, None
        if expected is None or not isinstance(mark, OutputStarted):
            return [mark]
        found = _NUMBERED.fullmatch(self._line.decode(errors="replace").replace("\r\n", "\n"))
        if found is None or found[1] != expected:
            mark.parameters["listed"] = "0"
        told = CommandLineReported(command_line=found[2][:_MOST] if found else "", nonce=self._nonce)
        with contextlib.suppress(LocalProtocolError):  # too long for any terminal, which then gets none
            told.raw = encode_mark(told)
        return [told, mark]
