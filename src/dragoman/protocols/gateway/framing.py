"""One WebSocket text message is one JSON frame: bounded reading, bounded writing, and the errors of both.

`decode_stream` serves `dragoman wire decode gateway`: it splits a byte stream into frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.gateway.messages import Frame
from dragoman.protocols.json_input import PartLimits, without_lone_surrogates

MAX_HANDSHAKE_BYTES = 64 * 1024
MAX_PAYLOAD_BYTES = 26_214_400
MAX_DEPTH = 128
_BLOCK = 64 * 1024
_STEP = [0] * 256

CLOSE_PROTOCOL, CLOSE_NOT_TEXT, CLOSE_POLICY, CLOSE_TOO_LARGE = 1002, 1007, 1008, 1009


_PARTS = PartLimits(strings=200_000, others=400_000, is_exact=True)  # files that are shown have many commas
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'{}[]"'))
_STEP[0x7B] = _STEP[0x5B] = 1
_STEP[0x7D] = _STEP[0x5D] = -1


_T = TypeVar("_T")
_FRAMES: msgspec.json.Decoder[Frame] = msgspec.json.Decoder(Frame)
_ENCODER = msgspec.json.Encoder()


class GatewayProtocolError(RemoteProtocolError):
    """The peer broke the protocol; `close_code` is what to close its socket with."""

    def __init__(self, code: str, message: str, close_code: int) -> None:
        super().__init__(code, message)
        self.close_code = close_code


def decode_frame(data: bytes, *, max_bytes: int = MAX_PAYLOAD_BYTES) -> Frame:
    """The frame in one text message. Duplicate keys: the last one counts, as in `JSON.parse`; two types are refused."""
    check_limits(data, max_bytes)
    return _decoded(_FRAMES.decode, data, "invalid_frame")


def decode_payload(payload: Raw | UnsetType, decoder: msgspec.json.Decoder[_T]) -> _T:
    """A payload as a type; a payload that was left out reads as an empty object."""
    return _decoded(decoder.decode, b"{}" if isinstance(payload, UnsetType) else payload, "invalid_payload")


def check_limits(data: bytes, max_bytes: int) -> None:
    """Check everything before a parser sees the bytes: size, number of parts, encoding, nesting."""
    if len(data) > max_bytes:
        raise GatewayProtocolError(
            "frame_too_large", f"a frame of {len(data)} bytes; {max_bytes} are allowed", CLOSE_TOO_LARGE
        )
    if _PARTS.exceeded_by(data):
        raise GatewayProtocolError(
            "too_many_parts", f"a frame of {len(data)} bytes has too many parts to be read", CLOSE_POLICY
        )
    if not data.isascii():
        _check_utf8(data)
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and _is_too_deep(data):
        raise _too_deep()


def encode_frame(frame: Struct, *, max_bytes: int = MAX_PAYLOAD_BYTES) -> bytes:
    try:
        data = _ENCODER.encode(frame)
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError("unencodable", f"the message cannot be written as JSON: {error}") from error
    if len(data) > max_bytes:
        raise LocalProtocolError(
            "frame_too_large", f"a frame of {len(data)} bytes; the peer takes {max_bytes}: send it in parts"
        )
    return data


def raw(value: Any) -> Raw | UnsetType:
    """A payload or parameters ready for a frame; what is left out stays left out."""
    if value is UNSET or isinstance(value, Raw):
        return value
    try:
        return Raw(_ENCODER.encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError("unencodable", f"the value cannot be written as JSON: {error}") from error


def utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise GatewayProtocolError("invalid_utf8", f"text with lone surrogates: {error}", CLOSE_NOT_TEXT) from error


def _decoded(decode: Callable[[bytes | Raw], _T], data: bytes | Raw, code: str) -> _T:
    try:
        return _read(decode, data)
    except msgspec.ValidationError as error:
        raise GatewayProtocolError(code, f"{code.replace('_', ' ')}: {error}", CLOSE_PROTOCOL) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GatewayProtocolError("invalid_json", f"not JSON: {error}", CLOSE_NOT_TEXT) from error
    except RecursionError as error:
        # Only text that is not JSON gets here: the depth of real JSON was counted before.
        raise _too_deep() from error


def _read(decode: Callable[[bytes | Raw], _T], data: bytes | Raw) -> _T:
    """A gateway may cut long texts between the halves of a surrogate pair: refusing that would lose the same history
    forever."""
    try:
        return decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return decode(without_lone_surrogates(bytes(data)))


def _check_utf8(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise GatewayProtocolError("invalid_utf8", f"not UTF-8: {error}", CLOSE_NOT_TEXT) from error


def _is_too_deep(data: bytes) -> bool:
    """Counted without a parser's recursion, at the speed of `bytes` methods, in blocks: so in constant memory."""
    depth = at = in_string = 0
    while at < len(data):
        block = _aligned_block(data, at)
        at += len(block)
        parts = block.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NOT_STRUCTURE).split(b'"')
        outside = b"".join(parts[in_string::2])
        in_string = (in_string + len(parts) - 1) % 2
        levels = list(accumulate(map(_STEP.__getitem__, outside), initial=depth))
        depth = levels[-1]
        if max(levels) > MAX_DEPTH:
            return True
    return False


def _aligned_block(data: bytes, at: int) -> bytes:
    """A block that ends outside an escape: a run of backslashes starts aligned, so an odd one needs a byte more."""
    block = data[at : at + _BLOCK]
    dangling = (len(block) - len(block.rstrip(b"\\"))) % 2
    return data[at : at + _BLOCK + 1] if dangling else block


def _too_deep() -> GatewayProtocolError:
    return GatewayProtocolError("frame_too_deep", f"JSON nested deeper than {MAX_DEPTH} levels", CLOSE_POLICY)


_OBJECT: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


# A whole string, a bracket, or anything else that is not white space; possessive, so that nothing is ever tried twice.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]|[^\s{}\[\]"]++|"', re.DOTALL)
_STEPS = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


def decode_stream(data: bytes, *, max_bytes: int = MAX_PAYLOAD_BYTES) -> Iterator[dict[str, Any]]:
    """Each frame as a JSON object. Ends with a `RemoteProtocolError` at the first byte that belongs to none."""
    for text in split_frames(data, max_bytes=max_bytes):
        decode_frame(text, max_bytes=max_bytes)
        yield decode_payload(Raw(text), _OBJECT)


def split_frames(data: bytes, *, max_bytes: int = MAX_PAYLOAD_BYTES) -> Iterator[bytes]:
    """Cut at the end of every outermost object."""
    start, depth = 0, 0
    for token in _TOKEN.finditer(data):
        if depth == 0:
            start = token.start()
        depth += _STEPS.get(token[0], 0)
        if depth > MAX_DEPTH or token.end() - start > max_bytes:
            decode_frame(data[start : token.end()], max_bytes=max_bytes)
        if depth <= 0:
            yield data[start : token.end()]
            depth = 0
    if depth:
        raise GatewayProtocolError("truncated_stream", "the stream ends inside a frame", CLOSE_NOT_TEXT)
