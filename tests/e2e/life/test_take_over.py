"""`up --take-over`: one ends in order, the other starts, and nobody's sessions end unasked."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from anyio.to_thread import run_sync

from dragoman.daemon.app import RunningDaemon
from dragoman.io.files.lock import is_held
from dragoman.servers.control.status import LiveSession, LiveSessions
from tests.daemons import Cli, daemon_here, daemons_of
from tests.e2e.life.process_watch import (
    Terminal,
    Watch,
    error_in,
    journal_rows,
    one_daemon,
    pid_in,
    require_sentences,
    require_success,
)

LIFE = LiveSession("run-1", "debug", "app.py \x1b[31mstopped\x1b[0m")


@asynccontextmanager
async def busy_daemon(cli: Cli, *more: LiveSession) -> AsyncIterator[RunningDaemon]:
    """A daemon in this process with one live session, or with those."""
    live_sessions = LiveSessions()
    with contextlib.ExitStack() as stack:
        for life in more or (LIFE,):
            stack.enter_context(live_sessions.track(life))
        async with daemon_here(cli.paths, live_sessions=live_sessions) as running:
            yield running


@pytest.mark.requirement("foundation:windows:manual-start-takes-over")
def test_the_other_ends_in_order_and_there_is_no_moment_with_two(cli: Cli) -> None:
    first = pid_in(cli("up", "--json"))
    with Watch.over(cli) as watch:
        second = pid_in(cli("up", "--take-over", "--json"))
    assert watch.looks > 3  # on a busy machine a look takes long
    assert (watch.most_daemons, watch.most_holders) == (1, 1)
    assert {first, second} <= watch.pids
    assert one_daemon(cli) == second != first
    entries = [(row["kind"], row["body"]["pid"]) for row in journal_rows(cli)]
    assert entries == [("daemon.started", first), ("daemon.ended", first), ("daemon.started", second)]


def test_without_a_daemon_it_just_starts(cli: Cli) -> None:
    assert pid_in(cli("up", "--take-over", "--json")) == one_daemon(cli)


def test_the_port_of_the_one_that_ended_can_be_taken(cli: Cli) -> None:
    require_success(cli("up"))
    port = cli.status()["port"]
    pid = pid_in(cli("up", "--take-over", "--port", str(port), "--json"))
    assert (cli.status()["port"], cli.status()["pid"]) == (port, pid)


def test_a_port_that_somebody_else_has_leaves_the_old_one_running(cli: Cli) -> None:
    pid = pid_in(cli("up", "--json"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert error_in(cli("up", "--take-over", "--port", str(port), "--json"))["code"] == "port_taken"
    assert cli.status()["pid"] == pid == one_daemon(cli)


@pytest.mark.anyio
@pytest.mark.parametrize("command", [("up", "--take-over"), ("down",), ("restart",)])
async def test_live_sessions_are_listed_and_without_a_terminal_nothing_changes(
    cli: Cli, command: tuple[str, ...]
) -> None:
    async with busy_daemon(cli) as running:
        result = await run_sync(cli, *command)
        assert result.returncode == 4
        assert "debug app.py \\x1b[31mstopped\\x1b[0m (run-1)" in result.stderr
        assert "\x1b" not in result.stderr
        assert "Cancelled." in result.stderr
        require_sentences(result)
        status = await run_sync(cli.status)
        assert (status["pid"], status["sessions"][0]["id"]) == (running.state.pid, "run-1")
    assert daemons_of(cli.home) == []


LENT = LiveSession("run-2", "debug", "Mine", ends=False)


@pytest.mark.anyio
async def test_a_persons_own_session_in_an_editor_continues_and_the_answer_says_so(cli: Cli) -> None:
    async with busy_daemon(cli, LIFE, LENT):
        output = (await run_sync(cli, "down")).stderr
        would_end, goes_on = output.split("These sessions continue in their editor")
        assert "run-1" in would_end
        assert "run-2" not in would_end
        assert "debug Mine (run-2)" in goes_on


@pytest.mark.anyio
async def test_where_only_a_persons_own_continues_nobody_is_asked(cli: Cli) -> None:
    async with busy_daemon(cli, LENT):
        require_success(await run_sync(cli, "down"))
    assert daemons_of(cli.home) == []


@pytest.mark.anyio
async def test_yes_on_the_command_line_is_not_asked_again(cli: Cli) -> None:
    async with busy_daemon(cli):
        result = await run_sync(lambda: cli("up", "--take-over", "--yes", "--json"))
    assert pid_in(result) == one_daemon(cli)


def _at_a_terminal(cli: Cli, answer: str) -> tuple[int, str]:
    terminal = Terminal(cli, "up", "--take-over")
    terminal.read_until("Continue? [y/N]")
    terminal.type(answer)
    return terminal.ended(), terminal.text


@pytest.mark.anyio
@pytest.mark.parametrize("answer", ["n\n", "\n", "perhaps\n", "\x04"])
async def test_a_person_who_does_not_say_yes_keeps_everything(cli: Cli, answer: str) -> None:
    async with busy_daemon(cli) as running:
        code, text = await run_sync(_at_a_terminal, cli, answer)
        assert code == 4
        assert "debug app.py" in text
        assert "Cancelled." in text
        assert (await run_sync(cli.status))["pid"] == running.state.pid
    assert daemons_of(cli.home) == []


@pytest.mark.anyio
@pytest.mark.parametrize("answer", ["y\n", "是\n"])
async def test_a_person_who_says_yes_gets_the_new_one(cli: Cli, answer: str) -> None:
    async with busy_daemon(cli):
        code, text = await run_sync(_at_a_terminal, cli, answer)
    assert code == 0
    assert f"pid {one_daemon(cli)}." in text


@pytest.mark.anyio
async def test_ctrl_c_at_the_question_changes_nothing(cli: Cli) -> None:
    def interrupted() -> int:
        terminal = Terminal(cli, "down")
        terminal.read_until("Continue? [y/N]")
        os.killpg(terminal.process.pid, signal.SIGINT)
        return terminal.ended()

    async with busy_daemon(cli) as running:
        assert await run_sync(interrupted) == 130
        assert (await run_sync(cli.status))["pid"] == running.state.pid


@pytest.mark.anyio
async def test_an_idle_daemon_of_another_version_is_replaced(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.daemon.app.__version__", "0.0.1")
    async with daemon_here(cli.paths):
        result = await run_sync(lambda: cli("up", "--json"))
    assert pid_in(result) == one_daemon(cli)
    assert cli.status()["version"] != "0.0.1"


@pytest.mark.anyio
async def test_a_busy_daemon_of_another_version_is_kept_and_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.daemon.app.__version__", "0.0.1")

    def asked(*words: str) -> Callable[[], subprocess.CompletedProcess[str]]:
        return lambda: cli(*words)

    async with busy_daemon(cli) as running:
        up = await run_sync(asked("up"))
        require_success(up)
        assert f"pid {running.state.pid}" in up.stdout
        assert "The daemon is 0.0.1 and busy" in up.stderr
        output = (await run_sync(asked("status"))).stdout
        assert "version 0.0.1" in output
        assert "`dragoman restart` to update the daemon" in output
        assert json.loads((await run_sync(asked("up", "--json"))).stdout)["version"] == "0.0.1"
        assert is_held(cli.paths.lock_file)
    assert daemons_of(cli.home) == []
