"""Protocol version 25: the order of its variants, and the fields of those that no golden vector shows."""

from __future__ import annotations

import struct

import pytest

from dragoman.protocols.omnish import decode_message, encode_message, schema_named
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish import messages_v25 as n
from tests.protocols.omnish.vectors import V25_FILE

V25 = schema_named("v25")
ORDER = [
    "SessionStart",
    "SessionEnd",
    "SessionUpdate",
    "IoData",
    "Event",
    "Request",
    "Response",
    "CommandComplete",
    "CompletionRequest",
    "CompletionResponse",
    "CompletionSummary",
    "ChatStart",
    "ChatReady",
    "ChatEnd",
    "ChatMessage",
    "ChatResponse",
    "ChatInterrupt",
    "ChatToolStatus",
    "ChatToolCall",
    "ChatToolResult",
    "Ack",
    "Auth",
    "AuthResult",
    "ConfigQuery",
    "ConfigResponse",
    "ConfigUpdate",
    "ConfigUpdateResult",
    "UpdateCheck",
    "UpdateInfo",
    "UpdateRequest",
    "UpdateChunk",
    "ConfigClient",
    "TestDisconnect",
    "NoticePush",
    "PluginSyncCheck",
    "PluginSyncInfo",
    "PluginSyncRequest",
]


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def u64(value: int) -> bytes:
    return struct.pack("<Q", value)


RECORD = m.CommandRecord("s:0", "s", None, None, 1, None, "", 0, 0, 3)
RECORD_BYTES = text("s:0") + text("s") + b"\0\0" + u64(1) + b"\0" + text("") + u64(0) + u64(0) + b"\1\3\0\0\0"
BY_HAND = [
    (0, m.SessionStart("s", None, 5, {}), text("s") + b"\0" + u64(5) + u64(0)),
    (3, m.IoData("s", m.IoDirection.OUTPUT, 7, b"hi"), text("s") + b"\1\0\0\0" + u64(7) + text("hi")),
    (7, m.CommandComplete("s", RECORD), text("s") + RECORD_BYTES),
    (11, n.ChatStart("r", "s", True, "t"), text("r") + text("s") + b"\1" + b"\1" + text("t")),
    (15, n.ChatResponse("r", "t", "hello"), text("r") + text("t") + text("hello")),
    (19, n.ChatToolResult("r", "t", "c", "out", False, True), b"".join(map(text, ("r", "t", "c", "out"))) + b"\0\1"),
    (25, n.ConfigUpdate([n.ConfigChange("a.b", "1")]), u64(1) + text("a.b") + text("1")),
    (29, n.UpdateRequest("linux", "x86", "1.0", "h"), b"".join(map(text, ("linux", "x86", "1.0", "h")))),
    (33, n.NoticePush(n.NoticeLevel.ERROR, "careful", None), b"\1\0\0\0" + text("careful") + b"\0"),
]


def test_the_variants_are_in_the_order_of_the_revision() -> None:
    assert [variant.name for variant in V25.variants] == ORDER


def test_vectors_and_hand_made_bytes_cover_every_variant() -> None:
    golden = {vector["variant_index"] for vector in V25_FILE["valid"]}
    assert golden | {index for index, _, _ in BY_HAND} == set(range(37))


@pytest.mark.parametrize(("index", "message", "fields"), BY_HAND, ids=lambda each: type(each).__name__)
def test_a_message_without_a_vector_has_these_bytes(index: int, message: object, fields: bytes) -> None:
    body = struct.pack("<I", index) + fields
    data = b"OS" + len(body).to_bytes(4, "big") + body
    assert encode_message(message, V25) == data
    assert decode_message(data, V25) == message
