"""Both sides of the control protocol as state machines over JSON lines.

A line has a cap: one that grows past it is refused before it is complete.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.control.messages import (
    PROTOCOL,
    ControlAnswer,
    ControlCall,
    ControlFailure,
    ControlItem,
    Hello,
    Welcome,
)

LINE_CAP = 1 << 20
FAR_LINE_CAP = 16 << 20
FAR_COST_CAP = 128 << 20
"""For one line from another machine: about the memory that its values take once they are decoded."""
FAR_KEPT_CAP = 256 << 20
"""For all items of an answer that a caller keeps together."""
_COST_A_PART = 64
EMPTY_LINES_AT_MOST = 16
"""In a row: each is only one byte, but costs as much work as a full line."""


class ControlLines:
    """Bytes in any chunks to JSON objects. It holds one unfinished line and the lines that were not read yet."""

    def __init__(self, cap: int = LINE_CAP, *, cost_cap: int | None = None) -> None:
        self._cap = cap
        self._cost_cap = cost_cap
        self.cost = 0
        """Of all lines, where a cap is set."""
        self._buffer = bytearray()
        self._scanned = 0
        self._empty = 0

    @property
    def unfinished(self) -> bool:
        return bool(self._buffer)

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Lazy: a caller may stop after a line and pass the rest to another reader (`pop_rest`)."""
        self._buffer += data
        while (line := self._next_line()) is not None:
            if line.strip():
                self._empty = 0
                yield decode_line(line)
            else:
                self._count_empty()

    def pop_rest(self) -> bytes:
        rest = bytes(self._buffer)
        self._buffer.clear()
        self._scanned = 0
        return rest

    def _count_empty(self) -> None:
        self._empty += 1
        if self._empty > EMPTY_LINES_AT_MOST:
            self.pop_rest()
            raise RemoteProtocolError("empty_lines", f"more than {EMPTY_LINES_AT_MOST} empty lines")

    def _next_line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._scanned)
        if (len(self._buffer) if end < 0 else end) > self._cap:
            self.pop_rest()
            raise RemoteProtocolError("line_too_long", f"a line of more than {self._cap} bytes")
        self._scanned = len(self._buffer) if end < 0 else 0
        if end < 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        if self._cost_cap is not None:
            self.cost += (cost := line_cost(line))
            if cost > self._cost_cap:
                self.pop_rest()
                raise RemoteProtocolError("too_many_parts", "a line has too many parts")
        return line


def decode_line(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError("not_json", f"a line is not JSON: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise RemoteProtocolError("not_an_object", "a line is JSON, but not an object")
    return value


def line_cost(line: bytes) -> int:
    """About the bytes that the line takes once it is decoded: a list of empty lists is small as text alone."""
    return len(line) + _COST_A_PART * (line.count(b",") + line.count(b"[") + line.count(b"{"))


def encode_line(value: Mapping[str, Any]) -> bytes:
    """ASCII JSON: a lone surrogate in a file name is sent as an escape instead of breaking the encoding."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


Reply = ControlItem | ControlAnswer | ControlFailure


class ServerConnection:
    """The daemon's side: first a hello, then calls (for the role `control`)."""

    def __init__(self) -> None:
        self._lines = ControlLines()
        self.hello: Hello | None = None

    def receive_data(self, data: bytes) -> Iterator[Hello | ControlCall]:
        for line in self._lines.feed(data):
            if self.hello is None:
                self.hello = _read_hello(line)
                yield self.hello
                if self.hello.role != "control":
                    return
            else:
                yield ControlCall(_integer(line, "id"), _text(line, "method"), _mapping(line, "params"))

    def receive_eof(self) -> None:
        if self._lines.unfinished:
            raise RemoteProtocolError("cut_short", "the connection ended within a line")

    def pop_rest(self) -> bytes:
        return self._lines.pop_rest()

    def send_welcome(self, welcome: Welcome) -> bytes:
        return encode_line(
            {"dragoman": PROTOCOL, "version": welcome.version, "pid": welcome.pid, "instance": welcome.instance}
        )

    def send(self, reply: Reply) -> bytes:
        return encode_line(_REPLY_FIELDS[type(reply)](reply))


class ClientConnection:
    """The caller's side. Ids grow by one; a reply to an id that is not open is a protocol error of the daemon."""

    def __init__(self, *, is_far: bool = False) -> None:
        """This machine's daemon is trusted more than its callers; that of another machine is not."""
        self._lines = ControlLines(cap=FAR_LINE_CAP, cost_cap=FAR_COST_CAP) if is_far else ControlLines(cap=64 << 20)
        # A counter that is read and then written would not be safe: a signal handler may call in between.
        self._ids = itertools.count(1)
        self._open: set[int] = set()

    def send_hello(self, hello: Hello) -> bytes:
        return encode_line(
            {
                "dragoman": PROTOCOL,
                "role": hello.role,
                "version": hello.version,
                "language": hello.language,
                "about": dict(hello.about),
            }
        )

    def send_call(self, method: str, params: Mapping[str, Any]) -> tuple[int, bytes]:
        if not method:
            raise LocalProtocolError("no_method", "a call needs a method")
        call_id = next(self._ids)
        self._open.add(call_id)
        return call_id, encode_line({"id": call_id, "method": method, "params": dict(params)})

    def receive_data(self, data: bytes) -> Iterator[Welcome | Reply]:
        for line in self._lines.feed(data):
            yield self._read(line)

    def pop_rest(self) -> bytes:
        return self._lines.pop_rest()

    @property
    def cost(self) -> int:
        """About the memory that everything takes which another machine has sent; 0 for this machine's daemon."""
        return self._lines.cost

    def _read(self, line: Mapping[str, Any]) -> Welcome | Reply:
        if "dragoman" in line:
            return Welcome(_text(line, "version"), _integer(line, "pid"), str(line.get("instance", "")))
        call_id = _integer(line, "id")
        if call_id not in self._open and call_id != 0:
            raise RemoteProtocolError("unknown_id", f"a reply to call {call_id}, which is not open")
        if "item" in line:
            return ControlItem(call_id, line["item"])
        self._open.discard(call_id)
        if "error" in line:
            error = _mapping(line, "error")
            return ControlFailure(call_id, _text(error, "code"), _text(error, "message"), str(error.get("hint", "")))
        return ControlAnswer(call_id, line.get("result"))


_REPLY_FIELDS: dict[type[Reply], Any] = {
    ControlItem: lambda reply: {"id": reply.id, "item": reply.value},
    ControlAnswer: lambda reply: {"id": reply.id, "result": reply.result},
    ControlFailure: lambda reply: {
        "id": reply.id,
        "error": {"code": reply.code, "message": reply.message, "hint": reply.hint},
    },
}


def _read_hello(line: Mapping[str, Any]) -> Hello:
    if line.get("dragoman") != PROTOCOL:
        raise RemoteProtocolError("not_dragoman", f"the first line does not speak protocol {PROTOCOL}")
    return Hello(
        role=_text(line, "role"),
        version=_text(line, "version"),
        language=str(line.get("language", "en")),
        about=_mapping(line, "about"),
    )


def _text(line: Mapping[str, Any], name: str) -> str:
    value = line.get(name)
    if not isinstance(value, str):
        raise RemoteProtocolError("bad_field", f"{name} must be text")
    return value


def _integer(line: Mapping[str, Any], name: str) -> int:
    value = line.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise RemoteProtocolError("bad_field", f"{name} must be a whole number")
    return value


def _mapping(line: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = line.get(name, {})
    if not isinstance(value, dict):
        raise RemoteProtocolError("bad_field", f"{name} must be an object")
    return value
