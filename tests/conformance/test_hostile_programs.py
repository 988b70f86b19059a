"""Programs that end, print, fork and halt as they like: each answer is true, in time and small, and nothing is left."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.daemons import Cli, eventually
from tests.hostile import Agent, Answer, agent_with, hostile_home, within_bounds

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
def test_an_end_is_told_with_its_code_and_last_words(agent: Agent, name: str, code: int, output: str) -> None:
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
def test_an_exception_however_odd_stops_and_is_told(agent: Agent, name: str, type: str, message: str) -> None:
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


def test_output_that_is_no_text_is_told_all_the_same(agent: Agent) -> None:
    assert "after" in agent.stopped("output.py", "no-text")["output"]
    agent.end()


# Processes.


def test_standard_input_is_at_its_end(agent: Agent) -> None:
    assert "read ''" in agent.stopped("processes.py", "reads", within_s=20)["output"]
    assert agent.call("continue_debugging")["exit_code"] == 0


@pytest.mark.parametrize(("name", "at_least"), [("forks", 1), ("bomb", 200)])
def test_whoever_was_forked_ends_with_the_session(agent: Agent, name: str, at_least: int) -> None:
    agent.stopped("processes.py", name, within_s=40)
    assert len(agent.processes()) > at_least
    agent.require_usable()
    agent.end()


@pytest.mark.parametrize("name", ["ignores", "busy"])
def test_a_program_that_does_not_listen_is_ended_within_seconds(agent: Agent, name: str) -> None:
    agent.stopped("processes.py", name)
    agent.call("continue_debugging", wait=False)
    agent.call("stop_debugging", within_s=2)
    agent.require_nothing_left(within_s=8)


def test_a_busy_program_is_paused_where_it_is(agent: Agent) -> None:
    agent.stopped("processes.py", "busy")
    agent.call("continue_debugging", wait=False)
    paused = agent.call("pause_debugging", timeout_s=10, within_s=10)
    assert paused["stop_event_data"]["call_stack"][0]["function_name"] == "busy"
    agent.end()


def test_a_halted_program_is_answered_for_in_time_and_ended(agent: Agent) -> None:
    agent.stopped("processes.py", "halts")
    answer = agent.call("continue_debugging", timeout_s=3, within_s=4)
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


# Threads.


@pytest.mark.parametrize(("name", "ends"), [("daemon", True), ("many", True), ("asyncio", False), ("endless", False)])
def test_threads_and_tasks_do_not_hold_up_a_session(agent: Agent, name: str, ends: bool) -> None:
    agent.stopped("threads.py", name)
    agent.call("remove_breakpoint", clear_all=True)
    agent.require_usable()
    answer = agent.call("continue_debugging", timeout_s=10 if name != "endless" else 1, within_s=15)
    if name == "endless":
        assert (answer["status"], answer["state"]) == ("timeout", "Running")
        agent.end()
    else:
        assert (answer["status"], answer["exit_code"]) == ("completed", 0)


def test_a_stack_of_ten_thousand_frames_is_counted_and_cut(agent: Agent) -> None:
    stop = agent.stopped("threads.py", "deep", within_s=30)
    assert stop["total_frames"] >= 10_000
    assert len(stop["call_stack"]) == 20
    agent.require_usable()
    assert agent.call("step_execution", step_type="out", within_s=20)["status"] == "stopped"
    agent.end()


def sent_on(agent: Agent) -> Answer:
    answer = agent.call("continue_debugging", within_s=20)
    assert answer["status"] != "error", answer
    return answer


def test_twenty_threads_at_one_breakpoint_are_each_told_once(agent: Agent) -> None:
    """One stop may stand for several threads; every continue leads on, and the last one to the end."""
    agent.stopped("threads.py", "all-stop")
    told = 1
    while (answer := sent_on(agent))["status"] == "stopped":
        told += 1
        assert told <= 20
    assert (answer["status"], answer["exit_code"]) == ("completed", 0)


# What an agent asks.


def test_names_and_paths_in_chinese_and_with_spaces(cli: Cli, tmp_path: Path) -> None:
    with agent_with(cli, tmp_path / "有 空格 的 路径", "python") as agent:
        stop = agent.stopped("names.py")
        values = {it["name"]: it["value"] for it in stop["top_frame_variables"]["variables"]}
        assert (stop["call_stack"][0]["function_name"], values["总价"], values["单价"]) == ("计算", "42", "7")
        assert stop["source"]["path"] == str(agent.workspace / "names.py")
        assert agent.call("evaluate_expression", expression="订单.数量")["result"] == "6"
        end = agent.call("continue_debugging")
        assert (end["exit_code"], end["output"]) == (0, "总计 42\n")


def test_a_program_that_does_not_compile_ends_with_the_reason(agent: Agent) -> None:
    answer = agent.start("broken.py", within_s=20)
    said = str(answer)
    while answer["status"] == "stopped":
        answer = agent.call("continue_debugging")
        said += str(answer)
    assert answer["exit_code"] != 0
    assert "SyntaxError" in said


BAD_REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("start_debugging", {"program": "missing.py"}),
    ("set_breakpoint", {"file_path": "missing.py", "line_number": 1}),
    ("set_breakpoint", {"file_path": "values.py", "line_number": 100_000}),
    ("set_breakpoint", {"file_path": "values.py", "line_number": 0}),
    ("set_breakpoint", {"file_path": "values.py", "line_text": "nowhere to be found"}),
    ("set_breakpoint", {"file_path": "values.py", "line_number": 2**40}),
    ("get_source", {"file_path": "values.py", "line": 100_000}),
    ("get_variables", {"variables_reference": 2**50}),
    ("evaluate_expression", {"expression": "1 +"}),
    ("evaluate_expression", {"expression": "(" * 50_000}),
    ("evaluate_expression", {"expression": "\ud800"}),
    ("step_execution", {"step_type": "sideways"}),
]


def test_what_cannot_be_done_is_refused_with_a_code_and_loses_nothing(agent: Agent) -> None:
    agent.stopped("names.py")
    for tool, arguments in BAD_REQUESTS:
        answer = agent.call(tool, within_s=20, **arguments)
        refused = (answer["status"], bool(answer.get("code")), bool(answer.get("message")))
        assert refused == ("error", True, True), (tool, str(arguments)[:60], answer)
        assert agent.call("evaluate_expression", expression="总价")["result"] == "42"
    agent.end()


def evaluated(agent: Agent, expression: str, timeout_s: float) -> Answer:
    return agent.call("evaluate_expression", expression=expression, timeout_s=timeout_s, within_s=timeout_s)


@pytest.mark.parametrize("expression", ["[0 for _ in iter(int, 1)]", "__import__('time').sleep(600)"])
def test_an_expression_that_never_ends_is_given_up_and_interrupted(agent: Agent, expression: str) -> None:
    agent.stopped("processes.py", "limited", env={"PYDEVD_INTERRUPT_THREAD_TIMEOUT": "2"})
    assert evaluated(agent, expression, 1)["code"] == "adapter_silent"
    eventually(lambda: evaluated(agent, "6 * 7", 5).get("result") == "42", within_s=20)
    agent.end()


@pytest.mark.parametrize("expression", ["b'x' * 10_000_000_000", "bytearray(10_000_000_000)", "[0] * 10**10"])
def test_an_expression_that_asks_for_all_memory_fails_and_harms_nobody(agent: Agent, expression: str) -> None:
    agent.stopped("processes.py", "limited")
    answer = evaluated(agent, expression, 15)
    assert answer["status"] == "error"
    assert "MemoryError" in answer["debugger_says"]
    agent.require_usable()
    agent.end()


def test_an_expression_that_forks_leaves_nobody(agent: Agent) -> None:
    agent.stopped("processes.py", "limited")
    forked = "[__import__('subprocess').Popen(['sleep', '600']).pid for _ in range(20)]"
    started = evaluated(agent, forked, 15)
    pids = [int(pid) for pid in re.findall(r"\d+", started["result"])]
    assert len(pids) == 20
    assert all(psutil.pid_exists(pid) for pid in pids)
    agent.end()
    eventually(lambda: not any(_lives(pid) for pid in pids))


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_an_expression_that_changes_the_program_changes_it(agent: Agent) -> None:
    agent.stopped("processes.py", "limited")
    caller = agent.call("step_execution", step_type="out")
    assert caller["status"] == "stopped"
    evaluated(agent, "state.update(count=41)", 5)
    assert "count 41" in agent.call("continue_debugging")["output"]


def test_an_expression_that_ends_the_program_is_told_as_its_end(agent: Agent) -> None:
    session = agent.stopped("processes.py", "limited")["session_id"]
    answer = agent.call("evaluate_expression", expression="__import__('os')._exit(7)", within_s=20)
    assert (answer["status"], answer["code"]) == ("error", "already_ended"), answer
    end = agent.call("wait_for_stop", session_id=session, within_s=20)
    assert (end["status"], end.get("exit_code")) == ("completed", 7), end


def test_a_debuggee_killed_from_outside_is_told_as_an_end(agent: Agent) -> None:
    agent.stopped("processes.py", "busy")
    session = agent.call("continue_debugging", wait=False)["session_id"]
    own = [int(line.split()[0]) for line in agent.processes() if "processes.py" in line]
    os.kill(max(own, key=lambda pid: psutil.Process(pid).create_time()), signal.SIGKILL)
    end = agent.call("wait_for_stop", session_id=session, within_s=15)
    assert end["status"] == "completed"
