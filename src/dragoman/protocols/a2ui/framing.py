"""JSONL framing: bytes to lines, with a cap on the length of a line and at most one unfinished line in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.a2ui.messages import DEFAULT_LIMITS, A2uiError, A2uiLimits


class LineSplitter:
    """Lines end with LF, CRLF or the end of input; blank ones are skipped.

    A line above the limit ends the stream, after the lines before it were returned, so that no split of the input
    changes the result.
    """

    def __init__(self, limits: A2uiLimits = DEFAULT_LIMITS) -> None:
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
        """The lines that are complete by now; raises if the stream is broken."""
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
        # One byte more than the limit: it may be the CR of a CRLF whose LF has not arrived.
        if len(self._partial) + len(data) > self._limit + 1:
            self._fail()
        else:
            self._partial += data

    def _fail(self) -> None:
        self._partial.clear()
        if self._failure is None:
            self._failure = A2uiError("message_too_large", "", f"A message has at most {self._limit} bytes.")
