"""Gateway frames through a connection into typed messages, against bare `json.loads` of the same texts in the same run.

One WebSocket message is one frame, so there is nothing to cut into chunks: what varies is the size of the messages.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from bench.claims import Claim, median_s
from dragoman.chat.gateway_client.event_router import GatewayEventRouter
from dragoman.core.events import Event
from dragoman.journal import Journal
from dragoman.protocols.gateway import ClientConnection, ClientInfo, ConnectParams, EventFrame, Reducer, decode_frame
from dragoman.protocols.gateway.chat_events import ChatEvent

_VECTORS = Path(__file__).parents[1] / "tests" / "vectors" / "gateway"
_CHALLENGE = b'{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":1}}'
_HELLO = b'{"type":"res","id":"connect","ok":true,"payload":{"type":"hello-ok","protocol":3}}'
_GOAL = 0.5
_BATCH = 256


def run() -> list[Claim]:
    corpora = {
        "a recorded conversation": _recorded() * 40,
        "small messages": [_tick()] * 40_000,
        "large messages": [_history()] * 40,
    }
    ratios = [
        Claim(f"gateway: {name} through the connection, of json.loads", _ratio(texts), "x", _GOAL, "higher")
        for name, texts in corpora.items()
    ]
    reduced = Claim("gateway: recorded chats reduced, of json.loads", _reduced_ratio(_recorded()), "x", 0.2, "higher")
    return [
        *ratios,
        reduced,
        Claim("gateway: events decoded, reduced, routed", _routed_per_s(), "/s", 20_000, "higher"),
        Claim("gateway: the same, each kept in the journal", asyncio.run(_kept_per_s()), "/s", 8_000, "higher"),
    ]


def _ratio(texts: list[bytes]) -> float:
    return median_s(lambda: [json.loads(text) for text in texts]) / median_s(lambda: _through_connection(texts))


def _through_connection(texts: list[bytes]) -> int:
    connection, count = _opened(), 0
    for text in texts:
        connection.receive_data(text)
        for _ in connection.events():
            count += 1
    return count


def _opened() -> ClientConnection:
    connection = ClientConnection()
    connection.receive_data(_CHALLENGE)
    list(connection.events())
    connection.send_connect(ConnectParams(3, 4, ClientInfo("cli", "0", "linux", "cli")), deadline_s=15.0)
    connection.receive_data(_HELLO)
    list(connection.events())
    return connection


def _reduced_ratio(texts: list[bytes]) -> float:
    frames = [frame for frame in map(decode_frame, texts) if isinstance(frame, EventFrame)]
    payloads = [bytes(frame.payload) for frame in frames if frame.payload]

    def reduce() -> None:
        reducer = Reducer()
        for frame in frames:
            reducer.feed(frame)

    loading: Callable[[], object] = lambda: [json.loads(payload) for payload in payloads]  # noqa: E731
    return median_s(loading) / median_s(reduce)


def _routed_per_s() -> float:
    """A recorded conversation, each time as other runs; three read the chat, and one of them takes nothing."""
    events = _events(40)

    def route() -> None:
        router, connection = GatewayEventRouter(_nowhere, _nowhere), _opened()
        with router.subscribe(), router.subscribe(), router.subscribe():
            for text in events:
                connection.receive_data(text)
                for event in connection.events():
                    if isinstance(event, EventFrame):
                        router.on_event(event)

    return len(events) / median_s(route, rounds=5, warm_ups=1)


async def _kept_per_s() -> float:
    """Everything that the chat is told is in the journal, and on disk, before the time is taken."""
    events = _events(20)
    with tempfile.TemporaryDirectory() as folder:
        async with Journal.open(Path(folder)) as journal:
            rates = [await _kept_round(journal, events) for _ in range(5)]
    return statistics.median(rates)


async def _kept_round(journal: Journal, events: list[bytes]) -> float:
    received: list[ChatEvent] = []
    router, connection = GatewayEventRouter(_nowhere, _nowhere), _opened()
    router.watch(received.append)
    begun = time.perf_counter()
    for number, text in enumerate(events):
        connection.receive_data(text)
        for event in connection.events():
            if isinstance(event, EventFrame):
                router.on_event(event)
        if number % _BATCH == _BATCH - 1:
            await _keep(journal, received)
    await _keep(journal, received)
    return len(events) / (time.perf_counter() - begun)


async def _keep(journal: Journal, events: list[ChatEvent]) -> None:
    written = [(it.session_key, msgspec.json.encode(it).decode()) for it in events]
    await journal.append([Event(kind="chat.event", session=key, body={"event": text}) for key, text in written])
    events.clear()


def _events(rounds: int) -> list[bytes]:
    """A recorded conversation many times over, each time as other runs."""
    texts = [text.replace(b'"runId":"', b'"runId":"%d-' % number) for number in range(rounds) for text in _recorded()]
    return [text for text in texts if b'"type":"event"' in text]


async def _nowhere(_: object) -> None:
    """Neither a canvas nor a bridge is measured here."""


def _recorded() -> list[bytes]:
    """Without frame numbers: the same conversation is fed many times, and repetitions would be dropped."""
    texts = []
    for path in sorted(_VECTORS.glob("v*.jsonl")):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            frame = line.get("frame", {})
            if line.get("dir") == "in" and frame.get("event") != "connect.challenge":
                frame.pop("seq", None)
                texts.append(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode())
    return texts


def _tick() -> bytes:
    return b'{"type":"event","event":"tick","payload":{"ts":1794724395991}}'


def _history() -> bytes:
    part = {
        "role": "assistant",
        "content": [{"type": "text", "text": "A line of an answer.\n" * 40}],
        "usage": {"input": 10},
    }
    payload = {"sessionKey": "agent:main:main", "messages": [part] * 1000}
    return json.dumps({"type": "res", "id": "1", "ok": True, "payload": payload}).encode()
