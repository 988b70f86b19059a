"""One message a line, with `|*|` before the newline. Strings may hold `|*|`, so lines are split on newlines alone."""

from __future__ import annotations

from dragoman.errors import RemoteProtocolError

SEPARATOR = b"|*|"
MAX_LINE = 64 * 1024 * 1024


class LineReader:
    """Takes bytes as they come and gives back whole lines without their newline."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._buffer = bytearray()
        self._at = 0
        self._searched = 0  # a long line in small pieces must not be searched from its start every time

    def feed(self, data: bytes) -> None:
        del self._buffer[: self._at]
        self._searched -= self._at
        self._at = 0
        self._buffer += data

    def next_line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        length = (len(self._buffer) if end < 0 else end) - self._at
        if length > self._max_line:
            raise RemoteProtocolError("line_too_long", f"A line is longer than {self._max_line} bytes.")
        if end < 0:
            self._searched = len(self._buffer)
            return None
        with memoryview(self._buffer) as view:
            line = bytes(view[self._at : end])
        self._at = self._searched = end + 1
        return line

    @property
    def unread(self) -> int:
        """Bytes of a line that has no newline yet."""
        return len(self._buffer) - self._at

    def discard(self) -> None:
        """Forget what is buffered: after a fault nothing behind it can be trusted."""
        self._buffer.clear()
        self._at = self._searched = 0


def message_text(line: bytes) -> bytes:
    """What the IDE reads: everything before the suffix; blanks and a CR around it are nobody's business."""
    text = line.rstrip(b" \t\r")
    if not text.endswith(SEPARATOR):
        raise RemoteProtocolError("missing_separator", "A line does not end with |*|: not a LuaPanda runtime?")
    return text[: -len(SEPARATOR)]


def command_text(line: bytes) -> tuple[bytes, bytes]:
    """What the runtime reads: the first message of a line, and the second one, which it loses.

    It cuts three characters off every line, whatever they are, and then splits on the separator, also within strings.
    """
    text = line.replace(b"\r", b"")
    trimmed = text.rstrip(b" \t")
    if not trimmed:
        raise RemoteProtocolError("empty_line", "A line is empty.")
    if trimmed.endswith(SEPARATOR):
        trimmed = trimmed[: -len(SEPARATOR)]
    elif len(text) - len(trimmed) < len(SEPARATOR):
        raise RemoteProtocolError("missing_separator", "A line does not end with |*|.")
    first, _, rest = trimmed.partition(SEPARATOR)
    if SEPARATOR in rest:
        raise RemoteProtocolError("three_on_a_line", "Three messages on one line: the runtime never gets past them.")
    return first, rest
