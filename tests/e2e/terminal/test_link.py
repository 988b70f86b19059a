"""The wrapper and a daemon that comes late, goes, hangs or says nothing: the shell never notices."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemons import eventually
from tests.e2e.terminal.fake_daemon import stand_in
from tests.e2e.terminal.held_terminal import WRAPPER, Held, held, short_folder
from tests.e2e.terminal.panes import person

pytestmark = pytest.mark.needs("bash")


@pytest.fixture
def address() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder / "omnish.sock"


@pytest.fixture
def bash(tmp_path: Path, address: Path) -> Iterator[Held]:
    own = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "OMNISH_SOCKET": str(address), "DRAGOMAN_LANG": "en"}
    with held(
        [*WRAPPER, "--", "bash"], {**own, "DRAGOMAN_HOME": str(tmp_path / "none"), **person(tmp_path)}
    ) as terminal:
        terminal.until(b"prompt> ")
        yield terminal


def test_a_daemon_that_comes_later_learns_what_happened_before(bash: Held, address: Path) -> None:
    bash.run("echo early", shown="early\r\n")
    with stand_in(address) as daemon:
        eventually(lambda: "echo early" in daemon.lines())
        assert b"early\r\n" in daemon.output()
        assert daemon.starts()[0]["dragoman.resumes_at"] == "0"


def test_what_a_broken_connection_left_unacknowledged_is_sent_again_in_its_place(bash: Held, address: Path) -> None:
    with stand_in(address) as first:
        bash.run("echo one", shown="one\r\n")
        eventually(lambda: "echo one" in first.lines())
        first.silent = True
        taken = len(first.output())
        bash.run("echo two", shown="two\r\n")
        eventually(lambda: "echo two" in first.lines())
        acknowledged = first.output()
    with stand_in(address) as second:
        eventually(lambda: "echo two" in second.lines())
        resumes = int(second.starts()[0]["dragoman.resumes_at"])
        assert 0 < resumes <= taken
        assert (acknowledged[:resumes] + second.output()).startswith(acknowledged)
        assert "echo one" not in second.lines()


def test_more_than_the_buffer_holds_is_a_gap_in_its_place_and_commands_are_kept(bash: Held, address: Path) -> None:
    bash.run("echo first")
    bash.run("head -c 12000000 /dev/zero | tr '\\0' x | fold -w 60; echo l''ast", shown="last\r\n")
    with stand_in(address) as daemon:
        eventually(lambda: len(daemon.lines()) == 2)
        gaps = [int(it["dragoman.gap"]) for it in daemon.starts() if "dragoman.gap" in it]
        shown = 12_000_000 + 2 * 12_000_000 // 60
        assert gaps
        assert abs(sum(gaps) + daemon.output().count(b"x\r\n") * 62 - shown) < 20_000
        assert len(daemon.output()) <= 8 * 1024 * 1024
        assert b"last\r\n" in daemon.output()
        assert daemon.lines()[0] == "echo first"


def test_a_daemon_that_takes_nothing_holds_up_neither_keys_nor_output(bash: Held, address: Path) -> None:
    with stand_in(address) as daemon:
        eventually(daemon.starts)
        daemon.silent = True
        bash.run("head -c 20000000 /dev/zero | tr '\\0' x | fold -w 60 | tail -c 3000000; echo e''nd", shown="end\r\n")
        bash.run("echo k''ey", shown="key\r\n")


def test_a_shell_ends_at_once_although_its_daemon_hangs(bash: Held, address: Path) -> None:
    with stand_in(address) as daemon:
        eventually(daemon.starts)
        daemon.silent = True
        bash.run("echo unheard")
        bash.type("exit 2\r")
        began = time.monotonic()
        assert bash.ended() == 2
        assert time.monotonic() - began < 5


def test_failures_and_watched_texts_are_events(tmp_path: Path, address: Path) -> None:
    own = {"PATH": os.environ["PATH"], "OMNISH_SOCKET": str(address), "DRAGOMAN_HOME": str(tmp_path / "none")}
    own |= {"DRAGOMAN_WATCH_OUTPUT": "segmentation fault", **person(tmp_path)}
    with stand_in(address) as daemon, held([*WRAPPER, "--", "bash"], own) as terminal:
        terminal.until(b"prompt> ")
        terminal.run("echo Segmentation Fault; sh -c 'exit 9'")
        terminal.type("exit\r")
        terminal.ended()
        eventually(daemon.ends)
        entries = [str(it.event_type) for it in daemon.messages if hasattr(it, "event_type")]
        assert "PatternMatch(pattern='segmentation fault')" in entries
        assert "NonZeroExit(exit_code=9)" in entries
