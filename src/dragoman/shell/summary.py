"""What a command printed, in short: its first five lines and its last five, as the protocol's record has it."""

from __future__ import annotations

import re

_LINES = 5
_END_BYTES = 2048
_UNSEEN = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f]")


class Summary:
    """Keeps both ends of the output: adding to it costs the same however much there is."""

    def __init__(self) -> None:
        self._head = self._tail = b""

    def add(self, data: bytes) -> None:
        if len(self._head) < _END_BYTES:
            room = _END_BYTES - len(self._head)
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail = (self._tail + data[-_END_BYTES:])[-_END_BYTES:]

    def text(self) -> str:
        if len(self._tail) < _END_BYTES:  # nothing is missing between the two
            lines = _lines(self._head + self._tail)
            return "\n".join(lines if len(lines) <= 2 * _LINES else lines[:_LINES] + lines[-_LINES:])
        return "\n".join(_lines(self._head)[:_LINES] + _lines(self._tail)[1:][-_LINES:])


def _lines(data: bytes) -> list[str]:
    """A line that was drawn anew counts as it stood last."""
    text = _UNSEEN.sub(b"", data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).decode("utf-8", "replace")
    return [line.rstrip() for line in text.split("\n") if line.strip()]
