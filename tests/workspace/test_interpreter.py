"""Which Python a program gets: two clients, two environments, one daemon."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.workspace.python_interpreter import find_interpreter


def python_in(folder: Path, name: str = "python") -> Path:
    """An environment's interpreter, as far as looking for it goes."""
    path = folder / "bin" / name
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_active_environment_wins_then_the_workspaces_then_the_path(tmp_path: Path) -> None:
    active, conda = python_in(tmp_path / "active"), python_in(tmp_path / "conda")
    own, on_path = python_in(tmp_path / "work" / ".venv"), python_in(tmp_path / "usr", "python3")
    environment = {
        "VIRTUAL_ENV": str(tmp_path / "active"),
        "CONDA_PREFIX": str(tmp_path / "conda"),
        "PATH": str(on_path.parent),
    }
    found = []
    for expected in (active, conda, own, on_path):
        interpreter = find_interpreter(tmp_path / "work", environment)
        found.append((interpreter.path, interpreter.found_by))
        expected.unlink()
    assert found == [(active, "VIRTUAL_ENV"), (conda, "CONDA_PREFIX"), (own, ".venv"), (on_path, "PATH")]


def test_two_clients_get_their_own(tmp_path: Path) -> None:
    one, two = python_in(tmp_path / "one"), python_in(tmp_path / "two")
    found = [find_interpreter(tmp_path, {"VIRTUAL_ENV": str(tmp_path / name)}).path for name in ("one", "two")]
    assert found == [one, two]


def test_an_environment_named_by_a_relative_path_is_the_workspaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what lies where the daemon happens to stand."""
    python_in(tmp_path / "daemon" / "env")
    own = python_in(tmp_path / "work" / "env")
    monkeypatch.chdir(tmp_path / "daemon")
    assert find_interpreter(tmp_path / "work", {"VIRTUAL_ENV": "env"}).path == own


def test_an_environment_that_is_broken_is_passed_over(tmp_path: Path) -> None:
    python_in(tmp_path / "gone").unlink()
    on_path = python_in(tmp_path / "usr", "python3")
    environment = {"VIRTUAL_ENV": str(tmp_path / "gone"), "PATH": f"::{tmp_path}/none:{on_path.parent}"}
    assert find_interpreter(tmp_path, environment).path == on_path


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="only an environment of its own can be told apart")
def test_dragomans_own_is_never_used(tmp_path: Path) -> None:
    with pytest.raises(DragomanError) as caught:
        find_interpreter(tmp_path, {"PATH": str(Path(sys.executable).parent)})
    assert caught.value.code == "no_interpreter"


def test_a_relative_folder_of_path_is_not_searched_from_the_daemons_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_in(tmp_path / "daemon", "python3")
    on_path = python_in(tmp_path / "usr", "python3")
    monkeypatch.chdir(tmp_path / "daemon")
    assert find_interpreter(tmp_path, {"PATH": f"bin:.:{on_path.parent}"}).path == on_path
