"""Kills and halts while terminals are recorded: briefly here, for long in `tests.soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.terminal_kills.daemon_rounds import DaemonKills
from tests.e2e.terminal_kills.quick_daemon import quick_daemon
from tests.e2e.terminal_kills.shell_rounds import ShellKills

pytestmark = pytest.mark.timeout(300)


def test_whatever_happens_to_the_daemon_every_byte_is_recorded_once(tmp_path: Path) -> None:
    with quick_daemon(tmp_path / "h") as daemon:
        assert len(list(DaemonKills(daemon, seed=11).rounds(10))) == 10


@pytest.mark.requirement("omnish:daemon:both-ends")
def test_whoever_is_killed_the_terminal_is_restored_and_the_record_is_what_was_seen(tmp_path: Path) -> None:
    with quick_daemon(tmp_path / "h") as daemon:
        assert len(list(ShellKills(daemon, seed=12).rounds(10))) == 10
