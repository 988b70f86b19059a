"""Time: the end comes within its deadline whoever holds on, and a clock that is set moves nothing."""

from __future__ import annotations

import socket
import time

import pytest
from anyio.to_thread import run_sync

from dragoman.core.clock import SystemClock
from tests.daemons import PATIENCE, Cli, call, daemon_here, eventually
from tests.e2e.life.drops import connects_and_drops, open_files
from tests.e2e.life.process_watch import require_success
from tests.proving import from_link, log_in

ENDS_WITHIN_S = 5.0
SEED = 20260
SPARE_FILES = 8  # threads and timers of the moment
DAY_NS = 86_400 * 10**9


def test_open_connections_do_not_keep_it_from_ending(cli: Cli) -> None:
    require_success(cli("up"))
    port = cli.status()["port"]
    with (
        socket.socket(socket.AF_UNIX) as half_a_hello,
        socket.socket(socket.AF_UNIX) as deaf,
        log_in(cli.paths).open("/link/feed") as feed,
        socket.create_connection(("127.0.0.1", port)) as half_a_head,
        socket.create_connection(("127.0.0.1", port)) as half_a_body,
    ):
        half_a_hello.connect(str(cli.paths.socket))
        half_a_hello.sendall(b'{"dragoman"')
        deaf.connect(str(cli.paths.socket))
        deaf.sendall(
            b'{"dragoman":1,"role":"control","version":"0","language":"en","about":{}}\n'
            b'{"id":1,"method":"journal_tail","params":{"lines":10,"follow":true}}\n'
        )
        assert feed.receive_json()["type"] == "snapshot"
        half_a_head.sendall(b"GET /health HTTP/1.1\r\nHost:")
        half_a_body.sendall(
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {cli.token('mcp')}\r\n"
            "Content-Length: 100\r\n\r\n{".encode()
        )
        began = time.monotonic()
        require_success(cli("down"))
        assert time.monotonic() - began < ENDS_WITHIN_S * PATIENCE
        assert feed.close_code() in {1012, 1001, 0}
    assert cli.status()["state"] == "stopped"


def test_clients_that_drop_their_connection_leave_nothing_open(cli: Cli) -> None:
    require_success(cli("up"))
    before = open_files(cli)
    assert len(list(connects_and_drops(cli, 300, seed=SEED))) == 300
    eventually(lambda: open_files(cli) <= before + SPARE_FILES, within_s=15)
    assert cli.status()["state"] == "running"
    assert "Traceback" not in cli("logs", "-n", "1000").stdout


@pytest.mark.anyio
async def test_a_clock_set_back_a_day_between_two_runs_does_not_turn_the_record_back(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_ns = SystemClock.wall_ns
    async with daemon_here(cli.paths):
        first = (await run_sync(call, cli.paths, "status"))["journal_sequence"]
    monkeypatch.setattr(SystemClock, "wall_ns", lambda self: true_ns(self) - DAY_NS)
    async with daemon_here(cli.paths):
        status = await run_sync(call, cli.paths, "status")
        assert status["journal_sequence"] > first
        rows = (await run_sync(call, cli.paths, "journal_search", {"words": "daemon", "limit": 9}))["events"]
    sequences = [row["sequence"] for row in rows]
    assert sequences == sorted(set(sequences), reverse=True)


@pytest.mark.anyio
async def test_a_clock_set_while_it_runs_moves_no_deadline_and_no_uptime(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_ns = SystemClock.wall_ns
    async with daemon_here(cli.paths):
        link = (await run_sync(call, cli.paths, "login_link"))["link"]
        for days in (-1, 1):
            monkeypatch.setattr(SystemClock, "wall_ns", lambda self, days=days: true_ns(self) + days * DAY_NS)
            assert 0 <= (await run_sync(call, cli.paths, "status"))["uptime_s"] < 60
        await run_sync(from_link(link).log_in)  # a code lives two minutes by the clock that nobody sets
