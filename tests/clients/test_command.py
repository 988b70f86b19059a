"""The command that a client will run must be found by it, today and after an upgrade."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.clients.machine import Machine, find_command


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def found(machine: Machine, argv0: Path | str, executable: Path | str = "/no/python") -> str:
    return find_command(machine, argv0=str(argv0), executable=str(executable)).program


def test_the_running_script_is_named_by_its_absolute_path(machine: Machine) -> None:
    script = program(machine.home / "venv/bin/dragoman")
    assert found(machine, script) == str(script)


def test_a_relative_call_becomes_absolute(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    script = program(machine.home / "venv/bin/dragoman")
    monkeypatch.chdir(script.parent.parent)
    assert found(machine, "bin/../bin/dragoman") == str(script)


def test_a_link_is_named_and_not_its_target_which_an_upgrade_moves(machine: Machine) -> None:
    target = program(machine.home / ".local/share/uv/tools/dragoman/bin/dragoman")
    link = machine.home / ".local/bin/dragoman"
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    assert found(machine, link) == str(link)


def test_run_as_a_module_the_script_beside_the_interpreter_is_named(machine: Machine) -> None:
    script = program(machine.home / "venv/bin/dragoman")
    assert found(machine, "/x/dragoman/__main__.py", script.with_name("python")) == str(script)


def test_else_the_one_on_the_path_is_named(machine: Machine) -> None:
    script = program(Path(machine.environment["PATH"]) / "dragoman")
    assert found(machine, "/x/__main__.py") == str(script)


def test_what_every_program_finds_is_named_plainly(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(Path, "is_file", lambda path: str(path) == "/usr/bin/dragoman")
    assert found(machine, "/usr/bin/dragoman") == "dragoman"


@pytest.mark.parametrize(
    "folder", [".cache/uv/archive-v0/x/bin", ".cache/uv/environments-v2/x/bin", ".local/pipx/.cache/x/bin"]
)
def test_a_path_that_will_be_cleaned_away_is_not_written_down(machine: Machine, folder: str) -> None:
    script = program(machine.home / folder / "dragoman")
    command = find_command(machine, argv0=str(script), executable=str(script.with_name("python")))
    assert command.program == "dragoman"
    assert "uv tool install dragoman" in str(command.note)
    lasting = program(Path(machine.environment["PATH"]) / "dragoman")
    assert found(machine, script) == str(lasting)


def test_a_path_that_is_not_text_is_not_written_down(machine: Machine) -> None:
    script = program(Path(os.fsdecode(os.fsencode(machine.home) + b"/\xff/bin/dragoman")))
    elsewhere = replace(machine, environment={})
    assert found(elsewhere, script) == "dragoman"


@pytest.mark.parametrize("home", ["/srv/d", "run/d"])
def test_a_moved_home_is_named_in_the_entry_because_clients_hand_on_no_variables(machine: Machine, home: str) -> None:
    """The command is run as a client would, with an environment of its own, and says which home it got."""
    script = program(machine.home / "venv/bin/dragoman")
    script.write_text('#!/bin/sh\necho "$DRAGOMAN_HOME $*"\n')
    moved = replace(machine, environment={"DRAGOMAN_HOME": home})
    command = find_command(moved, argv0=str(script), executable="/no/python")
    done = subprocess.run(command.argv, env={}, capture_output=True, text=True, check=True)
    assert done.stdout == f"{Path(home).absolute()} mcp\n"


def test_a_home_that_is_not_moved_leaves_no_trace(machine: Machine) -> None:
    script = program(machine.home / "venv/bin/dragoman")
    unmoved = replace(machine, environment={"DRAGOMAN_HOME": ""})
    assert find_command(unmoved, argv0=str(script)).argv == [str(script), "mcp"]
