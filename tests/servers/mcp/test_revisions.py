"""Line by line: every revision of the protocol, and everything that is not one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.daemons import Cli
from tests.servers.mcp.raw_client import REVISIONS, RawClient, introduction, raw_client
from tests.servers.mcp.tool_names import LISTED

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1.2"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def names(answer: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


@pytest.mark.parametrize("revision", REVISIONS)
def test_each_revision_is_answered_in_its_own_words(running: Cli, revision: str) -> None:
    with raw_client(running) as client:
        welcome = client.initialize(revision)["result"]
        assert welcome["protocolVersion"] == revision
        assert welcome["serverInfo"]["name"] == "dragoman"
        assert names(client.ask("tools/list")) == LISTED
        result = client.call("dragoman_status")
        text = result["content"][0]["text"]
        # Before structured content the text is the object itself, unindented: an agent pays for every space.
        if revision < "2025-06-18":
            assert json.loads(text)["pid"] == running.status()["pid"]
            assert "\n" not in text
        else:
            assert text.startswith("Dragoman ")
        assert client.ask("ping")["result"] == {}


def test_structured_results_came_with_their_revision(running: Cli) -> None:
    shown = {}
    for revision in REVISIONS:
        with raw_client(running) as client:
            client.initialize(revision)
            shown[revision] = "structuredContent" in client.call("dragoman_status")
    assert shown == {"2024-11-05": False, "2025-03-26": False, "2025-06-18": True, "2025-11-25": True}


@pytest.mark.parametrize("revision", ["1.0", "2031-01-01", ""])
def test_an_unknown_revision_is_met_with_the_newest_that_has_a_handshake(running: Cli, revision: str) -> None:
    with raw_client(running) as client:
        assert client.initialize(revision)["result"]["protocolVersion"] == REVISIONS[-1]


def test_without_a_handshake_every_request_carries_its_envelope(running: Cli) -> None:
    with raw_client(running) as client:
        discovered = client.ask("server/discover", {"_meta": ENVELOPE})["result"]
        assert discovered["supportedVersions"] == ["2026-07-28"]
        assert names(client.ask("tools/list", {"_meta": ENVELOPE})) == LISTED
        status = client.ask("tools/call", {"name": "dragoman_status", "arguments": {}, "_meta": ENVELOPE})["result"]
        assert status["resultType"] == "complete"
        assert "error" in client.ask("initialize", introduction(REVISIONS[-1]))


def test_a_call_before_the_handshake_is_refused(running: Cli) -> None:
    with raw_client(running) as client:
        assert client.ask("tools/list")["error"]["code"] == -32602
        assert "result" in client.initialize()


def test_a_batch_is_taken_apart_and_each_of_it_answered(client: RawClient) -> None:
    ask = {"jsonrpc": "2.0", "method": "ping", "params": {}}
    client.send([{**ask, "id": "a"}, {"jsonrpc": "2.0", "method": "notifications/x"}, {**ask, "id": "b"}, 7])
    assert client.answer("a")["result"] == client.answer("b")["result"] == {}
    assert client.answer(None)["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"hello", -32700),
        (b'{"jsonrpc":"2.0","id":1,', -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"null", -32600),
        (b'"text"', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"1.0","method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","method":7}', -32600),
    ],
)
def test_what_is_not_a_message_is_refused_and_the_conversation_continues(
    client: RawClient, line: bytes, code: int
) -> None:
    client.send(line)
    refused = client.answer(None)
    assert refused["error"]["code"] == code
    assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize("id", [77, "seventy-seven"])
def test_a_broken_request_is_refused_by_its_id(client: RawClient, id: int | str) -> None:
    client.send({"jsonrpc": "2.0", "id": id, "method": ["ping"]})
    assert client.answer(id)["error"]["code"] == -32600


def test_notifications_and_stray_responses_get_no_answer(client: RawClient) -> None:
    client.send(
        {"jsonrpc": "2.0", "method": "notifications/no-such"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "no-such"}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": 5}},
        {"jsonrpc": "2.0", "id": "no-such", "result": {}},
        b"",
        b" \t\r",
    )
    assert client.ask("ping") == {"jsonrpc": "2.0", "id": client._last_id, "result": {}}


def test_an_unknown_method_and_an_unknown_tool_are_the_protocols_errors(client: RawClient) -> None:
    assert client.ask("no/such")["error"]["code"] == -32601
    error = client.ask("tools/call", {"name": "no_such", "arguments": {}})["error"]
    assert error["code"] == -32602
    assert error["data"] == {"code": "unknown_tool"}
    assert "dragoman_status" in error["message"]


def test_wrong_arguments_are_reported_to_the_model_with_what_is_right(client: RawClient) -> None:
    result = client.call("search_journal", word="x", limit="many")
    assert result["isError"] is True
    assert "structuredContent" not in result
    text = result["content"][0]["text"]
    assert text.startswith("bad_arguments: Invalid arguments for search_journal: ")
    assert all(name in text for name in ("words: ", "word: ", "limit: ", "Parameters: words, limit, session_id."))
    assert result["_meta"]["dragoman/error"]["code"] == "bad_arguments"


def test_a_client_gets_errors_in_its_own_language(running: Cli) -> None:
    chinese = Cli(running.home, {**running.environment, "DRAGOMAN_LANG": "zh"})
    with raw_client(chinese) as client:
        client.initialize()
        assert "未知的工具" in client.ask("tools/call", {"name": "no_such", "arguments": {}})["error"]["message"]
        assert "自 " in client.call("dragoman_status")["content"][0]["text"]


def test_lines_that_come_in_pieces_and_in_heaps_are_the_same_lines(client: RawClient) -> None:
    data = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": f"p{n}", "method": "ping"}).encode() + b"\r\n" for n in range(9)
    )
    for at in range(60):
        client.send_bytes(data[at : at + 1])
    client.send_bytes(data[60:])
    for n in range(9):
        assert client.answer(f"p{n}")["result"] == {}
