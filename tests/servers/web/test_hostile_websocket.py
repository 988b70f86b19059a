"""Hostile clients at a page's WebSocket: the right close code, little memory, and nobody else notices."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from dragoman.io.net.http_server import FRAGMENTS_AT_MOST, WEBSOCKET_MESSAGE_CAP
from tests.raw_http import WebSocket, frame
from tests.servers.target_daemon import MB, TargetDaemon

ROOM = 2 * WEBSOCKET_MESSAGE_CAP + 6 * MB
TEXT, BINARY, CONTINUED, CLOSE, PING = 1, 2, 0, 8, 9
UNFINISHED, COMPRESSED = 0x00, 0xC0


@pytest.fixture
def feed(victim: TargetDaemon) -> Iterator[WebSocket]:
    """A reader beside it gets its events while the other one misbehaves; memory and lag stay where they were."""
    with victim.feed() as beside, victim.feed() as feed:
        for socket in (beside, feed):
            assert socket.receive_json()["type"] == "snapshot"
        before = victim.resident()
        yield feed
        last = victim.append(1)
        while beside.receive_json()["events"][-1]["sequence"] != last:
            pass
        victim.assert_serves()
        assert victim.resident() - before < ROOM
        victim.assert_punctual()


@pytest.mark.parametrize("beyond", [-1, 0])
def test_a_message_up_to_the_cap_is_taken(feed: WebSocket, beyond: int) -> None:
    feed.send(b"x" * (WEBSOCKET_MESSAGE_CAP + beyond))
    feed.send(b"still here?", opcode=PING)
    assert feed.receive() == (10, b"still here?")


@pytest.mark.parametrize("beyond", [1, 2, 1 << 20])
def test_a_message_over_the_cap_is_closed_with_1009(feed: WebSocket, beyond: int) -> None:
    feed.send(b"x" * (WEBSOCKET_MESSAGE_CAP + beyond))
    assert feed.close_code() == 1009


@pytest.mark.parametrize("length", [1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_a_length_prefix_alone_sets_no_memory_aside(feed: WebSocket, length: int) -> None:
    feed.send(b"", length=length)
    assert feed.close_code() in {1002, 1009}


def test_fragments_count_in_sum(feed: WebSocket) -> None:
    half = b"x" * (WEBSOCKET_MESSAGE_CAP // 2)
    feed.send(half, opcode=TEXT, first=UNFINISHED)
    feed.send(half, opcode=CONTINUED, first=UNFINISHED)
    feed.send(b"x", opcode=CONTINUED)
    assert feed.close_code() == 1009


def test_fragments_without_a_byte_count_as_well(feed: WebSocket) -> None:
    feed.send(b"", opcode=TEXT, first=UNFINISHED)
    feed.send_raw(frame(opcode=CONTINUED, first=UNFINISHED) * (FRAGMENTS_AT_MOST + 1))
    assert feed.close_code() == 1009


def test_endless_fragments_without_a_byte_cost_nothing(victim: TargetDaemon, feed: WebSocket) -> None:
    before = victim.resident()
    feed.send(b"", opcode=TEXT, first=UNFINISHED)
    feed.send_raw(frame(opcode=CONTINUED, first=UNFINISHED) * 2_000_000)
    assert victim.resident() - before < ROOM


WRONG = {
    "compressed without agreement": (frame(b"x", first=COMPRESSED), 1002),
    "reserved bit": (frame(b"x", first=0xA0), 1002),
    "unknown opcode": (frame(b"x", opcode=3), 1002),
    "continued from nothing": (frame(b"x", opcode=CONTINUED), 1002),
    "fragmented ping": (frame(b"x", opcode=PING, first=UNFINISHED), 1002),
    "long ping": (frame(b"x" * 126, opcode=PING), 1002),
    "not masked": (b"\x81\x01x", 1002),
    "text in a text": (frame(b"x", first=UNFINISHED) + frame(b"x"), 1002),
    "invalid UTF-8": (frame(b"\xff\xfe"), 1007),
    "lone surrogate": (frame(b"\xed\xa0\x80"), 1007),
    "close of one byte": (frame(b"\x03", opcode=CLOSE), 1002),
    "close with a forbidden code": (frame(b"\x03\xed", opcode=CLOSE), 1002),
    "close with invalid UTF-8": (frame(b"\x03\xe8\xff", opcode=CLOSE), 1007),
}


@pytest.mark.parametrize(("data", "code"), WRONG.values(), ids=WRONG)
def test_a_broken_frame_is_closed_with_its_code(feed: WebSocket, data: bytes, code: int) -> None:
    feed.send_raw(data)
    assert feed.close_code() == code


def test_a_flood_of_pings_is_held_back_if_nobody_reads_the_pongs(victim: TargetDaemon, feed: WebSocket) -> None:
    """Each ping may have 125 bytes, and so has each pong that we would have to keep."""
    before = victim.resident()
    feed.socket.settimeout(0.5)
    sent = flood(feed, frame(b"x" * 125, opcode=PING) * 1000, at_most=64 * MB)
    assert sent < 32 * MB  # the kernel's buffers of both sides, and not ours
    assert victim.resident() - before < ROOM


def test_a_flood_of_tiny_frames_holds_nobody_up(victim: TargetDaemon, feed: WebSocket) -> None:
    started = time.monotonic()
    feed.socket.settimeout(1)
    flood(feed, frame(opcode=PING) * 10_000 + frame(b"x") * 10_000, at_most=2 * MB)
    assert victim.health().status == 200
    assert time.monotonic() - started < 10


def flood(feed: WebSocket, data: bytes, *, at_most: int) -> int:
    sent = 0
    try:
        while sent < at_most:
            sent += feed.socket.send(data)
    except (TimeoutError, ConnectionError):
        pass
    return sent


def test_what_a_page_says_has_no_effect(victim: TargetDaemon, feed: WebSocket) -> None:
    before = victim.health().status, victim.append(1)
    for result in (b'{"method":"shutdown"}', b'{"id":1,"method":"token_rotate"}', b"\x00" * 1000):
        feed.send(result)
        feed.send(result, opcode=BINARY)
    assert (victim.health().status, victim.append(1)) == (before[0], before[1] + 1)
