"""A stream of A2UI as JSONL, from an agent to whoever draws: bytes in, messages out, and answers as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from dragoman.wire.a2ui.errors import A2uiError
from dragoman.wire.a2ui.framing import LineSplitter
from dragoman.wire.a2ui.limits import DEFAULT_LIMITS, Limits
from dragoman.wire.a2ui.messages import AgentMessage, ClientMessage, Incoming
from dragoman.wire.a2ui.reading import read_line
from dragoman.wire.a2ui.to_v08 import to_v08
from dragoman.wire.a2ui.to_v09 import to_v09

Written = Literal["0.8", "0.9"]
_WRITERS = {"0.8": to_v08, "0.9": to_v09}


class Refused(msgspec.Struct, frozen=True):
    """A line that was not a message. The stream goes on: the agent is told and may send it again, repaired."""

    line: int
    error: A2uiError


class Connection:
    """Lines are counted from 1. A line above the cap ends the stream with an A2uiError; a bad one is an event."""

    def __init__(self, writes: Written = "0.9", limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._splitter = LineSplitter(limits)
        self._write = _WRITERS[writes]
        self._line = 0

    def receive_data(self, data: bytes) -> None:
        self._splitter.receive_data(data)

    def receive_eof(self) -> None:
        self._splitter.receive_eof()

    def events(self) -> Iterator[Incoming | Refused]:
        for line in self._splitter.lines():
            self._line += 1
            try:
                yield from read_line(line, self._limits)
            except A2uiError as error:
                yield Refused(self._line, error)

    def send(self, messages: Iterable[AgentMessage | ClientMessage]) -> bytes:
        return encode_jsonl(self._write(messages))


def encode_jsonl(messages: Iterable[object]) -> bytes:
    return b"".join(msgspec.json.encode(message) + b"\n" for message in messages)
