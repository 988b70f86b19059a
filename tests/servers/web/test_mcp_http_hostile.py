"""`/mcp` under attack: bodies that no client sends, readers that stop, tokens that change, clients that never leave."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from dragoman.servers.web.guard import BODY_CAP
from tests.daemons import PATIENCE, call, eventually
from tests.machine import machine_lag
from tests.raw_http import Ask, ask
from tests.servers.mcp.http_clients import HANDSHAKE, Wire, modern_request
from tests.servers.mcp.raw_client import introduction
from tests.servers.target_daemon import MB, TargetDaemon, target_daemon
from tests.sizes import sized

LIST = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with target_daemon(tmp_path_factory.mktemp("victim")) as daemon:
        Wire(daemon.port, token(daemon)).initialize()  # the SDK is loaded
        yield daemon


def token(victim: TargetDaemon) -> str:
    return victim.paths.token_file("mcp").read_text().strip()


@pytest.fixture
def client(victim: TargetDaemon) -> Wire:
    client = Wire(victim.port, token(victim))
    assert client.initialize().status == 200
    return client


def links(victim: TargetDaemon) -> int:
    return int(call(victim.paths, "status")["links"]["mcp"])


BODIES: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 400),
    "not JSON": (b"{", 400),
    "not UTF-8": (b'{"method":"\xff"}', 400),
    "a lone surrogate": (rb'{"jsonrpc":"2.0","id":"\ud800","method":"ping"}', 400),
    "nested 100,000 deep": (b'{"params":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
    "nested behind the envelope": (b'{"jsonrpc":"2.0","id":1,"x":' + b"[" * 9999 + b"]" * 9999 + b"}", 400),
    "a number": (b"1", 400),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400),
    "an id that is an object": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', 400),
    "params that are a list": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 400),
    "a number of a million digits": (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":' + b"9" * 1_000_000 + b"}", 400),
    "100,000 keys": (b"{" + b",".join(b'"%d":1' % n for n in range(90_000)) + b"}", 400),
    "a byte too many": (b'{"x":"' + b"x" * (BODY_CAP - 7) + b'"}', 413),
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a_body_that_is_not_a_message_is_refused_and_costs_little(
    victim: TargetDaemon, client: Wire, body: str, era: str
) -> None:
    data, status = BODIES[body]
    headers = {"MCP_Protocol_Version": "2026-07-28"} if era == "stateless" else {}
    before = victim.resident()
    assert client.ask("POST", data, **headers).status == status
    assert victim.resident() - before < 2 * BODY_CAP + 30 * MB
    assert client.call("dragoman_status").status == 200


def test_of_a_repeated_key_the_last_counts_for_the_guard_and_for_the_server(client: Wire) -> None:
    """Two readers that chose differently could be played off against each other."""
    anonymous = Wire(client.port, client.token)
    twice = b'{"jsonrpc":"2.0","id":1,"method":"initialize","method":"tools/list","params":{}}'
    refused = anonymous.ask("POST", twice)
    assert (refused.status, refused.code) == (400, "session_needed")
    listed = client.ask("POST", b'{"jsonrpc":"2.0","id":1,"method":"nonsense","method":"tools/list"}')
    assert listed.message["result"]["tools"]


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return zlib.compress(b" " * (sized(brief=100, soak=200) * MB), 9)


@pytest.mark.parametrize("coding", ["deflate", "gzip", "br"])
def test_a_compressed_body_is_not_opened(victim: TargetDaemon, client: Wire, bomb: bytes, coding: str) -> None:
    before = victim.resident()
    reply = client.ask("POST", bomb, Content_Encoding=coding)
    assert (reply.status, reply.code) == (415, "encoded_body")
    assert victim.resident() - before < 4 * MB


@pytest.mark.parametrize("id", [2**63, -1, 0, "", "x" * 1000, "1\n\n"])
def test_an_answer_has_the_id_of_its_request_whatever_it_is(client: Wire, id: int | str) -> None:
    assert client.ask("POST", {"jsonrpc": "2.0", "id": id, "method": "ping"}).message["id"] == id


def test_a_call_to_nobody_and_a_fault_in_a_tool_are_errors_of_the_protocol(client: Wire) -> None:
    assert client.call("no_such_tool").message["error"]["data"]["code"] == "unknown_tool"
    assert client.post("no/such/method").message["error"]["code"] == -32601


FOREIGN = {"Host": ("evil.example", 421), "Origin": ("http://localhost:3000", 403)}


def test_behind_our_own_guard_is_the_sdks_with_the_exact_names(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Ours is switched off: what the SDK is told by itself would let `http://localhost:3000` in."""
    with target_daemon(tmp_path_factory.mktemp("unguarded")) as daemon:
        daemon.switch_off("dragoman.servers.web.guard:judge", None)
        client = Wire(daemon.port, "none at all")
        assert client.initialize().status == 200
        message, headers = modern_request("tools/list")
        plain = {name.replace("_", "-"): text for name, text in headers.items()}
        for header, (value, status) in FOREIGN.items():
            assert foreign(client, LIST, {header: value, "Mcp-Session-Id": client.session}) == status
            assert foreign(client, message, {header: value, **plain}) == status
        assert foreign(client, LIST, {"Host": "127.0.0.1:1", "Mcp-Session-Id": client.session}) == 421


def foreign(client: Wire, message: object, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=10)
    try:
        connection.putrequest("POST", "/mcp", skip_host="Host" in headers)
        body = json.dumps(message).encode()
        common = {
            "Authorization": f"Bearer {client.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        for name, value in {**common, "Content-Length": str(len(body)), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_new_token_ends_every_session_and_stream_within_a_second(victim: TargetDaemon, client: Wire) -> None:
    client.modern("tools/list")
    assert links(victim) >= 2
    with client.open("GET") as stream:
        assert stream.status == 200
        call(victim.paths, "token_rotate", {"purpose": "mcp"})
        began = time.monotonic()
        assert not [line for line in stream.read().splitlines() if line.startswith(b"data")]
        assert links(victim) == 0
        assert time.monotonic() - began < 1.0 * PATIENCE
    assert client.call("dragoman_status").status == 401
    client.token = token(victim)
    assert client.call("dragoman_status").status == 404


def test_a_revoked_client_token_ends_that_client_within_a_second_and_no_other(
    victim: TargetDaemon, client: Wire
) -> None:
    made = [call(victim.paths, "token_create", {"purpose": "mcp", "name": name})["token"] for name in ("one", "two")]
    one, two = (Wire(victim.port, it) for it in made)
    for wire in (one, two):
        assert wire.initialize().status == 200
    rows = {it["name"]: it for it in call(victim.paths, "token_list")["tokens"] if it["purpose"] == "mcp"}
    assert {name: row["open"] for name, row in rows.items()} == {"default": links(victim) - 2, "one": 1, "two": 1}
    assert all(row["last_used_at"] >= row["created_at"] for name, row in rows.items() if name != "default")
    stolen = Wire(victim.port, made[1], session=one.session)
    assert stolen.call("dragoman_status").status == 404  # a session belongs to who opened it
    with one.open("GET") as stream:
        assert stream.status == 200
        began = time.monotonic()
        assert call(victim.paths, "token_revoke", {"name": "one"})["revoked"] == [{"purpose": "mcp", "name": "one"}]
        assert not [line for line in stream.read().splitlines() if line.startswith(b"data")]
        assert time.monotonic() - began < 1.0 * PATIENCE
    assert one.call("dragoman_status").status == 401
    assert [it.call("dragoman_status").status for it in (two, client)] == [200, 200]
    call(victim.paths, "token_revoke", {"name": "two"})


def test_a_client_token_opens_nothing_else(victim: TargetDaemon) -> None:
    made = call(victim.paths, "token_create", {"purpose": "mcp", "name": "narrow"})["token"]
    asked = [Ask(path, headers=[victim.host, ("Authorization", f"Bearer {made}")]) for path in ("/api/status", "/mcp")]
    assert [ask(victim.port, it).status for it in asked] == [404, 400]
    call(victim.paths, "token_revoke", {"name": "narrow"})


def test_a_page_token_that_changes_leaves_the_agents_alone(victim: TargetDaemon, client: Wire) -> None:
    call(victim.paths, "token_rotate", {"purpose": "page"})
    assert client.call("dragoman_status").status == 200


@pytest.fixture
def left_by_all(victim: TargetDaemon) -> TargetDaemon:
    """A new token: those who were there are gone."""
    call(victim.paths, "token_rotate", {"purpose": "mcp"})
    assert links(victim) == 0
    return victim


def test_a_session_that_nobody_uses_is_ended_and_a_used_one_is_not(left_by_all: TargetDaemon) -> None:
    silent, listening = (Wire(left_by_all.port, token(left_by_all)) for _ in range(2))
    with left_by_all.patched("dragoman.servers.mcp.http_sessions:IDLE_S", 0.5):
        silent.initialize()
        listening.initialize()
        with listening.open("GET") as stream:
            assert stream.status == 200
            eventually(lambda: silent.call("dragoman_status").status == 404, every_s=0.8)
            assert listening.call("dragoman_status").status == 200


def test_who_is_one_too_many_takes_the_place_of_the_one_that_was_silent_longest(left_by_all: TargetDaemon) -> None:
    listening, silent, late = (Wire(left_by_all.port, token(left_by_all)) for _ in range(3))
    with left_by_all.patched("dragoman.servers.mcp.http_sessions:SESSIONS_AT_MOST", 3):
        listening.initialize()
        with listening.open("GET") as stream:
            assert stream.status == 200
            silent.initialize()
            silent.call("dragoman_status")
            for _ in range(5):
                late.session = ""
                assert late.initialize().status == 200
            assert links(left_by_all) == 3
            assert listening.call("dragoman_status").status == 200
            assert silent.call("dragoman_status").status == 404
            assert late.call("dragoman_status").status == 200


def test_when_all_are_busy_the_next_is_asked_to_come_later(left_by_all: TargetDaemon) -> None:
    with ExitStack() as stack:
        busy = [Wire(left_by_all.port, token(left_by_all)) for _ in range(2)]
        for client in busy:
            client.initialize()
            assert stack.enter_context(client.open("GET")).status == 200
        with left_by_all.patched("dragoman.servers.mcp.http_sessions:SESSIONS_AT_MOST", 2):
            late = Wire(left_by_all.port, token(left_by_all)).initialize()
            assert (late.status, late.code) == (503, "too_many_calls")
            with left_by_all.patched("dragoman.servers.mcp.http_sessions:CALLS_AT_MOST", 1):
                assert (busy[0].call("dragoman_status").status, links(left_by_all)) == (503, 2)


def test_a_caller_that_does_not_read_is_disconnected_and_holds_little(victim: TargetDaemon, client: Wire) -> None:
    victim.append(100, size=50_000)
    assert client.call("search_journal", words="test.told told", limit=1).status == 200
    before = victim.resident()
    with (
        victim.patched("dragoman.io.net.http_server:TAKEN_WITHIN_S", 0.5),
        victim.patched("dragoman.io.net.http_server:CLOSED_WITHIN_S", 0.5),
        ExitStack() as stack,
    ):
        for number in range(10):
            stack.enter_context(deaf(client, number))
        eventually(lambda: victim.connections() >= 10)
        eventually(lambda: victim.connections() == 0)
    assert victim.resident() - before < 60 * MB
    assert client.call("dragoman_status").status == 200
    victim.assert_serves()


def deaf(client: Wire, number: int) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", client.port))
    params = {"name": "search_journal", "arguments": {"words": "test", "limit": 100}}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST /mcp? HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nAuthorization: Bearer {client.token}\r\n"
        f"Mcp-Session-Id: {client.session}\r\nAccept: application/json, text/event-stream\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def test_twenty_clients_open_and_leave_at_once_and_nothing_is_left(victim: TargetDaemon) -> None:
    before = links(victim)

    def connect_once() -> None:
        for _ in range(5):
            client = Wire(victim.port, token(victim))
            client.initialize()
            assert client.call("dragoman_status").status == 200
            assert client.ask("DELETE").status == 200

    threads = [threading.Thread(target=connect_once) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eventually(lambda: links(victim) == before)
    assert victim.health().json()["worst_lag_ms"] < 500 + 2 * machine_lag().worst_ms()


def test_a_handshake_that_fails_leaves_no_session(victim: TargetDaemon) -> None:
    before = links(victim)
    reply = Wire(victim.port, token(victim)).post("initialize", {"protocolVersion": HANDSHAKE})
    assert "error" in reply.message
    eventually(lambda: links(victim) == before)
    assert introduction(HANDSHAKE)["clientInfo"]["name"] == "raw"
