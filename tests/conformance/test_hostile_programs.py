"""Programs that end, print, fork and halt as they like: each answer is true, in time and small, and nothing is left."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.daemons import Cli, eventually
from tests.hostile import Agent, agent_with, hostile_home, within_bounds

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with hostile_home(tmp_path_factory.mktemp("h")) as cli:
        yield cli


@pytest.fixture
def agent(cli: Cli, tmp_path: Path) -> Iterator[Agent]:
    with agent_with(cli, tmp_path / "project", "python") as agent, within_bounds(agent):
        yield agent


# Ends.


@pytest.mark.parametrize(
    ("name", "code", "output"),
    [
        ("at-once", 0, ""),
        ("exit-3", 3, ""),
        ("exit-words", 1, "words for standard error"),
        ("exit-hard", 3, ""),
        ("recursion", 1, "RecursionError"),
    ],
)
def test_an_end_is_reported_with_its_code_and_last_lines(agent: Agent, name: str, code: int, output: str) -> None:
    end = agent.start("ends.py", name, within_s=20)
    while end["status"] == "stopped":  # whether a recursion error stops is the debugger's business
        end = agent.call("continue_debugging")
    assert (end["status"], end["exit_code"], end["state"]) == ("completed", code, "Terminated")
    assert output in end.get("output", "")
    assert agent.call("step_execution", step_type="over", within_s=2)["code"] == "no_session"


@pytest.mark.parametrize("name", ["segfault", "abort", "SIGKILL", "SIGTERM"])
def test_the_signal_that_ended_a_program_is_named(agent: Agent, name: str) -> None:
    end = agent.start("ends.py", name, within_s=20)
    names = {"segfault": "SIGSEGV", "abort": "SIGABRT"}
    assert (end["status"], end["signal"]) == ("completed", names.get(name, name))


@pytest.mark.parametrize(
    ("name", "type", "message"),
    [
        ("bad-message", "MessageRaises", ""),
        ("huge-message", "ValueError", "mmmm"),
        ("chained", "ValueError", "while asking"),
        ("grouped", "ExceptionGroup", "several (2 sub-exceptions)"),
    ],
)
def test_an_exception_however_odd_stops_and_is_reported(agent: Agent, name: str, type: str, message: str) -> None:
    stop = agent.start("ends.py", name, within_s=20)["stop_event_data"]
    assert (stop["reason"], stop["exception"]["type"]) == ("exception", type)
    assert stop["exception"]["message"].startswith(message)
    agent.require_usable()
    end = agent.call("continue_debugging", within_s=20)
    assert (end["status"], end["exit_code"]) == ("completed", 1)


# Output.


@pytest.mark.parametrize("name", ["fast", "one-line", "characters", "both"])
def test_a_flood_of_output_is_bounded_and_its_end_is_kept(agent: Agent, name: str) -> None:
    stop = agent.stopped("output.py", name, within_s=40)
    assert len(stop["output"]) <= 2001
    agent.require_usable()
    end = agent.call("continue_debugging", within_s=20)
    assert (end["status"], end["exit_code"]) == ("completed", 0)
    kept = agent.call("get_output", session_id=end["session_id"])
    assert "finished" in kept["output"]
    assert len(kept["output"]) <= 4001
    assert kept["missed"] > 0


def test_control_sequences_arrive_as_escapes(agent: Agent) -> None:
    stop = agent.stopped("output.py", "control")
    assert r"\x1b[2J\x1b]52;c;aGVsbG8=\x07" in stop["output"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066\U000e0041]", str(stop))
    agent.end()


def test_output_that_is_not_text_is_reported_all_the_same(agent: Agent) -> None:
    assert "after" in agent.stopped("output.py", "no-text")["output"]
    agent.end()


# Processes.


def test_standard_input_is_at_its_end(agent: Agent) -> None:
    assert "read ''" in agent.stopped("processes.py", "reads", within_s=20)["output"]
    assert agent.call("continue_debugging")["exit_code"] == 0


@pytest.mark.parametrize(("name", "at_least"), [("forks", 1), ("bomb", 200)])
def test_forked_processes_end_with_the_session(agent: Agent, name: str, at_least: int) -> None:
    agent.stopped("processes.py", name, within_s=40)
    assert len(agent.processes()) > at_least
    agent.require_usable()
    agent.end()


def test_a_program_that_does_not_listen_is_ended_within_seconds(agent: Agent) -> None:
    agent.stopped("processes.py", "ignores")
    require_ended_while_it_runs(agent)


def require_ended_while_it_runs(agent: Agent) -> None:
    agent.call("continue_debugging", wait=False)
    agent.call("stop_debugging", within_s=2)
    agent.require_nothing_left(within_s=8)


def test_a_busy_program_is_paused_where_it_is_and_ended_within_seconds(agent: Agent) -> None:
    agent.stopped("processes.py", "busy")
    agent.call("continue_debugging", wait=False)
    paused = agent.call("pause_debugging", timeout_s=10, within_s=10)
    assert paused["stop_event_data"]["call_stack"][0]["function_name"] == "busy"
    require_ended_while_it_runs(agent)


def test_a_halted_program_is_answered_for_in_time_and_ended(agent: Agent) -> None:
    agent.stopped("processes.py", "halts")
    answer = agent.call("continue_debugging", timeout_s=1, within_s=4)
    assert answer["status"] in {"timeout", "error"}
    assert answer["state"] in {
        "Running",
        "Stopped",
    }  # whether the debugger could still confirm before the program halted
    paused = agent.call("pause_debugging", timeout_s=2, within_s=12)
    assert paused["status"] in {"timeout", "error"}
    agent.call("stop_debugging", within_s=2)
    agent.require_nothing_left(within_s=15)


def test_a_halted_program_that_is_sent_on_is_seen_to_end(agent: Agent) -> None:
    agent.stopped("processes.py", "halts")
    agent.call("continue_debugging", timeout_s=1, within_s=4)
    for process in halted(agent):
        process.send_signal(signal.SIGCONT)
    end = agent.call("wait_for_stop", within_s=20)
    assert (end["status"], end["exit_code"]) == ("completed", 0)
    assert "went on" in agent.call("get_output", session_id=end["session_id"])["output"]


def halted(agent: Agent) -> list[psutil.Process]:
    def found() -> list[psutil.Process]:
        pids = [int(line.split()[0]) for line in agent.processes()]
        return [it for it in map(psutil.Process, pids) if it.status() == psutil.STATUS_STOPPED]

    processes: list[psutil.Process] = eventually(found)
    return processes


@pytest.mark.parametrize(("name", "code"), [("closes-all", 6), ("folder", 0), ("child", 0)])
def test_a_program_that_changes_its_surroundings_runs_to_its_end(agent: Agent, name: str, code: int) -> None:
    agent.stopped("processes.py", name)
    agent.require_usable()
    end = agent.call("continue_debugging", within_s=20)
    assert (end["status"], end["exit_code"]) == ("completed", code)


def test_a_program_without_descriptors_is_still_debugged(agent: Agent) -> None:
    agent.stopped("processes.py", "closes")
    agent.require_usable()
    raised = agent.call("continue_debugging")["stop_event_data"]["exception"]
    assert (raised["type"], raised["message"]) == ("OSError", "[Errno 9] Bad file descriptor")
    agent.end()


def test_a_debuggee_killed_from_outside_is_reported_as_an_end(agent: Agent) -> None:
    agent.stopped("processes.py", "busy")
    session = agent.call("continue_debugging", wait=False)["session_id"]
    own = [int(line.split()[0]) for line in agent.processes() if "processes.py" in line]
    os.kill(max(own, key=lambda pid: psutil.Process(pid).create_time()), signal.SIGKILL)
    end = agent.call("wait_for_stop", session_id=session, within_s=15)
    assert end["status"] == "completed"
