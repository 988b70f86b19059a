"""The protocol document, kind by kind and field by field, against bytes that are put together here by hand.

The vectors prove that the reference agrees; these prove each line of the document on its own, without our tables.
"""

from __future__ import annotations

import struct

import pytest

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.omnish import (
    BASE_REVISION,
    DaemonConnection,
    OmnishFrame,
    RequestReceived,
    decode_frame,
    decode_message,
    encode_frame,
    encode_message,
)
from dragoman.protocols.omnish import messages as m


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def u64(value: int) -> bytes:
    return struct.pack("<Q", value)


NONE, SOME = b"\0", b"\1"
BODY = u32(1) + text("abc") + u64(2000) + SOME + struct.pack("<i", -7)
MESSAGE = b"OS" + len(BODY).to_bytes(4, "big") + BODY
ENDED = m.SessionEnd("abc", 2000, -7)


def both_ways(message: object, body: bytes) -> bool:
    """Our bytes are those of the document, and those bytes are read as the message."""
    data = b"\x4f\x53" + len(body).to_bytes(4, "big") + body
    return encode_message(message, BASE_REVISION) == data and decode_message(data, BASE_REVISION) == message


@pytest.mark.requirement(
    "omnish:body:bincode",
    "omnish:body:struct-order",
    "omnish:magic:two-bytes",
    "omnish:message:layout",
    "omnish:message:length-field",
    "omnish:message:to-bytes",
)
def test_a_message_is_magic_length_and_fields_in_order() -> None:
    assert encode_message(ENDED, BASE_REVISION) == MESSAGE
    assert int.from_bytes(MESSAGE[2:6], "big") == len(MESSAGE) - 6


@pytest.mark.requirement("omnish:magic:checked")
@pytest.mark.parametrize("magic", [b"SO", b"os", b"O\0", b"\0S", b"Os"])
def test_another_magic_is_refused(magic: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="invalid magic bytes"):
        decode_message(magic + MESSAGE[2:], BASE_REVISION)


@pytest.mark.requirement("omnish:message:length-checked", "omnish:message:from-bytes")
def test_a_message_is_read_whole_or_not_at_all() -> None:
    assert decode_message(MESSAGE, BASE_REVISION) == ENDED
    for size in range(len(MESSAGE)):
        with pytest.raises(RemoteProtocolError, match="too short" if size < 6 else "message truncated"):
            decode_message(MESSAGE[:size], BASE_REVISION)


@pytest.mark.requirement("omnish:frame:layout", "omnish:frame:to-bytes", "omnish:frame:from-bytes")
def test_a_frame_is_eight_bytes_of_id_and_a_message() -> None:
    data = bytes.fromhex("0102030405060708") + MESSAGE
    frame = OmnishFrame(0x0102030405060708, ENDED)
    assert encode_frame(frame, BASE_REVISION) == data
    assert decode_frame(data, BASE_REVISION) == frame
    with pytest.raises(RemoteProtocolError, match="frame too short"):
        decode_frame(data[:7], BASE_REVISION)


@pytest.mark.requirement("omnish:frame:request-id")
@pytest.mark.parametrize("request_id", [0, 1, 2**63, 2**64 - 1])
def test_every_id_of_64_bits_comes_back(request_id: int) -> None:
    assert (
        decode_frame(encode_frame(OmnishFrame(request_id, m.Ack()), BASE_REVISION), BASE_REVISION).request_id
        == request_id
    )


@pytest.mark.requirement("omnish:frame:payload", "omnish:frame:simple")
def test_each_frame_of_a_stream_has_one_id_and_one_message_of_any_kind() -> None:
    sent = [m.Ack(), ENDED, m.Response("r", "c", False, True)]
    daemon = DaemonConnection(BASE_REVISION)
    daemon.receive_data(b"".join(daemon.send(message, 9 + at) for at, message in enumerate(sent)))
    assert list(daemon.events()) == [RequestReceived(9 + at, message) for at, message in enumerate(sent)]


@pytest.mark.requirement("omnish:result:errors-are-values")
def test_failure_is_an_error_that_says_what_was_wrong() -> None:
    with pytest.raises(LocalProtocolError, match="SessionEnd cannot be encoded"):
        encode_message(m.SessionEnd("abc", -1, None), BASE_REVISION)
    with pytest.raises(RemoteProtocolError, match="expected variant index"):
        decode_message(b"OS\0\0\0\4" + u32(10), BASE_REVISION)


@pytest.mark.requirement("omnish:kind:order")
def test_the_kinds_are_numbered_in_the_order_of_the_document() -> None:
    kinds = [m.SessionStart, m.SessionEnd, m.IoData, m.Event, m.Request, m.Response, m.CommandComplete]
    assert BASE_REVISION.indices == {
        kind: at for at, kind in enumerate([*kinds, m.CompletionRequest, m.CompletionResponse, m.Ack])
    }


@pytest.mark.requirement(
    "omnish:kind:session-start",
    "omnish:session-start:session-id",
    "omnish:session-start:parent-session-id",
    "omnish:session-start:timestamp-ms",
    "omnish:session-start:attrs",
)
def test_session_start() -> None:
    attrs = u64(1) + text("shell") + text("/bin/bash")
    assert both_ways(m.SessionStart("s", None, 5, {}), u32(0) + text("s") + NONE + u64(5) + u64(0))
    assert both_ways(
        m.SessionStart("s", "父", 5, {"shell": "/bin/bash"}), u32(0) + text("s") + SOME + text("父") + u64(5) + attrs
    )


@pytest.mark.requirement(
    "omnish:kind:session-end",
    "omnish:session-end:session-id",
    "omnish:session-end:timestamp-ms",
    "omnish:session-end:exit-code",
)
def test_session_end() -> None:
    assert both_ways(ENDED, BODY)
    assert both_ways(m.SessionEnd("abc", 2000, None), u32(1) + text("abc") + u64(2000) + NONE)


@pytest.mark.requirement(
    "omnish:kind:io-data",
    "omnish:io-data:session-id",
    "omnish:io-data:direction",
    "omnish:io-data:timestamp-ms",
    "omnish:io-data:data",
    "omnish:io-direction:input",
    "omnish:io-direction:output",
)
@pytest.mark.parametrize(("direction", "index"), [(m.IoDirection.INPUT, 0), (m.IoDirection.OUTPUT, 1)])
def test_io_data(direction: m.IoDirection, index: int) -> None:
    data = bytes(range(256))
    body = u32(2) + text("s") + u32(index) + u64(7) + u64(256) + data
    assert both_ways(m.IoData("s", direction, 7, data), body)


@pytest.mark.requirement(
    "omnish:kind:event",
    "omnish:event:session-id",
    "omnish:event:timestamp-ms",
    "omnish:event:event-type",
    "omnish:event-type:non-zero-exit",
    "omnish:event-type:pattern-match",
    "omnish:event-type:command-boundary",
)
def test_event() -> None:
    head = u32(3) + text("s") + u64(7)
    assert both_ways(m.Event("s", 7, m.NonZeroExit(-(2**31))), head + u32(0) + struct.pack("<i", -(2**31)))
    assert both_ways(m.Event("s", 7, m.PatternMatch("error")), head + u32(1) + text("error"))
    assert both_ways(m.Event("s", 7, m.CommandBoundary("ls")), head + u32(2) + text("ls"))


@pytest.mark.requirement(
    "omnish:kind:request",
    "omnish:request:request-id",
    "omnish:request:session-id",
    "omnish:request:query",
    "omnish:request:scope",
    "omnish:request-scope:current-session",
    "omnish:request-scope:all-sessions",
    "omnish:request-scope:sessions",
)
def test_request() -> None:
    head = u32(4) + text("r") + text("s") + text("为什么?")
    assert both_ways(m.Request("r", "s", "为什么?", m.CurrentSession()), head + u32(0))
    assert both_ways(m.Request("r", "s", "为什么?", m.AllSessions()), head + u32(1))
    listed = u32(2) + u64(2) + text("a") + text("b")
    assert both_ways(m.Request("r", "s", "为什么?", m.Sessions(["a", "b"])), head + listed)


@pytest.mark.requirement(
    "omnish:kind:response",
    "omnish:response:request-id",
    "omnish:response:content",
    "omnish:response:is-streaming",
    "omnish:response:is-final",
)
@pytest.mark.parametrize(("streaming", "final"), [(False, True), (True, False)])
def test_response(streaming: bool, final: bool) -> None:
    body = u32(5) + text("r") + text("because") + bytes([streaming, final])
    assert both_ways(m.Response("r", "because", streaming, final), body)


@pytest.mark.requirement(
    "omnish:kind:command-complete", "omnish:command-complete:session-id", "omnish:command-complete:record"
)
def test_command_complete() -> None:
    record = m.CommandRecord("s:0", "s", "ls", None, 1, 2, "out", 3, 4, None)
    fields = [text("s:0"), text("s"), SOME + text("ls"), NONE, u64(1), SOME + u64(2), text("out"), u64(3), u64(4), NONE]
    assert both_ways(m.CommandComplete("t", record), u32(6) + text("t") + b"".join(fields))


@pytest.mark.requirement(
    "omnish:kind:completion-request",
    "omnish:completion-request:session-id",
    "omnish:completion-request:input",
    "omnish:completion-request:cursor-pos",
    "omnish:completion-request:sequence-id",
)
def test_completion_request() -> None:
    body = u32(7) + text("s") + text("git sta") + u64(7) + u64(2**64 - 1)
    assert both_ways(m.CompletionRequest("s", "git sta", 7, 2**64 - 1), body)


@pytest.mark.requirement(
    "omnish:kind:completion-response",
    "omnish:completion-response:sequence-id",
    "omnish:completion-response:suggestions",
    "omnish:completion-suggestion:text",
    "omnish:completion-suggestion:confidence",
)
def test_completion_response() -> None:
    body = u32(8) + u64(9) + u64(2) + text("tus") + struct.pack("<f", 0.75) + text("sh") + struct.pack("<f", 0.0)
    suggestions = [m.CompletionSuggestion("tus", 0.75), m.CompletionSuggestion("sh", 0.0)]
    assert both_ways(m.CompletionResponse(9, suggestions), body)


@pytest.mark.requirement("omnish:kind:ack")
def test_ack() -> None:
    assert both_ways(m.Ack(), u32(9))


@pytest.mark.requirement("omnish:example:message-round-trip", "omnish:example:frame-round-trip")
def test_the_worked_example_goes_both_ways() -> None:
    message = m.SessionStart("session-123", None, 1000, {})
    assert decode_message(encode_message(message, BASE_REVISION), BASE_REVISION) == message
    frame = OmnishFrame(42, message)
    assert decode_frame(encode_frame(frame, BASE_REVISION), BASE_REVISION) == frame
    assert encode_frame(frame, BASE_REVISION)[:10] == (42).to_bytes(8, "big") + b"\x4f\x53"
