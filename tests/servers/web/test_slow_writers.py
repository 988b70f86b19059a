"""Callers that say half a request, or nothing, in any number: each has a deadline, and a real one is always served."""

from __future__ import annotations

import contextlib
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from tests.daemons import call, eventually
from tests.machine import own_s
from tests.proving import ForeignServerError
from tests.raw_http import WEBSOCKET_HEADERS, Answer, Ask, ask, read_answer
from tests.servers.target_daemon import MB, TargetDaemon, many_descriptors, settled, target_daemon

LINE = "GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with target_daemon(tmp_path_factory.mktemp("victim")) as victim:
        victim.patch("dragoman.io.net.http_server:HEAD_WITHIN_S", 0.4)
        victim.patch("dragoman.io.net.http_server:REQUEST_WITHIN_S", 1.2)
        victim.patch("dragoman.servers.web.guard:BODY_WITHIN_S", 0.4)
        yield victim


def connect(victim: TargetDaemon, result: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", victim.port), 10)
    connection.sendall(result)
    return connection


def seconds_until_closed(connection: socket.socket, trickle: bytes = b"") -> float:
    started = time.monotonic()
    connection.settimeout(0.05)
    while time.monotonic() - started < 10:
        try:
            if trickle:
                connection.send(trickle)
            if not connection.recv(65536):
                break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    return time.monotonic() - started


HALVES = {
    "nothing": "",
    "empty lines": "\r\n\r\n",
    "half a line": "GET /hea",
    "half a head": LINE,
    "half an upgrade": LINE + "Connection: Upgrade\r\nUpgrade: websocket\r\n",
}


@pytest.mark.parametrize("result", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize("trickle", [b"", b"x"], ids=["silent", "trickling"])
def test_half_a_head_is_closed_at_its_deadline(impatient: TargetDaemon, result: str, trickle: bytes) -> None:
    """A byte now and then buys no more time."""
    with connect(impatient, result.replace("{port}", str(impatient.port)).encode()) as connection:
        assert seconds_until_closed(connection, trickle) < 2
    impatient.assert_serves()


def half_a_body(victim: TargetDaemon) -> bytes:
    head = [victim.host, victim.mcp_bearer, ("Connection", "keep-alive"), ("Content-Length", "100")]
    return Ask("/mcp", "POST", head).encode()


def test_a_slow_body_is_answered_with_a_timeout(impatient: TargetDaemon) -> None:
    with connect(impatient, half_a_body(impatient) + b"half") as connection:
        answer = read_answer(connection)
        assert (answer.status, answer.json()["error"]["code"]) == (408, "body_too_slow")
        assert seconds_until_closed(connection, b"x") < 2
    impatient.assert_serves()


def test_a_body_that_nobody_wants_buys_no_time(impatient: TargetDaemon) -> None:
    head = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{impatient.port}\r\nContent-Length: 100000\r\n\r\n"
    with connect(impatient, head.encode()) as connection:
        assert read_answer(connection).status == 200
        assert seconds_until_closed(connection, b"x") < 2


def test_a_connection_between_two_requests_is_closed_when_it_waits_too_long(impatient: TargetDaemon) -> None:
    with connect(impatient, LINE.replace("{port}", str(impatient.port)).encode() + b"\r\n") as connection:
        assert read_answer(connection).status == 200
        assert 0.2 < seconds_until_closed(connection) < 2


@pytest.fixture
def starved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with many_descriptors(), target_daemon(tmp_path_factory.mktemp("victim"), descriptors=256) as victim:
        yield victim


def unix_socket(victim: TargetDaemon) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(victim.paths.socket))
    return connection


Opener = Callable[[TargetDaemon], socket.socket]
IDLERS: dict[str, Opener] = {
    "half a head": lambda victim: connect(victim, b"GET /"),
    "between requests": lambda victim: connect(victim, LINE.replace("{port}", str(victim.port)).encode() + b"\r\n"),
    "half a body": lambda victim: connect(victim, half_a_body(victim)),
    "half a hello": unix_socket,
}


@pytest.mark.parametrize("open_one", IDLERS.values(), ids=IDLERS)
def test_two_thousand_idlers_keep_nobody_out_with_256_descriptors(starved: TargetDaemon, open_one: Opener) -> None:
    before = starved.resident()
    delays: list[float] = []
    answers: list[Answer] = []
    with contextlib.ExitStack() as stack:
        for number in range(2000):
            stack.enter_context(open_one(starved))
            if number % 50 == 49:
                delays.append(own_s(lambda: answers.append(starved.health()), starved.process.pid))
                assert call(starved.paths, "status")["state"] == "running"
        assert starved.descriptors() < 256
    assert {answer.status for answer in answers} == {200}
    assert statistics.median(delays) < 0.1
    assert starved.resident() - before < 10 * MB
    starved.assert_punctual()


def test_live_feeds_leave_room_for_the_rest(starved: TargetDaemon) -> None:
    with contextlib.ExitStack() as stack:
        session = starved.session()
        feeds = [stack.enter_context(session.open("/link/feed"))]
        refused: list[int] = []
        while len(feeds) + len(refused) < 200:
            try:
                feeds.append(stack.enter_context(session.open("/link/feed")))
            except ForeignServerError as full:
                refused.append(full.args[0])
        assert (len(feeds) > 10, set(refused)) == (True, {503})
        assert starved.descriptors() < 200
        starved.assert_serves()
        last = starved.append(1)
        assert feeds[0].receive_json()["type"] == "snapshot"
        assert feeds[0].receive_json()["events"][-1]["sequence"] == last
    assert settled(starved.links, 0) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="another process's limit is set by prlimit")
def test_both_accept_loops_survive_a_full_table_of_descriptors(victim: TargetDaemon) -> None:
    """The table is made full from outside: with an idler there is one to drop, without one the callers wait."""
    before = victim.process.rlimit(psutil.RLIMIT_NOFILE)
    with connect(victim) as idler:
        eventually(lambda: victim.connections() == 1)
        victim.process.rlimit(psutil.RLIMIT_NOFILE, (victim.descriptors(), before[1]))
        assert victim.health().status == 200
        assert idler.recv(1) == b""
    with connect(victim) as first, connect(victim, b"GET") as second, unix_socket(victim) as third:
        victim.process.rlimit(psutil.RLIMIT_NOFILE, (10, before[1]))
        waiting = [connect(victim), unix_socket(victim)]
        eventually(lambda: "too many open files" in victim.paths.log_file.read_text())
        victim.process.rlimit(psutil.RLIMIT_NOFILE, before)
        for connection in (first, second, third, *waiting):
            connection.close()
    victim.assert_serves()
    assert victim.paths.log_file.read_text().count("too many open files") <= 2


def has_everything_open(victim: TargetDaemon) -> bool:
    """The last of its files is opened beside the first requests."""
    return any(it.path.endswith("output.db-shm") for it in victim.process.open_files())


@pytest.mark.parametrize("open_one", [connect, unix_socket], ids=["http", "control"])
def test_ten_thousand_connections_dropped_at_once_leave_nothing(victim: TargetDaemon, open_one: Opener) -> None:
    for _ in range(100):
        open_one(victim).close()
    victim.assert_serves()
    eventually(lambda: has_everything_open(victim))
    descriptors, before = settled(victim.descriptors, 0, within_s=0.2), victim.resident()
    for _ in range(10_000):
        open_one(victim).close()
    assert settled(victim.descriptors, descriptors) <= descriptors
    assert victim.resident() - before < 5 * MB
    victim.assert_serves()


def test_requests_dropped_in_the_middle_leave_nothing(victim: TargetDaemon) -> None:
    entries = [
        Ask("/health", headers=[victim.host]).encode(),
        Ask("/mcp", headers=[victim.host, victim.mcp_bearer]).encode(),
        Ask("/link/feed", headers=[victim.host, *WEBSOCKET_HEADERS]).encode(),
        half_a_body(victim),
    ]
    for number in range(2000):
        connect(victim, entries[number % 4]).close()
    assert settled(victim.connections, 0) == 0
    assert settled(victim.links, 0) == 0
    assert ask(victim.port, Ask("/health", headers=[victim.host])).status == 200
    assert "Traceback" not in victim.paths.log_file.read_text()
