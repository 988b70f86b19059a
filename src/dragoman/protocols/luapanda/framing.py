"""One message per line, with `|*|` before the newline, and JSON as the two sides write it.

Strings may hold `|*|`, so lines are split on newlines alone. The JSON may have bytes that are not UTF-8, control
bytes in strings, and Lua's own infinities.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from json import JSONDecoder, JSONEncoder
from typing import Any, Literal

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.json_input import PartLimits

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
        """Discard the buffer: after a protocol error, nothing behind it can be trusted."""
        self._buffer.clear()
        self._at = self._searched = 0


def message_text(line: bytes) -> bytes:
    """What the IDE reads: everything before the suffix. Blanks and a CR around it are ignored."""
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


# The runtime leaves control bytes unescaped, hence strict=False. Its own decoder makes text of every number.
_MESSAGE = JSONDecoder(strict=False)
_COMMAND = JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)
_ENCODER = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# Lua prints numbers with `tostring`, so a setVariable reply can hold a bare inf. Strings are matched whole, and an open
# one to the end, so that words in strings stay and the search stays linear.
_LUA_WORD = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|(-?)(inf|nan|1\.#INF|1\.#IND|1\.#QNAN)\b', re.DOTALL)
# Decoded whole into Python objects; these take about 100 ms.
_PARTS = PartLimits(strings=500_000, others=800_000)
_INFINITIES = frozenset({"inf", "1.#INF"})


def read_message(data: bytes) -> dict[str, Any]:
    """An object as the IDE reads it."""
    if _PARTS.exceeded_by(data):
        raise RemoteProtocolError("too_many_parts", f"A message of {len(data)} bytes has too many parts to be read.")
    try:
        return _read(_MESSAGE, data)
    except ValueError as error:
        repaired = _LUA_WORD.sub(_json_word, _text(data)).encode("utf-8", "surrogateescape")
        return _read_last(_MESSAGE, repaired, error)


def read_command(data: bytes) -> dict[str, Any]:
    """An object as the runtime reads it."""
    try:
        return _read(_COMMAND, data)
    except ValueError as error:
        raise _not_json(error) from error


def command_line(fields: Mapping[str, Any]) -> bytes:
    """What the IDE writes: valid UTF-8, since the runtime hands every other byte on to the program."""
    return _line(fields, b" " + SEPARATOR, "strict")


def message_line(fields: Mapping[str, Any]) -> bytes:
    """What the runtime writes: Lua strings are bytes, and go out as they are."""
    return _line(fields, SEPARATOR, "surrogateescape")


def map_base64(info: Any, change: Callable[[str], str]) -> Any:
    """Only the `value` of array items of the type string is encoded; names, logs and setVariable replies are not."""
    if not isinstance(info, list):
        return info
    return [{**item, "value": change(item["value"])} if _is_encoded(item) else item for item in info]


def from_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError):
        return text  # not encoded after all; the value as it came is worth more than an error


def to_base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode("ascii")


def _read(decoder: JSONDecoder, data: bytes) -> dict[str, Any]:
    try:
        fields = decoder.decode(_text(data))
    except RecursionError as error:
        raise RemoteProtocolError("nested_too_deeply", "A message is nested too deeply.") from error
    if not isinstance(fields, dict):
        raise RemoteProtocolError("not_an_object", "A message is not a JSON object.")
    return fields


def _read_last(decoder: JSONDecoder, data: bytes, first: ValueError) -> dict[str, Any]:
    try:
        return _read(decoder, data)
    except ValueError:
        raise _not_json(first) from first


def _not_json(error: ValueError) -> RemoteProtocolError:
    return RemoteProtocolError("bad_json", f"A message is not JSON: {error}.")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _json_word(found: re.Match[str]) -> str:
    string, sign, word = found.groups()
    return string if string is not None else (sign + "Infinity" if word in _INFINITIES else "NaN")


def _is_encoded(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "string" and isinstance(item.get("value"), str)


def _line(fields: Mapping[str, Any], suffix: bytes, errors: Literal["strict", "surrogateescape"]) -> bytes:
    try:
        text = _ENCODER.encode(fields).replace("|", "\\u007c")  # only strings can hold a bar
        return text.encode("utf-8", errors) + suffix + b"\n"
    except UnicodeEncodeError as error:
        raise LocalProtocolError("not_utf8", "A text holds characters that UTF-8 cannot carry.") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError("not_encodable", f"The message cannot be sent as JSON: {error}.") from error
