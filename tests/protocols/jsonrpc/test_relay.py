"""The pump's memory: what survives a daemon, what is reported, what is sent again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.jsonrpc import Relay
from dragoman.protocols.jsonrpc.relay import FULL

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "c"}}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
WELCOME = {"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {}}}


def line(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def ask(id: int | str, method: str = "tools/call") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {}}


def reply(id: int | str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": {"content": []}}


class Pumped:
    """A relay whose ends are read as they come: to the daemon as many bytes as asked, to the client everything."""

    def __init__(self, *, cap: int = 4 << 20) -> None:
        self.relay = Relay(cap)

    def client(self, *messages: object) -> None:
        for message in messages:
            self.relay.receive_from_client(line(message))

    def daemon(self, *messages: object) -> None:
        for message in messages:
            self.relay.receive_from_daemon(line(message))

    def to_daemon(self, at_most: int = 1 << 30) -> bytes:
        data = b""
        while self.relay.to_daemon and len(data) < at_most:
            piece = bytes(self.relay.to_daemon.head()[: at_most - len(data)])
            self.relay.sent_to_daemon(len(piece))
            data += piece
        return data

    def received_by_daemon(self) -> list[Any]:
        """By the daemon."""
        return [json.loads(line) for line in self.to_daemon().splitlines()]

    def sent_to_client(self) -> list[Any]:
        """To the client."""
        data = b""
        while self.relay.to_client:
            piece = bytes(self.relay.to_client.head())
            self.relay.to_client.took(len(piece))
            data += piece
        return [json.loads(line) for line in data.splitlines()]

    def reads(self) -> tuple[bool, bool]:
        return self.relay.reads_client, self.relay.reads_daemon

    def begin(self) -> None:
        self.relay.daemon_found()
        self.client(INITIALIZE)
        self.received_by_daemon()
        self.daemon(WELCOME)
        self.client(INITIALIZED)
        self.received_by_daemon()
        assert self.sent_to_client() == [WELCOME]

    def lose(self) -> None:
        self.relay.daemon_lost("daemon_restarted", "it went")


@pytest.fixture
def pumped() -> Pumped:
    return Pumped()


def codes(messages: list[Any]) -> dict[int | str, str]:
    return {message["id"]: message["error"]["data"]["code"] for message in messages}


def test_lines_pass_both_ways_as_they_are(pumped: Pumped) -> None:
    pumped.relay.daemon_found()
    odd = b'  {"id" : 1 , "method":"x" }  \n\n  \r\nno json at all\n'
    pumped.relay.receive_from_client(odd)
    assert pumped.to_daemon() == b'  {"id" : 1 , "method":"x" }  \nno json at all\n'
    answer = line(reply(1) | {"result": {"text": "é\u2028"}})
    pumped.relay.receive_from_daemon(answer)
    assert bytes(pumped.relay.to_client.head()) == answer


def test_open_calls_are_notified_and_answered_ones_are_not(pumped: Pumped) -> None:
    pumped.begin()
    pumped.client(ask(1), ask("two"), ask(3))
    pumped.received_by_daemon()
    pumped.daemon(reply(1))
    assert pumped.sent_to_client() == [reply(1)]
    pumped.lose()
    assert codes(pumped.sent_to_client()) == {"two": "daemon_restarted", 3: "daemon_restarted"}


def test_the_same_text_and_number_are_two_ids(pumped: Pumped) -> None:
    pumped.begin()
    pumped.client(ask(1), ask("1"))
    pumped.received_by_daemon()
    pumped.daemon(reply("1"))
    pumped.sent_to_client()
    pumped.lose()
    assert [repr(message["id"]) for message in pumped.sent_to_client()] == ["1"]


def test_the_handshake_is_replayed_and_its_answer_dropped(pumped: Pumped) -> None:
    pumped.begin()
    pumped.lose()
    pumped.client(ask(1))
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [INITIALIZE, INITIALIZED, ask(1)]
    pumped.daemon(WELCOME, reply(1))
    assert pumped.sent_to_client() == [reply(1)]


def test_it_is_replayed_to_every_daemon_once(pumped: Pumped) -> None:
    pumped.begin()
    for _ in range(3):
        pumped.lose()
        pumped.relay.daemon_found()
        assert pumped.received_by_daemon() == [INITIALIZE, INITIALIZED]
        pumped.daemon(WELCOME)
        assert pumped.sent_to_client() == []


def test_a_daemon_that_exits_before_it_read_the_handshake_leaves_it_for_the_next(pumped: Pumped) -> None:
    pumped.begin()
    for size in (0, 5, len(line(INITIALIZE)), len(line(INITIALIZE)) + 3):
        pumped.lose()
        pumped.relay.daemon_found()
        pumped.to_daemon(size)
    pumped.lose()
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [INITIALIZE, INITIALIZED]
    assert pumped.sent_to_client() == []


def test_an_initialize_without_an_answer_is_asked_again_and_its_answer_passed_on(pumped: Pumped) -> None:
    pumped.relay.daemon_found()
    pumped.client(INITIALIZE)
    pumped.received_by_daemon()
    pumped.lose()
    assert pumped.sent_to_client() == []
    assert pumped.relay.needs_daemon
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [INITIALIZE]
    pumped.daemon(WELCOME)
    assert pumped.sent_to_client() == [WELCOME]


def test_a_request_that_was_cut_or_never_sent_had_no_effect_and_goes_to_the_next(pumped: Pumped) -> None:
    pumped.begin()
    pumped.client(ask(1), ask(2), ask(3))
    pumped.to_daemon(len(line(ask(1))) + 7)
    pumped.lose()
    assert codes(pumped.sent_to_client()) == {1: "daemon_restarted"}
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [INITIALIZE, INITIALIZED, ask(2), ask(3)]


def test_half_a_line_of_a_daemon_that_went_is_forgotten(pumped: Pumped) -> None:
    pumped.begin()
    pumped.client(ask(1))
    pumped.received_by_daemon()
    pumped.relay.receive_from_daemon(line(reply(1))[:-5])
    pumped.lose()
    pumped.relay.daemon_found()
    pumped.received_by_daemon()
    pumped.daemon(WELCOME)
    assert codes(pumped.sent_to_client()) == {1: "daemon_restarted"}


def test_a_cancelled_call_is_not_waited_for(pumped: Pumped) -> None:
    pumped.begin()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    pumped.client(ask(1), cancel, {**cancel, "params": None}, {**cancel, "params": {"requestId": [1]}})
    pumped.received_by_daemon()
    pumped.lose()
    assert pumped.sent_to_client() == []
    assert not pumped.relay.needs_daemon


def test_no_handshake_is_replayed_for_a_client_that_sent_none(pumped: Pumped) -> None:
    pumped.relay.daemon_found()
    pumped.client(ask(1, "server/discover"))
    pumped.received_by_daemon()
    pumped.daemon(reply(1))
    pumped.lose()
    pumped.client(ask(2))
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [ask(2)]


def test_without_a_daemon_a_waiting_caller_learns_why(pumped: Pumped) -> None:
    pumped.client(INITIALIZE, INITIALIZED, ask(1))
    pumped.relay.daemon_not_found("not_running", "none runs")
    assert codes(pumped.sent_to_client()) == {0: "not_running", 1: "not_running"}
    assert not pumped.relay.needs_daemon
    pumped.client(INITIALIZE)
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [INITIALIZE]


def test_a_refused_initialize_is_not_replayed(pumped: Pumped) -> None:
    pumped.relay.daemon_found()
    pumped.client(INITIALIZE)
    pumped.received_by_daemon()
    pumped.lose()
    pumped.relay.daemon_not_found("start_failed", "no")
    assert codes(pumped.sent_to_client()) == {0: "start_failed"}
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == []


def test_the_end_of_the_handshake_survives_a_daemon_that_could_not_be_found(pumped: Pumped) -> None:
    pumped.relay.daemon_found()
    pumped.client(INITIALIZE)
    pumped.received_by_daemon()
    pumped.daemon(WELCOME)
    pumped.lose()
    pumped.client(INITIALIZED)
    pumped.relay.daemon_not_found("not_running", "none runs")
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [INITIALIZE, INITIALIZED]


def test_a_new_initialize_takes_the_place_of_the_last(pumped: Pumped) -> None:
    pumped.begin()
    pumped.client({**INITIALIZE, "id": 9})
    pumped.received_by_daemon()
    pumped.daemon({**WELCOME, "id": 9})
    pumped.lose()
    pumped.relay.daemon_found()
    assert pumped.received_by_daemon() == [{**INITIALIZE, "id": 9}]


def test_every_call_of_a_batch_is_open(pumped: Pumped) -> None:
    pumped.begin()
    pumped.client([ask(1), ask(2), INITIALIZED, 3, None])
    pumped.received_by_daemon()
    pumped.daemon(reply(2))
    pumped.sent_to_client()
    pumped.lose()
    assert codes(pumped.sent_to_client()) == {1: "daemon_restarted"}


def test_only_messages_reach_the_client(pumped: Pumped) -> None:
    pumped.begin()
    pumped.relay.receive_from_daemon(b'Traceback (most recent call last):\n{"id":0,"error":{"code":"x"}}\n\n')
    assert pumped.sent_to_client() == []


def test_a_message_that_is_too_long_is_refused_by_its_id_in_both_directions() -> None:
    pumped = Pumped(cap=10_000)
    pumped.begin()
    pumped.client({**ask(1), "params": "x" * 20_000}, ask(2))
    assert pumped.received_by_daemon() == [ask(2)]
    pumped.daemon({**reply(2), "result": "x" * 20_000})
    refused = pumped.sent_to_client()
    assert codes(refused) == {1: "line_too_long", 2: "line_too_long"}
    pumped.lose()
    assert pumped.sent_to_client() == []


def test_it_reads_no_more_than_the_other_end_takes(pumped: Pumped) -> None:
    pumped.begin()
    pumped.relay.receive_from_client(line(ask(1) | {"params": "x" * FULL}))
    assert pumped.reads() == (False, True)
    pumped.received_by_daemon()
    pumped.relay.receive_from_daemon(line(reply(1) | {"result": "x" * FULL}))
    assert pumped.reads() == (False, False)
    pumped.sent_to_client()
    assert pumped.reads() == (True, True)


def test_many_empty_messages_fill_it_too(pumped: Pumped) -> None:
    pumped.relay.receive_from_client(b"{}\n" * 10_000)
    assert not pumped.relay.reads_client
    assert len(pumped.received_by_daemon()) == 10_000
    assert pumped.relay.to_daemon.size == 0


steps = st.lists(
    st.tuples(st.just("ask"), st.integers(1, 8)) | st.tuples(st.just("answer"), st.integers(1, 8))
    | st.tuples(st.just("send"), st.integers(0, 300)) | st.tuples(st.just("lose"), st.just(0)),
    max_size=40,
)  # fmt: skip


@given(steps=steps)
def test_whatever_happens_each_call_is_answered_once_and_the_client_sees_one_handshake(
    steps: list[tuple[str, int]],
) -> None:
    """A daemon that answers some of what it got, dies at any byte, and a client that asks in between."""
    pumped = Pumped()
    pumped.begin()
    asked: list[int] = []
    received = b""
    for what, number in [*steps, ("lose", 0), ("send", 1 << 20), ("answer", 1 << 20)]:
        if what == "ask":
            new = range(len(asked) + 1, len(asked) + 1 + number)
            asked += new
            pumped.client(*map(ask, new))
        elif what == "send":
            received += pumped.to_daemon(number)
        elif what == "lose":
            pumped.lose()
            pumped.relay.daemon_found()
            received = b""
        else:
            received = answered(pumped, received, number)
    assert sorted(message["id"] for message in pumped.sent_to_client()) == asked


def answered(pumped: Pumped, received: bytes, count: int) -> bytes:
    """Answer the first of the whole lines; what is left."""
    *lines, rest = received.split(b"\n")
    for message in map(json.loads, lines[:count]):
        if "id" in message:
            pumped.daemon(WELCOME if message["id"] == 0 else reply(message["id"]))
    return b"\n".join([*lines[count:], rest])
