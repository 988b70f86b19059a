"""The reference's own bytes at the running daemon: each reply has its id and kind, each odd frame its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.protocols.omnish import BASE_REVISION, OmnishFrame, decode_frame, encode_frame, schema_named
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish import messages_v25 as newer
from tests.daemons import call
from tests.protocols.omnish.vectors import ODD, SEED_FILE, TRANSCRIPT, V25_FILE
from tests.servers.omnish.client import Client, on_the_wire
from tests.servers.target_daemon import TargetDaemon

V25 = schema_named("v25")
NOT_AUTH = [it for it in V25_FILE["valid"] if it["name"] != "auth"]  # whose token is not ours
MESSAGE_ID = (77).to_bytes(8, "big")

REPLIES: dict[type, type] = {
    m.Request: m.Response,
    m.CompletionRequest: m.CompletionResponse,
    newer.Auth: newer.AuthResult,
    newer.ChatStart: newer.ChatReady,
    newer.ChatMessage: newer.ChatResponse,
    newer.ConfigQuery: newer.ConfigResponse,
    newer.ConfigUpdate: newer.ConfigUpdateResult,
    newer.UpdateCheck: newer.UpdateInfo,
    newer.UpdateRequest: newer.UpdateChunk,
    newer.PluginSyncCheck: newer.PluginSyncInfo,
    newer.PluginSyncRequest: newer.UpdateChunk,
}


@pytest.fixture
def client(victim: TargetDaemon) -> Iterator[Client]:
    with Client(victim.paths.omnish_socket) as client:
        yield client


@pytest.fixture
def newer_client(victim: TargetDaemon) -> Iterator[Client]:
    token = victim.paths.token_file("omnish").read_text().strip()
    with Client(victim.paths.omnish_socket, V25) as client:
        assert client.ask(newer.Auth(token, 25)).ok
        yield client


def require_reply(client: Client, frame: bytes) -> None:
    """The right kind with the same id; of several to one question the last, then the Ack that closes them."""
    sent = decode_frame(frame, client.schema)
    client.send_frame(frame)
    got = client.next()
    assert got.request_id == sent.request_id
    assert type(got.payload) is REPLIES.get(type(sent.payload), m.Ack)
    if isinstance(sent.payload, m.Request):
        require_end_of_answer(client, sent.payload, got)
    if isinstance(sent.payload, m.CompletionRequest):
        assert got.payload.sequence_id == sent.payload.sequence_id  # type: ignore[attr-defined]


def require_end_of_answer(client: Client, asked: m.Request, got: OmnishFrame) -> None:
    several = not got.payload.is_final  # type: ignore[attr-defined]
    assert client.schema is not BASE_REVISION or not several
    while not got.payload.is_final:  # type: ignore[attr-defined]
        assert got.payload.request_id == asked.request_id  # type: ignore[attr-defined]
        got = client.next()
    assert not several or client.next().payload == m.Ack()


def require_alive(client: Client) -> None:
    assert client.ask(m.Ack()) == m.Ack()


@pytest.mark.parametrize("vector", SEED_FILE["valid"], ids=lambda it: it["name"])
def test_every_message_of_the_document_is_answered(client: Client, vector: dict[str, Any]) -> None:
    require_reply(client, bytes.fromhex(vector["frame_hex"]))
    require_alive(client)


@pytest.mark.parametrize("vector", SEED_FILE["map_order"], ids=["ordered", "otherwise"])
def test_attributes_in_any_order_are_taken(client: Client, vector: dict[str, Any]) -> None:
    require_reply(client, MESSAGE_ID + bytes.fromhex(vector["message_hex"]))


@pytest.mark.parametrize("vector", NOT_AUTH, ids=lambda it: it["name"])
def test_every_message_of_the_newer_revision_is_answered(newer_client: Client, vector: dict[str, Any]) -> None:
    require_reply(newer_client, bytes.fromhex(vector["frame_hex"]))
    require_alive(newer_client)


@pytest.mark.parametrize("odd", [it for it in ODD if it["kind"] != "wire"], ids=lambda it: it["name"])
def test_an_odd_frame_is_answered_or_skipped_as_the_reference_does(client: Client, odd: dict[str, Any]) -> None:
    frame = bytes.fromhex(odd["hex"])
    client.send_frame(frame if odd["kind"] == "frame" else MESSAGE_ID + frame)
    probe = client.send(m.Ack(), 4242)
    got = client.next()
    if odd["reference"] == "accept":
        assert (got.request_id, type(got.payload)) == (77, m.Ack)
        got = client.next()
    assert (got.request_id, got.payload) == (probe, m.Ack())


def test_skipped_frames_are_counted(victim: TargetDaemon) -> None:
    def counted() -> int:
        return int(call(victim.paths, "status")["terminals"]["skipped_frames"].get("invalid_magic", 0))

    before = counted()
    with Client(victim.paths.omnish_socket) as client:
        client.send_frame(MESSAGE_ID + b"XX\0\0\0\0")
        require_alive(client)
        assert counted() == before + 1
    assert counted() == before + 1


def test_an_announced_length_beyond_the_cap_closes_and_costs_nothing(victim: TargetDaemon, client: Client) -> None:
    before = victim.resident()
    client.socket.sendall(bytes.fromhex(next(it["hex"] for it in ODD if it["kind"] == "wire")))
    assert client.is_closed()
    assert victim.resident() - before < 5_000_000
    victim.assert_serves()


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_what_the_real_client_sent_is_answered_whatever_its_chunks(client: Client, chunk: int) -> None:
    frames = [bytes.fromhex(it["frame_hex"]) for it in TRANSCRIPT["frames"]]
    stream = b"".join(map(on_the_wire, frames))
    for start in range(0, len(stream), chunk):
        client.socket.sendall(stream[start : start + chunk])
    for sent in (decode_frame(frame, BASE_REVISION) for frame in frames):
        reply = client.reply_to(sent.request_id)
        assert type(reply) is REPLIES.get(type(sent.payload), m.Ack)
        if isinstance(reply, m.Response):
            assert (reply.is_streaming, reply.is_final) == (False, True)


def test_the_references_token_is_not_ours(victim: TargetDaemon) -> None:
    with Client(victim.paths.omnish_socket, V25) as client:
        client.send_frame(bytes.fromhex(next(it["frame_hex"] for it in V25_FILE["valid"] if it["name"] == "auth")))
        assert client.next().payload.ok is False  # type: ignore[attr-defined]
        assert client.is_closed()


def test_frames_of_the_other_revision_harm_nobody(victim: TargetDaemon) -> None:
    for vectors in (NOT_AUTH, SEED_FILE["valid"]):
        with Client(victim.paths.omnish_socket) as client:
            for vector in vectors:
                client.send_frame(bytes.fromhex(vector["frame_hex"]))
    victim.assert_serves()


def test_a_frame_of_every_message_pipelined_is_answered_once_each(client: Client) -> None:
    frames = [decode_frame(bytes.fromhex(it["frame_hex"]), BASE_REVISION).payload for it in SEED_FILE["valid"]]
    sent = b"".join(on_the_wire(encode_frame(OmnishFrame(1000 + n, it), BASE_REVISION)) for n, it in enumerate(frames))
    client.socket.sendall(sent)
    got = [client.next().request_id for _ in frames]
    assert sorted(got) == list(range(1000, 1000 + len(frames)))
    require_alive(client)
