"""Content-Length framing: any chunking of the bytes gives the same bodies, and buffering is capped."""

from __future__ import annotations

import re

from dragoman.core.errors import RemoteProtocolError

MAX_HEADER = 8 * 1024
MAX_BODY = 64 * 1024 * 1024

_END = b"\r\n\r\n"
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*")  # the header field of RFC 7230
_LONGEST_NUMBER = 19  # digits; a longer number cannot be a length, and int() refuses thousands of digits


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Takes bytes as they come and gives back whole bodies."""

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self._buffer = bytearray()
        self._at = 0  # the start of the unread part; moving it is cheaper than cutting the buffer for every frame
        self._searched = 0  # a header that arrives in small pieces must not be searched from its start every time
        self._length: int | None = None

    def feed(self, data: bytes) -> None:
        del self._buffer[: self._at]
        self._searched -= self._at
        self._at = 0
        self._buffer += data

    def next_body(self) -> bytes | None:
        """The next whole body, or None until more bytes come."""
        if self._length is None:
            self._length = self._read_header()
        if self._length is None or len(self._buffer) - self._at < self._length:
            return None
        end = self._at + self._length
        with memoryview(self._buffer) as view:
            body = bytes(view[self._at : end])
        self._at = self._searched = end
        self._length = None
        return body

    @property
    def unread(self) -> int:
        """Bytes of a message that is not whole yet."""
        return len(self._buffer) - self._at + (0 if self._length is None else 1)

    def take_unread(self) -> bytes:
        """What was not given back as a body, for whoever reads it otherwise."""
        rest = bytes(self._buffer[self._at :])
        self.discard()
        return rest

    def discard(self) -> None:
        """Discard the buffer: after a protocol error, nothing behind it can be trusted."""
        self._buffer.clear()
        self._at = self._searched = 0
        self._length = None

    def _read_header(self) -> int | None:
        end = self._buffer.find(_END, max(self._at, self._searched))
        size = (len(self._buffer) if end < 0 else end + len(_END)) - self._at
        if size > MAX_HEADER or (end < 0 and size == MAX_HEADER):
            raise RemoteProtocolError("header_too_long", f"The header is longer than {MAX_HEADER} bytes.")
        if end < 0:
            self._searched = len(self._buffer) - len(_END) + 1
            return None
        length = content_length(bytes(self._buffer[self._at : end]))
        if length > self._max_body:
            reason = f"A body of {length} bytes is announced; at most {self._max_body} are taken."
            raise RemoteProtocolError("body_too_long", reason)
        self._at = end + len(_END)
        return length


def content_length(header: bytes) -> int:
    """The one field that is needed; others are allowed and ignored."""
    lengths = [value for name, value in map(_field, header.split(b"\r\n")) if name == b"content-length"]
    if not lengths:
        raise RemoteProtocolError("missing_content_length", "The header has no Content-Length field.")
    if len(lengths) > 1:
        raise RemoteProtocolError("duplicate_content_length", "The header has more than one Content-Length field.")
    digits = lengths[0]
    if not digits.isdigit():
        raise RemoteProtocolError("bad_content_length", f"Content-Length is {_shown(digits)}, not a number.")
    if len(digits) > _LONGEST_NUMBER:
        raise RemoteProtocolError("body_too_long", f"Content-Length has {len(digits)} digits.")
    return int(digits)


def _field(line: bytes) -> tuple[bytes, bytes]:
    field = _FIELD.fullmatch(line)
    if field is None:
        reason = f"Expected a header field such as Content-Length, got {_shown(line)}."
        raise RemoteProtocolError("bad_header", f"{reason} A program may be printing to the adapter's output.")
    return field[1].lower(), field[2]


def _shown(data: bytes) -> str:
    return ascii(data[:60].decode("utf-8", "replace"))
