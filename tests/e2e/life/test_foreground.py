"""`up --foreground`: a banner, and an end by any of the three signals that leaves nothing behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from dragoman.io.files.lock import is_held
from tests.daemons import Cli, daemons_of, eventually
from tests.e2e.life.process_watch import one_daemon, pid_in, require_success


class Foreground:
    def __init__(self, process: subprocess.Popen[str], out: Path, err: Path) -> None:
        self.process, self.out, self.err = process, out, err

    def banner(self) -> str:
        eventually(lambda: "Press Ctrl-C to stop." in self.out.read_text() or self.process.poll() is not None)
        return self.out.read_text()

    def ended(self) -> int:
        code = self.process.wait(20)
        assert "Traceback" not in self.out.read_text() + self.err.read_text()
        return code


@contextmanager
def in_foreground(cli: Cli, folder: Path, *arguments: str) -> Iterator[Foreground]:
    out, err = folder / "out", folder / "err"
    with out.open("w") as stdout, err.open("w") as stderr:
        process = cli.begin("up", "--foreground", *arguments, stdout=stdout, stderr=stderr, start_new_session=True)
    try:
        yield Foreground(process, out, err)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def require_nothing_left(cli: Cli) -> None:
    assert daemons_of(cli.home) == []
    # A process loses its name in the process table an instant before its files.
    eventually(lambda: not is_held(cli.paths.lock_file), within_s=1)
    assert sorted(path.name for path in cli.paths.runtime.iterdir()) == ["daemon.lock"]


@pytest.fixture(autouse=True)
def _hangups_count() -> Iterator[None]:
    """Also where the tests themselves run under nohup: a handler is not inherited, a refusal to hear is."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_group_ends_it_in_order_with_status_0(cli: Cli, tmp_path: Path, number: signal.Signals) -> None:
    with in_foreground(cli, tmp_path) as foreground:
        foreground.banner()
        os.killpg(foreground.process.pid, number)
        assert foreground.ended() == 0
        assert f"received {number.name}" in foreground.err.read_text()
    require_nothing_left(cli)


def test_under_nohup_a_closed_terminal_means_nothing(cli: Cli, tmp_path: Path) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with in_foreground(cli, tmp_path) as foreground:
        foreground.banner()
        os.killpg(foreground.process.pid, signal.SIGHUP)
        assert cli.status()["pid"] == foreground.process.pid
        os.killpg(foreground.process.pid, signal.SIGTERM)
        assert foreground.ended() == 0
        assert "received SIGTERM" in foreground.err.read_text()


def test_the_banner_has_the_page_and_the_lines_that_connect_clients(cli: Cli, tmp_path: Path) -> None:
    with in_foreground(cli, tmp_path, "--workspace", str(tmp_path)) as foreground:
        text = foreground.banner()
        status = cli.status()
        assert f"is running in {tmp_path}." in text
        assert f"Page:        http://{status['instance']}.localhost:{status['port']}/#code=" in text
        assert f"claude mcp add -s user dragoman -e DRAGOMAN_HOME={cli.home} -- " in text
        assert "client-config cursor --write" in text
        assert status["pid"] == foreground.process.pid, "no second process to watch over"


def test_the_banner_names_the_command_for_a_new_link_and_it_gives_one(cli: Cli, tmp_path: Path) -> None:
    with in_foreground(cli, tmp_path) as foreground:
        lines = foreground.banner().splitlines()
        at = next(at for at, line in enumerate(lines) if "For a new one, run this in another terminal:" in line)
        text = subprocess.run(
            f"{lines[at + 1].strip()} --print", shell=True, capture_output=True, text=True, check=True
        )
        first = next(line for line in lines if "/#code=" in line).rpartition(" ")[2]
        assert text.stdout.partition("=")[0] == first.partition("=")[0]
        assert text.stdout.strip() != first


def test_a_second_up_finds_the_one_in_the_foreground_and_a_take_over_ends_it(cli: Cli, tmp_path: Path) -> None:
    with in_foreground(cli, tmp_path) as foreground:
        foreground.banner()
        where = f"http://127.0.0.1:{cli.status()['port']}, pid {foreground.process.pid}."
        for again in (cli("up"), cli("up", "--foreground")):
            require_success(again)
            assert f"Already running: {where}" in again.stdout
        assert one_daemon(cli) == foreground.process.pid
        pid = pid_in(cli("up", "--take-over", "--json"))
        assert foreground.ended() == 0
        assert one_daemon(cli) == pid


def test_in_the_foreground_it_can_take_over_too(cli: Cli, tmp_path: Path) -> None:
    first = pid_in(cli("up", "--json"))
    with in_foreground(cli, tmp_path, "--take-over") as foreground:
        foreground.banner()
        assert first != one_daemon(cli) == foreground.process.pid


def test_a_second_ctrl_c_while_it_ends_does_not_tear_it_apart(cli: Cli, tmp_path: Path) -> None:
    with in_foreground(cli, tmp_path) as foreground:
        foreground.banner()
        while foreground.process.poll() is None:
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(foreground.process.pid, signal.SIGINT)
                foreground.process.wait(0.005)
        assert foreground.ended() == 0
    require_nothing_left(cli)


@pytest.mark.parametrize("moment", [0, 0.01, 0.02, 0.03, 0.15, 0.3])
def test_ctrl_c_while_it_starts_is_silent_and_leaves_a_usable_home(cli: Cli, tmp_path: Path, moment: float) -> None:
    with in_foreground(cli, tmp_path) as foreground:
        process = psutil.Process(foreground.process.pid)
        eventually(lambda: "dragoman.daemon" in process.cmdline(), every_s=0)  # it has just become the daemon
        with suppress(subprocess.TimeoutExpired):
            foreground.process.wait(moment)
        os.killpg(foreground.process.pid, signal.SIGINT)
        assert foreground.ended() in {0, 130, -signal.SIGINT}
    assert daemons_of(cli.home) == []
    if moment >= 0.15:
        require_success(cli("up"))


@pytest.mark.needs("tmux", "bash")
def test_ctrl_c_in_a_real_terminal_pane_ends_it_with_status_0(cli: Cli, tmp_path: Path) -> None:
    tmux = ["tmux", "-S", str(tmp_path / "tmux"), "-f", "/dev/null"]

    def run(*words: str) -> str:
        return subprocess.run([*tmux, *words], env=cli.variables(), capture_output=True, text=True, check=True).stdout

    def shows(words: str) -> bool:
        return words in run("capture-pane", "-p", "-J", "-t", "life")

    run("new-session", "-d", "-s", "life", "-x", "200", "-y", "50", "bash --norc --noprofile")
    try:
        run("send-keys", "-t", "life", shlex.join(cli.command("up", "--foreground")) + "; echo ended:$?", "Enter")
        eventually(lambda: shows("Press Ctrl-C to stop."))
        run("send-keys", "-t", "life", "C-c")
        eventually(lambda: shows("ended:0"))
        assert not shows("Traceback")
        require_nothing_left(cli)
    finally:
        run("kill-server")


@pytest.mark.needs("tmux", "bash")
def test_a_terminal_that_is_closed_ends_it_in_order(cli: Cli, tmp_path: Path) -> None:
    tmux = ["tmux", "-S", str(tmp_path / "tmux"), "-f", "/dev/null"]
    command = shlex.join(cli.command("up", "--foreground"))
    subprocess.run([*tmux, "new-session", "-d", "-s", "life", command], env=cli.variables(), check=True)
    try:
        eventually(lambda: cli.status()["state"] == "running")
    finally:
        subprocess.run([*tmux, "kill-server"], env=cli.variables(), check=True)
    eventually(lambda: not daemons_of(cli.home))
    require_nothing_left(cli)
    assert "received SIGHUP" in cli.paths.log_file.read_text()
