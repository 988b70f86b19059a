"""`doctor --on` names the first thing that is missing there, and what helps."""

from __future__ import annotations

import os
import signal
import sys
import tracemalloc
from pathlib import Path

import pytest

from dragoman.cli.installation.doctor import DoctorFinding
from dragoman.cli.remote import diagnosis
from dragoman.cli.remote.diagnosis import diagnose
from dragoman.io.net.targets import Target

FAR_SIDE = Path(__file__).parents[2] / "support" / "far_side.py"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH over there, with nothing but what every system has."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "uname"):  # scripts and no links: a test that replaces one must not write to the system's
        _program(folder / name, f'exec /bin/{name} "$@"')
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def findings(*command: str) -> list[DoctorFinding]:
    return list(diagnose(Target("docker:web", command or ("sh",), ("sh", "-c"), "docker exec web")))


def last(found: list[DoctorFinding]) -> tuple[str, str]:
    return str(found[-1].about), str(found[-1].fix)


def _program(path: Path, script: str) -> None:
    assert not path.is_symlink()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_machine_with_nothing_is_told_what_to_install(tools: Path) -> None:
    found = findings()
    assert [it.level for it in found] == ["ok", "ok", "bad", "bad"]
    assert "docker:web is reached: Linux" in str(found[1].about)
    assert str(found[2].about) == "there is no Python on docker:web"
    assert last(found)[0] == "`dragoman` is not on PATH there"
    assert "pipx install" in last(found)[1]


def test_a_python_that_is_too_old_is_named(tools: Path) -> None:
    _program(tools / "python3", "echo 3.9.2")
    assert next(str(it.about) for it in findings() if it.level == "bad") == "Python 3.9.2 is too old"


def test_versions_that_do_not_fit_are_named_with_the_side_to_update(tools: Path) -> None:
    _program(tools / "python3", "echo 3.12.1")
    _program(tools / "dragoman", "exit 0")
    found = findings(sys.executable, str(FAR_SIDE), "old")
    assert [it.level for it in found] == ["ok", "ok", "ok", "ok", "bad"]
    assert "too old" in last(found)[0]
    assert "Update it there" in last(found)[1]


def test_a_container_without_a_shell_is_told_apart(tools: Path) -> None:
    message = 'exec: "sh": executable file not found in $PATH: unknown'
    _program(tools / "docker", f"echo '{message}' >&2; exit 126")
    found = list(diagnose(Target("docker:web", ("docker",), ("docker", "exec", "web", "sh", "-c"))))
    assert last(found)[0] == "docker:web has no shell, so Dragoman cannot run in it"


def test_a_program_that_is_missing_here_is_the_first_finding(tools: Path) -> None:
    found = list(diagnose(Target("kubectl:api", ("kubectl", "exec", "api"), ("kubectl", "exec", "api", "sh", "-c"))))
    assert [str(it.about) for it in found] == ["`kubectl` is not on PATH"]


def test_what_the_far_side_prints_is_shown_without_escapes(tools: Path) -> None:
    _program(tools / "uname", "printf '\\033]0;owned\\007Linux'")
    assert "\x1b" not in "".join(str(it.about) for it in findings())


def test_a_connection_that_stays_in_the_background_does_not_make_a_host_silent(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "_WITHIN_S", 3)
    master = tmp_path / "master"
    _program(tools / "sh", f'/bin/sleep 30 >/dev/null &\necho $! >{master}\nexec /bin/sh "$@"')
    try:
        found = findings()
    finally:
        os.kill(int(master.read_text()), signal.SIGKILL)
    assert "docker:web is reached: Linux" in str(found[1].about)


def test_of_endless_output_only_the_beginning_is_kept(tools: Path) -> None:
    _program(tools / "sh", '/bin/sh "$@"; exec /usr/bin/head -c 30000000 /dev/zero')
    tracemalloc.start()
    found = findings()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "docker:web is reached: Linux" in str(found[1].about)
    assert most < 8 << 20
