"""The journal over the control socket: one shape for every row, and a follower that an erasure does not upset."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.io.drivers.control_client import ControlClient
from dragoman.protocols.control import ControlItem
from tests.daemons import Cli, call, cli_with_home, eventually


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    with cli_with_home(tmp_path / "home") as cli:
        assert cli("up", "--port", "0").returncode == 0
        yield cli


def test_tail_search_and_export_show_a_row_in_the_same_shape(cli: Cli) -> None:
    with ControlClient.open(cli.paths) as link:
        tailed = [it.value for it in link.stream("journal_tail", {"lines": 1}) if isinstance(it, ControlItem)]
        exported = [it.value for it in link.stream("journal_export") if isinstance(it, ControlItem)]
        found = link.call("journal_search", {"words": "daemon started", "limit": 1})["events"]
    assert tailed == exported[-1:] == found
    assert set(tailed[0]) == {"sequence", "at_ns", "kind", "session", "cause", "workspace", "text", "body"}


def test_a_follower_sits_still_after_everything_was_erased(cli: Cli) -> None:
    with ControlClient.open(cli.paths) as link:
        following = link.stream("journal_tail", {"lines": 10, "follow": True}, idle_s=10)
        assert isinstance(next(following), ControlItem)
        call(cli.paths, "journal_forget", {"all": True})
        busy = eventually(lambda: _cpu_share(cli), within_s=5)
    assert busy < 0.5


def _cpu_share(cli: Cli) -> float:
    """Of one core, over a third of a second."""
    import psutil

    daemon = psutil.Process(cli.status()["pid"])
    before, begun = sum(daemon.cpu_times()[:2]), time.monotonic()
    eventually(lambda: time.monotonic() - begun > 0.33)
    return max(1e-9, (sum(daemon.cpu_times()[:2]) - before) / (time.monotonic() - begun))
