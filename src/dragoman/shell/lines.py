"""Lines that were entered and may not have run yet: a busy shell runs them later, when much may have changed.

A prompt that stands and is typed at has run everything before it: only there a line begins anew.
"""

from __future__ import annotations

_LONGEST = 4096


class EnteredLines:
    def __init__(self) -> None:
        self.hidden = False
        """One of them was entered while nothing was recorded."""
        self.spaced = False
        """One of them begins with a space, by which a person keeps it out of the shell's history."""
        self._is_prompted = self._is_spaced = False
        self._begins = True
        self._echo = b""

    def prompted(self) -> None:
        self._is_prompted, self._echo = True, b""

    def ran(self) -> None:
        self._is_prompted = False

    def typed(self, data: bytes, *, hidden: bool, echoed: bool) -> bytes:
        """What of it may be kept: no line with a space first, where the terminal `echoed` it while a command ran."""
        if self._is_prompted:
            self._is_prompted = self.hidden = self.spaced = False
            self._begins = True
        self.hidden |= hidden and (b"\r" in data or b"\n" in data)
        return b"".join(self._piece(piece, echoed=echoed) for piece in data.splitlines(keepends=True))

    def _piece(self, piece: bytes, *, echoed: bool) -> bytes:
        if self._begins:
            self._is_spaced = piece.startswith(b" ")
            self.spaced |= self._is_spaced
        self._begins = piece.endswith((b"\r", b"\n"))
        if not (echoed and self._is_spaced):
            return piece
        self._echo = (self._echo + (piece[:-1] + b"\r\n" if self._begins else piece))[-_LONGEST:]
        return b""

    def without_echo(self, data: bytes) -> bytes:
        """What a command printed, where what a person typed ahead stands before it or amidst it."""
        if not self._echo:
            return data
        if (at := data.find(self._echo)) >= 0:
            echo, self._echo = self._echo, b""
            return data[:at] + data[at + len(echo) :]
        pairs = enumerate(zip(data, self._echo, strict=False))
        common = next((at for at, (one, other) in pairs if one != other), min(len(data), len(self._echo)))
        self._echo = self._echo[common:]
        return data[common:]
