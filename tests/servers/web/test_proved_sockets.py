"""Sockets that are opened by a proof: nothing is sent before it, and no secret travels."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest

from dragoman.access.proof import ProofSession, Transcript
from dragoman.io.net.http_server import WEBSOCKET_MESSAGE_CAP
from tests.daemons import PATIENCE, call, eventually
from tests.proving import Calls, ForeignServerError, Proof, as_editor, calls, from_link, log_in
from tests.raw_http import WebSocket
from tests.servers.target_daemon import MB, TargetDaemon, target_daemon

PATHS = ("/link/calls", "/link/feed", "/link/terminal", "/link/chat")
NONCE = "ab" * 32


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with target_daemon(tmp_path_factory.mktemp("proved")) as daemon:
        yield daemon


@pytest.fixture
def proof(victim: TargetDaemon) -> Proof:
    return log_in(victim.paths)


@pytest.fixture
def page(proof: Proof) -> Iterator[Calls]:
    with calls(proof) as opened:
        yield opened


def unproved(victim: TargetDaemon, *messages: bytes, path: str = "/link/feed") -> tuple[list[Any], int]:
    """What a daemon says to who sends just this, and how it closes."""
    with WebSocket(victim.port, path, [victim.host]) as socket:
        for message in messages:
            socket.send(message)
        collected = []
        while (received := socket.receive())[0] == 1:
            collected.append(json.loads(received[1]))
        return collected, int.from_bytes(received[1][:2])


def opening(proof: Proof, **changed: Any) -> bytes:
    return json.dumps({"key": proof.key.id, "nonce": NONCE, "dialled": proof.dialled, **changed}).encode()


def test_a_link_works_once_and_its_session_opens_every_socket_of_the_page(victim: TargetDaemon) -> None:
    link = from_link(str(call(victim.paths, "login_link")["link"]))
    session = link.log_in()
    with pytest.raises(ForeignServerError):
        link.log_in()
    for path in PATHS:
        session.open(path).socket.close()
    with pytest.raises(ForeignServerError):
        session.open("/link/editor")


def test_the_editors_key_opens_every_socket(victim: TargetDaemon) -> None:
    for path in (*PATHS, "/link/editor"):
        as_editor(victim.paths).open(path).socket.close()


def test_a_wrong_secret_opens_nothing(victim: TargetDaemon, proof: Proof) -> None:
    with pytest.raises(ForeignServerError):  # the daemon's own proof is not what this client computes
        replace(proof, key=ProofSession(proof.key.id, "x")).open("/link/feed")
    result, code = unproved(victim, opening(proof), json.dumps({"mac": "0" * 64}).encode())
    assert [set(it) for it in result] == [{"nonce", "instance", "mac"}]
    assert code == 4403


@pytest.mark.parametrize(
    "changed",
    [{"dialled": "127.0.0.1:1"}, {"dialled": "evil.example"}, {"key": "nobody"}, {"key": "mcp"}, {"nonce": "short"}],
)
def test_the_daemon_proves_nothing_to_a_client_with_a_wrong_address_or_key(
    victim: TargetDaemon, proof: Proof, changed: dict[str, str]
) -> None:
    assert unproved(victim, opening(proof, **changed)) == ([], 4403)


@pytest.mark.parametrize(
    "result", [b"", b"{}", b"hello", b"x" * 100_000, b'{"method":"GET","path":"/api/status","id":1}']
)
def test_a_client_that_does_not_begin_with_a_proof_learns_nothing(victim: TargetDaemon, result: bytes) -> None:
    for path in (*PATHS, "/link/editor"):
        assert unproved(victim, result, result, path=path) == ([], 4403)


def test_with_the_proof_switched_off_the_same_walk_comes_in(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is refused above is refused by the proof alone."""
    with target_daemon(tmp_path_factory.mktemp("unguarded")) as daemon:
        daemon.switch_off("dragoman.access.proof:_is_same", True)
        wrong = json.dumps({"mac": "0" * 64}).encode()
        answer, _ = unproved(daemon, opening(log_in(daemon.paths)), wrong, b"no request", path="/link/calls")
        assert {"proved": True} in answer


def test_messages_of_one_connection_are_worthless_on_another(victim: TargetDaemon, proof: Proof) -> None:
    with WebSocket(victim.port, "/link/feed", [victim.host]) as socket:
        socket.send(opening(proof))
        first = socket.receive_json()
        transcript = Transcript(proof.key.id, "/link/feed", NONCE, first["nonce"], first["instance"], proof.dialled)
        honest = json.dumps({"mac": transcript.mac(proof.key.secret, "client")}).encode()
        assert unproved(victim, opening(proof), honest)[1] == 4403
        assert unproved(victim, opening(proof), json.dumps({"mac": first["mac"]}).encode())[1] == 4403
        assert unproved(victim, opening(proof), honest, path="/link/calls")[1] == 4403
        socket.send(honest)
        assert socket.receive_json() == {"proved": True}


def test_a_client_without_proof_holds_no_socket_for_long(victim: TargetDaemon, proof: Proof) -> None:
    """More than may wait at once: those who can prove themselves come in meanwhile."""
    waiting = [WebSocket(victim.port, "/link/feed", [victim.host]) for _ in range(80)]
    proof.open("/link/feed").socket.close()
    assert waiting[0].close_code() == 4408
    began = time.monotonic()
    with victim.patched("dragoman.servers.web.sockets:PROVED_WITHIN_S", 0.2):
        assert unproved(victim) == ([], 4408)
    assert time.monotonic() - began < 4 * PATIENCE
    for socket in waiting:
        socket.socket.close()


def test_requests_go_over_one_socket_each_with_its_answer(page: Calls) -> None:
    numbers = [page.begin("/api/status"), page.begin("/api/nothing"), page.begin("/api/events?after=0&limit=1")]
    pieces: dict[int, Any] = {}
    while len(pieces) < len(numbers):
        piece = page.piece()
        pieces[piece["id"]] = piece
    assert [pieces[it]["status"] for it in numbers] == [200, 404, 200]
    assert json.loads(pieces[numbers[0]]["text"])["state"] == "running"


def test_what_a_request_does_wrong_is_its_own_affair(page: Calls) -> None:
    assert page.ask("/api/call", "POST", {"wrong": 1}).status == 400
    assert page.ask("/api/call", "DELETE").status == 405
    assert page.ask("/mcp", "POST", {}).status == 404
    assert page.ask("/api/events?after=x", language="zh").json()["error"]["code"] == "bad_request"
    assert page.ask("/api/status").status == 200


@pytest.mark.parametrize("result", ["hello", [], {"id": "one"}, {"id": 1, "is_admin": True}])
def test_what_is_not_a_request_ends_the_socket(page: Calls, result: Any) -> None:
    page.send(result)
    assert page.close_code() == 4400


def test_a_request_that_is_taken_back_ends_and_its_number_is_free(victim: TargetDaemon, page: Calls) -> None:
    waiting = {"tool": "wait_for_stop", "arguments": {"timeout_s": 30}}
    number = page.begin("/api/call", "POST", waiting)
    page.send({"id": number, "cancel": True})
    eventually(lambda: page.ask("/api/status").status == 200)
    victim.assert_serves()


def test_more_requests_than_may_be_open_are_refused_and_harm_nothing(victim: TargetDaemon, page: Calls) -> None:
    with victim.patched("dragoman.servers.web.app:OPEN_AT_MOST", 0):
        assert page.ask("/api/status").status == 429
    assert page.ask("/api/status").status == 200


def test_a_rotation_ends_every_socket_of_its_purpose_within_a_second(victim: TargetDaemon, proof: Proof) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(proof.open(path)) for path in PATHS]
        editor = stack.enter_context(as_editor(victim.paths).open("/link/feed"))
        assert editor.receive_json()["type"] == "snapshot"
        _rotate(victim, proof, held, editor)


def _rotate(victim: TargetDaemon, proof: Proof, held: list[WebSocket], editor: WebSocket) -> None:
    unspent = from_link(str(call(victim.paths, "login_link")["link"]))
    call(victim.paths, "token_rotate", {"purpose": "page"})
    rotated = time.monotonic()
    assert [socket.close_code() for socket in held] == [4401] * len(PATHS)
    assert time.monotonic() - rotated < PATIENCE
    for gone in (proof, unspent):
        with pytest.raises(ForeignServerError):
            gone.open("/link/feed")
    editor.send(b"still here?", opcode=9)
    assert editor.receive() == (10, b"still here?")
    call(victim.paths, "token_rotate", {"purpose": "editor"})
    assert editor.close_code() == 4401


@pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")
@pytest.mark.parametrize(("uid", "opens"), [(65534, False), (0, True)])
def test_another_user_cannot_use_a_link_from_a_command_line(victim: TargetDaemon, uid: int, opens: bool) -> None:
    link = from_link(str(call(victim.paths, "login_link")["link"]))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setuid(uid)
            link.log_in()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (0 if opens else 1)
    if not opens:  # it spent nothing either
        link.log_in()


MAX_LAG_S = 0.25
# As long as a message may be: most of it is values of one byte, or nothing but depth.
LONGEST = WEBSOCKET_MESSAGE_CAP - 100
MESSAGES = {
    "small": (b"{}", 3_000),
    "wide": (b"[" + b"0," * (LONGEST // 2) + b"0]", 4),
    "deep": (b"[" * (LONGEST // 2) + b"]" * (LONGEST // 2), 4),
}


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("path", [*PATHS, "/link/editor", "/gateway"])
def test_no_flood_on_a_socket_delays_the_daemon_or_fills_it(victim: TargetDaemon, path: str, message: str) -> None:
    text, times = MESSAGES[message]
    before = victim.resident()
    with victim.lag_at_most(MAX_LAG_S):
        with _flooded(victim, path) as socket, suppress(OSError):
            for _ in range(times):
                socket.send(text)
        victim.assert_serves()
    assert victim.resident() - before < 40 * MB


def test_a_delay_of_the_daemon_would_be_seen(victim: TargetDaemon) -> None:
    """The control of the floods: what holds the loop up is in the number that they look at."""
    with pytest.raises(AssertionError), victim.lag_at_most(MAX_LAG_S):
        call(victim.paths, "test_stall", {"seconds": MAX_LAG_S + 0.15})


def _flooded(victim: TargetDaemon, path: str) -> WebSocket:
    if path == "/gateway":
        token = victim.paths.token_file("gateway").read_text().strip()
        return WebSocket(victim.port, path, [victim.host, ("Authorization", f"Bearer {token}")])
    return (as_editor(victim.paths) if path == "/link/editor" else log_in(victim.paths)).open(path)
