"""Kills and halts while terminals are recorded: briefly here, for long in `tests.soak`."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import psutil
import pytest

from dragoman.protocols.omnish import BASE_REVISION, ClientConnection, ReplyReceived
from dragoman.protocols.omnish import messages as m
from dragoman.terminal.model import RESUMES_AT
from tests.daemons import PATIENCE, Cli, eventually
from tests.e2e.terminal_kills.daemon_rounds import DaemonKills
from tests.e2e.terminal_kills.quick_daemon import quick_daemon
from tests.e2e.terminal_kills.reading import read_back
from tests.e2e.terminal_kills.shell_rounds import ShellKills
from tests.e2e.terminal_kills.wrapped import wrapped

pytestmark = [pytest.mark.timeout(300), pytest.mark.needs("bash")]


def test_whatever_happens_to_the_daemon_every_byte_is_recorded_once(tmp_path: Path) -> None:
    with quick_daemon(tmp_path / "h") as daemon:
        assert len(list(DaemonKills(daemon, seed=11).rounds(5))) == 5


@pytest.mark.parametrize("resumes", [True, False], ids=["it resumes", "it cannot send again"])
def test_what_may_become_a_secret_and_was_acknowledged_outlives_the_daemon(tmp_path: Path, resumes: bool) -> None:
    """Whoever cannot send again is told at once, whoever can, when it is written; neither loses what it was told of."""
    line = b"login with password=hunter2hun"
    with quick_daemon(tmp_path / "h") as daemon:
        acknowledged(daemon.paths.omnish_socket, line, {RESUMES_AT: "0"} if resumes else {})
        daemon.kill()
        daemon.start()
        daemon.end()
        assert read_back(daemon.paths, "held").output == b"login with password=<redacted 10 chars>"


def acknowledged(path: Path, data: bytes, attributes: dict[str, str]) -> None:
    """RecordedEvents as the output of a session, and waited for."""
    connection = ClientConnection(BASE_REVISION)
    waiting = set[int]()
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10 * PATIENCE)
        caller.connect(str(path))
        result = m.IoData("held", m.IoDirection.OUTPUT, 2, data)
        for message in (m.SessionStart("held", None, 1, attributes), result):
            frame_id, frame = connection.request(message)
            waiting.add(frame_id)
            caller.sendall(frame)
        while waiting:
            connection.receive_data(caller.recv(65536))
            waiting -= {event.request_id for event in connection.events() if isinstance(event, ReplyReceived)}


@pytest.mark.requirement("omnish:daemon:both-ends")
def test_whoever_is_killed_the_terminal_is_restored_and_the_record_is_what_was_seen(tmp_path: Path) -> None:
    with quick_daemon(tmp_path / "h") as daemon:
        assert len(list(ShellKills(daemon, seed=12).rounds(10))) == 10


@pytest.mark.parametrize("ignores", [False, True], ids=["a shell that hears of it", "a shell that ignores it"])
def test_a_window_that_is_closed_takes_its_wrapper_with_it(tmp_path: Path, ignores: bool) -> None:
    """Who ignores a hang-up lives on, as it would without us."""
    with wrapped(Cli(tmp_path / "h").variables()) as terminal:
        shell = terminal.shell()
        terminal.type("trap '' HUP; while :; do echo on; done" if ignores else "cat")
        terminal.read_for(0.3)
        terminal.hang_up()
        try:
            assert terminal.popen.wait(15 * PATIENCE) != 0
            eventually(lambda: ignores or not shell.is_running() or shell.status() == psutil.STATUS_ZOMBIE)
        finally:
            with contextlib.suppress(psutil.NoSuchProcess):
                shell.kill()
