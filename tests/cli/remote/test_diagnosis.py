"""`doctor --on` names the first thing that is missing there, and what helps."""

from __future__ import annotations

import os
import signal
import sys
import tracemalloc
from pathlib import Path

import pytest

from dragoman.cli.installation.doctor import DoctorFinding
from dragoman.cli.remote import diagnosis, probe
from dragoman.cli.remote.diagnosis import diagnose
from dragoman.cli.remote.probe import TargetFacts
from dragoman.io.net.targets import Target, find_target

FAR_SIDE = Path(__file__).parents[2] / "support" / "far_side.py"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH over there, with nothing but what every system has."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "uname", "env"):  # scripts and no links: a test that replaces one must not write to the system's
        _program(folder / name, f'exec /usr/bin/{name} "$@"')
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def findings(*command: str) -> list[DoctorFinding]:
    return list(diagnose(Target("docker:web", command or ("sh",), ("env",), "docker exec web")))


def last(found: list[DoctorFinding]) -> tuple[str, str]:
    return str(found[-1].about), str(found[-1].fix)


def bad(found: list[DoctorFinding]) -> list[tuple[str, str]]:
    return [(str(it.about), str(it.fix or "")) for it in found if it.level == "bad"]


def _program(path: Path, script: str) -> None:
    assert not path.is_symlink()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_machine_with_nothing_is_told_what_to_install(tools: Path) -> None:
    found = bad(findings())
    assert found == [
        ("there is no Python on docker:web", "Install Python 3.11 or newer there."),
        ("Dragoman is not installed on docker:web", ""),
    ]


def test_a_machine_with_python_alone_is_told_to_set_up(tools: Path) -> None:
    _program(tools / "python3", "echo 3.12.1")
    assert bad(findings()) == [
        ("Dragoman is not installed on docker:web", "Run `dragoman setup --on docker:web`."),
    ]


def test_a_python_that_is_too_old_is_named(tools: Path) -> None:
    _program(tools / "python3", "echo 3.9.2")
    assert bad(findings())[0][0] == "Python 3.9.2 is too old"


def test_a_newer_python_beside_an_old_one_and_one_that_does_not_run_is_found(tools: Path) -> None:
    _program(tools / "python3", "echo 3.9.2")
    _program(tools / "python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127")
    _program(tools / "python3.12", "echo 3.12.4")
    assert f"Python 3.12.4 at {tools}/python3.12" in [str(it.about) for it in findings()]


def test_a_home_that_cannot_be_written_is_named(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    assert bad(findings())[1][0] == "cannot write to /nonexistent"


@pytest.mark.parametrize(
    ("program", "fix"),
    [
        ("docker", "Start it with a folder that can be written: `docker run --tmpfs /root:exec …`."),
        ("podman", "Start it with a folder that can be written: `podman run --tmpfs /root:exec …`."),
        ("kubectl", "Mount an `emptyDir` volume at /root in the pod."),
        ("ssh", "Give the user there a home folder that can be written."),
    ],
)
def test_a_read_only_file_system_is_named_with_what_helps(program: str, fix: str) -> None:
    facts = TargetFacts({"home": "/root", "mounted": "ro"}, ())
    found = list(diagnosis._home(Target(f"{program}:web", (program,)), facts))
    assert bad(found) == [("cannot write to /root: the file system is read-only", fix)]


@pytest.mark.parametrize(
    ("scope", "capabilities", "program", "fix"),
    [
        ("", "0", "ssh", None),
        ("0", "0", "ssh", None),
        ("1", "000001ffffffffff", "ssh", None),
        ("1", "0000000000000000", "ssh", "Run `sudo sysctl kernel.yama.ptrace_scope=0` there"),
        ("1", "00000000a80425fb", "docker", "`docker run --cap-add=SYS_PTRACE …`"),  # the default of Docker
        ("2", "00000000800405fb", "podman", "`podman run --cap-add=SYS_PTRACE …`"),  # the default of Podman
        ("1", "00000000a80425fb", "kubectl", "`securityContext.capabilities.add`"),
        ("3", "000001ffffffffff", "docker", "Only a restart of that machine"),
        ("1", "no number", "ssh", "Run `sudo sysctl"),
    ],
)
def test_attaching_by_process_id_needs_a_right(scope: str, capabilities: str, program: str, fix: str | None) -> None:
    facts = TargetFacts({"ptrace_scope": scope, "capabilities": capabilities}, ())
    found = list(diagnosis._ptrace(Target(f"{program}:web", (program,)), facts))
    assert [it.level for it in found] == (["note"] if fix else [])
    assert all(fix in str(it.fix) for it in found if fix)


def test_versions_that_do_not_fit_are_named_with_the_side_to_update(tools: Path) -> None:
    _program(tools / "python3", "echo 3.12.1")
    _program(tools / "dragoman", "exit 0")
    found = findings(sys.executable, str(FAR_SIDE), "old")
    assert "too old" in last(found)[0]
    assert "Run `dragoman setup --on docker:web`, then" in last(found)[1]


# What they print for a program that the image lacks: runc under Docker and containerd, crun under Podman.
_RUNC = 'OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found'


@pytest.mark.parametrize(
    ("target", "message", "status", "fix"),
    [
        ("docker:web", f"{_RUNC} in $PATH: unknown", 127, "Use an image with a shell"),
        (
            "podman:web",
            (
                "Error: crun: executable file `sh` not found in $PATH: No such file or directory: OCI runtime "
                "attempted to invoke a command that was not found"
            ),
            127,
            "Use an image with a shell",
        ),
        (
            "kubectl:shop/api-0:web",
            (
                "error: Internal error occurred: error executing command in container: failed to exec in container: "
                f'failed to start exec "0a1b": {_RUNC} in $PATH: unknown'
            ),
            1,
            "`kubectl debug -it --namespace=shop api-0 --image=python:3.12 --target=web`",
        ),
    ],
)
def test_a_container_without_a_shell_is_told_apart(
    target: str, message: str, status: int, fix: str, tools: Path
) -> None:
    program = target.partition(":")[0]
    _program(tools / program, f"cat >&2 <<'END'\n{message}\nEND\nexit {status}")
    _program(tools / "cat", 'exec /usr/bin/cat "$@"')
    found = list(diagnose(find_target(target, dict)))
    assert last(found)[0] == f"{target} has no shell, so Dragoman cannot run in it."
    assert fix in last(found)[1]


def test_a_program_that_is_missing_here_is_the_first_finding(tools: Path) -> None:
    found = list(diagnose(Target("kubectl:api", ("kubectl", "exec", "api"), ("kubectl", "exec", "api"))))
    assert [str(it.about) for it in found] == ["`kubectl` is not on PATH"]


def test_what_the_far_side_prints_is_shown_without_escapes(tools: Path) -> None:
    _program(tools / "uname", "printf '\\033]0;owned\\007Linux'")
    assert "\x1b" not in "".join(str(it.about) for it in findings())


def test_a_connection_that_stays_in_the_background_does_not_make_a_host_silent(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_WITHIN_S", 3)
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
