"""The client's end: the handshake against recorded gateways, requests and answers, numbers of frames, the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.gateway import (
    MAX_HANDSHAKE_BYTES,
    Challenge,
    Challenged,
    ClientConnection,
    ClientEvent,
    ClientState,
    Closed,
    Connected,
    ConnectParams,
    ConnectRefused,
    EventFrame,
    GatewayProtocolError,
    Grant,
    HelloOk,
    Policy,
    RequestAbandoned,
    RequestExpired,
    RequestFailed,
    RequestSucceeded,
    ResponseFrame,
    SequenceGap,
    UnmatchedResponse,
    encode_frame,
)
from tests.protocols.gateway.transcripts import Socket, handshakes, params, sockets

CHALLENGE = b'{"type":"event","event":"connect.challenge","payload":{"nonce":"n-1","ts":1737264000000}}'


def fed(connection: ClientConnection, *frames: bytes) -> list[ClientEvent]:
    for frame in frames:
        connection.receive_data(frame)
    return list(connection.events())


def answer(id: str, payload: Any = None) -> bytes:
    return encode_frame(ResponseFrame(id, ok=True, payload=Raw(msgspec.json.encode(payload))))


def event(name: str = "x", seq: int | None = None) -> bytes:
    return encode_frame(EventFrame(name, seq=seq))


def challenged() -> ClientConnection:
    connection = ClientConnection()
    fed(connection, CHALLENGE)
    return connection


def opened(hello: HelloOk | None = None) -> ClientConnection:
    connection = challenged()
    connection.send_connect(params(), deadline_s=30.0)
    fed(connection, answer("connect", hello or HelloOk(3)))
    assert connection.state is ClientState.OPEN
    return connection


def replay(socket: Socket) -> tuple[ClientConnection, list[ClientEvent]]:
    """The recorded gateway against our client, which sends what the recorded client sent."""
    connection = ClientConnection()
    events: list[ClientEvent] = []
    for line in socket.lines:
        if line.direction == "in":
            connection.receive_data(line.data)
        elif line.direction == "close":
            connection.receive_eof(line.frame["code"], line.frame["reason"])
        elif connection.state is ClientState.CHALLENGED:
            offer = msgspec.convert(line.frame["params"], ConnectParams)
            assert json.loads(connection.send_connect(offer, deadline_s=30.0, id=line.frame["id"])) == line.frame
        else:
            sent = connection.send_request(
                line.frame["id"], line.frame["method"], line.frame["params"], deadline_s=30.0
            )
            assert json.loads(sent) == line.frame
        events += connection.events()
    connection.receive_eof()  # a few recordings end before the close
    return connection, [*events, *connection.events()]


def sound_handshakes() -> list[Any]:
    """Without those whose form our types do not even let us send."""
    broken = ("unknown client id", "unknown mode", "extra property", "first frame not connect")
    return [pytest.param(socket, id=name) for name, socket in handshakes() if not name.endswith(broken)]


@pytest.mark.requirement(
    "gateway:challenge:event",
    "gateway:connect:answers-challenge",
    "gateway:connect:method",
    "gateway:hello:response",
    "gateway:hello:completes-handshake",
    "gateway:response:settles-request",
)
@pytest.mark.parametrize("socket", sound_handshakes())
def test_every_recorded_connection_is_followed_to_its_end(socket: Socket) -> None:
    connection, happened = replay(socket)
    assert connection.state is ClientState.CLOSED
    kinds = [type(one) for one in happened]
    assert kinds[0] is Challenged
    assert kinds[-1] is Closed
    connect = next(line.frame for line in socket.of("out"))
    answered = socket.answer_to(connect)
    assert answered is not None
    assert kinds[1] is (Connected if answered["ok"] else ConnectRefused)
    requests = socket.of("out")[1:]
    settled = [one.id for one in happened if isinstance(one, RequestSucceeded | RequestFailed | RequestAbandoned)]
    assert sorted(settled) == sorted(line.frame["id"] for line in requests)


def test_no_recorded_connection_shows_a_gap_since_targeted_frames_carry_no_number() -> None:
    happened = [one for case in sound_handshakes() for one in replay(case.values[0])[1]]
    assert len(happened) > 500
    assert not [one for one in happened if isinstance(one, SequenceGap)]


@pytest.mark.requirement("gateway:challenge:nonce", "gateway:challenge:ts")
def test_the_challenge_is_delivered_with_its_nonce_and_time() -> None:
    connection = ClientConnection()
    assert fed(connection, CHALLENGE) == [Challenged(Challenge("n-1", 1737264000000))]
    assert connection.state is ClientState.CHALLENGED


@pytest.mark.requirement(
    "gateway:connect:id",
    "gateway:connect:min-protocol",
    "gateway:connect:max-protocol",
    "gateway:connect:client-id",
    "gateway:connect:client-mode",
    "gateway:connect:role",
    "gateway:connect:auth-token",
)
def test_connect_offers_protocols_3_to_4_under_the_id_connect() -> None:
    sent = json.loads(challenged().send_connect(params(), deadline_s=30.0))
    assert (sent["type"], sent["id"], sent["method"]) == ("req", "connect", "connect")
    assert (sent["params"]["minProtocol"], sent["params"]["maxProtocol"]) == (3, 4)
    assert sent["params"]["client"] == {"id": "cli", "version": "0.1.0", "platform": "linux", "mode": "cli"}
    assert (sent["params"]["role"], sent["params"]["auth"]) == ("operator", {"token": "test-token"})


@pytest.mark.requirement("gateway:connect:auth-left-out")
def test_without_a_credential_auth_is_left_out_and_not_null() -> None:
    sent = json.loads(challenged().send_connect(params(auth=None), deadline_s=30.0))
    assert "auth" not in sent["params"]


def test_lists_that_were_given_are_sent_even_when_empty() -> None:
    scopes = ("operator.admin", "operator.approvals", "operator.pairing")
    sent = json.loads(challenged().send_connect(params(scopes=scopes, caps=(), commands=()), deadline_s=30.0))
    assert (sent["params"]["scopes"], sent["params"]["caps"], sent["params"]["commands"]) == (list(scopes), [], [])


def test_a_hello_without_the_scopes_that_were_asked_for_says_which_are_missing() -> None:
    connection = challenged()
    connection.send_connect(params(), deadline_s=30.0)
    hello = HelloOk(3, auth=Grant(scopes=("operator.read",)))
    [connected] = fed(connection, answer("connect", hello))
    assert isinstance(connected, Connected)
    assert connected.missing_scopes == ("operator.write",)


def test_the_recorded_token_without_a_device_is_connected_and_can_do_nothing() -> None:
    socket = next(one for one in sockets("v3-02") if one.case == "protocol 3..4 range")
    connected = replay(socket)[1][1]
    assert isinstance(connected, Connected)
    assert connected.missing_scopes == ("operator.read", "operator.write")


@pytest.mark.parametrize(
    "payload", [None, {"type": "hello"}, {"type": "hello-ok"}, [], {"type": "hello-ok", "protocol": 2}]
)
def test_an_answer_that_is_not_a_hello_of_ours_ends_the_connection(payload: Any) -> None:
    connection = challenged()
    connection.send_connect(params(), deadline_s=30.0)
    connection.receive_data(answer("connect", payload))
    with pytest.raises(GatewayProtocolError) as caught:
        list(connection.events())
    assert caught.value.close_code == 1002
    assert connection.state is ClientState.CONNECTING


def test_nothing_is_sent_out_of_turn() -> None:
    turns: list[Callable[[], bytes]] = [
        lambda: ClientConnection().send_connect(params(), deadline_s=1.0),
        lambda: challenged().send_request("1", "health", deadline_s=1.0),
        lambda: opened().send_connect(params(), deadline_s=1.0),
    ]
    for turn in turns:
        with pytest.raises(LocalProtocolError) as caught:
            turn()
        assert caught.value.code == "wrong_state"


def test_a_second_challenge_and_a_request_of_the_gateway_are_faults() -> None:
    for frame, code in (
        (CHALLENGE, "unexpected_challenge"),
        (b'{"type":"req","id":"1","method":"m"}', "unexpected_request"),
    ):
        connection = challenged()
        connection.receive_data(frame)
        with pytest.raises(GatewayProtocolError) as caught:
            list(connection.events())
        assert (caught.value.code, caught.value.close_code) == (code, 1002)


def test_after_a_fault_nothing_more_is_read_and_what_came_before_is_still_delivered() -> None:
    connection = opened()
    connection.send_request("1", "health", deadline_s=30.0)
    for frame in (event("good"), b"nope", event("after")):
        connection.receive_data(frame)
    result = connection.events()
    assert next(result) == EventFrame("good")
    with pytest.raises(GatewayProtocolError):
        next(result)
    connection.receive_eof(1007)
    assert list(connection.events()) == [RequestAbandoned("1", "health"), Closed(1007, "")]


def test_text_with_lone_surrogates_is_a_fault_too() -> None:
    connection = opened()
    connection.receive_text('{"type":"event","event":"\ud800"}')
    with pytest.raises(GatewayProtocolError) as caught:
        list(connection.events())
    assert caught.value.code == "invalid_utf8"
    connection.receive_text('{"type":"event","event":"x"}')
    assert list(connection.events()) == []


def test_before_connect_a_gateway_may_send_little_and_the_hello_may_be_large() -> None:
    large = encode_frame(EventFrame("x", Raw(b'"%s"' % (b"a" * MAX_HANDSHAKE_BYTES))))
    connection = ClientConnection()
    connection.receive_data(large)
    with pytest.raises(GatewayProtocolError) as caught:
        list(connection.events())
    assert caught.value.close_code == 1009
    connection = challenged()
    connection.send_connect(params(), deadline_s=1.0)
    hello = {"type": "hello-ok", "protocol": 4, "more": "a" * MAX_HANDSHAKE_BYTES}
    assert isinstance(fed(connection, answer("connect", hello))[0], Connected)


def test_what_the_gateway_would_close_us_for_is_not_sent() -> None:
    connection = opened(HelloOk(3, policy=Policy(max_payload=200)))
    with pytest.raises(LocalProtocolError) as caught:
        connection.send_request("1", "chat.send", {"message": "a" * 200}, deadline_s=30.0)
    assert caught.value.code == "frame_too_large"
    assert connection.next_deadline_s is None


def test_chat_send_is_answered_with_its_run() -> None:
    connection = opened()
    asked = {"sessionKey": "acp:uuid-here", "message": "用户输入的消息", "idempotencyKey": "k"}
    sent = connection.send_request("cmd_1", "chat.send", asked, deadline_s=30.0)
    assert json.loads(sent) == {"type": "req", "id": "cmd_1", "method": "chat.send", "params": asked}
    [done] = fed(connection, answer("cmd_1", {"runId": "k", "status": "started"}))
    assert isinstance(done, RequestSucceeded)
    assert json.loads(bytes(done.payload))["runId"] == "k"  # type: ignore[arg-type]


def test_an_abort_and_a_look_at_the_past_are_asked_and_answered_as_recorded() -> None:
    socket = sockets("v3-08")[0]
    _, happened = replay(socket)
    asked = {line.frame["id"]: line.frame for line in socket.of("out")}
    answered = {
        one.id: json.loads(bytes(one.payload)) for one in happened if isinstance(one, RequestSucceeded) and one.payload
    }
    [abort] = [name for name in answered if asked[name]["method"] == "chat.abort"]
    assert asked[abort]["params"] == {"sessionKey": "acp:abort", "runId": "idem-abort-1"}
    assert answered[abort] == {"ok": True, "aborted": True, "runIds": ["idem-abort-1"]}
    *_, history = [name for name in answered if asked[name]["method"] == "chat.history"]
    assert asked[history]["params"] == {"sessionKey": "acp:abort"}
    assert [row["role"] for row in answered[history]["messages"]] == ["user", "assistant", "assistant"]


@pytest.mark.requirement("gateway:request:unique-id")
def test_an_id_cannot_be_used_again_while_its_answer_is_awaited() -> None:
    connection = opened()
    connection.send_request("1", "a", deadline_s=30.0)
    with pytest.raises(LocalProtocolError) as caught:
        connection.send_request("1", "b", deadline_s=30.0)
    assert caught.value.code == "duplicate_id"
    fed(connection, answer("1"))
    connection.send_request("1", "b", deadline_s=30.0)


@pytest.mark.requirement("gateway:response:out-of-order")
@given(st.permutations([f"cmd_{number}" for number in range(1, 7)]))
def test_answers_find_their_requests_in_any_order(order: list[str]) -> None:
    connection = opened()
    for name in sorted(order):
        connection.send_request(name, f"method of {name}", deadline_s=30.0)
    settled = fed(connection, *(answer(name, name) for name in order))
    assert settled == [RequestSucceeded(name, f"method of {name}", Raw(b'"%s"' % name.encode())) for name in order]


def test_answers_to_nothing_are_reported_and_do_no_harm() -> None:
    connection = opened()
    connection.send_request("1", "a", deadline_s=30.0)
    settled = fed(connection, answer("7"), answer("1"), answer("1"), b'{"type":"res","id":5,"ok":false,"error":"e"}')
    assert [type(one) for one in settled] == [UnmatchedResponse, RequestSucceeded, UnmatchedResponse, UnmatchedResponse]
    assert settled[-1] == UnmatchedResponse(ResponseFrame(5, ok=False, error="e"))


def test_a_failure_carries_its_error_in_either_form() -> None:
    connection = opened()
    connection.send_request("1", "a", deadline_s=30.0)
    connection.send_request("2", "b", deadline_s=30.0)
    frames = (
        b'{"type":"res","id":"1","ok":false,"error":"error message"}',
        b'{"type":"res","id":"2","ok":false,"error":{"code":"FORBIDDEN","message":"m","details":{"code":"MISSING_SCOPE"}}}',
    )
    plain, structured = fed(connection, *frames)
    assert isinstance(plain, RequestFailed)
    assert isinstance(structured, RequestFailed)
    assert plain.error.message == "error message"
    assert (structured.error.code, structured.error.detail.code) == ("FORBIDDEN", "MISSING_SCOPE")


@pytest.mark.requirement("chat:client:pending-fail-on-timeout")
def test_what_is_overdue_is_given_up_and_its_late_answer_disturbs_nothing() -> None:
    connection = opened()
    connection.send_request("slow", "a", deadline_s=100.0 + 30.0)
    connection.send_request("slower", "b", deadline_s=100.0 + 60.0)
    assert connection.next_deadline_s == 130.0
    connection.expire(129.9)
    assert list(connection.events()) == []
    connection.expire(130.0)
    assert list(connection.events()) == [RequestExpired("slow", "a")]
    assert connection.next_deadline_s == 160.0
    assert fed(connection, answer("slow")) == [UnmatchedResponse(ResponseFrame("slow", ok=True, payload=Raw(b"null")))]


def test_a_hello_after_its_deadline_opens_nothing() -> None:
    connection = challenged()
    connection.send_connect(params(), deadline_s=15.0)
    connection.expire(15.0)
    assert list(connection.events()) == [RequestExpired("connect", "connect")]
    assert [type(one) for one in fed(connection, answer("connect", {"type": "hello-ok", "protocol": 3}))] == [
        UnmatchedResponse
    ]
    assert connection.state is ClientState.CONNECTING


def test_the_end_delivers_everything_that_waited_and_comes_once() -> None:
    connection = opened()
    connection.send_request("1", "a", deadline_s=30.0)
    connection.send_request("2", "b", deadline_s=30.0)
    connection.receive_eof(1012, "service restart")
    connection.receive_eof()
    assert list(connection.events()) == [
        RequestAbandoned("1", "a"),
        RequestAbandoned("2", "b"),
        Closed(1012, "service restart"),
    ]
    with pytest.raises(LocalProtocolError):
        connection.receive_data(event())


@pytest.mark.requirement("chat:router:drops-old-seq", "chat:router:no-seq-passes", "gateway:event:pushed")
def test_a_repeated_or_late_frame_is_dropped_and_one_without_a_number_never() -> None:
    connection = opened()
    frames = [event("a", 1), event("a", 1), event("t"), event("b", 2), event("a", 1), event("t"), event("c", 3)]
    assert [one.event for one in fed(connection, *frames) if isinstance(one, EventFrame)] == ["a", "t", "b", "t", "c"]


def test_a_jump_of_the_number_is_a_gap_and_then_the_frame() -> None:
    connection = opened()
    result = fed(connection, event("a", 1), event("d", 4), event("c", 3), event("e", 5))
    assert result == [EventFrame("a", seq=1), SequenceGap(2, 4), EventFrame("d", seq=4), EventFrame("e", seq=5)]


@pytest.mark.requirement("gateway:event:seq")
def test_the_number_of_a_payload_drops_nothing() -> None:
    """`chat` repeats it: the last delta and the final of one run both have 8."""
    payloads = (b'{"state":"delta","seq":8}', b'{"state":"final","seq":8}', b'{"state":"final","seq":1}')
    frames = [encode_frame(EventFrame("chat", Raw(payload))) for payload in payloads]
    assert len(fed(opened(), *frames)) == 3


@given(st.lists(st.integers(0, 30) | st.none(), max_size=60))
def test_numbers_that_are_reported_only_rise_and_every_gap_is_reported_once(numbers: list[int | None]) -> None:
    result = fed(opened(), *(event("x", seq) for seq in numbers))
    seen = [one.seq for one in result if isinstance(one, EventFrame) and one.seq is not None]
    missing = sum(one.received - one.expected for one in result if isinstance(one, SequenceGap))
    assert seen == sorted(set(seen))
    assert missing == (seen[-1] - len(seen) if seen else 0)
    assert sum(isinstance(one, EventFrame) and one.seq is None for one in result) == numbers.count(None)


def test_the_fields_of_protocol_4_go_out_with_a_request() -> None:
    sent = opened().send_request("1", "m", UNSET, deadline_s=1.0, traceparent="00-a-b-01", expected_profile_id="p")
    assert json.loads(sent) == {
        "type": "req",
        "id": "1",
        "method": "m",
        "traceparent": "00-a-b-01",
        "expectedProfileId": "p",
    }
