"""`--on` with a real sshd: another home, another daemon, and nothing of this environment there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dragoman.cli.output import ExitCode
from dragoman.io.net.targets import PIPE_SCRIPT
from tests.daemons import Cli, cli_with_home, eventually
from tests.support.ssh_machine import NAME, SshMachine, ssh_machine
from tests.support.stdio_agent import StdioAgent, stdio_agent

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(120)]

PROGRAM = """\
import os

seen = {name: os.environ.get(name, "") for name in ("SECRET", "PASSED", "LC_ALL", "FROM_LOGIN", "HOME")}
print(seen)
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path_factory.mktemp("m")) as machine:
        (machine.project / "app.py").write_text(PROGRAM)
        yield machine


@pytest.fixture(scope="module")
def here(machine: SshMachine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    variables = {**machine.variables(), "SECRET": "stays", "PASSED": "crosses", "LC_ALL": "C.UTF-8"}
    with cli_with_home(tmp_path_factory.mktemp("n"), variables) as cli:
        yield cli


@pytest.fixture(scope="module")
def running(machine: SshMachine) -> Cli:
    assert machine.there("up", cwd=machine.far).returncode == 0
    return machine.there


def _ssh_children(pid: int) -> list[psutil.Process]:
    return [it for it in psutil.Process(pid).children(recursive=True) if it.name() == "ssh"]


def test_status_asks_there_and_starts_nothing(machine: SshMachine, here: Cli) -> None:
    done = here("status", "--on", machine.name)
    assert done.returncode == ExitCode.NOT_RUNNING
    assert f"No daemon is running on ssh:{NAME}." in done.stderr
    assert "Run `dragoman up` there." in done.stderr


def test_several_machines_are_shown_and_one_that_fails_hides_no_other(
    machine: SshMachine, here: Cli, running: Cli
) -> None:
    done = here("status", "--on", machine.name, "--on", "docker:no-such-container-here", "--json")
    shown = json.loads(done.stdout)
    assert shown[machine.name]["pid"] == running.status()["pid"]
    assert shown["docker:no-such-container-here"]["error"]["code"]
    assert done.returncode == ExitCode.FAILED
    assert f"On {machine.name}:\nRunning: " in here("status", "--on", machine.name).stdout
    assert here("status").returncode == ExitCode.NOT_RUNNING  # no daemon was started here


def test_only_the_machine_itself_trusts_a_folder_and_the_environment_stays_here(
    machine: SshMachine, here: Cli, running: Cli
) -> None:
    on = ("--on", machine.name, "--workspace", str(machine.project))
    refused = here("debug", "app.py", *on)
    assert refused.returncode == ExitCode.FAILED
    assert "needs_trust" in refused.stderr
    assert f"`dragoman trust FOLDER --on {machine.name}`" in refused.stderr
    assert here("trust", ".", "--on", machine.name).returncode == ExitCode.FAILED
    assert here("trust", str(machine.project), "--on", machine.name).returncode == ExitCode.OK
    assert str(machine.project) in running("trust", "--list").stdout
    ran = here("debug", "app.py", *on, "--env", "PASSED")
    assert ran.returncode == ExitCode.OK, ran.stderr
    assert (
        f"{{'SECRET': '', 'PASSED': 'crosses', 'LC_ALL': '', 'FROM_LOGIN': 'yes', 'HOME': '{machine.far}'}}"
        in ran.stdout
    )


def test_a_folder_that_is_not_there_is_an_error_of_the_other_machine(
    machine: SshMachine, here: Cli, running: Cli
) -> None:
    done = here("debug", "app.py", "--on", machine.name, "--workspace", "/nowhere", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "no_such_folder"


def test_the_variable_chooses_the_machine_and_records_there_are_read(
    machine: SshMachine, here: Cli, running: Cli
) -> None:
    here.environment["DRAGOMAN_ON"] = machine.name
    try:
        for command in (("history",), ("terminals",)):
            done = here(*command)
            assert done.returncode == ExitCode.OK, (command, done.stderr)
        assert "daemon started" in here("journal", "tail", "-n", "1000").stdout.lower()
        assert here("down").returncode == ExitCode.USAGE
    finally:
        del here.environment["DRAGOMAN_ON"]
    assert running.status()["pid"]


@pytest.mark.parametrize(
    ("host", "code", "words"),
    [
        ("nokey", "login_refused", "no password can be typed here"),
        ("stranger", "host_key_unknown", "only a person can accept one"),
    ],
)
def test_a_question_of_ssh_is_an_error_and_no_hang(
    host: str, code: str, words: str, machine: SshMachine, here: Cli
) -> None:
    done = here("status", "--on", f"ssh:{host}", "--json", within_s=15)
    error = json.loads(done.stdout)["error"]
    assert error["code"] == code
    assert words in error["message"]


def test_doctor_names_what_is_there_and_what_is_not(machine: SshMachine, here: Cli, running: Cli) -> None:
    done = here("doctor", "--on", machine.name)
    assert done.returncode == ExitCode.OK, done.stdout
    for words in (f"{machine.name} is reached: ", "Python 3.", "command /", "daemon 0.1.0 at"):
        assert words in done.stdout


@pytest.fixture
def agent(machine: SshMachine, here: Cli, running: Cli) -> Iterator[StdioAgent]:
    with stdio_agent(here, "--on", machine.name, "--workspace", str(machine.project)) as agent:
        yield agent


def test_an_agent_goes_on_after_its_link_died_in_the_middle_of_a_call(
    agent: StdioAgent, machine: SshMachine, running: Cli
) -> None:
    assert running("trust", str(machine.project)).returncode == ExitCode.OK
    (machine.project / "endless.py").write_text("import time\nwhile True:\n    time.sleep(0.05)\n")
    started = agent.call("start_debugging", program="endless.py", wait=False)
    assert "error" not in started, started
    agent.begin("tools/call", {"name": "wait_for_stop", "arguments": {"timeout_s": 100}})
    for ssh in eventually(lambda: _ssh_children(agent.process.pid)):
        ssh.send_signal(signal.SIGKILL)
    lost = agent.answer()["error"]
    assert lost["data"]["code"] == "link_lost"
    assert lost["message"].startswith(f"The connection to {machine.name} broke: ")
    assert "The next call reconnects" in lost["message"]
    sessions = agent.call("list_sessions")["result"]["structuredContent"]["sessions"]
    assert [it["state"] for it in sessions if it["state"] != "Terminated"] == ["Running"]
    stopped = agent.call("stop_debugging", session_id=sessions[-1]["session_id"])
    assert not stopped["result"].get("isError")


def test_a_client_that_leaves_leaves_no_process_there(machine: SshMachine, here: Cli, running: Cli) -> None:
    command = here.command("mcp", "--on", machine.name)
    with subprocess.Popen(
        command,
        env=here.variables(),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        StdioAgent(process)
        pipes = _pipes_there(machine)
        assert len(pipes) == 1
        process.kill()
        process.wait(10)
        eventually(lambda: not _pipes_there(machine))
        assert process.stdin is not None
        process.stdin.close()


def _pipes_there(machine: SshMachine) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[-1:] == ["pipe"] and process.environ().get("DRAGOMAN_HOME") == str(machine.home):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_an_editor_reaches_the_debug_adapter_there(machine: SshMachine, here: Cli, running: Cli) -> None:
    request = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"dragoman"}}'
    with subprocess.Popen(
        here.command("dap", "--stdio", "--on", machine.name),
        env=here.variables(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(request), request))
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"Content-Length: ")
        for ssh in _ssh_children(process.pid):
            ssh.send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == ExitCode.FAILED
        assert f"The connection to {machine.name} broke" in errors.decode()


@pytest.mark.parametrize(
    ("program", "target", "arguments"),
    [
        ("docker", "docker:web", ["exec", "-i", "--", "web", "sh", "-c", PIPE_SCRIPT]),
        ("podman", "podman:web", ["exec", "-i", "--", "web", "sh", "-c", PIPE_SCRIPT]),
        (
            "kubectl",
            "kubectl:shop/api-0:web",
            ["exec", "-i", "--quiet", "--namespace=shop", "--container=web", "api-0", "--", "sh", "-c", PIPE_SCRIPT],
        ),
    ],
)
def test_containers_are_reached_by_their_own_command(
    program: str, target: str, arguments: list[str], machine: SshMachine, here: Cli, running: Cli, tmp_path: Path
) -> None:
    """A stand-in with the same contract: it records its arguments, and runs the command that follows the name."""
    stand_in = tmp_path / program
    stand_in.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/argv\n'
        f"export DRAGOMAN_HOME={machine.home}\nexec {here.command()[0]} -P -m dragoman.cli.main pipe\n"
    )
    stand_in.chmod(0o755)
    near = Cli(here.home, {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    done = near("status", "--on", target)
    assert done.returncode == ExitCode.OK, done.stderr
    assert f"On {target}:" in done.stdout
    assert (tmp_path / "argv").read_text().splitlines() == arguments


def test_a_target_is_declared_in_the_settings_and_never_in_a_workspace(
    machine: SshMachine, here: Cli, running: Cli, tmp_path: Path
) -> None:
    table = f'[targets.shop]\ncommand = ["ssh", "{NAME}", "bash", "-l", "-c", "\'exec dragoman pipe\'"]\n'
    (tmp_path / "settings.toml").write_text(table)
    (tmp_path / ".dragoman").mkdir()
    (tmp_path / ".dragoman" / "settings.toml").write_text(table)
    done = here("status", "--on", "shop", cwd=tmp_path)
    assert "Unknown target: shop." in done.stderr
    here.paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    here.paths.settings_file.write_text(table)
    try:
        assert here("status", "--on", "shop", cwd=tmp_path).returncode == ExitCode.OK
    finally:
        here.paths.settings_file.unlink()
