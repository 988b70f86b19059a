"""Calls over HTTP that a test can see into: cut short, open at the same time, failing, refused, and large."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.core.paths import find_paths
from dragoman.servers.mcp.messages import RESULT_CAP
from tests.daemons import eventually
from tests.servers.mcp.http_clients import Wire, modern_request
from tests.servers.mcp.mcp_fixture import Serving, serving_http


@pytest.fixture
def served() -> Iterator[tuple[Serving, Wire]]:
    with serving_http(find_paths()) as served:
        yield served


@pytest.fixture
def shown(served: tuple[Serving, Wire]) -> Serving:
    return served[0]


@pytest.fixture
def client(served: tuple[Serving, Wire]) -> Wire:
    client = served[1]
    assert client.initialize().status == 200
    return client


def beginning(client: Wire, era: str, id: int = 77) -> Any:
    """A call that waits for ever, with its answer still to come."""
    if era == "stateless":
        message, headers = modern_request("tools/call", "wait", arguments={})
        return Wire(client.port, client.token).open("POST", {**message, "id": id}, **headers)
    call = {"name": "wait", "arguments": {}}
    return client.open("POST", {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call})


def in_background(client: Wire, era: str) -> threading.Thread:
    def ask() -> None:
        with beginning(client, era) as response:
            response.read()

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def test_closing_the_stream_of_a_call_ends_its_wait(shown: Serving, client: Wire) -> None:
    with beginning(client, "handshake") as response:
        assert response.status == 200
        assert shown.entered.acquire(timeout=10)
        assert not shown.cancelled.is_set()
    assert shown.cancelled.wait(5)
    assert client.call("large", size=3).message["result"]["structuredContent"] == {"text": "xxx"}


def test_without_a_session_as_well(shown: Serving, client: Wire) -> None:
    message, headers = modern_request("tools/call", "wait", arguments={})
    asker = Wire(client.port, client.token)
    asker.send_and_leave(message, lambda: shown.entered.acquire(timeout=10), **headers)
    assert shown.cancelled.wait(5)
    assert asker.modern("tools/call", "large", arguments={"size": 1}).status == 200


def test_a_cancelled_notification_ends_the_call_that_it_names(shown: Serving, client: Wire) -> None:
    with beginning(client, "handshake", id=5) as response:
        assert shown.entered.acquire(timeout=10)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        assert client.ask("POST", cancelled).status == 202
        assert shown.cancelled.wait(5)
        assert b'"id":5' in response.read()


def test_goodbye_ends_the_calls_that_are_open(shown: Serving, client: Wire) -> None:
    asking = in_background(client, "handshake")
    assert shown.entered.acquire(timeout=10)
    assert client.ask("DELETE").status == 200
    assert shown.cancelled.wait(5)
    asking.join(5)
    assert not asking.is_alive()


def test_an_id_that_is_still_open_is_not_given_to_another_request(shown: Serving, client: Wire) -> None:
    with beginning(client, "handshake", id=5):
        assert shown.entered.acquire(timeout=10)
        for id in (5, "5"):  # the SDK takes both for the same
            again = client.ask("POST", {"jsonrpc": "2.0", "id": id, "method": "ping"})
            assert (again.status, again.code) == (400, "id_in_use")
        assert client.ask("POST", {"jsonrpc": "2.0", "id": 6, "method": "ping"}).message == {
            "jsonrpc": "2.0", "id": 6, "result": {}
        }  # fmt: skip


def test_independent_requests_may_have_the_same_id(shown: Serving, client: Wire) -> None:
    """Two windows of one editor in one folder count from one, each for itself."""
    message, headers = modern_request("tools/call", "wait", arguments={})
    asker = Wire(client.port, client.token)

    def answered_meanwhile() -> bool:
        answer = asker.modern("tools/call", "large", arguments={"size": 1})
        return shown.entered.acquire(timeout=10) and (answer.status, answer.message["id"]) == (200, message["id"])

    asker.send_and_leave(message, answered_meanwhile, **headers)


def test_calls_of_one_client_run_beside_each_other(shown: Serving, client: Wire) -> None:
    with beginning(client, "handshake", 7), beginning(client, "handshake", 8), beginning(client, "handshake", 9):
        eventually(lambda: shown.at_once == 3)
        assert client.call("large", size=1).status == 200
    eventually(lambda: shown.at_once == 0)


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a_fault_reveals_nothing_internal_and_a_refusal_says_what_to_do(client: Wire, era: str) -> None:
    def call(name: str) -> Any:
        reply = client.modern("tools/call", name, arguments={}) if era == "stateless" else client.call(name)
        return reply.message["result"]

    assert "secret" not in str(call("fail"))
    refused = call("refuse")
    assert refused["isError"]
    assert refused["content"][0]["text"] == "journal_closed: No daemon is running. Start one with `dragoman up`."


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_what_no_utf8_can_hold_is_answered_all_the_same(client: Wire, era: str) -> None:
    reply = client.modern("tools/call", "odd", arguments={}) if era == "stateless" else client.call("odd")
    result = reply.message["result"]
    assert result["structuredContent"] == {"text": "\\udcff\n"}
    assert result["content"][0]["text"] == "a\\ud800b\0\u2028"


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a_result_beyond_the_cap_is_refused_and_one_below_it_arrives(client: Wire, era: str) -> None:
    def call(size: int) -> Any:
        if era == "stateless":
            return client.modern("tools/call", "large", arguments={"size": size}).message
        return client.call("large", size=size).message

    assert len(call(RESULT_CAP - 1000)["result"]["structuredContent"]["text"]) == RESULT_CAP - 1000
    assert call(RESULT_CAP)["error"]["data"]["code"] == "result_too_large"


def test_a_caller_over_http_is_not_trusted_and_its_environment_is_not_used(shown: Serving, client: Wire) -> None:
    client.call("large")
    client.modern("tools/call", "large", arguments={})
    with_session, without = shown.callers
    for caller in (with_session, without):
        assert not caller.trusts_workspace
        assert "PATH" in caller.environment
        assert not [name for name in caller.environment if name.startswith("DRAGOMAN")]
        assert "environment" not in repr(caller)
    assert with_session.id != without.id


def test_the_sdk_is_not_loaded_before_a_client_comes() -> None:
    code = "import sys, dragoman.daemon.app; sys.exit('mcp' in sys.modules or 'mcp_types' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
