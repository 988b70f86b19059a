"""Decides which marks reach the outer terminal, and reads bash's command line from between two marks.

A shell that marks itself (VS Code's, kitty's, a newer fish) gives its terminal more information than our marks do, so
ours are removed. The nonce never leaves the wrapper: inside another wrapper it is replaced by a word that says that the
command is recorded already. A daemon that holds the terminal gets every mark with its own token, and with the number of
the recorded command.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.osc import (
    MAX_BODY,
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputPart,
    OutputStarted,
    PromptStarted,
    PropertyReported,
    encode_mark,
)

RECORDED_NONCE = "recorded"
LINE = "Line"
"""The property that opens it; its value is the number of the line in the shell's history."""
_MOST = 60_000
_GIVEN_UP = 4 * 1024 * 1024
"""If no mark follows within this many bytes, this was not a line."""

_PHASES = (PromptStarted, InputStarted, OutputStarted, CommandFinished)


class MarkFilter:
    """Decides what of each mark reaches the outer terminal: every mark once."""

    def __init__(self, nonce: str, *, strip: bool, nested: bool = False, holder: str = "") -> None:
        self._nonce = nonce.encode()
        self._instead = RECORDED_NONCE.encode() if nested else b""
        self._strip = strip
        self._holder = holder
        self._others = self._others_before = False

    def shown(self, mark: Mark, *, verified: bool, busy: bool, number: int | None = None) -> bytes:
        """What of the mark goes to the screen. `number` is that of the command that it starts, if the command is
        recorded."""
        if self._holder and verified:
            return self._for_holder(mark, number)
        if self._strip:
            return b""
        if not verified:
            self._others = self._others or (not busy and isinstance(mark, _PHASES))
            return mark.raw
        if isinstance(mark, PromptStarted):
            self._others, self._others_before = False, self._others
        if self._others or self._others_before or mark.parameters.get("doubled") == "1" or len(mark.raw) > MAX_BODY:
            return b""
        if self._instead:
            return mark.raw.replace(self._nonce, self._instead)
        return mark.raw.replace(b";nonce=" + self._nonce, b"").replace(b";" + self._nonce, b"")

    def _for_holder(self, mark: Mark, number: int | None) -> bytes:
        if not isinstance(mark, _PHASES):
            return b""
        named = {"id": str(number)} if number is not None and isinstance(mark, OutputStarted) else {}
        return encode_mark(replace(mark, nonce=self._holder, parameters=named))


_NUMBERED = re.compile(r"\s*(\d+)[* ] (.*)", re.DOTALL)


class HistoryLineReader:
    """Reads the line that bash begins to run, as `history 1` prints it between two marks of the hook.

    Quoting the line in the shell would cost one more fork. Anything but the second mark may be between two marks with
    our nonce, so the bytes are taken as they are.
    """

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._expected: str | None = None
        self._line = bytearray()

    @property
    def is_open(self) -> bool:
        return self._expected is not None

    def pieces(self, pieces: list[OutputPart]) -> list[OutputPart]:
        """The pieces, with the mark that reports the line in place of what the shell printed."""
        read: list[OutputPart] = []
        for piece in pieces:
            if isinstance(piece, bytes):
                read += self._bytes(piece)
            elif not self._nonce or piece.nonce != self._nonce:
                read += self._bytes(piece.raw) if self.is_open else [piece]
            else:
                read += self._mark(piece)
        return read

    def _bytes(self, data: bytes) -> list[OutputPart]:
        if not self.is_open:
            return [data]
        self._line += data
        if len(self._line) > _GIVEN_UP:
            self._expected, shown, self._line = None, bytes(self._line), bytearray()
            return [shown]
        return []

    def _mark(self, mark: Mark) -> list[OutputPart]:
        if isinstance(mark, PropertyReported) and mark.key == LINE:
            self._expected, self._line = mark.value, bytearray()
            return []
        expected, self._expected = self._expected, None
        if expected is None or not isinstance(mark, OutputStarted):
            return [mark]
        match = _NUMBERED.fullmatch(self._line.decode(errors="replace").replace("\r\n", "\n"))
        if match is None or match[1] != expected:
            mark.parameters["listed"] = "0"
        reported = CommandLineReported(command_line=match[2][:_MOST] if match else "", nonce=self._nonce)
        with contextlib.suppress(LocalProtocolError):  # too long for any terminal, so it is dropped
            reported.raw = encode_mark(reported)
        return [reported, mark]
