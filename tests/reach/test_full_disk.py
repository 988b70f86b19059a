"""The disk there is full: what can be done is done, the rest is an error in words, and nothing is half there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from dragoman.cli.output import ExitCode
from tests.daemons import Cli, cli_with_home
from tests.support.ssh_machine import SshMachine, ssh_machine

pytestmark = [
    pytest.mark.needs("sshd"),
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can mount a small disk"),
]
DISK = "4m"


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "none", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"\0" * 4096)
        except OSError:
            return


def near(machine: SshMachine, folder: Path) -> AbstractContextManager[Cli]:
    return cli_with_home(folder, machine.variables())


def test_a_session_there_is_debugged_and_what_is_not_kept_is_said(place: Path, tmp_path: Path) -> None:
    with small_disk(place / "d" / "h"), ssh_machine(place / "d") as machine, near(machine, tmp_path / "n") as here:
        (machine.project / "app.py").write_text("total = 1\nprint(total)\n")
        assert machine.there("up", cwd=machine.far).returncode == ExitCode.OK
        assert here("trust", str(machine.project), "--on", machine.name).returncode == ExitCode.OK
        fill(machine.home)
        on = ("--on", machine.name, "--workspace", str(machine.project))
        ran = here("debug", "app.py", *on)
        refused = here("trust", str(machine.far), "--yes", "--on", machine.name)
        shown = here("status", "--on", machine.name)
        for done in (ran, refused, shown):
            assert "Traceback" not in done.stdout + done.stderr
        assert (ran.returncode, ran.stdout.count("\n  | 1\n")) == (ExitCode.OK, 1) or "disk" in ran.stderr, ran
        assert refused.returncode == ExitCode.FAILED, refused
        assert "disk" in refused.stderr.lower() or "space" in refused.stderr.lower(), refused
        assert shown.returncode in {ExitCode.OK, ExitCode.FAILED}
        (machine.home / "filler").unlink()
        assert here("trust", str(machine.far), "--yes", "--on", machine.name).returncode == ExitCode.OK


def test_setup_leaves_nothing_behind_that_does_not_fit(place: Path, tmp_path: Path) -> None:
    with ssh_machine(place / "s", is_bare=True) as machine, near(machine, tmp_path / "n") as here:
        with small_disk(machine.far / ".local"):
            done = here("setup", "--on", machine.name, within_s=200)
            assert done.returncode == ExitCode.FAILED, done
            assert "Traceback" not in done.stderr
            assert "space" in done.stderr.lower() or "disk" in done.stderr.lower(), done
            left = sum(it.stat().st_size for it in (machine.far / ".local").rglob("*") if it.is_file())
            assert left < 100_000, list((machine.far / ".local").rglob("*"))
        shutil.rmtree(machine.far / ".local", ignore_errors=True)
