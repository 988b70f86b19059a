"""`dragoman mcp --on A --on B`: one agent, a program on another machine and one on this."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.daemons import Cli, cli_with_home, eventually
from tests.support.ssh_machine import SshMachine, ssh_machine
from tests.support.stdio_agent import StdioAgent, stdio_agent

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(120)]

# It stops when the test says so.
PROGRAM = """\
import os, time

while not os.path.exists("go"):
    time.sleep(0.01)
print("went")
time.sleep(60)
"""
LINE = 5


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path_factory.mktemp("m")) as machine:
        for name in ("far.py", "both.py"):
            (machine.project / name).write_text(PROGRAM)
        assert machine.there("up", cwd=machine.far).returncode == 0
        assert machine.there("trust", str(machine.project)).returncode == 0
        yield machine


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project on this machine."""
    folder = tmp_path_factory.mktemp("shop")
    for name in ("near.py", "both.py"):
        (folder / name).write_text(PROGRAM)
    return folder


@pytest.fixture(scope="module")
def here(machine: SshMachine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("n"), machine.variables()) as cli:
        yield cli


@pytest.fixture
def agent(machine: SshMachine, here: Cli, shop: Path) -> Iterator[StdioAgent]:
    for folder in (machine.project, shop):
        (folder / "go").unlink(missing_ok=True)
    with stdio_agent(here, "--on", machine.name, "--on", "local", "--workspace", "shop", cwd=shop) as agent:
        agent.data("list_sessions")  # both are connected
        yield agent
        for session in agent.call("list_sessions")["result"]["structuredContent"]["sessions"]:
            if session["state"] != "Terminated":
                agent.call("stop_debugging", session_id=session["session_id"])


def start_both(agent: StdioAgent, machine: SshMachine) -> tuple[str, str]:
    far = agent.data("start_debugging", program="far.py", wait=False)
    near = agent.data("start_debugging", program="both.py", target="local", wait=False)
    assert far["target"] == machine.name
    return far["session_id"], near["session_id"]


def live(agent: StdioAgent) -> dict[str, str]:
    rows = agent.data("list_sessions")["sessions"]
    return {row["session_id"]: row["target"] for row in rows if row["state"] != "Terminated"}


def ssh_of(agent: StdioAgent) -> list[psutil.Process]:
    return [it for it in psutil.Process(agent.process.pid).children(recursive=True) if it.name() == "ssh"]


def test_one_wait_is_for_whichever_program_stops_first(agent: StdioAgent, machine: SshMachine, shop: Path) -> None:
    only_far = agent.data("set_breakpoint", file_path="far.py", line_number=LINE)
    assert only_far["target"] == machine.name
    assert "also_on" not in only_far
    both = agent.data("set_breakpoint", file_path="both.py", line_number=LINE)
    assert [both["target"], *(it["target"] for it in both["also_on"])] == [machine.name, "local"]
    far, near = start_both(agent, machine)
    assert live(agent) == {far: machine.name, near: "local"}
    agent.begin("tools/call", {"name": "wait_for_stop", "arguments": {"timeout_s": 30}})
    (shop / "go").touch()
    first = agent.answer()["result"]["structuredContent"]
    assert (first["status"], first["session_id"], first["target"]) == ("stopped", near, "local")
    (machine.project / "go").touch()
    second = agent.data("wait_for_stop", timeout_s=30)
    assert (second["status"], second["session_id"], second["target"]) == ("stopped", far, machine.name)
    value = agent.data("evaluate_expression", expression="os.getcwd()", session_id=near)
    assert str(shop) in str(value)


def test_two_stops_at_once_are_two_answers(agent: StdioAgent, machine: SshMachine, shop: Path) -> None:
    agent.data("set_breakpoint", file_path="far.py", line_number=LINE)
    agent.data("set_breakpoint", file_path="both.py", line_number=LINE)
    far, near = start_both(agent, machine)
    agent.begin("tools/call", {"name": "wait_for_stop", "arguments": {"timeout_s": 30}})
    for folder in (machine.project, shop):
        (folder / "go").touch()
    answers = [agent.answer()["result"]["structuredContent"], agent.data("wait_for_stop", timeout_s=30)]
    assert {it["session_id"] for it in answers} == {far, near}
    assert [it["status"] for it in answers] == ["stopped", "stopped"]


def test_a_link_that_dies_ends_only_its_own_calls(agent: StdioAgent, machine: SshMachine, shop: Path) -> None:
    far, near = start_both(agent, machine)
    agent.begin("tools/call", {"name": "wait_for_stop", "arguments": {"session_id": far, "timeout_s": 100}})
    for ssh in eventually(lambda: ssh_of(agent)):
        ssh.send_signal(signal.SIGKILL)
    lost = agent.answer()["error"]
    assert lost["data"]["code"] == "link_lost"
    assert lost["message"].startswith(f"The connection to {machine.name} broke: ")
    assert agent.data("pause_debugging", session_id=near)["status"] == "stopped"
    assert eventually(lambda: live(agent) == {far: machine.name, near: "local"}, every_s=0.2)


def test_a_machine_that_is_not_reached_delays_no_other(machine: SshMachine, here: Cli, shop: Path) -> None:
    with stdio_agent(here, "--on", "ssh:nokey", "--on", "local", cwd=shop) as agent:
        tools: list[dict[str, Any]] = agent.ask("tools/list", {})["result"]["tools"]
        start = next(it for it in tools if it["name"] == "start_debugging")
        assert start["inputSchema"]["properties"]["target"]["enum"] == ["ssh:nokey", "local"]
        failed = eventually(lambda: agent.data("list_sessions").get("failed_targets"), every_s=0.2)
        assert [(it["target"], it["code"]) for it in failed] == [("ssh:nokey", "login_refused")]
        refused = agent.call("start_debugging", program="a.py", target="ssh:nokey")["error"]
        assert refused["data"]["code"] == "login_refused"
        assert "`dragoman doctor --on ssh:nokey`" in refused["message"]
