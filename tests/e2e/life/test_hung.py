"""A daemon that does not answer: said within a deadline, replaced on request, and nobody else is killed for it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dragoman.cli.daemon import launcher
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.lock import is_held
from dragoman.io.processes.process_info import is_process_running, process_start_s
from dragoman.protocols.control import DaemonState
from tests.daemons import PATIENCE, Cli, code_of, daemons_of, eventually
from tests.e2e.life.process_watch import error_in, one_daemon, pid_in, require_success
from tests.e2e.life.rounds import finished
from tests.e2e.life.test_planted import made, state_of

SAID_WITHIN_S = 9.0
HISTORY_WITHIN_S = 6.5
"""Between the three seconds in which a daemon greets and the ten in which it answers."""


def test_every_command_says_not_answering_in_time_and_take_over_replaces_it(cli: Cli) -> None:
    pid = pid_in(cli("up", "--json"))
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    asked = [cli.begin(*words, "--json") for words in (("status",), ("up",), ("down",))]
    doctor = cli.begin("doctor", "--json")
    for process in asked:
        error = error_in(finished(process))
        assert error["code"] == "not_answering"
        assert "dragoman up --take-over" in error["hint"]
    bad = [row for row in json.loads(finished(doctor).stdout) if row["level"] == "bad"]
    assert [row for row in bad if "does not answer" in row["about"] and "--take-over" in row["mend"]]
    assert time.monotonic() - began < SAID_WITHIN_S * PATIENCE
    assert one_daemon(cli) == pid, "asking ends nobody"

    os.kill(pid, signal.SIGCONT)
    eventually(lambda: cli.status().get("pid") == pid)

    os.kill(pid, signal.SIGSTOP)
    second = pid_in(cli("up", "--take-over", "--json"))
    assert one_daemon(cli) == second != pid
    assert not is_process_running(pid, process_start_s(second)), "SIGCONT has nobody to wake"
    assert cli.status()["pid"] == second


def test_history_gives_up_after_the_time_for_a_greeting_and_not_after_that_for_an_answer(cli: Cli) -> None:
    """Relative to how long the same command takes here while the daemon answers."""
    pid = pid_in(cli("up", "--json"))
    answered_s, _ = timed(cli, "history", "--json")
    os.kill(pid, signal.SIGSTOP)
    silent_s, error = timed(cli, "history", "--json")
    assert error["code"] == "not_answering"
    assert silent_s - answered_s < HISTORY_WITHIN_S


def timed(cli: Cli, *words: str) -> tuple[float, dict[str, str]]:
    began = time.monotonic()
    done = finished(cli.begin(*words))
    return time.monotonic() - began, {} if done.returncode == 0 else error_in(done)


def test_restart_replaces_a_hung_one_and_keeps_its_workspace(cli: Cli, tmp_path: Path) -> None:
    pid = pid_in(cli("up", "--json", "--workspace", str(tmp_path)))
    os.kill(pid, signal.SIGSTOP)
    assert pid_in(cli("restart", "--json")) == one_daemon(cli) != pid
    assert cli.status()["workspace"] == str(tmp_path)


HOLDER = """
import sys
from pathlib import Path
from dragoman.io.files.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
assert lock.try_acquire()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def a_stranger_holds_the_lock(cli: Cli) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLDER, str(cli.paths.lock_file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stranger:
        assert stranger.stdout is not None
        stranger.stdout.readline()
        stranger.send_signal(signal.SIGSTOP)
        try:
            yield stranger
        finally:
            stranger.kill()


@contextmanager
def a_bystander() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        try:
            yield bystander
        finally:
            bystander.kill()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "STARTS_WITHIN_S", 0.5)
    monkeypatch.setattr(launcher, "ENDS_WITHIN_S", 0.5)


@pytest.mark.usefixtures("impatient")
def test_a_process_that_only_has_the_daemons_pid_is_not_killed(cli: Cli) -> None:
    """A live process, which began at another time than the state file says."""
    made(cli.paths.runtime)
    with a_stranger_holds_the_lock(cli) as stranger, a_bystander() as bystander:
        cli.paths.state_file.write_bytes(state_of(cli, bystander.pid, process_start_s(bystander.pid) - 100))
        found = launcher.check_daemon(cli.paths)
        assert code_of(found.require_answering) == "not_answering"
        assert code_of(lambda: launcher.kill_hung(cli.paths)) == "unknown_holder"
        assert (stranger.poll(), bystander.poll()) == (None, None)
    assert not is_held(cli.paths.lock_file)


@pytest.mark.usefixtures("impatient")
def test_the_last_resort_spares_a_process_that_reuses_the_pid(cli: Cli) -> None:
    made(cli.paths.runtime)
    with a_stranger_holds_the_lock(cli), a_bystander() as bystander:
        begun = process_start_s(bystander.pid)
        stale = DaemonState.decode(state_of(cli, bystander.pid, begun - 10))
        launcher.kill(cli.paths, stale)
        assert bystander.poll() is None
        launcher.kill(cli.paths, DaemonState.decode(state_of(cli, bystander.pid, begun)))
        assert bystander.wait(5) == -signal.SIGKILL


@pytest.mark.usefixtures("impatient")
def test_a_lock_without_a_state_file_ends_nobody(cli: Cli) -> None:
    made(cli.paths.runtime)
    with a_stranger_holds_the_lock(cli) as stranger:
        assert code_of(lambda: launcher.kill_hung(cli.paths)) == "unknown_holder"
        assert cli.status()["state"] == "starting_or_ending"
        assert stranger.poll() is None


def test_something_else_at_the_socket_is_named_and_not_obeyed(cli: Cli) -> None:
    """Garbage, silence and a closed connection, each a sentence."""
    made(cli.paths.runtime)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(cli.paths.socket))
        listener.listen()

        def answer(data: bytes) -> None:
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(data)
            connection.close()

        answers = {b"HTTP/1.1 200 OK\r\n": "not_dragoman", b"": "daemon_gone", b"[]\n": "not_dragoman"}
        for data, code in answers.items():
            thread = threading.Thread(target=answer, args=(data,))
            thread.start()
            assert code_of(lambda: ControlClient.open(cli.paths, within_s=5)) == code
            thread.join()


def test_a_crowd_at_the_socket_is_waited_for_and_not_taken_for_absence(cli: Cli) -> None:
    """A stopped daemon whose queue is full refuses at once; that is a daemon that does not answer, not none."""
    pid = pid_in(cli("up", "--json"))
    os.kill(pid, signal.SIGSTOP)
    crowd: list[socket.socket] = []
    try:
        while True:
            crowd.append(socket.socket(socket.AF_UNIX))
            crowd[-1].setblocking(False)
            crowd[-1].connect(str(cli.paths.socket))
    except BlockingIOError:
        assert code_of(lambda: ControlClient.open(cli.paths, within_s=0.3)) == "not_answering"
    finally:
        for one in crowd:
            one.close()
    os.kill(pid, signal.SIGCONT)
    require_success(cli("down"))
    assert daemons_of(cli.home) == []
