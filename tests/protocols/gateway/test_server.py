"""The gateway's end: recorded clients are answered as the real gateway answered them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.gateway import (
    MAX_HANDSHAKE_BYTES,
    Challenge,
    ClientConnection,
    Closed,
    Connected,
    ConnectRefused,
    ConnectRequested,
    Device,
    EventFrame,
    GatewayError,
    GatewayProtocolError,
    Grant,
    HandshakeRejected,
    HelloOk,
    MalformedFrame,
    RequestFrame,
    SequenceGap,
    ServerConnection,
    ServerEvent,
    ServerState,
    StateVersion,
    sign_connect,
)
from dragoman.protocols.gateway.refusals import DEVICE_IDENTITY_REQUIRED, TOKEN_MISMATCH, HandshakeRefusal
from tests.protocols.gateway.transcripts import Socket, handshakes, params, sockets

NOW_MS = 1_737_264_000_000
NOTHING_OF_A_REQUEST = (
    "must have required property 'id'; must have required property 'method'; at /type: must be equal to constant"
)


def fed(connection: ServerConnection, *frames: bytes | dict[str, Any]) -> list[ServerEvent]:
    for frame in frames:
        connection.receive_data(frame if isinstance(frame, bytes) else json.dumps(frame).encode())
    return list(connection.events())


def connect_frame(**changed: Any) -> dict[str, Any]:
    wanted = msgspec.to_builtins(params()) | changed
    return {"type": "req", "id": "connect", "method": "connect", "params": wanted}


def challenged(protocols: tuple[int, ...] = (3, 4)) -> ServerConnection:
    connection = ServerConnection(protocols=protocols)
    connection.send_challenge("n-1", NOW_MS)
    return connection


def opened() -> ServerConnection:
    connection = challenged()
    fed(connection, connect_frame())
    assert connection.judge(NOW_MS) is None
    connection.accept(HelloOk(4))
    return connection


def rejection(connection: ServerConnection, frame: bytes | dict[str, Any]) -> HandshakeRefusal:
    [rejected] = fed(connection, frame)
    assert isinstance(rejected, HandshakeRejected)
    assert connection.state is ServerState.REFUSED
    if rejected.reply is not None:
        assert json.loads(rejected.reply)["error"] == json.loads(msgspec.json.encode(rejected.refusal.error))
    return rejected.refusal


@pytest.mark.requirement("gateway:challenge:event", "gateway:challenge:nonce", "gateway:challenge:ts")
def test_the_challenge_carries_the_nonce_and_time_it_was_given() -> None:
    sent = json.loads(ServerConnection().send_challenge("n-1", 5))
    assert sent == {"type": "event", "event": "connect.challenge", "payload": {"nonce": "n-1", "ts": 5}}


def refused_by_form() -> list[Any]:
    """Recorded refusals that follow from what the client sent, without tokens and pairings."""
    wanted = (
        "protocol",
        "unknown client id",
        "unknown mode",
        "extra property",
        "unknown role",
        "first frame not connect",
    )
    return [
        pytest.param(socket, id=f"{name}: {socket.case}")
        for name in ("v3-02", "v4-20")
        for socket in sockets(name)
        if any(part in socket.case for part in wanted) and "operator" not in socket.case
    ]


@pytest.mark.parametrize("socket", refused_by_form())
def test_a_client_that_the_real_gateway_refused_is_refused_in_the_same_words(socket: Socket) -> None:
    connection = challenged(protocols=(3,))
    request = socket.of("out")[0].frame
    recorded = socket.answer_to(request)
    assert recorded is not None
    if recorded["ok"]:
        assert isinstance(fed(connection, request)[0], ConnectRequested)
        return
    refusal = rejection(connection, request)
    assert (refusal.code, refusal.message) == (recorded["error"]["code"], recorded["error"]["message"])
    assert refusal.close_code == socket.of("close")[0].frame["code"]
    assert refusal.close_reason == socket.of("close")[0].frame["reason"]
    for key, value in recorded["error"].get("details", {}).items():
        assert refusal.details[key] == value


def test_a_mismatch_of_protocols_names_both_ranges_and_closes_with_1002() -> None:
    refusal = rejection(challenged(), connect_frame(minProtocol=5, maxProtocol=6))
    assert refusal.close_code == 1002
    assert refusal.details == {
        "code": "PROTOCOL_MISMATCH",
        "clientMinProtocol": 5,
        "clientMaxProtocol": 6,
        "expectedProtocol": 4,
        "minimumProbeProtocol": 3,
    }


@pytest.mark.parametrize(("low", "high", "agreed"), [(3, 3, 3), (3, 4, 4), (4, 4, 4), (1, 9, 4), (1, 3, 3)])
def test_the_highest_common_protocol_is_agreed_on(low: int, high: int, agreed: int) -> None:
    [asked] = fed(challenged(), connect_frame(minProtocol=low, maxProtocol=high))
    assert isinstance(asked, ConnectRequested)
    assert asked.protocol == agreed


DEVICE_FAULTS = ["nonce mismatch", "nonce blank", "sig invalid", "id mismatch", "key invalid", "signature stale"]


@pytest.mark.parametrize("fault", DEVICE_FAULTS)
def test_a_bad_device_block_is_refused_as_by_the_real_gateway(fault: str) -> None:
    socket = next(socket for socket in sockets("v3-02") if socket.case == f"device {fault}")
    challenge = socket.lines[0].frame["payload"]
    connection = ServerConnection()
    connection.send_challenge(challenge["nonce"], challenge["ts"])
    request = socket.of("out")[0].frame
    fed(connection, request)
    refusal = connection.judge(challenge["ts"] + 20)
    recorded = socket.answer_to(request)
    assert refusal is not None
    assert recorded is not None
    assert json.loads(connection.refuse(refusal)) == recorded
    assert (refusal.close_code, refusal.close_reason) == tuple(socket.of("close")[0].frame.values())


def judged(now_ms: int, **device: Any) -> HandshakeRefusal | None:
    signed = sign_connect(params(), bytes(range(32)), Challenge("n-1", NOW_MS))
    assert signed.device is not None
    connection = challenged()
    block = msgspec.structs.replace(signed.device, **device)
    fed(connection, connect_frame(device=msgspec.to_builtins(block)))
    return connection.judge(now_ms)


def test_a_good_device_is_good_for_two_minutes_either_way() -> None:
    refusals = [judged(NOW_MS + skew) for skew in (-120_001, -120_000, 0, 120_000, 120_001)]
    codes = [refusal and refusal.details["code"] for refusal in refusals]
    assert codes == ["DEVICE_AUTH_SIGNATURE_EXPIRED", None, None, None, "DEVICE_AUTH_SIGNATURE_EXPIRED"]


def test_a_signature_of_another_connection_is_worth_nothing() -> None:
    replayed = judged(NOW_MS, nonce="n-0")
    assert replayed is not None
    assert replayed.details["code"] == "DEVICE_AUTH_NONCE_MISMATCH"
    forged = judged(NOW_MS, signed_at=NOW_MS + 1)
    assert forged is not None
    assert forged.details["code"] == "DEVICE_AUTH_SIGNATURE_INVALID"


def test_no_connection_is_accepted_before_it_is_judged() -> None:
    connection = challenged()
    fed(connection, connect_frame())
    with pytest.raises(LocalProtocolError) as caught:
        connection.accept(HelloOk(3))
    assert caught.value.code == "wrong_state"


@pytest.mark.parametrize("refusal", [TOKEN_MISMATCH, DEVICE_IDENTITY_REQUIRED])
def test_a_refusal_by_policy_is_sent_and_nothing_is_read_afterwards(refusal: HandshakeRefusal) -> None:
    connection = challenged()
    fed(connection, connect_frame())
    sent = json.loads(connection.refuse(refusal))
    assert (sent["ok"], sent["error"]["code"], sent["error"]["details"]) == (False, refusal.code, dict(refusal.details))
    assert fed(connection, {"type": "req", "id": "2", "method": "health"}, b"[1]") == []
    for again in (lambda: connection.refuse(refusal), lambda: connection.send_event("x"), lambda: connection.judge(1)):
        with pytest.raises(LocalProtocolError):
            again()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"minProtocol": 0}, "invalid connect params: at /minProtocol: must be >= 1"),
        ({"minProtocol": "3"}, "invalid connect params: at /minProtocol: must be int"),
        ({"client": {"id": "cli"}}, "invalid connect params: at /client: must have required property 'version'"),
        ({"device": {"id": "x", "extra": 1}}, "invalid connect params: at /device: unexpected property 'extra'"),
    ],
)
def test_wrong_parameters_are_named_by_their_place(changed: dict[str, Any], words: str) -> None:
    assert rejection(challenged(), connect_frame(**changed)).message == words


def test_a_connect_without_parameters_misses_the_first_of_them() -> None:
    refusal = rejection(challenged(), {"type": "req", "id": "c", "method": "connect"})
    assert refusal.message == "invalid connect params: must have required property 'minProtocol'"


@pytest.mark.parametrize("frame", [b"[]", b'{"type":"req"}', b'{"type":"event","event":"x"}'])
def test_before_the_handshake_a_frame_that_is_not_a_request_closes(frame: bytes) -> None:
    assert rejection(challenged(), frame).close_code == 1008


def test_a_request_before_the_challenge_or_beside_the_first_is_refused() -> None:
    assert "must be connect" in rejection(ServerConnection(), connect_frame()).message
    connection = challenged()
    fed(connection, connect_frame())
    assert "must be connect" in rejection(connection, {"type": "req", "id": "2", "method": "health"}).message


def test_before_the_handshake_64_kib_are_the_limit_and_afterwards_25_mib() -> None:
    message = connect_frame(userAgent="")
    filler = MAX_HANDSHAKE_BYTES - len(json.dumps(message))
    for over, too_large in ((0, False), (1, True), (2, True)):
        connection = challenged()
        connection.receive_data(json.dumps(connect_frame(userAgent="a" * (filler + over))).encode())
        if too_large:
            with pytest.raises(GatewayProtocolError) as caught:
                list(connection.events())
            assert caught.value.close_code == 1009
        else:
            assert isinstance(next(connection.events()), ConnectRequested)
    big = {"type": "req", "id": "1", "method": "m", "params": "a" * MAX_HANDSHAKE_BYTES}
    assert isinstance(fed(opened(), big)[0], RequestFrame)


@pytest.mark.parametrize(
    ("frame", "id", "words"),
    [
        (b'{"type":"req","id":"m1"}', "m1", "must have required property 'method'"),
        (
            b'{"hello":1}',
            "invalid",
            NOTHING_OF_A_REQUEST,
        ),
        (b'{"type":"req","id":5,"method":"health"}', 5, "at /id: must be string"),
        (b"[1,2]", "invalid", "must be object"),
        (b'{"type":"req","id":"1","method":5}', "1", "at /method: must be string"),
        (
            b'{"type":"event","event":"x"}',
            "invalid",
            NOTHING_OF_A_REQUEST,
        ),
        (b'{"type":"req","id":{"a":1},"method":"m"}', "invalid", "at /id: must be string"),
    ],
)
def test_after_the_handshake_a_malformed_frame_is_answered_and_the_socket_stays(
    frame: bytes, id: str | int, words: str
) -> None:
    """The first four, word for word, as recorded."""
    connection = opened()
    [result] = fed(connection, frame)
    assert isinstance(result, MalformedFrame)
    answer = json.loads(result.reply)
    assert (answer["id"], answer["ok"]) == (id, False)
    assert answer["error"] == {"code": "INVALID_REQUEST", "message": f"invalid request frame: {words}"}
    assert isinstance(fed(connection, {"type": "req", "id": "2", "method": "health"})[0], RequestFrame)


def test_the_complaints_are_those_of_the_recorded_gateway() -> None:
    socket = next(one for one in sockets("v3-05") if "malformed" in one.case)
    recorded = [line.frame for line in socket.of("in") if line.frame.get("ok") is False]
    frames = (b'{"type":"req","id":"m1"}', b'{"hello":1}', b'{"type":"req","id":5,"method":"health"}', b"[1,2]")
    entries = [event for event in fed(opened(), *frames) if isinstance(event, MalformedFrame)]
    assert [json.loads(event.reply) for event in entries] == recorded


def test_a_giant_id_is_not_echoed() -> None:
    [result] = fed(opened(), {"type": "req", "id": "x" * 100_000})
    assert isinstance(result, MalformedFrame)
    assert len(result.reply) < 200


@pytest.mark.parametrize("data", [b"not json", b'{"type": "load": {"nonce": 1}}', b'{"type":5,"id":'])
def test_text_that_is_not_json_ends_the_connection(data: bytes) -> None:
    """Also where the first thing wrong with it is its type."""
    connection = opened()
    connection.receive_data(data)
    with pytest.raises(GatewayProtocolError) as caught:
        list(connection.events())
    assert caught.value.close_code == 1007


@pytest.mark.requirement("gateway:hello:response", "gateway:hello:completes-handshake")
def test_our_client_and_our_gateway_shake_hands_and_talk() -> None:
    server, client = ServerConnection(), ClientConnection()
    client.receive_data(server.send_challenge("n-1", NOW_MS))
    list(client.events())
    offer = sign_connect(params(), bytes(range(32)), Challenge("n-1", NOW_MS))
    [asked] = fed(server, client.send_connect(offer, deadline_s=15.0))
    assert isinstance(asked, ConnectRequested)
    assert asked.params == offer
    assert server.judge(NOW_MS + 5) is None
    hello = HelloOk(asked.protocol, auth=Grant(scopes=("operator.read", "operator.write")))
    client.receive_data(server.accept(hello))
    assert list(client.events()) == [Connected(hello, ())]
    [request] = fed(server, client.send_request("1", "health", {"a": 1}, deadline_s=30.0))
    assert request == RequestFrame("1", "health", Raw(b'{"a":1}'))
    client.receive_data(server.send_response("1", {"ok": True}))
    client.receive_data(server.send_error("2", GatewayError(code="UNAVAILABLE", message="m")))
    assert len(list(client.events())) == 2


def test_a_refused_client_learns_why() -> None:
    server, client = challenged(), ClientConnection()
    client.receive_data(b'{"type":"event","event":"connect.challenge","payload":{"nonce":"n-1","ts":1}}')
    list(client.events())
    fed(server, client.send_connect(params(), deadline_s=15.0))
    client.receive_data(server.refuse(TOKEN_MISMATCH))
    [refused] = client.events()
    assert isinstance(refused, ConnectRefused)
    assert refused.error.detail.code == "AUTH_TOKEN_MISMATCH"


def test_broadcasts_are_numbered_from_one_and_targeted_frames_are_not() -> None:
    server = opened()
    sent = [
        server.send_event("tick", {"ts": 1}),
        server.send_event("session.tool", {}, numbered=False),
        server.send_event("health", {}, state_version=StateVersion(1, 2), recipient_profile_id="p"),
    ]
    assert [json.loads(data).get("seq") for data in sent] == [1, None, 2]
    assert json.loads(sent[2])["stateVersion"] == {"presence": 1, "health": 2}


def test_what_a_slow_client_was_not_sent_shows_as_a_gap() -> None:
    server, client = opened(), ClientConnection()
    client.receive_data(server.send_event("a"))
    server.skip_event()
    client.receive_data(server.send_event("b"))
    assert list(client.events()) == [EventFrame("a", seq=1), SequenceGap(2, 3), EventFrame("b", seq=3)]


def test_an_event_that_could_not_be_written_uses_up_no_number() -> None:
    server = opened()
    with pytest.raises(LocalProtocolError):
        server.send_event("a", object())
    assert json.loads(server.send_event("b"))["seq"] == 1


def test_the_end_is_reported_once() -> None:
    server = opened()
    server.receive_eof(1000, "bye")
    server.receive_eof()
    assert list(server.events()) == [Closed(1000, "bye")]
    assert server.state is ServerState.CLOSED


def test_every_recorded_request_reaches_the_gateway_as_it_was_sent() -> None:
    """The recorded clients against our server; connects go through `accept` where the real gateway let them in."""
    served = 0
    for _, socket in handshakes():
        connect, *requests = (line.frame for line in socket.of("out"))
        if connect["method"] != "connect" or not requests:
            continue
        connection = challenged()
        fed(connection, connect)
        connection.judge(NOW_MS)
        connection.accept(HelloOk(4))
        for sent, got in zip(requests, fed(connection, *requests), strict=True):
            assert isinstance(got, RequestFrame)
            assert (got.id, got.method, json.loads(bytes(got.params))) == (sent["id"], sent["method"], sent["params"])  # type: ignore[arg-type]
            served += 1
    assert served > 80


def test_a_device_block_of_the_wrong_form_is_refused_before_it_is_judged() -> None:
    block = msgspec.to_builtins(Device("id", "key", "sig", 1, "n")) | {"signedAt": "now"}
    assert "/device/signedAt" in rejection(challenged(), connect_frame(device=block)).message
