"""Any bytes from either side through the pump's memory: the same in two chunkings, and only messages come out."""

from __future__ import annotations

from dragoman.protocols.jsonrpc import Relay, is_message

SEEDS = [
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    b'{"method":"tools/call","params":{"name":"x"},"jsonrpc":"2.0","id":"a"}\n\r\n[{"jsonrpc":"2.0","id":1,"method":"p"}]\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n',
    b'{"jsonrpc":"2.0","id":0,"result":{}}\n{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}\n',
    b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"' + b"y" * 9000 + b'"}}\n{"id":8}\n',
]
CAP = 8192


def one_input(data: bytes) -> None:
    size = 1 + sum(data[:8]) % 61
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert _pumped(chunks) == _pumped([data]), "chunking changed what passes"


def _pumped(chunks: list[bytes]) -> tuple[bytes, bytes]:
    """The same bytes from the client and from the daemon, then the daemon's end and the next one's beginning."""
    relay = Relay(CAP)
    relay.daemon_found()
    for chunk in chunks:
        relay.receive_from_client(chunk)
    result = _to_daemon(relay)
    for chunk in chunks:
        relay.receive_from_daemon(chunk)
    relay.daemon_lost("daemon_restarted", "it went")
    relay.daemon_found()
    result += _to_daemon(relay)
    relay.daemon_lost("daemon_restarted", "it went")
    relay.daemon_not_found("not_running", "none runs")
    assert not relay.needs_daemon, "somebody waits and was not told"
    return result, _to_client(relay)


def _to_daemon(relay: Relay) -> bytes:
    out = bytearray()
    while relay.to_daemon:
        piece = bytes(relay.to_daemon.head()[:97])
        relay.sent_to_daemon(len(piece))
        out += piece
    assert relay.to_daemon.size == 0
    return bytes(out)


def _to_client(relay: Relay) -> bytes:
    out = bytearray()
    while relay.to_client:
        piece = bytes(relay.to_client.head())
        relay.to_client.took(len(piece))
        out += piece
    lines = bytes(out).split(b"\n")[:-1]
    assert all(is_message(line) for line in lines), "something else than a message reached the client"
    return bytes(out)
