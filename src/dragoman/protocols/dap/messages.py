"""The three kinds of DAP message. Only the routing fields are typed; arguments and bodies stay raw bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.json_input import PartLimits, without_lone_surrogates

# Requests that an adapter sends to its client.
REVERSE_COMMANDS = frozenset({"runInTerminal", "startDebugging"})

_T = TypeVar("_T")


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="request", gc=False):
    seq: int
    command: str
    arguments: Raw | UnsetType = UNSET


class Response(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="response", gc=False
):
    seq: int = 0  # nothing refers to it, and some adapters omit it
    request_seq: int
    success: bool
    command: str = ""
    message: str | None = None
    body: Raw | UnsetType = UNSET


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="event", gc=False):
    seq: int = 0
    event: str
    body: Raw | UnsetType = UNSET


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """The specification leaves `type` open, so a relay passes on unknown messages."""

    type: str
    seq: int = 0


Message = Request | Response | Event | Unknown

_KNOWN: msgspec.json.Decoder[Request | Response | Event] = msgspec.json.Decoder(Request | Response | Event)
_UNKNOWN: msgspec.json.Decoder[Unknown] = msgspec.json.Decoder(Unknown)
_MEMBERS: msgspec.json.Decoder[dict[str, Raw]] = msgspec.json.Decoder(dict[str, Raw])
_SPACE = re.compile(r"[ \t\r\n]*")
# Bodies are decoded later, into the requested types; this many strings take about 110 ms.
_PARTS = PartLimits(strings=1_500_000, others=16_000_000)
_TYPES = frozenset({"request", "response", "event"})


def decode_message(body: bytes) -> Message:
    if _PARTS.exceeded_by(body):
        raise RemoteProtocolError("too_many_parts", f"A message of {len(body)} bytes has too many parts to be read.")
    try:
        return _decode(body)
    except msgspec.ValidationError as error:
        raise RemoteProtocolError("bad_message", f"Not a message of the protocol: {error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RemoteProtocolError("bad_json", f"A message is not JSON: {error}.") from error
    except RecursionError as error:
        raise RemoteProtocolError("nested_too_deeply", "A message is nested too deeply.") from error


def decode_mended(decoder: msgspec.json.Decoder[_T], data: bytes | Raw) -> _T:
    """Decode strictly first.

    If a debugged program's own strings broke the JSON (lone surrogates, stray bytes), repair it.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        return decoder.decode(_mended(bytes(data)))


def encode_message(message: Request | Response | Event) -> bytes:
    return msgspec.json.encode(message)


def encode_value(value: Any) -> Raw:
    """Arguments or a body as JSON. A value that JSON cannot represent is a mistake of the caller."""
    try:
        return Raw(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError("not_encodable", f"The value cannot be sent as JSON: {error}.") from error


def renumbered(body: bytes, **numbers: int) -> bytes:
    """The same message with other `seq` and `request_seq`; every other member keeps its bytes and its place."""
    try:
        members: dict[str, Any] = dict(_MEMBERS.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _renumbered_as_written(body, numbers)
    return msgspec.json.encode(members | numbers)


def _decode(body: bytes) -> Message:
    try:
        return decode_mended(_KNOWN, body)
    except msgspec.ValidationError:
        unknown = decode_mended(_UNKNOWN, body)
        if unknown.type in _TYPES:
            raise
        return unknown


def _mended(data: bytes) -> bytes:
    return without_lone_surrogates(data.decode("utf-8", "replace").encode())


def _renumbered_as_written(body: bytes, numbers: Mapping[str, int]) -> bytes:
    """For bodies that are only readable after a repair: a relay must pass on the original text."""
    try:
        members = list(_members(body.decode("utf-8", "surrogateescape")))
    except (ValueError, IndexError, RecursionError) as error:
        raise LocalProtocolError("not_a_message", "Only a received message can be renumbered.") from error
    written = [f"{name}:{numbers.get(key, value)}" for key, name, value in members]
    written += [f'"{key}":{number}' for key, number in numbers.items() if key not in {key for key, *_ in members}]
    return ("{" + ",".join(written) + "}").encode("utf-8", "surrogateescape")


def _members(text: str) -> Iterator[tuple[str, str, str]]:
    """The name of each member, and its name and value as written; json's own scanner finds the end of a value."""
    scan = JSONDecoder().raw_decode
    at = _after_space(text, text.index("{") + 1)
    while text[at] != "}":
        key, end = scan(text, at)
        begin = _after_space(text, text.index(":", end) + 1)
        _, stop = scan(text, begin)
        yield key, text[at:end], text[begin:stop]
        at = _after_space(text, stop)
        at = _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()
