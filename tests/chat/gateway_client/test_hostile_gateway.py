"""A gateway that sends half frames, frames in the wrong order, frames again, and frames that are far too large."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from dragoman.io.net.websocket_client import LARGEST_BYTES
from dragoman.protocols.gateway import EventFrame, SequenceGap
from tests.chat.gateway_client.scripted_connection import Line, line
from tests.support.fake_gateway import AcceptedConnection

pytestmark = pytest.mark.anyio

MB = 1_000_000


def on_event(it: Line) -> list[tuple[str, int | None]]:
    return [(frame.event, frame.seq) for frame in it.on_event if isinstance(frame, EventFrame)]


@pytest.mark.parametrize(
    "half", ['{"type":"event","event":"chat","payl', '{"type":"res","id":"cmd_1","ok":tr', '"', "", "[" * 100_000]
)
async def test_half_a_frame_ends_the_connection_and_waits_for_a_person(tmp_path: Path, half: str) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        await accepted.socket.send(half)
        await accepted.stay()

    async with line(tmp_path, script) as it:
        now = await it.until_state("paused")
        assert now.code == "not_a_gateway"
        assert it.gateway.connections == 1


async def _two_challenges(accepted: AcceptedConnection) -> None:
    await accepted.challenge()
    await accepted.event("connect.challenge", {"nonce": "again", "ts": 1}, numbered=False)
    await accepted.stay()


async def _a_request(accepted: AcceptedConnection) -> None:
    await accepted.welcome()
    await accepted.send({"type": "req", "id": "1", "method": "chat.send", "params": {}})
    await accepted.stay()


@pytest.mark.parametrize("script", [_two_challenges, _a_request])
async def test_frames_in_the_wrong_order_are_refused(tmp_path: Path, script: Any) -> None:
    async with line(tmp_path, script) as it:
        assert (await it.until_state("paused")).code == "not_a_gateway"


async def test_an_answer_to_nothing_before_the_challenge_opens_nothing(tmp_path: Path) -> None:
    seen: list[str] = []

    async def script(accepted: AcceptedConnection) -> None:
        await accepted.send(
            {"type": "res", "id": "connect", "ok": True, "payload": {"type": "hello-ok", "protocol": 4}}
        )
        seen.append((await accepted.challenge())["method"])
        await accepted.stay()

    async with line(tmp_path, script) as it:
        await it.until(lambda: bool(seen))
        assert it.client.gateway_status.state == "connecting"
        assert it.client.hello is None


async def test_what_is_replayed_counts_once_and_a_second_answer_settles_nothing(tmp_path: Path) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        asked = await accepted.expect("health")
        for _ in range(3):
            await accepted.answer(asked, {"n": 1})
        for seq in (1, 2, 2, 1, 3, 2, 5, 4, 5, 6):
            await accepted.send({"type": "event", "event": "chat", "payload": {}, "seq": seq})
        await accepted.stay()

    async with line(tmp_path, script) as it:
        await it.until_state("connected")
        await it.client.request("health")
        await it.until(lambda: ("chat", 6) in on_event(it))
        assert on_event(it) == [("chat", seq) for seq in (1, 2, 3, 5, 6)]
        assert [gap for gap in it.on_event if isinstance(gap, SequenceGap)] == [SequenceGap(4, 5)]
        assert it.client.gateway_status.state == "connected"


def frame_of(size: int) -> str:
    frame = {"type": "event", "event": "chat", "payload": {"text": ""}, "seq": 1}
    return json.dumps({**frame, "payload": {"text": "x" * (size - len(json.dumps(frame)))}})


@pytest.mark.parametrize(("more", "is_taken"), [(-1, True), (0, True), (1, False), (2, False), (8 * MB, False)])
async def test_a_frame_of_25_mib_is_taken_and_a_byte_more_is_not(tmp_path: Path, more: int, is_taken: bool) -> None:
    text = frame_of(LARGEST_BYTES + more)
    assert len(text) == LARGEST_BYTES + more

    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        if accepted.number == 1:
            await accepted.socket.send(text)
        await accepted.stay()

    async with line(tmp_path, script) as it:
        await it.until_state("connected")
        before = psutil.Process().memory_info().rss
        if is_taken:
            await it.until(lambda: len(it.on_event) == 1)
        else:
            await it.until(lambda: it.gateway.connections == 2 and it.client.gateway_status.state == "connected")
            assert "1009" in str(next(now.reason for now in it.statuses if now.code == "connection_lost"))
            assert it.on_event == []
        assert psutil.Process().memory_info().rss - before < 4 * LARGEST_BYTES


async def test_a_gateway_that_stops_in_the_middle_of_a_message_is_left_after_two_ticks(tmp_path: Path) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome(tick_ms=50)
        if accepted.number == 1:
            head = b"\x81\x7e\x03\xe8" + b'{"type":"event"'  # a text of 1,000 bytes is announced, fifteen come
            accepted.socket.transport.write(head)
        await accepted.stay()

    async with line(tmp_path, script) as it:
        await it.until(lambda: it.gateway.connections >= 2)
        assert "4000 tick timeout" in str(next(now.reason for now in it.statuses if now.code == "connection_lost"))
