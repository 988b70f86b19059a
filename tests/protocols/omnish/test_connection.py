"""Both ends of a connection: any chunking, the cap, the end, the revisions, and who answers whom."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.omnish import (
    BASE_REVISION,
    MAX_FRAME,
    ClientConnection,
    ConnectionEvent,
    DaemonConnection,
    FrameSkipped,
    PushReceived,
    ReplyReceived,
    RequestReceived,
    Schema,
    schema_named,
)
from dragoman.protocols.omnish.connection import MAX_SHORT_FRAMES, Connection
from dragoman.protocols.omnish.messages import (
    Ack,
    AllSessions,
    IoData,
    IoDirection,
    Request,
    Response,
    SessionEnd,
    SessionStart,
)
from dragoman.protocols.omnish.messages_v25 import Auth, AuthResult, ChatMessage, ChatResponse, ConfigClient
from tests.protocols.omnish.vectors import ODD, SCHEMAS, TRANSCRIPT, messages_of

V25 = schema_named("v25")
ACK_ON_THE_WIRE = bytes.fromhex("00000012" + "0000000000000007" + "4f5300000004" + "09000000")
FRAMES = [bytes.fromhex(frame["frame_hex"]) for frame in TRANSCRIPT["frames"]]


def outer(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


def received(connection: Connection, chunks: Iterable[bytes]) -> list[ConnectionEvent]:
    events: list[ConnectionEvent] = []
    for chunk in chunks:
        connection.receive_data(chunk)
        events.extend(connection.events())
    return events


def in_chunks(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]


def skipped(event: ConnectionEvent) -> tuple[int | None, str]:
    assert isinstance(event, FrameSkipped)
    return event.request_id, event.error.code


def test_an_acknowledgement_has_22_bytes_on_the_wire() -> None:
    assert DaemonConnection(BASE_REVISION).send(Ack(), 7) == ACK_ON_THE_WIRE


@pytest.mark.parametrize("size", [1, 2, 3, 5, 17, 4096, 1 << 20])
def test_the_real_client_s_session_replays_in_any_chunks(size: int) -> None:
    daemon = DaemonConnection()
    events = received(daemon, in_chunks(b"".join(map(outer, FRAMES)), size))
    daemon.receive_eof()
    assert list(daemon.events()) == []
    requests = [event for event in events if isinstance(event, RequestReceived)]
    assert len(requests) == len(events)
    assert [type(each.message).__name__ for each in requests] == [each["variant"] for each in TRANSCRIPT["frames"]]
    assert [each.request_id for each in requests] == list(range(1, len(FRAMES) + 1))
    assert daemon.schema is BASE_REVISION


def test_our_client_would_have_sent_the_same_bytes() -> None:
    client = ClientConnection(BASE_REVISION)
    for event, frame in zip(received(DaemonConnection(), map(outer, FRAMES)), FRAMES, strict=True):
        assert isinstance(event, RequestReceived)
        assert client.request(event.message) == (event.request_id, outer(frame))


@given(st.lists(messages_of(BASE_REVISION), max_size=5), st.lists(st.integers(1, 60), min_size=1))
def test_any_chunking_gives_the_same_events(messages: list[object], sizes: list[int]) -> None:
    stream = b"".join(DaemonConnection(BASE_REVISION).send(message, at) for at, message in enumerate(messages))
    chunks: list[bytes] = []
    at = 0
    while at < len(stream):
        chunks.append(stream[at : at + sizes[len(chunks) % len(sizes)]])
        at += len(chunks[-1])
    expected = [RequestReceived(at, message) for at, message in enumerate(messages)]
    assert received(DaemonConnection(BASE_REVISION), chunks) == expected
    assert received(DaemonConnection(BASE_REVISION), [stream]) == expected


def test_other_buffers_than_bytes_are_taken_and_kept_apart() -> None:
    buffer = bytearray(DaemonConnection(BASE_REVISION).send(IoData("s", IoDirection.OUTPUT, 1, b"before"), 1))
    daemon = DaemonConnection()
    daemon.receive_data(buffer)
    buffer[:] = bytes(len(buffer))
    (event,) = daemon.events()
    assert event == RequestReceived(1, IoData("s", IoDirection.OUTPUT, 1, b"before"))


@pytest.mark.parametrize("odd", [each for each in ODD if each["kind"] != "wire"], ids=lambda each: each["name"])
def test_an_odd_frame_is_skipped_or_read_and_the_next_one_is_read(odd: dict[str, str]) -> None:
    frame = bytes.fromhex(odd["hex"])
    if odd["kind"] == "message":
        frame = (5).to_bytes(8, "big") + frame
    first, second = received(DaemonConnection(BASE_REVISION), [outer(frame) + ACK_ON_THE_WIRE])
    assert second == RequestReceived(7, Ack())
    if odd["reference"] == "accept":
        assert isinstance(first, RequestReceived)
    else:
        assert isinstance(first, FrameSkipped)
        assert str(first.error) == odd["error"]
        assert first.request_id == (int.from_bytes(frame[:8], "big") if len(frame) >= 8 else None)


def test_a_length_beyond_the_cap_ends_the_connection_on_its_fourth_byte() -> None:
    daemon = DaemonConnection()
    assert received(daemon, [ACK_ON_THE_WIRE + b"\xff\xff\xff"]) == [RequestReceived(7, Ack())]
    daemon.receive_data(b"\xff")
    for _ in range(2):
        with pytest.raises(RemoteProtocolError) as caught:
            list(daemon.events())
        assert caught.value.code == "frame_too_large"


def test_what_came_before_the_broken_length_is_delivered_first() -> None:
    daemon = DaemonConnection()
    daemon.receive_data(ACK_ON_THE_WIRE + b"\xff" * 4 + ACK_ON_THE_WIRE)
    events = daemon.events()
    assert next(events) == RequestReceived(7, Ack())
    with pytest.raises(RemoteProtocolError):
        next(events)


def test_a_few_empty_frames_are_skipped_and_a_stream_of_zeros_ends_the_connection() -> None:
    few = outer(b"") * MAX_SHORT_FRAMES
    assert received(DaemonConnection(), [(few + ACK_ON_THE_WIRE) * 3]).count(RequestReceived(7, Ack())) == 3
    daemon = DaemonConnection()
    daemon.receive_data(bytes(1 << 20))
    collected: list[ConnectionEvent] = []
    with pytest.raises(RemoteProtocolError) as caught:
        collected.extend(daemon.events())
    assert caught.value.code == "empty_frames"
    assert len(collected) <= MAX_SHORT_FRAMES


def test_a_broken_connection_takes_nothing_more() -> None:
    daemon = DaemonConnection()
    daemon.receive_data(b"\xff" * 4)
    daemon.receive_data(ACK_ON_THE_WIRE * 1000)
    daemon.receive_eof()
    with pytest.raises(RemoteProtocolError, match="announced"):
        list(daemon.events())


@pytest.mark.parametrize(("length", "fits"), [(1000, True), (1001, False)])
def test_the_cap_holds_to_the_byte_in_both_directions(length: int, fits: bool) -> None:
    """A frame is 8 bytes of id, 6 of header, and here 32 before the data."""
    message = IoData("", IoDirection.OUTPUT, 1, bytes(length - 8 - 6 - 32))
    stream = DaemonConnection(BASE_REVISION).send(message, 1)
    assert len(stream) == 4 + length
    daemon = DaemonConnection(max_frame=1000)
    daemon.receive_data(stream)
    if fits:
        assert list(daemon.events()) == [RequestReceived(1, message)]
        assert daemon.send(message, 1) == stream
        return
    with pytest.raises(RemoteProtocolError):
        list(daemon.events())
    with pytest.raises(LocalProtocolError) as caught:
        DaemonConnection(BASE_REVISION, max_frame=1000).send(message, 1)
    assert caught.value.code == "frame_too_large"


def test_the_cap_is_64_mib_by_default() -> None:
    daemon = DaemonConnection()
    daemon.receive_data(MAX_FRAME.to_bytes(4, "big"))
    assert list(daemon.events()) == []
    daemon = DaemonConnection()
    daemon.receive_data((MAX_FRAME + 1).to_bytes(4, "big"))
    with pytest.raises(RemoteProtocolError, match="67108865"):
        list(daemon.events())


@pytest.mark.parametrize("announced", [b"\xff\xff\xff\xff", MAX_FRAME.to_bytes(4, "big")])
def test_an_announced_length_reserves_no_memory(announced: bytes) -> None:
    daemon = DaemonConnection()
    tracemalloc.start()
    daemon.receive_data(announced)
    for _ in range(100):
        daemon.receive_data(b"x" * 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 1024


def test_many_small_chunks_of_a_large_frame_cost_little_more_than_the_frame() -> None:
    size = 4 * 1024 * 1024
    stream = DaemonConnection(BASE_REVISION).send(IoData("s", IoDirection.OUTPUT, 1, bytes(size)), 1)
    daemon = DaemonConnection()
    tracemalloc.start()
    for chunk in in_chunks(stream, 1000):
        daemon.receive_data(chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    (event,) = daemon.events()
    assert isinstance(event, RequestReceived)
    assert peak < 4 * size


@pytest.mark.parametrize("size", [1, 3, 4, 5, 21])
def test_an_end_within_a_frame_is_reported(size: int) -> None:
    daemon = DaemonConnection()
    daemon.receive_data(ACK_ON_THE_WIRE + ACK_ON_THE_WIRE[:size])
    daemon.receive_eof()
    events = daemon.events()
    assert next(events) == RequestReceived(7, Ack())
    with pytest.raises(RemoteProtocolError) as caught:
        next(events)
    assert caught.value.code == "cut_short"


def test_an_end_between_frames_is_a_good_end() -> None:
    daemon = DaemonConnection()
    daemon.receive_data(ACK_ON_THE_WIRE)
    daemon.receive_eof()
    assert list(daemon.events()) == [RequestReceived(7, Ack())]


# The two revisions.


def test_a_first_frame_with_auth_means_the_newer_revision() -> None:
    client, daemon = ClientConnection(V25), DaemonConnection()
    request_id, data = client.request(Auth("secret", 25))
    assert received(daemon, [data]) == [RequestReceived(request_id, Auth("secret", 25))]
    assert daemon.schema is V25
    answer = AuthResult(True, 25, "0.1.0")
    assert received(client, [daemon.send(answer, request_id)]) == [ReplyReceived(request_id, answer, final=True)]


@pytest.mark.parametrize(
    "first",
    [
        b"",
        bytes(8),
        bytes(8) + b"XX" + bytes(8),
        bytes(8) + b"OS" + (3).to_bytes(4, "big") + b"\x15\0\0",
        bytes(8) + b"OS" + (4).to_bytes(4, "big") + b"\x14\0\0\0",
        bytes.fromhex("00000000000000014f530000000409000000"),
    ],
)
def test_any_other_first_frame_means_the_older_revision(first: bytes) -> None:
    daemon = DaemonConnection()
    daemon.receive_data(outer(first) + outer(ClientConnection(V25).request(Auth("t", 25))[1][4:]))
    _, second = daemon.events()
    assert daemon.schema is BASE_REVISION
    assert skipped(second) == (1, "bad_body")


def test_a_daemon_that_has_not_read_its_peers_version_cannot_write() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        DaemonConnection().send(Ack(), 1)
    assert caught.value.code == "schema_unknown"


# Requests and replies.


@pytest.mark.parametrize("schema", SCHEMAS, ids=repr)
def test_ids_start_at_one_and_grow_by_one(schema: Schema) -> None:
    client = ClientConnection(schema)
    assert [client.request(Ack())[0] for _ in range(3)] == [1, 2, 3]
    assert client.pending == [1, 2, 3]


def test_a_request_that_cannot_be_sent_uses_no_id() -> None:
    client = ClientConnection(BASE_REVISION)
    with pytest.raises(LocalProtocolError):
        client.request(SessionEnd("s", -1, None))
    assert client.pending == []
    assert client.request(Ack())[0] == 1


def test_replies_are_matched_by_id_in_any_order() -> None:
    client, daemon = ClientConnection(BASE_REVISION), DaemonConnection()
    start, ask = SessionStart("s", None, 1, {}), Request("r", "s", "why?", AllSessions())
    asked = received(daemon, [client.request(start)[1] + client.request(ask)[1]])
    assert asked == [RequestReceived(1, start), RequestReceived(2, ask)]
    answer = Response("r", "because", False, True)
    replies = received(client, [daemon.send(answer, 2) + daemon.send(Ack(), 1)])
    assert replies == [ReplyReceived(2, answer, final=True), ReplyReceived(1, Ack(), final=True)]
    assert client.pending == []


def test_several_replies_share_an_id_until_an_ack_closes_them() -> None:
    client, daemon = ClientConnection(V25), DaemonConnection(V25)
    request_id, _ = client.request(ChatMessage("r", "s", "t", "hi", None, None), streams=True)
    parts = [ChatResponse("r", "t", text) for text in ("one", "two")]
    events = received(client, [daemon.send(part, request_id) for part in [*parts, Ack()]])
    assert events == [
        ReplyReceived(request_id, parts[0], final=False),
        ReplyReceived(request_id, parts[1], final=False),
        ReplyReceived(request_id, Ack(), final=True),
    ]
    assert client.pending == []


def test_a_push_has_no_request() -> None:
    client = ClientConnection(V25)
    client.request(Ack())
    assert received(client, [DaemonConnection(V25).push(ConfigClient([]))]) == [PushReceived(ConfigClient([]))]
    assert client.pending == [1]


@pytest.mark.parametrize("request_id", [2, 2**64 - 1])
def test_a_reply_that_nobody_waits_for_is_skipped(request_id: int) -> None:
    client = ClientConnection(BASE_REVISION)
    client.request(Ack())
    (event,) = received(client, [DaemonConnection(BASE_REVISION).send(Ack(), request_id)])
    assert skipped(event) == (request_id, "unknown_id")
    assert client.pending == [1]


def test_a_second_reply_to_a_single_request_is_skipped() -> None:
    client = ClientConnection(BASE_REVISION)
    request_id, _ = client.request(Ack())
    first, second = received(client, [DaemonConnection(BASE_REVISION).send(Ack(), request_id) * 2])
    assert first == ReplyReceived(request_id, Ack(), final=True)
    assert skipped(second) == (request_id, "unknown_id")


def test_a_forgotten_request_takes_no_reply() -> None:
    client = ClientConnection(BASE_REVISION)
    request_id, _ = client.request(Ack())
    client.forget(request_id)
    client.forget(request_id)
    (event,) = received(client, [DaemonConnection(BASE_REVISION).send(Ack(), request_id)])
    assert skipped(event) == (request_id, "unknown_id")


def test_what_a_message_carries_is_sent_without_a_copy() -> None:
    message = IoData("s", IoDirection.OUTPUT, 1, bytes(65536))
    one, other = ClientConnection(BASE_REVISION), ClientConnection(BASE_REVISION)
    number, (head, data) = one.request_parts(message)
    assert data is message.data
    assert (number, head + data) == other.request(message)
    assert ClientConnection(BASE_REVISION).request_parts(SessionEnd("s", 1, None))[1][1] == b""


def test_an_invalid_byte_string_is_reported_before_anything_is_sent() -> None:
    with pytest.raises(LocalProtocolError) as refused:
        ClientConnection(BASE_REVISION).request_parts(IoData("s", IoDirection.OUTPUT, 1, "text"))  # type: ignore[arg-type]
    assert refused.value.code == "bad_message"
