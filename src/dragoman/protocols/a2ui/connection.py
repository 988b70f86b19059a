"""A JSONL stream of A2UI from an agent to a renderer: bytes in, messages out, and answers as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from dragoman.protocols.a2ui.framing import LineSplitter
from dragoman.protocols.a2ui.messages import (
    DEFAULT_LIMITS,
    A2uiError,
    A2uiLimits,
    AgentMessage,
    ClientMessage,
    Incoming,
)
from dragoman.protocols.a2ui.reader import read_line
from dragoman.protocols.a2ui.v08_writer import to_v08
from dragoman.protocols.a2ui.v09 import to_v09

Written = Literal["0.8", "0.9"]
_WRITERS = {"0.8": to_v08, "0.9": to_v09}


class RefusedLine(msgspec.Struct, frozen=True):
    """A line that is not a valid message.

    The stream continues: the agent gets an error and may send the line again, repaired.
    """

    line: int
    error: A2uiError


class Connection:
    """Lines are counted from 1.

    A line above the size limit ends the stream with an A2uiError; an invalid one is an event.
    """

    def __init__(self, writes: Written = "0.9", limits: A2uiLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._splitter = LineSplitter(limits)
        self._write = _WRITERS[writes]
        self._line = 0

    def receive_data(self, data: bytes) -> None:
        self._splitter.receive_data(data)

    def receive_eof(self) -> None:
        self._splitter.receive_eof()

    def events(self) -> Iterator[Incoming | RefusedLine]:
        for line in self._splitter.lines():
            self._line += 1
            try:
                yield from read_line(line, self._limits)
            except A2uiError as error:
                yield RefusedLine(self._line, error)

    def send(self, messages: Iterable[AgentMessage | ClientMessage]) -> bytes:
        return encode_jsonl(self._write(messages))


def encode_jsonl(messages: Iterable[object]) -> bytes:
    return b"".join(msgspec.json.encode(message) + b"\n" for message in messages)
