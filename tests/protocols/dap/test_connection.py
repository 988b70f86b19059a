"""The connection: numbers, matching, what comes out of order, and the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.dap import (
    Closed,
    Connection,
    ConnectionEvent,
    EventReceived,
    PendingRequest,
    Request,
    RequestReceived,
    RequestRepeated,
    ResponseReceived,
    UnexpectedResponse,
    UnknownReceived,
    frame,
)
from dragoman.protocols.dap.connection import MAX_OPEN_REQUESTS


def framed(**message: Any) -> bytes:
    return frame(json.dumps(message).encode())


def response(request_seq: int, **more: Any) -> bytes:
    return framed(seq=9, type="response", request_seq=request_seq, success=True, command="next", **more)


def event(name: str, **body: Any) -> bytes:
    return framed(seq=8, type="event", event=name, body=body)


def request(seq: int, command: str = "runInTerminal") -> bytes:
    return framed(seq=seq, type="request", command=command, arguments={"cwd": "/"})


def sent(data: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(data.partition(b"\r\n\r\n")[2])
    return decoded


def received(connection: Connection, *chunks: bytes) -> list[ConnectionEvent]:
    for chunk in chunks:
        connection.receive_data(chunk)
    return list(connection.events())


def asked(connection: Connection, data: bytes) -> Request:
    (event,) = received(connection, data)
    assert isinstance(event, RequestReceived)
    return event.message


def outcome(chunks: list[bytes]) -> tuple[list[ConnectionEvent], str | None]:
    """What a fresh connection with one pending request makes of the bytes, and the code of its fault."""
    connection = Connection(max_body=200)
    connection.send_request("next")
    events: list[ConnectionEvent] = []
    code = None
    for chunk in [*chunks, None]:
        if chunk is None:
            connection.receive_eof()
        else:
            connection.receive_data(chunk)
        try:
            events.extend(connection.events())
        except RemoteProtocolError as fault:
            code = fault.code
    assert isinstance(events[-1], Closed)
    return [*events[:-1], Closed(events[-1].abandoned)], code


def code_of(error: pytest.ExceptionInfo[LocalProtocolError]) -> str:
    return error.value.code


def test_messages_are_numbered_from_one_whatever_their_kind() -> None:
    connection = Connection()
    asking = asked(connection, request(41))
    assert connection.next_seq == 1
    messages = [
        connection.send_request("initialize", {"adapterID": "x"}),
        connection.send_event("initialized"),
        connection.send_response(asking, {"processId": 7}),
    ]
    assert [sent(data) for data in messages] == [
        {"type": "request", "seq": 1, "command": "initialize", "arguments": {"adapterID": "x"}},
        {"type": "event", "seq": 2, "event": "initialized"},
        {
            "type": "response",
            "seq": 3,
            "request_seq": 41,
            "success": True,
            "command": "runInTerminal",
            "body": {"processId": 7},
        },
    ]


def test_a_response_settles_its_request_and_brings_back_its_context() -> None:
    connection, waiter = Connection(), object()
    connection.send_request("next", {"threadId": 1}, context=waiter)
    assert connection.pending == {1: PendingRequest(1, "next", waiter)}
    (settled,) = received(connection, response(1, body={"x": 1}))
    assert isinstance(settled, ResponseReceived)
    assert settled.request.context is waiter
    assert not connection.pending


def test_events_before_the_response_keep_their_place() -> None:
    connection = Connection()
    connection.send_request("next")
    kinds = [type(got) for got in received(connection, event("stopped", reason="step") + response(1))]
    assert kinds == [EventReceived, ResponseReceived]


def test_responses_may_come_in_any_order() -> None:
    connection = Connection()
    for command in ("threads", "scopes", "variables"):
        connection.send_request(command)
    events = received(connection, response(3) + response(1) + response(2))
    commands = [got.request.command for got in events if isinstance(got, ResponseReceived)]
    assert commands == ["variables", "threads", "scopes"]


@pytest.mark.parametrize(
    ("request_seq", "reason"), [(1, "duplicate"), (0, "unknown"), (2, "unknown"), (2**63, "unknown")]
)
def test_a_response_that_answers_nothing_is_an_event_and_settles_nothing(request_seq: int, reason: str) -> None:
    connection = Connection()
    connection.send_request("next")
    connection.send_event("initialized")
    connection.send_request("threads")
    received(connection, response(1))
    (unexpected,) = received(connection, response(request_seq))
    assert isinstance(unexpected, UnexpectedResponse)
    assert unexpected.reason == reason
    assert list(connection.pending) == [3]


def test_an_unsuccessful_response_settles_too() -> None:
    connection = Connection()
    connection.send_request("next")
    data = framed(seq=1, type="response", request_seq=1, success=False, command="next", message="notStopped")
    (settled,) = received(connection, data)
    assert isinstance(settled, ResponseReceived)
    assert (settled.message.success, settled.message.message) == (False, "notStopped")


@pytest.mark.parametrize("command", ["runInTerminal", "startDebugging"])
def test_a_reverse_request_is_answered_once(command: str) -> None:
    connection = Connection()
    asking = asked(connection, request(5, command))
    assert connection.open_requests == {5: asking}
    answer = sent(connection.send_response(asking, success=False, message="cancelled"))
    assert (answer["request_seq"], answer["success"], answer["message"]) == (5, False, "cancelled")
    with pytest.raises(LocalProtocolError) as again:
        connection.send_response(asking)
    assert code_of(again) == "not_open"


def test_a_second_request_under_an_open_number_is_distinguished() -> None:
    connection = Connection()
    first, second = received(connection, request(5) + request(5, "startDebugging"))
    assert isinstance(first, RequestReceived)
    assert isinstance(second, RequestRepeated)
    assert connection.open_requests[5].command == "runInTerminal"
    connection.send_response(first.message)
    assert isinstance(received(connection, request(5))[0], RequestReceived)


def test_a_peer_that_asks_without_end_is_cut_off() -> None:
    connection = Connection()
    for seq in range(MAX_OPEN_REQUESTS):
        connection.receive_data(request(seq))
    assert len(list(connection.events())) == MAX_OPEN_REQUESTS
    with pytest.raises(RemoteProtocolError) as caught:
        received(connection, request(MAX_OPEN_REQUESTS))
    assert caught.value.code == "too_many_requests"


def test_a_peer_with_large_unanswered_requests_is_cut_off_sooner() -> None:
    connection = Connection(max_body=1_000)
    large = [framed(seq=seq, type="request", command="x", arguments="a" * 900) for seq in range(4)]
    first = asked(connection, large[0])
    asked(connection, large[1])
    connection.send_response(first)
    asked(connection, large[2])
    with pytest.raises(RemoteProtocolError) as caught:
        received(connection, large[3])
    assert caught.value.code == "too_many_requests"


def test_a_pending_request_can_be_cancelled_and_is_still_answered() -> None:
    connection = Connection()
    connection.send_request("evaluate")
    assert sent(connection.send_cancel(request_id=1))["arguments"] == {"requestId": 1}
    late = framed(seq=1, type="response", request_seq=1, success=False, command="evaluate", message="cancelled")
    assert [type(got) for got in received(connection, late + response(2))] == [ResponseReceived, ResponseReceived]


def test_a_progress_can_be_cancelled_by_its_id() -> None:
    assert sent(Connection().send_cancel(progress_id="p1"))["arguments"] == {"progressId": "p1"}


@pytest.mark.parametrize(
    ("target", "code"),
    [({"request_id": 7}, "not_pending"), ({}, "bad_cancel"), ({"request_id": 1, "progress_id": "p"}, "bad_cancel")],
)
def test_a_cancel_without_one_clear_target_is_refused(target: dict[str, Any], code: str) -> None:
    connection = Connection()
    connection.send_request("evaluate")
    with pytest.raises(LocalProtocolError) as caught:
        connection.send_cancel(**target)
    assert code_of(caught) == code
    assert connection.next_seq == 2


@pytest.mark.parametrize("value", [{"x": "\ud800"}, {"x": object()}, {"x": {1: {object(): 2}}}])
def test_a_value_that_json_cannot_carry_changes_nothing(value: Any) -> None:
    connection = Connection()
    asking = asked(connection, request(5))
    sends: tuple[Callable[[], bytes], ...] = (
        lambda: connection.send_request("x", value),
        lambda: connection.send_event("x", value),
        lambda: connection.send_response(asking, value),
        lambda: connection.send_response(asking, message="\ud800"),
        lambda: connection.send_request("\ud800"),
    )
    for send in sends:
        with pytest.raises(LocalProtocolError) as caught:
            send()
        assert code_of(caught) == "not_encodable"
    assert (connection.next_seq, dict(connection.pending), list(connection.open_requests)) == (1, {}, [5])


def relay_of(client: Connection, adapter: Connection, data: bytes) -> bytes:
    """One hop from the client to the adapter."""
    (got,) = received(client, data)
    assert not isinstance(got, Closed)
    return adapter.send_relayed(got, context=got.message.seq)


def test_a_relay_changes_the_numbers_and_nothing_else() -> None:
    client, adapter = Connection(), Connection()
    adapter.send_request("initialize")
    asking = framed(seq=70, type="request", command="x/vendor", arguments={"a": [1.5]}, extra={"seq": 70})
    assert sent(relay_of(client, adapter, asking)) == sent(asking) | {"seq": 2}
    (answered,) = received(adapter, framed(seq=33, type="response", request_seq=2, success=True, vendor=[None]))
    assert isinstance(answered, ResponseReceived)
    back = client.send_relayed(answered, request_seq=answered.request.context)
    assert sent(back) == {"seq": 1, "type": "response", "request_seq": 70, "success": True, "vendor": [None]}
    (result,) = received(adapter, event("vendor/thing", deep={"er": 1}))
    assert not isinstance(result, Closed)
    assert sent(client.send_relayed(result)) == sent(event("vendor/thing", deep={"er": 1})) | {"seq": 2}


def test_a_message_of_an_unknown_type_passes_a_relay() -> None:
    client, adapter = Connection(), Connection()
    (unknown,) = received(adapter, framed(seq=5, type="telemetry", data={"n": 1}))
    assert isinstance(unknown, UnknownReceived)
    assert sent(client.send_relayed(unknown)) == {"seq": 1, "type": "telemetry", "data": {"n": 1}}


def test_a_relayed_response_must_name_the_request_it_answers() -> None:
    client, adapter = Connection(), Connection()
    adapter.send_request("next")
    (answered,) = received(adapter, response(1))
    assert isinstance(answered, ResponseReceived)
    for request_seq, code in ((None, "no_request_seq"), (12, "not_open")):
        with pytest.raises(LocalProtocolError) as caught:
            client.send_relayed(answered, request_seq=request_seq)
        assert code_of(caught) == code
    assert client.next_seq == 1


def test_the_end_lists_what_will_never_be_answered() -> None:
    connection = Connection()
    connection.send_request("next", context="a")
    connection.send_request("threads", context="b")
    received(connection, response(1))
    connection.receive_eof()
    assert list(connection.events()) == [Closed((PendingRequest(2, "threads", "b"),), None)]
    assert not connection.pending


@pytest.mark.parametrize("tail", [b"C", b"Content-Length: 5\r\n\r\n", b"Content-Length: 5\r\n\r\n{}"])
def test_half_a_message_and_then_the_end_is_an_error_in_the_last_event(tail: bytes) -> None:
    connection = Connection()
    connection.send_request("next")
    first = received(connection, response(1) + tail)
    connection.receive_eof()
    (closed,) = connection.events()
    assert [type(got) for got in first] == [ResponseReceived]
    assert isinstance(closed, Closed)
    assert closed.error is not None
    assert closed.error.code == "truncated"


def test_a_fault_comes_after_everything_before_it_and_ends_the_connection() -> None:
    connection = Connection()
    connection.send_request("next")
    connection.receive_data(event("output", output="x") + b"garbage\r\n\r\n" + response(1))
    events = connection.events()
    assert isinstance(next(events), EventReceived)
    with pytest.raises(RemoteProtocolError):
        next(events)
    assert received(connection, response(1)) == []
    with pytest.raises(LocalProtocolError) as caught:
        connection.send_request("threads")
    assert code_of(caught) == "closed"
    connection.receive_eof()
    (closed,) = connection.events()
    assert isinstance(closed, Closed)
    assert closed.abandoned == (PendingRequest(1, "next"),)
    assert closed.error is not None
    assert closed.error.code == "bad_header"


def test_the_end_comes_once_and_nothing_is_taken_or_sent_after_it() -> None:
    connection = Connection()
    asking = asked(connection, request(4))
    connection.receive_eof()
    connection.receive_eof()
    assert list(connection.events()) == [Closed(())]
    for misuse in (
        lambda: connection.receive_data(b"x"),
        lambda: connection.send_event("x"),
        lambda: connection.send_request("x"),
        lambda: connection.send_response(asking),
    ):
        with pytest.raises(LocalProtocolError):
            misuse()


MESSAGES = st.sampled_from(
    [
        response(1),
        response(6),
        request(3),
        event("output", output="é"),
        framed(seq=1, type="telemetry"),
        framed(seq=1, type="event"),
        frame(b"{"),
        b"Content-Length: 201\r\n\r\n",
        b"oops",
        b"\r\n\r\n",
    ]
)


@given(st.lists(MESSAGES, max_size=6), st.lists(st.integers(0, 600), max_size=10))
def test_any_split_of_the_bytes_gives_the_same_events_and_the_same_fault(
    messages: list[bytes], cuts: list[int]
) -> None:
    data = b"".join(messages)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    split = [data[begin:end] for begin, end in pairwise(places)]
    assert outcome(split) == outcome([data])


@given(st.text(), st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=4))
def test_what_one_side_sends_the_other_reads(command: str, arguments: dict[str, Any]) -> None:
    client, adapter = Connection(), Connection()
    (asking,) = received(adapter, client.send_request(command, arguments))
    assert isinstance(asking, RequestReceived)
    assert asking.message.command == command
    assert isinstance(asking.message.arguments, msgspec.Raw)
    assert msgspec.json.decode(asking.message.arguments) == arguments
    (answered,) = received(client, adapter.send_response(asking.message, arguments))
    assert isinstance(answered, ResponseReceived)
    assert answered.message.command == command
