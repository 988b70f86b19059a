"""What was set up in a container goes when nobody uses it, and stays while somebody does. The processes are real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dragoman.cli.remote import idle_removal, setup_script
from dragoman.cli.remote.setup_session import SetupSession
from dragoman.io.net.targets import Target
from tests.daemons import eventually

SOURCE = Path(setup_script.__file__).parents[2]
STUBS = ("__init__", "cli/__init__", "cli/remote/__init__", "cli/main", "cli/stdio/__init__", "cli/stdio/pipe")
OF_OURS = ("cli/remote/setup_script", "cli/remote/idle_removal")
# `dragoman down` as a daemon obeys it that has no open session; `busy` beside it stands for one.
DOWN = '#!/bin/sh\n[ -e "{folder}/busy" ] || kill $(cat "{folder}/pid")\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As `setup --on docker:web` leaves it, with the modules that matter here."""
    home = Path(os.path.realpath(tmp_path)) / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    wheel = tmp_path / "dragoman-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in (*STUBS, "daemon/__init__", "daemon/app"):
            archive.writestr(f"dragoman/{name}.py", "")
        for name in OF_OURS:
            archive.write(SOURCE / f"{name}.py", f"dragoman/{name}.py")
    with SetupSession(Target("docker:web", ("sh",), ("env",), "docker exec web"), sys.executable) as far:
        far.ask("begin", version="0.1.0")
        far.send_file(wheel)
        far.ask("unpack")
        far.ask("finish", version="0.1.0", digest="d", removes_itself=True)
    folder = home / ".local/share/dragoman/remote/0.1.0"
    yield folder
    for process in of_folder(folder):
        process.kill()


def of_folder(folder: Path, words: str = "") -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if line and line[0].startswith(str(folder)) and words in " ".join(line):
            found.append(process)
    return found


def watcher(folder: Path) -> psutil.Process:
    eventually(lambda: of_folder(folder, "-m dragoman.cli.remote.idle_removal"))
    [process] = of_folder(folder, "-m dragoman.cli.remote.idle_removal")
    return process


def start(folder: Path, module: str) -> subprocess.Popen[bytes]:
    """A process of that folder."""
    return subprocess.Popen([folder / "bin" / "python3", "-c", "import time; time.sleep(60)", module])


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(10)


def test_setup_leaves_one_watcher_and_each_connection_makes_sure_of_it(folder: Path) -> None:
    first = watcher(folder)
    idle_removal.ensure_watcher(folder)
    eventually(lambda: [it.pid for it in of_folder(folder)] == [first.pid])
    first.kill()
    eventually(lambda: not of_folder(folder))
    idle_removal.ensure_watcher(folder)
    assert watcher(folder).is_running()
    assert idle_removal.IDLE_S == 15 * 60


def test_a_folder_goes_when_the_last_command_of_it_has_been_gone_for_long_enough(folder: Path) -> None:
    watcher(folder).kill()
    connection = start(folder, "dragoman.cli.main")
    done = start_watcher(folder)
    time.sleep(1.0)
    assert folder.exists(), "it is in use"
    end(connection)
    eventually(lambda: done.poll() is not None)
    assert not (folder.parents[2] / "dragoman").exists(), "nor an empty folder of ours"
    assert folder.parents[2].exists()


def start_watcher(folder: Path, idle_s: str = "0.3") -> subprocess.Popen[bytes]:
    eventually(lambda: not of_folder(folder, "idle_removal"))
    command = [str(folder / "bin" / "python3"), "-P", "-m", "dragoman.cli.remote.idle_removal", idle_s, "0.05"]
    return subprocess.Popen(command)


def test_a_daemon_is_stopped_first_unless_a_session_is_open(folder: Path) -> None:
    watcher(folder).kill()
    daemon = start(folder, "dragoman.daemon")
    (folder / "bin" / "dragoman").write_text(DOWN.format(folder=folder))
    (folder / "pid").write_text(str(daemon.pid))
    (folder / "busy").touch()
    threading.Thread(target=daemon.wait, daemon=True).start()  # whoever started it takes its exit status
    done = start_watcher(folder)
    time.sleep(1.5)
    assert folder.exists()
    assert daemon.poll() is None
    (folder / "busy").unlink()
    eventually(lambda: done.poll() is not None)
    assert daemon.poll() is not None
    assert not folder.exists()


def test_a_folder_that_stays_or_was_replaced_is_not_watched(folder: Path) -> None:
    watcher(folder).kill()
    done = start_watcher(folder, "60")
    marker = folder / setup_script.MARKER
    text = marker.read_text()
    marker.rename(folder / "old")
    marker.write_text(text.replace("true", "false"))
    assert done.wait(10) == 0
    assert folder.exists()
    idle_removal.ensure_watcher(folder)
    time.sleep(0.3)
    assert not of_folder(folder)


def test_it_is_a_quarter_of_an_hour() -> None:
    assert idle_removal.IDLE_S == 15 * 60
