"""Threads in the way, and agents that ask for harm: each answer is true, in time and small, and nothing is left."""

from __future__ import annotations

import re
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


def test_twenty_threads_at_one_breakpoint_are_each_reported_once(agent: Agent) -> None:
    """One stop may stand for several threads; every continue leads on, and the last one to the end."""
    agent.stopped("threads.py", "all-stop")
    result = 1
    while (answer := sent_on(agent))["status"] == "stopped":
        result += 1
        assert result <= 20
    assert (answer["status"], answer.get("exit_code")) == ("completed", 0), answer


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


def test_a_program_that_does_not_compile_is_an_error_with_its_place(agent: Agent) -> None:
    answer = agent.start("broken.py", within_s=20)
    assert (answer["status"], answer["code"]) == ("error", "syntax_error")
    assert "broken.py" in str(answer)


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


def test_an_expression_that_never_ends_is_given_up_and_interrupted(agent: Agent) -> None:
    agent.stopped("processes.py", "limited", env={"PYDEVD_INTERRUPT_THREAD_TIMEOUT": "2"})
    for expression in ("[0 for _ in iter(int, 1)]", "__import__('time').sleep(600)"):
        assert evaluated(agent, expression, 1)["code"] == "adapter_silent"
        eventually(lambda: evaluated(agent, "6 * 7", 5).get("result") == "42", within_s=20)
    agent.end()


def test_expressions_that_ask_for_all_memory_fail_and_one_that_forks_leaves_nobody(agent: Agent) -> None:
    agent.stopped("processes.py", "limited")
    for expression in ("b'x' * 10_000_000_000", "bytearray(10_000_000_000)", "[0] * 10**10"):
        answer = evaluated(agent, expression, 15)
        assert answer["status"] == "error"
        assert "MemoryError" in answer["debugger_says"]
        agent.require_usable()
    forked = "[__import__('subprocess').Popen(['sleep', '600']).pid for _ in range(20)]"
    started = evaluated(agent, forked, 15)
    pids = [int(pid) for pid in re.findall(r"\d+", started["result"])]
    assert len(pids) == 20
    assert all(psutil.pid_exists(pid) for pid in pids)
    agent.end()
    eventually(lambda: not any(_is_running(pid) for pid in pids))


def _is_running(pid: int) -> bool:
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


def test_an_expression_that_ends_the_program_is_reported_as_its_end(agent: Agent) -> None:
    session = agent.stopped("processes.py", "limited")["session_id"]
    answer = agent.call("evaluate_expression", expression="__import__('os')._exit(7)", within_s=20)
    assert (answer["status"], answer["code"]) == ("error", "already_ended"), answer
    end = agent.call("wait_for_stop", session_id=session, within_s=20)
    assert (end["status"], end.get("exit_code")) == ("completed", 7), end
