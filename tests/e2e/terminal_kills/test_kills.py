"""Kills and halts while terminals are recorded: briefly here, for long in `tests.soak`."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil
import pytest

from tests.daemons import PATIENCE, Cli, eventually
from tests.e2e.terminal_kills.daemon_rounds import DaemonKills
from tests.e2e.terminal_kills.quick_daemon import quick_daemon
from tests.e2e.terminal_kills.shell_rounds import ShellKills
from tests.e2e.terminal_kills.wrapped import wrapped

pytestmark = [pytest.mark.timeout(300), pytest.mark.needs("bash")]


def test_whatever_happens_to_the_daemon_every_byte_is_recorded_once(tmp_path: Path) -> None:
    with quick_daemon(tmp_path / "h") as daemon:
        assert len(list(DaemonKills(daemon, seed=11).rounds(10))) == 10


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
