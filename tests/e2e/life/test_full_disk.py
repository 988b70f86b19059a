"""Disk full: a start says so in a sentence, a running daemon stays up, and with room everything continues."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from dragoman.access.tokens import Tokens
from dragoman.cli.daemon import launcher
from dragoman.core.errors import DragomanError
from dragoman.daemon.instance import Instance
from dragoman.protocols.control import DaemonState
from tests.daemons import Cli, cli_with_home, daemon_here, eventually
from tests.e2e.life.process_watch import error_in, journal_rows, one_daemon, require_sentences, require_success
from tests.e2e.life.test_foreground import in_foreground
from tests.peers import on_ci
from tests.support.faulty_system import FaultySystem

DISK_BYTES = 4 << 20


@pytest.fixture
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """A home on a disk of four megabytes."""
    home = tmp_path_factory.mktemp("d")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(home)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        (pytest.fail if on_ci() else pytest.skip)("a small disk cannot be mounted here")
    try:
        with cli_with_home(home, {"DRAGOMAN_PORT": "0"}) as cli:
            yield cli
    finally:
        subprocess.run(["umount", "--lazy", str(home)], check=True)


def fill(home: Path, *, but: int = 0) -> Path:
    """Take all the room, except so many bytes."""
    ballast = home / "ballast"
    with ballast.open("wb") as file:

        def taken() -> bool:
            """A daemon may write between the look and the taking."""
            with contextlib.suppress(OSError):
                file.truncate(0)
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(home).free - but)
                return True
            return False

        eventually(taken)
    return ballast


@pytest.mark.parametrize("room", [0, 12288, 262144])
def test_a_start_without_room_is_a_sentence_and_with_room_it_starts(small: Cli, room: int) -> None:
    ballast = fill(small.home, but=room)
    result = small("up", "--json")
    if result.returncode == 0:
        assert room >= 65536
    else:
        error = error_in(result)
        assert error["code"] == "disk_full"
        assert "disk is full" in error["message"].lower()
    ballast.unlink()
    require_success(small("up"))
    assert small.status()["pid"] == one_daemon(small)


def test_a_disk_that_fills_while_it_runs_stops_the_recording_and_nothing_else(small: Cli) -> None:
    require_success(small("up"))
    before = small.token("gateway")
    ballast = fill(small.home)
    rotated = small("token", "rotate", "gateway")
    assert rotated.returncode == 1
    assert "disk is full" in rotated.stderr.lower()
    forgotten = small("forget", "--all", "--yes")
    assert forgotten.returncode == 1
    assert "disk is full" in forgotten.stderr.lower()
    for result in (rotated, forgotten):
        require_sentences(result)
    assert small.status()["state"] == "running"
    assert small.token("gateway") == before

    ballast.unlink()
    require_success(small("token", "rotate", "gateway"))
    pid = small.status()["pid"]
    require_success(small("restart"))
    assert ("daemon.ended", pid) in [(row["kind"], row["body"]["pid"]) for row in journal_rows(small)]


def test_a_full_disk_is_reported_until_there_is_room_again(small: Cli) -> None:
    require_success(small("up"))
    sentence = "The disk is full, so recording has stopped."
    for arguments in (("status",), ("terminals",), ("ask", "what failed?")):
        assert sentence not in _output_of(small, *arguments)
    ballast = fill(small.home)
    for arguments in (("status",), ("terminals",), ("ask", "what failed?")):
        assert _output_of(small, *arguments).count(sentence) == 1, arguments
    assert small.status()["write_fault"] == {"code": "disk_full", "reason": ""}
    ballast.unlink()
    eventually(lambda: small.status()["write_fault"] is None)
    for arguments in (("terminals",), ("ask", "what failed?")):
        assert sentence not in _output_of(small, *arguments)


def _output_of(cli: Cli, *arguments: str) -> str:
    result = cli(*arguments)
    require_success(result)
    return str(result.stdout + result.stderr)


def test_a_full_disk_does_not_keep_it_from_ending(small: Cli) -> None:
    require_success(small("up"))
    fill(small.home)
    require_success(small("down"))
    assert small.status()["state"] == "stopped"


def test_an_end_that_cannot_be_recorded_is_shown_in_the_terminal(small: Cli, tmp_path: Path) -> None:
    with in_foreground(small, tmp_path) as foreground:
        foreground.banner()
        fill(small.home)
        os.killpg(foreground.process.pid, signal.SIGINT)
        assert foreground.ended() == 0
        assert "the end could not be recorded" in foreground.err.read_text()


# The n-th call fails, for every n: an error a caller can act on, and the next ordinary start works.


@pytest.mark.anyio
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EMFILE])
async def test_tokens_survive_any_failing_call(cli: Cli, code: int) -> None:
    for n in count(1):
        system = FaultySystem(n, code=code)
        with contextlib.suppress(OSError):
            Tokens(cli.paths.tokens_folder, system=system)
        async with daemon_here(cli.paths):
            pass
        if not system.reached:
            break
        shutil.rmtree(cli.paths.tokens_folder)
    assert n > 4


@pytest.mark.anyio
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
async def test_the_state_file_is_whole_or_absent_whichever_call_fails(cli: Cli, code: int) -> None:
    async with daemon_here(cli.paths) as running:
        state = running.state
    for n in count(1):
        system = FaultySystem(n, code=code)
        instance = Instance(cli.paths, system=system)
        await instance.acquire()
        with contextlib.suppress(OSError):
            instance.publish(state)
        assert launcher.read_state(cli.paths) in {None, state}
        instance.release()
        assert sorted(path.name for path in cli.paths.runtime.iterdir()) == ["daemon.lock"]
        async with daemon_here(cli.paths):
            assert isinstance(launcher.read_state(cli.paths), DaemonState)
        if not system.reached:
            break
    assert n > 4


def test_a_process_that_cannot_be_started_is_a_sentence(cli: Cli) -> None:
    system = FaultySystem(1, code=errno.EAGAIN)
    with pytest.raises(DragomanError) as caught:
        launcher.start(cli.paths, launcher.DaemonStartOptions(cli.home), system=system)
    assert caught.value.code == "start_failed"
    assert os.strerror(errno.EAGAIN) in str(caught.value.message)
    require_success(cli("up"))


@pytest.mark.parametrize("limit", ["nofile=12:12", "fsize=0:0", "fsize=3000:3000"])
def test_a_start_short_of_what_the_system_gives_is_a_sentence(cli: Cli, limit: str) -> None:
    command = ["prlimit", f"--{limit}", "--", *cli.command("up", "--json")]
    result = subprocess.run(command, env=cli.variables(), capture_output=True, text=True, check=False, timeout=40)
    assert error_in(result)["code"] in {"system_refused", "start_failed", "journal_io_failed", "disk_full"}
    require_success(cli("up"))
