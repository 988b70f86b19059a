"""What somebody put where our files go: refused with the reason and left alone, or healed where it is ours and dead."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from dragoman.cli.daemon import launcher
from dragoman.core.errors import DragomanError
from dragoman.daemon.app import DaemonOptions, run
from dragoman.io.processes.process_info import process_start_s
from dragoman.protocols.control import DaemonState
from tests.daemons import Cli, daemon_here, daemons_of
from tests.e2e.life.process_watch import error_in, one_daemon, pid_in, require_success

Plant = Callable[[Path, Path], None]
"""Put something at the first path; the second is a victim that must stay as it is."""

NOBODY = 65534


def a_link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def a_dangling_link(path: Path, victim: Path) -> None:
    path.symlink_to(victim.parent / "not-there")


def a_folder(path: Path, _: Path) -> None:
    path.mkdir()


def a_file(path: Path, _: Path) -> None:
    path.write_text("theirs")


def a_foreign_file(path: Path, _: Path) -> None:
    path.write_text("theirs")
    os.chown(path, NOBODY, NOBODY)


def a_foreign_folder(path: Path, _: Path) -> None:
    path.mkdir()
    os.chown(path, NOBODY, NOBODY)


def a_link_to_a_folder(path: Path, victim: Path) -> None:
    path.symlink_to(victim.parent)


def a_pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


PLACES: dict[str, Callable[[Cli], Path]] = {
    "lock": lambda cli: cli.paths.lock_file,
    "state file": lambda cli: cli.paths.state_file,
    "socket": lambda cli: cli.paths.socket,
    "tokens": lambda cli: cli.paths.token_file("page"),
    "log": lambda cli: cli.paths.log_file,
    "runtime": lambda cli: cli.paths.runtime,
    "state": lambda cli: cli.paths.state,
    "journal": lambda cli: cli.paths.journal_folder,
}
FILES = (a_link, a_dangling_link, a_folder, a_foreign_file, a_pipe)
FOLDERS = (a_link_to_a_folder, a_dangling_link, a_file, a_foreign_folder)
REFUSED = [
    *((place, plant) for place in ("lock", "state file", "tokens", "log") for plant in FILES),
    *(("socket", plant) for plant in (a_link, a_dangling_link, a_folder, a_file, a_foreign_file)),
    *((place, plant) for place in ("runtime", "state", "journal") for plant in FOLDERS),
]


def seen(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything about a tree that somebody could have changed."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_uid,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def made(path: Path) -> None:
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700)


@pytest.mark.parametrize(("place", "plant"), REFUSED, ids=lambda it: it if isinstance(it, str) else it.__name__)
def test_it_is_refused_with_the_reason_and_left_as_it_was(cli: Cli, tmp_path: Path, place: str, plant: Plant) -> None:
    if "foreign" in plant.__name__ and os.getuid() != 0:
        pytest.skip("only root can give a file away")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    victim.chmod(0o644)
    path = PLACES[place](cli)
    made(path.parent)
    plant(path, victim)
    before, planted = seen(tmp_path), (path.lstat().st_mode, path.lstat().st_ino, path.lstat().st_uid)
    with pytest.raises(DragomanError) as caught:
        anyio.run(run, DaemonOptions(workspace=tmp_path, port=0, owns_process=False), cli.paths, lambda _: None)
    assert caught.value.code == "unsafe_file"
    assert caught.value.hint is not None
    assert str(path) in str(caught.value.message)
    assert seen(tmp_path) == before
    assert (path.lstat().st_mode, path.lstat().st_ino, path.lstat().st_uid) == planted


@pytest.mark.parametrize("place", ["lock", "socket", "tokens", "state"])
def test_the_command_says_it_in_a_sentence(cli: Cli, tmp_path: Path, place: str) -> None:
    path = PLACES[place](cli)
    made(path.parent)
    a_link_to_a_folder(path, tmp_path / "x")
    error = error_in(cli("up", "--json"))
    assert (error["code"], str(path) in error["message"]) == ("unsafe_file", True)
    assert daemons_of(cli.home) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["lock", "runtime"])
def test_status_and_doctor_report_it_too(cli: Cli, tmp_path: Path, place: str) -> None:
    path = PLACES[place](cli)
    made(path.parent)
    a_link_to_a_folder(path, tmp_path / "x")
    doctor = cli("doctor", "--json")
    assert doctor.returncode == 1
    assert [row for row in json.loads(doctor.stdout) if row["level"] == "bad" and str(path) in row["about"]]
    if place == "lock":
        assert error_in(cli("status", "--json"))["code"] == "unsafe_file"


def state_of(cli: Cli, pid: int, started: float) -> bytes:
    return DaemonState(
        pid=pid, process_started=started, version="0", bind="127.0.0.1", port=1, wanted_port=1,
        socket=str(cli.paths.socket), workspace="/", started_at_ns=1,
    ).encode()  # fmt: skip


@pytest.mark.parametrize("pid", [1, 0, -1, 2**70, "own", "dead"])
def test_a_state_file_without_the_lock_is_ignored(cli: Cli, pid: int | str) -> None:
    made(cli.paths.runtime)
    named = {"own": os.getpid(), "dead": 2**22 - 1}.get(str(pid), pid)
    assert isinstance(named, int)
    started = process_start_s(os.getpid()) if pid == "own" else 5.0
    cli.paths.state_file.write_bytes(state_of(cli, named, started))
    assert cli.status()["state"] == "stopped"
    assert json.loads(cli("down", "--json").stdout)["error"]["code"] == "not_running"
    assert pid_in(cli("up", "--take-over", "--json")) == one_daemon(cli)


@pytest.mark.parametrize("content", [b"", b"garbage", b"[]", b"{}", b'{"pid": "x"}', b"\xff" * 100, b"[" * 100_000])
@pytest.mark.anyio
async def test_a_damaged_state_file_is_replaced(cli: Cli, content: bytes) -> None:
    made(cli.paths.runtime)
    cli.paths.state_file.write_bytes(content)
    assert launcher.read_state(cli.paths) is None
    async with daemon_here(cli.paths) as running:
        assert launcher.read_state(cli.paths) == running.state


def test_a_dead_socket_of_ours_is_replaced(cli: Cli) -> None:
    made(cli.paths.runtime)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(cli.paths.socket))
    assert cli.status()["state"] == "stopped"
    require_success(cli("up"))


def test_folders_of_ours_that_are_open_are_closed(cli: Cli) -> None:
    for folder in (cli.paths.runtime, cli.paths.state):
        made(folder)
        folder.chmod(0o777)
    require_success(cli("up"))
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (cli.paths.runtime, cli.paths.state)] == [0o700] * 2


def test_whatever_the_umask_every_file_is_0600_and_every_folder_0700(cli: Cli) -> None:
    cli.home = cli.home / "new"
    old = os.umask(0)
    try:
        require_success(cli("up"))
    finally:
        os.umask(old)
    require_success(cli("token", "rotate"))
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in [cli.home, *cli.home.rglob("*")]}
    assert len(modes) > 8
    assert {path: oct(mode) for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


def test_a_log_that_becomes_a_link_is_not_written_through(cli: Cli, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    require_success(cli("up"))
    cli.paths.log_file.unlink()
    cli.paths.log_file.symlink_to(victim)
    require_success(cli("down"))
    assert error_in(cli("up", "--json"))["code"] == "unsafe_file"
    assert victim.read_text() == "precious"


# The launcher hears that the daemon is ready; at that very moment the log becomes a link.
LINKED_WHEN_TOLD = """
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from dragoman.daemon import startup_report

@dataclass
class State:
    pid: int = 1

log, victim = map(Path, sys.argv[1:])
tell = startup_report._write

def tell_and_link(text, fd):
    tell(text, fd)
    log.unlink()
    log.symlink_to(victim)

startup_report._write = tell_and_link
startup_report.LauncherReporter(log).ready(SimpleNamespace(state=State(), login_code="code"))
print("alive", file=sys.stderr, flush=True)
"""


def test_a_ready_daemon_does_not_end_because_its_log_became_a_link(tmp_path: Path) -> None:
    log, kept, victim = tmp_path / "log", tmp_path / "kept", tmp_path / "victim"
    log.touch(0o600)
    os.link(log, kept)
    victim.write_text("precious")
    command = [sys.executable, "-c", LINKED_WHEN_TOLD, str(log), str(victim)]
    text = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (text.returncode, json.loads(text.stdout)["login_code"]) == (0, "code"), text.stderr
    assert (log.is_symlink(), victim.read_text(), kept.read_text()) == (True, "precious", "alive\n")
