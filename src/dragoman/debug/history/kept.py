"""A stop as it is kept: places, values and what changed, without secrets and within bounds."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import msgspec

from dragoman.debug.model import Stop

VALUE_CHARACTERS = 400
VARIABLES = 100
_FRAMES = 20
_MESSAGE = 1000
_QUICKLY = 1  # a stop is kept while a program waits; three times smaller is enough

Redacted = Callable[[str, str], str]
"""Of a name and its value."""


class KeptFrame(msgspec.Struct, frozen=True, array_like=True):
    name: str
    path: str = ""
    line: int = 0
    is_library: bool = False


class KeptVariable(msgspec.Struct, frozen=True, array_like=True):
    name: str
    value: str
    type: str = ""


class Seen(msgspec.Struct, frozen=True, array_like=True):
    """What was seen at it. `at` is the frame whose variables these are."""

    frames: tuple[KeptFrame, ...] = ()
    variables: tuple[KeptVariable, ...] = ()
    changed: tuple[str, ...] = ()
    at: int = 0
    raised: tuple[str, str] = ("", "")


class KeptStop(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    number: int
    at_ns: int
    title: str
    workspace: str
    reason: str
    seen: Seen

    @property
    def id(self) -> str:
        return f"{self.session}:{self.number}"

    @property
    def frame(self) -> KeptFrame | None:
        return self.seen.frames[self.seen.at] if self.seen.at < len(self.seen.frames) else None


_DECODER = msgspec.msgpack.Decoder(Seen)


def packed(seen: Seen) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(seen), _QUICKLY)


def unpacked(data: bytes) -> Seen:
    return _DECODER.decode(zlib.decompress(data))


def seen_at(stop: Stop, redacted: Redacted) -> Seen:
    variables = stop.top_locals.variables[:VARIABLES] if stop.top_locals else ()
    raised = stop.raised
    return Seen(
        tuple(KeptFrame(it.name, it.path, it.line, it.is_library) for it in stop.frames[:_FRAMES]),
        tuple(KeptVariable(it.name, _value(it.name, it.value, redacted), it.type or "") for it in variables),
        tuple(it.name for it in stop.changed),
        stop.at,
        (raised.type, _value("", raised.message, redacted)[:_MESSAGE]) if raised else ("", ""),
    )


def _value(name: str, text: str, redacted: Redacted) -> str:
    """Cut last: half a secret is one that nothing knows."""
    shown = redacted(name, text[: 2 * VALUE_CHARACTERS])
    return shown if len(shown) <= VALUE_CHARACTERS else f"{shown[:VALUE_CHARACTERS]}… ({len(text)} chars)"
