"""JSONL: bytes to lines, with a cap on the length of a line and never more than one line kept back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from dragoman.errors import LocalProtocolError
from dragoman.wire.a2ui.errors import A2uiError
from dragoman.wire.a2ui.limits import DEFAULT_LIMITS, Limits


class LineSplitter:
    """Lines end with LF, CRLF or the end of input; blank ones are skipped. A line above the cap ends the stream, after
    the lines before it have been given out: so that no split of the input changes what is read."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limit = limits.message_bytes
        self._partial = bytearray()
        self._lines: deque[bytes] = deque()
        self._failure: A2uiError | None = None
        self._ended = False

    def receive_data(self, data: bytes) -> None:
        if self._ended:
            raise LocalProtocolError("stream_ended", "No data is taken after the end of the stream.")
        first, *others = data.split(b"\n")
        self._extend(first)
        for other in others:
            self._finish_line()
            self._extend(other)

    def receive_eof(self) -> None:
        self._finish_line()
        self._ended = True

    def lines(self) -> Iterator[bytes]:
        """What is complete by now; raises where the stream broke."""
        while self._lines:
            yield self._lines.popleft()
        if self._failure is not None:
            raise self._failure

    def _finish_line(self) -> None:
        line = bytes(self._partial).strip(b" \t\r")
        self._partial.clear()
        if len(line) > self._limit:
            self._fail()
        elif line and self._failure is None:
            self._lines.append(line)

    def _extend(self, data: bytes) -> None:
        if self._failure is not None:
            return
        # One byte more than the cap: it may be the CR of a CRLF whose LF is still to come.
        if len(self._partial) + len(data) > self._limit + 1:
            self._fail()
        else:
            self._partial += data

    def _fail(self) -> None:
        self._partial.clear()
        if self._failure is None:
            self._failure = A2uiError("message_too_large", "", f"A message has at most {self._limit} bytes.")
