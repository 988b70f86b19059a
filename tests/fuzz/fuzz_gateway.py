"""Gateway frames, both ends of a connection, the reducer and the byte stream, on any bytes."""

from __future__ import annotations

import json
from pathlib import Path

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.gateway import (
    ClientConnection,
    ClientInfo,
    ConnectParams,
    ConnectRequested,
    EventFrame,
    HelloOk,
    Reducer,
    SequenceGap,
    ServerConnection,
    decode_stream,
)

_VECTORS = Path(__file__).parents[1] / "vectors" / "gateway"
_CHALLENGE = b'{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":1}}'
_HELLO = b'{"type":"res","id":"connect","ok":true,"payload":{"type":"hello-ok","protocol":3}}'
_OFFER = ConnectParams(3, 4, ClientInfo("cli", "0", "linux", "cli"))


def one_input(data: bytes) -> None:
    """Each line is one message; every part of the package reads all of them."""
    messages = data.split(b"\n")
    _handshake(messages)
    _talk(messages)
    _serve(messages)
    try:
        list(decode_stream(data, max_bytes=1 << 20))
    except RemoteProtocolError:
        return


def _handshake(messages: list[bytes]) -> None:
    _read_as_client(ClientConnection(), messages)


def _talk(messages: list[bytes]) -> None:
    client = ClientConnection()
    client.receive_data(_CHALLENGE)
    list(client.events())
    client.send_connect(_OFFER, deadline_s=15.0)
    client.receive_data(_HELLO)
    list(client.events())
    client.send_request("1", "health", deadline_s=30.0)
    _read_as_client(client, messages)


def _read_as_client(client: ClientConnection, messages: list[bytes]) -> None:
    reducer = Reducer()
    for message in messages:
        client.receive_data(message)
    try:
        for event in client.events():
            if isinstance(event, EventFrame | SequenceGap):
                reducer.feed(event)
    except RemoteProtocolError:
        pass
    client.expire(60.0)
    client.receive_eof()
    list(client.events())


def _serve(messages: list[bytes]) -> None:
    server = ServerConnection()
    server.send_challenge("n", 1)
    for message in messages:
        server.receive_data(message)
        try:
            asked = [event for event in server.events() if isinstance(event, ConnectRequested)]
        except RemoteProtocolError:
            return
        if asked:
            server.judge(1)
            server.accept(HelloOk(asked[0].protocol))


def _seeds() -> list[bytes]:
    """What one side said, a transcript each, within the driver's size of an input."""
    seeds = []
    for name in ("v3-05", "v3-07", "v3-08", "v3-11a", "v3-11d", "v3-16", "v4-21"):
        lines = [json.loads(line) for line in next(_VECTORS.glob(f"{name}*")).read_text().splitlines()]
        for direction in ("in", "out"):
            entries = [json.dumps(line["frame"]) for line in lines if line.get("dir") == direction]
            seeds.append("\n".join(text for text in entries if len(text) < 4000).encode()[: 1 << 15])
    return [*seeds, *(seed.split(b"\n", 1)[0] for seed in seeds)]


SEEDS: list[bytes] = _seeds()
