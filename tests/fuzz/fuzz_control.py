"""Both ends of the control socket, and the state file, on damaged bytes."""

from __future__ import annotations

import contextlib

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.control import ClientConnection, ControlCall, DaemonState, Hello, ServerConnection

_CALLER = ClientConnection()
_HELLO = _CALLER.send_hello(Hello(role="control", version="1", language="zh", about={"cwd": "/x"}))
_CALLS = b"".join(_CALLER.send_call(method, {"lines": 20})[1] for method in ("status", "journal_tail"))
_REPLIES = b'{"dragoman":1,"version":"1","pid":7}\n{"id":1,"item":{}}\n{"id":1,"error":{"code":"c","message":"m"}}\n'
_STATE = DaemonState(1, 2.5, "1", "127.0.0.1", 8177, 8177, "/s", "/w", 5).encode()

SEEDS = [
    _HELLO + _CALLS,
    _HELLO,
    _REPLIES,
    _STATE,
    ClientConnection().send_hello(Hello("mcp", "1")) + b'{"jsonrpc":"2.0"}\n',
]


def one_input(data: bytes) -> None:
    whole, halves = _served(data), _served(data[: len(data) // 2], data[len(data) // 2 :])
    assert whole == halves, "another chunking gave other messages"
    caller = ClientConnection()
    caller.send_call("status", {})
    with contextlib.suppress(RemoteProtocolError):
        list(caller.receive_data(data))
    with contextlib.suppress(RemoteProtocolError):
        DaemonState.decode(data)


def _served(*pieces: bytes) -> tuple[list[Hello | ControlCall], bytes]:
    """The messages, and for another role what is handed over."""
    server = ServerConnection()
    messages: list[Hello | ControlCall] = []
    handed_over = b""
    with contextlib.suppress(RemoteProtocolError):
        for piece in pieces:
            if server.hello and server.hello.role != "control":
                handed_over += server.pop_rest() + piece
            else:
                messages.extend(server.receive_data(piece))
        if server.hello and server.hello.role != "control":
            handed_over += server.pop_rest()
    return messages, handed_over
