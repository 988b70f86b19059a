"""Ids, tokens, queues and faults between one client and several targets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.router.router import MAX_CALLS
from dragoman.cli.router.server_requests import MAX_SERVER_REQUESTS
from dragoman.protocols.jsonrpc.relay import FULL, FairOutbox
from tests.cli.router.routed import INITIALIZE, NAMES, Routed, sessions, tool_result

# The handshake.


def test_the_first_answer_to_the_handshake_is_the_answer() -> None:
    routed = Routed(begins=False)
    routed.request("initialize", **INITIALIZE)
    requests = [routed.sent_to(target) for target in range(3)]
    assert [it["params"] for it in requests] == [INITIALIZE] * 3
    routed.fail(0, requests[0], "unreachable")
    assert not routed.received()
    routed.emit(1, {"id": requests[1]["id"], "result": {"protocolVersion": "2025-06-18", "instructions": "Debug."}})
    instructions = routed.result()["instructions"]
    assert instructions.startswith("Debug. Several machines: ssh:a, ssh:b, local. ")
    routed.emit(2, {"id": requests[2]["id"], "result": {"protocolVersion": "2025-06-18"}})
    assert not routed.received()


def test_if_no_target_is_reached_the_handshake_fails() -> None:
    routed = Routed(begins=False)
    routed.request("initialize", **INITIALIZE)
    for target in range(3):
        routed.fail(target, routed.sent_to(target), "unreachable", NAMES[target])
    [message] = routed.received()
    assert message["error"]["message"] == "local"


def test_a_target_that_is_found_later_is_sent_the_handshake_before_its_first_call() -> None:
    routed = Routed(begins=False)
    routed.request("initialize", **INITIALIZE)
    routed.fail(0, routed.sent_to(0), "unreachable")
    routed.emit(1, {"id": routed.sent_to(1)["id"], "result": {}})
    routed.send({"method": "notifications/initialized"})
    routed.fail(2, routed.targets[2].taken()[0], "unreachable")  # after the client's answer
    routed.received()
    for target in (0, 2):
        routed.call("get_scopes", target=NAMES[target])
        sent = routed.targets[target].taken()
        assert [it["method"] for it in sent] == ["initialize", "notifications/initialized", "tools/call"]
        routed.emit(target, {"id": sent[0]["id"], "result": {}})
        assert not routed.received()
        routed.answer(target, sent[2], {"a": target})
        assert routed.result()["structuredContent"] == {"a": target}
        routed.call("get_scopes", target=NAMES[target])
        assert routed.sent_to(target)["method"] == "tools/call"


def test_a_revision_without_a_handshake_needs_none() -> None:
    routed = Routed(begins=False)
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-01-01"}
    routed.send({"id": 1, "method": "tools/call", "params": {"_meta": meta, "name": "list_sessions", "arguments": {}}})
    for target in range(3):
        request = routed.sent_to(target)
        assert (request["method"], request["params"]["_meta"]) == ("tools/call", meta)


# Ids.


def test_no_two_requests_have_the_same_id_and_answers_find_their_way_back() -> None:
    routed = Routed()
    routed.send({"id": "x", "method": "tools/call", "params": {"name": "t", "arguments": {"target": "ssh:a"}}})
    routed.send({"id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"target": "ssh:b"}}})
    at_a, at_b = routed.sent_to(0), routed.sent_to(1)
    assert at_a["id"] != at_b["id"]
    routed.answer(1, at_b, {"b": 1})
    routed.answer(0, at_a, {"a": 1})
    assert {it["id"]: it["result"]["structuredContent"] for it in routed.received()} == {1: {"b": 1}, "x": {"a": 1}}


def test_answers_that_nobody_waits_for_are_dropped() -> None:
    routed = Routed()
    routed.call("t", target="ssh:a")
    request = routed.sent_to(0)
    routed.answer(1, request, {"is": "forged"})  # the id of another target
    for wrong in (request["id"] + 1, str(request["id"]), True, None, [request["id"]], 1.0 * request["id"]):
        routed.emit(0, {"id": wrong, "result": {}})
    assert not routed.received()
    routed.answer(0, request, {"is": "true"})
    assert routed.result()["structuredContent"] == {"is": "true"}
    routed.answer(0, request, {"is": "again"})
    assert not routed.received()


def test_an_id_of_the_client_that_is_open_is_refused() -> None:
    routed = Routed()
    for _ in range(2):
        routed.send({"id": 7, "method": "tools/call", "params": {"name": "t", "arguments": {}}})
    [message] = routed.received()
    assert message["error"]["code"] == -32600
    assert len(routed.targets[0].taken()) == 1


def test_the_messages_of_a_batch_are_answered_one_by_one() -> None:
    routed = Routed()
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "t", "arguments": {"target": "ssh:b"}}},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
        17,
    ]
    routed.router.receive_from_client(json.dumps(batch).encode() + b"\n")
    assert routed.sent_to(1)["method"] == "tools/call"
    assert [it.get("result", it.get("error", {}).get("code")) for it in routed.received()] == [{}, -32600, -32600]


@pytest.mark.parametrize("line", [b"{", b"[]", b"[" * 100_000, b'"text"', b'{"jsonrpc":"1.0","id":1,"method":"ping"}'])
def test_a_line_that_is_no_message_is_an_error(line: bytes) -> None:
    routed = Routed()
    routed.router.receive_from_client(line + b"\n")
    [message] = routed.received()
    assert message["error"]["code"] in (-32700, -32600)


def test_half_a_line_is_not_a_message() -> None:
    routed = Routed()
    routed.router.receive_from_client(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert not routed.received()
    routed.router.receive_from_client(b"\n")
    assert routed.result() == {}


# Progress, and what targets ask.


def test_progress_has_the_token_of_the_client_and_only_increases() -> None:
    routed = Routed(("ssh:a", "ssh:b"))
    routed.start(0, "s-a")
    routed.start(1, "s-b")
    params = {"name": "wait_for_stop", "arguments": {}, "_meta": {"progressToken": "mine"}}
    routed.send({"id": 99, "method": "tools/call", "params": params})
    for target, name in enumerate(("s-a", "s-b")):
        routed.answer(target, routed.sent_to(target), sessions((name, "Running", 0)))
    tokens = [routed.sent_to(target)["params"]["_meta"]["progressToken"] for target in (0, 1)]
    assert tokens[0] != tokens[1]
    assert "mine" not in tokens
    for target, token, done in (
        (0, tokens[0], 5),
        (1, tokens[1], 5),
        (1, tokens[1], 10),
        (0, tokens[1], 20),
        (0, 8, 30),
    ):
        routed.emit(target, {"method": "notifications/progress", "params": {"progressToken": token, "progress": done}})
    passed = [it["params"] for it in routed.received()]
    assert passed == [{"progressToken": "mine", "progress": 5}, {"progressToken": "mine", "progress": 10}]


def test_questions_of_several_targets_do_not_collide() -> None:
    routed = Routed()
    for target in (0, 1):
        params = {"message": NAMES[target], "_meta": {"progressToken": 1}}
        routed.emit(target, {"id": 1, "method": "elicitation/create", "params": params})
    first, second = sorted(routed.received(), key=lambda it: str(it["params"]["message"]))
    assert first["id"] != second["id"]
    progress = {"progressToken": second["params"]["_meta"]["progressToken"], "progress": 1}
    routed.send({"method": "notifications/progress", "params": progress})
    assert routed.sent_to(1)["params"] == {"progressToken": 1, "progress": 1}
    routed.send({"id": second["id"], "result": {"action": "accept"}})
    assert routed.sent_to(1) == {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}}
    routed.send({"id": second["id"], "result": {"action": "accept"}})  # twice
    assert not routed.targets[0].taken() + routed.targets[1].taken()
    routed.emit(1, {"method": "notifications/cancelled", "params": {"requestId": 1}})  # not its question
    assert not routed.received()
    routed.emit(0, {"method": "notifications/cancelled", "params": {"requestId": 1}})
    [cancelled] = routed.received()
    assert cancelled["params"]["requestId"] == first["id"]


def test_a_target_that_asks_without_end_is_refused() -> None:
    routed = Routed()
    for number in range(MAX_SERVER_REQUESTS + 1):
        routed.emit(0, {"id": number, "method": "roots/list"})
    assert len(routed.received()) == MAX_SERVER_REQUESTS
    assert routed.sent_to(0)["error"]["message"] == "too many questions are open"
    routed.emit(1, {"id": 1, "method": "roots/list"})
    assert len(routed.received()) == 1


def test_other_notifications_pass_both_ways() -> None:
    routed = Routed()
    routed.emit(1, {"method": "notifications/resources/updated", "params": {"uri": "dragoman://session/s/output"}})
    assert routed.received()[0]["params"] == {"uri": "dragoman://session/s/output"}
    routed.send({"method": "notifications/roots/list_changed"})
    assert [routed.sent_to(target)["method"] for target in range(3)] == ["notifications/roots/list_changed"] * 3


# Limits.


def test_a_target_that_takes_nothing_is_refused_more_and_stalls_no_other() -> None:
    routed = Routed()
    routed.targets[0].is_full = True
    routed.call("t", target="ssh:a")
    [message] = routed.received()
    assert message["error"]["data"]["code"] == "target_busy"
    routed.call("list_sessions")
    for target in (1, 2):
        routed.answer(target, routed.sent_to(target), sessions())
    assert [it["code"] for it in routed.result()["structuredContent"]["failed_targets"]] == ["target_busy"]


def test_open_calls_are_limited() -> None:
    routed = Routed()
    for _ in range(MAX_CALLS + 1):
        routed.call("t", target="ssh:a")
    [message] = routed.received()
    assert message["error"]["data"]["code"] == "too_many_calls"


def test_a_target_that_floods_is_not_read_and_delays_another_by_one_line() -> None:
    routed = Routed()
    note = {"method": "notifications/message", "params": {"data": "x" * 1000}}
    while routed.router.reads_target(0):
        routed.emit(0, note)
    assert routed.router.reads_target(1)
    routed.call("t", target="ssh:b")
    routed.answer(1, routed.sent_to(1), {"b": 1})
    received = routed.received()
    assert any("result" in it for it in received[:2])
    assert len(received) < FULL / 1000 + 2
    assert routed.router.reads_target(0)


def test_the_lines_of_a_slow_client_stay_whole() -> None:
    outbox = FairOutbox(2)
    for number in range(3):
        for source in (0, 1):
            outbox.put(source, b"%d-%d" % (source, number))
    data = b""
    while outbox:
        data += bytes(outbox.head()[:1])
        outbox.took(1)
    assert data.splitlines() == [b"0-0", b"1-0", b"0-1", b"1-1", b"0-2", b"1-2"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":%d,"result":' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"jsonrpc":"2.0","id":%d,"result":[' + b"{}," * 100_000 + b"{}]}",
    ],
    ids=["too deep", "too many parts"],
)
def test_an_answer_that_cannot_be_read_safely_is_an_error_of_its_call(line: bytes) -> None:
    routed = Routed()
    routed.call("t", target="ssh:a")
    routed.router.receive_from_target(0, line % routed.sent_to(0)["id"])
    [message] = routed.received()
    assert message["error"]["data"]["code"] == "too_many_parts"


def test_the_error_of_a_link_says_what_helps() -> None:
    routed = Routed()
    routed.call("t", target="ssh:a")
    request = routed.sent_to(0)
    routed.targets[0].failure = ("unreachable", "ssh:a was not reached. `dragoman doctor --on ssh:a` checks it.")
    routed.fail(0, request, "unreachable", "ssh:a was not reached.")
    [message] = routed.received()
    assert message["error"]["message"].endswith("`dragoman doctor --on ssh:a` checks it.")


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    "session_id",
                    "sessions",
                    "state",
                    "status",
                    "stop_event_data",
                    "stop_number",
                    "breakpoint",
                    "id",
                    "removed",
                )
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(st.tuples(st.integers(0, 2), _JSON, st.sampled_from(("result", "error", "tool", "method"))), max_size=12)
)
def test_whatever_targets_send_every_call_of_the_client_is_answered_once(sent: list[tuple[int, Any, str]]) -> None:
    routed = Routed()
    calls = [routed.call(tool) for tool in ("wait_for_stop", "list_sessions", "set_breakpoint", "get_output")]
    calls.append(routed.call("start_debugging", program="a.py"))
    answers = iter(sent)
    messages: list[dict[str, Any]] = []
    for _ in range(9):
        for target, side in enumerate(routed.targets):
            for request in [it for it in side.taken() if "id" in it]:
                _, value, kind = next(answers, (0, {}, "tool"))
                if kind == "method":
                    routed.emit(target, {"method": "notifications/x", "params": value})
                reply = {"result": tool_result(value)} if kind in ("tool", "method") else {kind: value}
                routed.emit(target, {"id": request["id"], **reply})
        messages += routed.received()
    assert sorted(it["id"] for it in messages if "id" in it) == sorted(calls)
