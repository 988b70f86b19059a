"""`setup --on` with a real sshd: a machine with Python alone becomes one that debugs, and is then as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.output import ExitCode
from tests.daemons import cli_with_home, daemons_of
from tests.support.ssh_machine import SshMachine, ssh_machine

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(180)]


def _files(machine: SshMachine) -> set[Path]:
    return {path for path in machine.far.rglob("*") if "__pycache__" not in path.parts}


def test_a_bare_machine_is_set_up_debugs_and_is_left_as_it_was(tmp_path: Path) -> None:
    with ssh_machine(tmp_path, is_bare=True) as machine, cli_with_home(tmp_path / "n", machine.variables()) as here:
        (machine.project / "app.py").write_text("print(6 * 7)\n")
        (machine.far / ".local" / "share").mkdir(parents=True)
        before = _files(machine)
        on = ("--on", machine.name)

        missing = here("doctor", *on)
        assert missing.returncode == ExitCode.FAILED
        assert "Dragoman is not installed on ssh:build1" in missing.stdout
        assert "→ Run `dragoman setup --on ssh:build1`." in missing.stdout

        made = here("setup", *on, within_s=120)
        assert made.returncode == ExitCode.OK, made.stderr
        folder = machine.far / ".local/share/dragoman/remote/0.1.0"
        assert f"Dragoman 0.1.0 is set up on ssh:build1: {folder}" in made.stdout
        assert "has no package index: collecting the packages here…\n" in made.stderr
        assert "already set up" in here("setup", *on).stdout

        work = (*on, "--workspace", "shop")
        assert "needs_trust" in here("debug", "app.py", *work).stderr
        assert here("trust", str(machine.project), *on).returncode == ExitCode.OK
        ran = here("debug", "app.py", *work)
        assert ran.returncode == ExitCode.OK, ran.stderr
        assert "42" in ran.stdout
        assert "ok    daemon 0.1.0 at" in here("doctor", *on).stdout
        assert len(daemons_of(machine.home)) == 1

        undone = here("setup", "--undo", *on)
        assert undone.returncode == ExitCode.OK, undone.stderr
        assert f"Removed {folder} on ssh:build1." in undone.stdout
        assert not daemons_of(machine.home)
        assert _files(machine) == before
