"""Each way to another machine, as far as this one allows: a second user, a container, and a recording `kubectl`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli.output import ExitCode
from tests.daemons import Cli, daemons_of
from tests.reach.machines import WAYS, Podman
from tests.support.ssh_machine import NAME, SshMachine

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(180)]

PROGRAM = "import json, os\nwith open('env.json', 'w') as file:\n    json.dump(dict(os.environ), file)\n"
# Names that steer shells, linkers, Python, git, editors and ourselves; each has a value that marks it as ours.
STEERING = (
    *("LANG", "LC_MESSAGES", "BASH_ENV", "ENV", "EDITOR"),
    *("GIT_DIR", "GIT_SSH_COMMAND", "HTTPS_PROXY", "NODE_OPTIONS", "RUBYOPT", "JAVA_TOOL_OPTIONS", "AWS_SECRET_KEY"),
    *("VIRTUAL_ENV", "DRAGOMAN_MODEL_KEY", "DISPLAY", "TERM", "SUDO_USER", "MAIL", "XDG_CONFIG_HOME", "PAGER"),
)
MARK = "of-the-near-side"


@pytest.fixture(scope="module", autouse=True)
def program(machine: SshMachine) -> None:
    (machine.project / "env.py").write_text(PROGRAM)


class Far:
    """Runs a program there that writes its environment into its folder."""

    def __init__(self, here: Cli, target: str, workspace: str, machine: SshMachine) -> None:
        self._here = here
        self._on = ("--on", target, "--workspace", workspace)
        self._file = machine.project / "env.json"

    def environment(self, *options: str) -> dict[str, str]:
        self._file.unlink(missing_ok=True)
        near = Cli(self._here.home, {**dict.fromkeys(STEERING, MARK), **self._here.environment, "LC_ALL": "C.UTF-8"})
        done = near("debug", "env.py", *self._on, *options)
        assert done.returncode == ExitCode.OK, done.stderr
        found: dict[str, str] = json.loads(self._file.read_text())
        return found


def _ours(environment: dict[str, str]) -> list[str]:
    return [name for name, value in environment.items() if MARK in value]


def test_a_program_there_runs_as_the_other_user_in_its_own_environment(machine: SshMachine, here: Cli) -> None:
    found = Far(here, machine.name, str(machine.project), machine).environment()
    assert found["HOME"] == str(machine.far)
    assert found["FROM_LOGIN"] == "yes"
    assert found["USER"] == (machine.user.name if machine.user else os.environ.get("USER", found["USER"]))
    assert _ours(found) == []


def test_only_a_named_variable_crosses(machine: SshMachine, here: Cli) -> None:
    found = Far(here, machine.name, str(machine.project), machine).environment("--env", "EDITOR")
    assert _ours(found) == ["EDITOR"]


def test_the_daemon_there_belongs_to_the_other_user(machine: SshMachine, here: Cli) -> None:
    assert here("status", "--on", machine.name).returncode == ExitCode.OK
    users = {it.username() for it in daemons_of(machine.home)}
    assert users == {machine.user.name} if machine.user else users


def test_a_target_that_sends_variables_by_ssh_itself_sends_none_of_ours(machine: SshMachine, here: Cli) -> None:
    """`SendEnv *` here and `AcceptEnv *` there: the most that an `ssh` can be asked to send."""
    settings = here.paths.settings_file
    settings.parent.mkdir(parents=True, exist_ok=True)
    command = ["ssh", NAME, "exec", "bash", "-l", "-c", "'exec dragoman pipe'"]
    settings.write_text(f"[targets.plain]\ncommand = {json.dumps(command)}\n")
    try:
        found = Far(here, "plain", str(machine.project), machine).environment()
    finally:
        settings.unlink()
    assert [*_ours(found), found.get("LC_ALL", "")] == [""]


def _there(machine: SshMachine) -> str:
    """The words before a command for a stand-in, which runs it as the other machine's user."""
    user = f"runuser -u {machine.user.name} -- " if machine.user else ""
    bin = machine.user.bin if machine.user else Path(sys.executable).parent
    return f"exec {user}env HOME={machine.far} DRAGOMAN_HOME={machine.home} PATH={bin}:/usr/bin:/bin"


# Containers.

STAND_IN = """#!/bin/sh
# The contract of `{program} exec`: 125, 126 and 127 are its own; other statuses are those of the command.
shift; [ "$1" = -i ] && shift; [ "$1" = -- ] && shift
case "$1" in
  web) shift; cd {far}; {there} "$@" ;;
  *) echo "Error: no container with name or ID \\"$1\\" found: no such container" >&2; exit 125 ;;
esac
"""


@pytest.fixture
def podman_here(container: Podman | None, machine: SshMachine, here: Cli, tmp_path: Path) -> Cli:
    """A near side whose `podman` finds the container `web`."""
    folder = container.bin if container else tmp_path
    if container is None:
        script = folder / "podman"
        script.write_text(STAND_IN.format(program="podman", there=_there(machine), far=machine.far))
        script.chmod(0o755)
    return Cli(here.home, {"PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"})


def test_a_container_is_debugged_and_its_daemon_lives_in_it(
    container: Podman | None, podman_here: Cli, machine: SshMachine
) -> None:
    folder = "/shop" if container else str(machine.project)
    assert podman_here("trust", folder, "--on", "podman:web", "--yes").returncode in {ExitCode.OK, ExitCode.NOT_RUNNING}
    first = podman_here("debug", "env.py", "--on", "podman:web", "--workspace", folder)
    if "needs_trust" in first.stderr:
        assert podman_here("trust", folder, "--on", "podman:web").returncode == ExitCode.OK
    found = Far(podman_here, "podman:web", folder, machine).environment()
    assert _ours(found) == []
    assert found["HOME"] == ("/root" if container else str(machine.far))
    assert podman_here("status", "--on", "podman:web").returncode == ExitCode.OK


def test_doctor_names_what_a_container_has(podman_here: Cli) -> None:
    done = podman_here("doctor", "--on", "podman:web")
    assert "podman:web is reached: Linux" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("target", "code"),
    [("podman:nowhere", "target_missing"), ("docker:web", "unreachable"), ("kubectl:p", "unreachable")],
)
def test_what_the_real_programs_say_without_a_container_is_understood(
    podman_here: Cli, container: Podman | None, target: str, code: str
) -> None:
    program = target.partition(":")[0]
    if subprocess.run(
        ["sh", "-c", f"command -v {program}"], capture_output=True, check=False, env=podman_here.variables()
    ).returncode:
        pytest.skip(f"{program} is not here")
    near = Cli(podman_here.home, {**podman_here.environment, "KUBECONFIG": "/dev/null"})
    done = near("status", "--on", target, "--json")
    assert json.loads(done.stdout)["error"]["code"] == code, done.stdout


def test_a_container_without_dragoman_is_named(podman_here: Cli, container: Podman | None) -> None:
    if container is None:
        pytest.skip("not run: needs containers")
    container("exec", "web", "true")
    script = container("exec", "web", "sh", "-c", "PATH=/usr/bin; command -v dragoman")
    assert script.returncode != 0
    assert container.start("bare", container.bin)
    settings = podman_here.paths.settings_file
    settings.parent.mkdir(parents=True, exist_ok=True)
    command = ["podman", "exec", "-i", "--env=PATH=/usr/bin:/bin", "bare", "dragoman", "pipe"]
    settings.write_text(f"[targets.bare]\ncommand = {json.dumps(command)}\n")
    try:
        done = podman_here("status", "--on", "bare", "--json")
    finally:
        settings.unlink()
    assert json.loads(done.stdout)["error"]["code"] == "not_installed", done.stdout


# A cluster.


def test_a_pod_is_reached_by_exactly_these_words(machine: SshMachine, here: Cli, tmp_path: Path) -> None:
    """A stand-in that records what it is called with, and runs the command that follows."""
    WAYS["kubectl"] = "a recording stand-in, as there is no cluster"
    script = tmp_path / "kubectl"
    script.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/argv; printf -- "--\\n" >> {tmp_path}/argv\n'
        f'while [ "$1" != -- ]; do shift; done; shift\n'
        f'PATH="$PATH:{Path(sys.executable).parent}"; {_there(machine)} "$@"\n'
    )
    script.chmod(0o755)
    near = Cli(here.home, {**here.environment, "PATH": f"{tmp_path}:{here.environment['PATH']}"})
    done = near("status", "--on", "kubectl:shop/api-0:web")
    recorded = (tmp_path / "argv").read_text().splitlines()
    options = ["--quiet", "--namespace=shop", "--container=web"]
    assert recorded[:9] == ["exec", "-i", *options, "api-0", "--", "sh", "-c"]
    assert done.returncode == ExitCode.OK, done.stderr
    assert "On kubectl:shop/api-0:web:" in done.stdout
