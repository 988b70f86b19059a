"""The client against the recorded gateways: every answer and event of a real one reaches who asked and listens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from msgspec import UNSET

from dragoman.chat.errors import GatewayRequestError
from dragoman.protocols.gateway import EventFrame
from tests.chat.gateway_client.scripted_connection import Line, line
from tests.protocols.gateway.transcripts import NAMES, Socket, sockets
from tests.support.fake_gateway import AcceptedConnection

pytestmark = pytest.mark.anyio


def is_request(frame: dict[str, Any]) -> bool:
    return frame.get("type") == "req" and isinstance(frame.get("id"), str) and isinstance(frame.get("method"), str)


def was_open(socket: Socket) -> bool:
    """A handshake that succeeded, as an operator, and nothing on it that a client of ours would never send."""
    answers = [it.frame for it in socket.of("in") if it.frame.get("type") == "res"]
    sent = [it.frame for it in socket.of("out")]
    hello = next((it for it in answers if it.get("ok") and it.get("payload", {}).get("type") == "hello-ok"), None)
    asked = {json.dumps(it["id"]) for it in sent if is_request(it)}
    known = all(json.dumps(it["id"]) in asked for it in answers)
    connects = sum(it.get("method") == "connect" for it in sent)
    return hello is not None and known and all(map(is_request, sent)) and len(asked) == len(sent) and connects == 1


CASES = [(name, number) for name in NAMES for number, socket in enumerate(sockets(name)) if was_open(socket)]


class Replay:
    """The recorded server: its frames in their order, each answer to the request that it answered."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.line: Line | None = None
        self.group: Any = None
        self.answers: dict[str, Any] = {}
        self.is_over = anyio.Event()

    async def script(self, accepted: AcceptedConnection) -> None:
        ids: dict[str, str] = {}
        for recorded in self.socket.lines:
            frame = recorded.frame
            if recorded.direction == "out":
                ids[frame["id"]] = (await self.asked(accepted, frame))["id"]
            elif recorded.direction == "in":
                await accepted.send(frame | ({"id": ids[frame["id"]]} if frame.get("type") == "res" else {}))
        self.is_over.set()
        await accepted.stay()

    async def asked(self, accepted: AcceptedConnection, frame: dict[str, Any]) -> dict[str, Any]:
        if frame["method"] == "connect":
            return await accepted.expect("connect")
        self.group.start_soon(self.ask, frame)
        request = await accepted.next()
        assert (request["method"], request.get("params")) == (frame["method"], frame.get("params"))
        return request

    async def ask(self, frame: dict[str, Any]) -> None:
        assert self.line is not None
        client = self.line.client
        await self.line.until(lambda: client.hello is not None)
        try:
            answer = await client.request(frame["method"], frame.get("params", UNSET))
            self.answers[frame["id"]] = {"payload": None if answer is UNSET else msgspec.json.decode(answer)}
        except GatewayRequestError as refused:
            self.answers[frame["id"]] = {"code": refused.error.code, "message": refused.error.message}


def expected(socket: Socket) -> dict[str, Any]:
    answers = {it.frame["id"]: it.frame for it in socket.of("in") if it.frame.get("type") == "res"}
    connect = next(it.frame["id"] for it in socket.of("out") if it.frame["method"] == "connect")
    return {id: shaped(frame) for id, frame in answers.items() if id != connect}


def shaped(frame: dict[str, Any]) -> dict[str, Any]:
    if frame["ok"]:
        return {"payload": frame.get("payload")}
    return {"code": frame["error"]["code"], "message": frame["error"]["message"]}


@pytest.mark.parametrize(("name", "number"), CASES, ids=str)
async def test_the_messages_of_a_real_gateway_are_read(tmp_path: Path, name: str, number: int) -> None:
    socket = sockets(name)[number]
    replay = Replay(socket)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as replay.group, line(tmp_path, replay.script) as it:
            replay.line = it
            await replay.is_over.wait()
            events = [frame.frame for frame in socket.of("in") if frame.frame.get("type") == "event"]
            listed = [frame for frame in events if frame["event"] != "connect.challenge"]
            await it.until(lambda: sum(isinstance(event, EventFrame) for event in it.on_event) == len(listed))
            await it.until(lambda: replay.answers.keys() == expected(socket).keys())
            assert replay.answers == expected(socket)
            entries = [event for event in it.on_event if isinstance(event, EventFrame)]
            assert [event.event for event in entries] == [frame["event"] for frame in listed]
            assert [msgspec.json.decode(event.payload) for event in entries if event.payload is not UNSET] == [
                frame["payload"] for frame in listed if "payload" in frame
            ]
            replay.group.cancel_scope.cancel()


def test_most_of_the_record_is_replayed() -> None:
    assert len(CASES) >= 20
    assert {name[:2] for name, _ in CASES} == {"v3", "v4"}
