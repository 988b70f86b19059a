"""The same tools over a real debugger: what only a real program can show, and what a whole session costs an agent."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.clock import SystemClock
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.launch import list_configurations
from dragoman.debug.service import DebugService
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.tools import ToolRegistry
from dragoman.tools.debug import OpenWaits, debug_tools
from dragoman.workspace.breakpoints import STORE, BreakpointRegistry
from dragoman.workspace.caller import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

PROGRAM = """\
def price(n):
    doubled = n * 2
    return doubled

def main():
    total = 0
    for n in range(1, 9):
        total += price(n)
        print("total", total)
    return total

main()
"""


@dataclass
class Agent:
    toolbox: ToolRegistry
    caller: Caller
    text: int = 0
    whole: int = 0
    calls: list[str] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        with anyio.fail_after(60):
            outcome = await self.toolbox.call(tool, arguments, self.caller)
        text = "\n".join(map(str, outcome.lines))
        self.calls.append(tool)
        self.text += len(text.encode())
        self.whole += len(text.encode()) + len(outcome.data.model_dump_json().encode())
        return outcome.data.model_dump(mode="json")

    async def at(self, tool: str, **arguments: Any) -> tuple[str, int]:
        """Where the program then is: function and line."""
        answer = await self.call(tool, **arguments)
        assert answer["status"] == "stopped", answer
        top = answer["stop_event_data"]["call_stack"][0]
        return top["function_name"], top["line_number"]


@asynccontextmanager
async def agent_in(workspace: Path) -> AsyncIterator[Agent]:
    (workspace / "shop.py").write_text(PROGRAM)
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    caller = Caller("agent", workspace, workspace, environment={"PATH": path, "LANG": "C.UTF-8"}, trusts_workspace=True)
    clock = SystemClock()
    async with (
        Journal.open(workspace / "journal", stores=[STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointRegistry(journal, clock)
        await book.load()
        service = DebugService(group, book, AdapterStarter(supervisors, group), journal, clock)
        yield Agent(ToolRegistry(debug_tools(service, list_configurations, OpenWaits(clock), clock)), caller)
        group.cancel_scope.cancel()


@pytest.mark.requirement("debug:set-breakpoint:condition-true", "debug:principle:dap")
async def test_a_whole_session_costs_an_agent_less_than_its_budget(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", file_path="shop.py", line_number=8, condition="n == 3")
        assert await agent.at("start_debugging", program="shop.py") == ("main", 8)
        for _ in range(10):
            await agent.at("step_execution", step_type="over")
        result = await agent.call("evaluate_expression", expression="total + n")
        end = await agent.call("continue_debugging")
    assert result["result"] == "48"
    assert (end["status"], end["exit_code"]) == ("completed", 0)
    assert len(agent.calls) == 14
    assert agent.text <= 12_000
    assert agent.whole <= 30_000


@pytest.mark.requirement("debug:step:over", "debug:step:into", "debug:step:into-without-call", "debug:step:out")
async def test_steps_go_over_into_and_out_of_calls(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", file_path="shop.py", line_text="total += price")
        assert await agent.at("start_debugging", program="shop.py") == ("main", 8)
        assert await agent.at("step_execution", step_type="into") == ("price", 2)
        assert await agent.at("step_execution", step_type="into") == ("price", 3)
        function, line = await agent.at("step_execution", step_type="out")
        assert (function, line in {8, 9}) == ("main", True)
        await agent.call("remove_breakpoint", clear_all=True)
        while line != 7:
            function, line = await agent.at("step_execution", step_type="over")
            assert function == "main"


@pytest.mark.requirement(
    "debug:set-breakpoint:hit-greater",
    "debug:set-breakpoint:hit-equal",
    "debug:set-breakpoint:hit-modulo",
    "debug:set-breakpoint:logpoint-does-not-stop",
    "debug:set-breakpoint:logpoint-output",
    "debug:set-breakpoint:logpoint-interpolation",
)
@pytest.mark.parametrize(
    ("hits", "stops"), [("> 5", ["6", "7", "8"]), ("== 3", ["3"]), ("% 2 == 0", ["2", "4", "6", "8"])]
)
async def test_hit_conditions_stop_at_their_hits_and_logpoints_never(
    tmp_path: Path, hits: str, stops: list[str]
) -> None:
    seen = []
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", file_path="shop.py", line_number=8, hit_condition=hits)
        await agent.call("set_breakpoint", file_path="shop.py", line_number=2, log_message="priced {n * 10}")
        answer = await agent.call("start_debugging", program="shop.py")
        while answer["status"] == "stopped":
            local = {it["name"]: it["value"] for it in answer["stop_event_data"]["top_frame_variables"]["variables"]}
            seen.append(local["n"])
            answer = await agent.call("continue_debugging")
        output = (await agent.call("get_output", category="console"))["output"]
        printed = (await agent.call("get_output"))["output"]
    assert answer["status"] == "completed"
    assert seen == stops
    assert "priced 10" in output + printed
    assert "priced 80" in output + printed


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("nowhere + 1", "The variable 'nowhere' is not defined."),
        ("1 +", "The expression has a syntax error."),
        ("1 / 0", "The expression cannot be evaluated in this context."),
    ],
)
async def test_a_bad_expression_is_reported_in_words_that_help_and_harms_nothing(
    tmp_path: Path, expression: str, message: str
) -> None:
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", file_path="shop.py", line_number=8)
        await agent.at("start_debugging", program="shop.py")
        answer = await agent.call("evaluate_expression", expression=expression)
        good = await agent.call("evaluate_expression", expression="n")
    assert (answer["status"], answer["message"]) == ("error", message)
    assert "Error" in answer["debugger_says"]
    assert good["result"] == "1"


@pytest.mark.requirement("debug:set-breakpoint:column-omitted")
async def test_without_a_column_the_first_place_of_the_line_is_meant(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        (tmp_path / "one.py").write_text("first = 1; second = first + 1; print(second)\n")
        await agent.call("set_breakpoint", file_path="one.py", line_number=1)
        answer = await agent.call("start_debugging", program="one.py")
        assert answer["stop_event_data"]["column"] == 1
        early = await agent.call("evaluate_expression", expression="'first' in globals()")
    assert early["result"] == "False"


@pytest.mark.requirement("debug:principle:dap-terms")
async def test_an_agent_walks_from_breakpoint_to_thread_to_frame_to_scope_to_variable_by_the_numbers_given(
    tmp_path: Path,
) -> None:
    async with agent_in(tmp_path) as agent:
        made = (await agent.call("set_breakpoint", file_path="shop.py", line_text="return doubled"))["breakpoint"]
        stop = (await agent.call("start_debugging", program="shop.py"))["stop_event_data"]
        assert stop["hit_breakpoint_ids"] == [made["id"]]
        (session,) = (await agent.call("list_sessions"))["sessions"]
        assert stop["thread_id"] in {thread["thread_id"] for thread in session["threads"]}
        inner, outer = stop["call_stack"][:2]
        scopes = (await agent.call("get_scopes", frame_id=outer["frame_id"]))["scopes"]
        outside = await agent.call("get_variables", variables_reference=scopes[0]["variables_reference"])
        values = {it["name"]: it["value"] for it in outside["variables"]}
        inside = await agent.call("evaluate_expression", expression="doubled", frame_id=inner["frame_id"])
    assert (inner["function_name"], outer["function_name"]) == ("price", "main")
    assert (values["total"], values["n"], inside["result"]) == ("0", "1", "2")


THREADED = """\
import threading

ready, done = threading.Event(), threading.Event()

def work():
    mine = "worker's own"
    ready.set()
    done.wait(60)

worker = threading.Thread(target=work, name="worker", daemon=True)
worker.start()
ready.wait(60)
print("both here")
done.set()
worker.join()
"""


@pytest.mark.requirement("debug:general:multi-threaded", "debug:general:other-threads")
async def test_another_thread_is_listed_looked_into_and_survives_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        (tmp_path / "two.py").write_text(THREADED)
        await agent.call("set_breakpoint", file_path="two.py", line_text='print("both here")')
        stop = (await agent.call("start_debugging", program="two.py"))["stop_event_data"]
        (other,) = stop["other_threads"]
        mine = await agent.call("evaluate_expression", expression="__import__('threading').current_thread().name")
        (session,) = (await agent.call("list_sessions"))["sessions"]
        end = await agent.call("continue_debugging")
    assert (other["name"], other["state"], stop["total_threads"]) == ("worker", "stopped", 2)
    assert mine["result"] == "'MainThread'"
    assert {it["name"] for it in session["threads"]} == {"MainThread", "worker"}
    assert session["memory_bytes"] > 5_000_000
    assert (end["status"], end["exit_code"]) == ("completed", 0)


async def test_a_variable_is_changed_a_place_run_to_and_the_session_started_again(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", kind="function", function_name="price", condition="n == 2")
        stop = await agent.call("start_debugging", program="shop.py")
        assert stop["stop_event_data"]["call_stack"][0]["function_name"] == "price"
        assert stop["runs_with"]["adapter"].startswith("debugpy")
        changed = await agent.call("set_variable", name="n", value="1000")
        place = {"file_path": "shop.py", "line_text": 'print("total", total)'}
        after = await agent.call("continue_debugging", until=place)
        total = await agent.call("evaluate_expression", expression="total")
        again = await agent.call("restart_debugging")
        fresh = await agent.call("evaluate_expression", expression="n")
    assert (changed["value"], after["stop_event_data"]["line"], total["result"]) == ("1000", 9, "2002")
    assert (again["session_id"], again["status"], fresh["result"]) == (stop["session_id"], "stopped", "2")
    assert again["stop_event_data"]["stop_number"] > after["stop_event_data"]["stop_number"]


async def test_an_endless_expression_is_reported_in_time_and_the_session_is_usable_afterwards(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", file_path="shop.py", line_number=8)
        await agent.call("start_debugging", program="shop.py", env={"PYDEVD_INTERRUPT_THREAD_TIMEOUT": "2"})
        stuck = await agent.call("evaluate_expression", expression="while True: pass", timeout_s=0.5)
        good = await agent.call("evaluate_expression", expression="n", timeout_s=30)
        stepped = await agent.call("step_execution", step_type="over")
    assert (stuck["status"], stuck["code"], stuck["state"]) == ("error", "adapter_silent", "Stopped")
    assert "The program is still stopped." in stuck["hint"]
    assert (good["result"], stepped["status"]) == ("1", "stopped")


async def test_a_text_of_a_hundred_megabytes_is_cut_before_it_is_sent_whatever_the_context(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        await agent.call("set_breakpoint", file_path="shop.py", line_number=8)
        await agent.call("start_debugging", program="shop.py")
        for context in ("clipboard", "repl", "watch", "hover"):
            answer = await agent.call("evaluate_expression", expression="'x' * 100_000_000", context=context)
            assert (answer["status"], len(answer["result"]), answer["truncated"]) == ("success", 2000, True)
        good = await agent.call("evaluate_expression", expression="n")
    assert good["result"] == "1"


@pytest.mark.parametrize(
    ("source", "line", "error"),
    [
        ("x = 1\ndef f(:\n    pass\n", 2, "SyntaxError: "),
        ("x = 1\n    y = 2\n", 2, "IndentationError: "),
        ("if 1:\n        x = 1\n\ty = 2\n", 3, "TabError: "),
        ("print('\n", 1, "SyntaxError: "),
    ],
)
async def test_a_program_that_cannot_be_parsed_is_an_error_with_its_place(
    tmp_path: Path, source: str, line: int, error: str
) -> None:
    (tmp_path / "broken.py").write_text(source)
    async with agent_in(tmp_path) as agent:
        answer = await agent.call("start_debugging", program="broken.py")
    assert (answer["status"], answer["code"]) == ("error", "syntax_error")
    result = answer["details"]
    assert (result["path"], result["line"]) == (str(tmp_path / "broken.py"), line)
    assert result["error"].startswith(error)
    assert f"line {line} of " in answer["message"]


async def test_a_module_that_is_not_there_is_an_error_and_a_program_that_fails_by_itself_is_not(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("import sys\nprint('SyntaxError: not ours', file=sys.stderr)\nsys.exit(1)\n")
    module = {"type": "debugpy", "request": "launch", "name": "x", "module": "no_such_module_anywhere"}
    async with agent_in(tmp_path) as agent:
        missing = await agent.call("start_debugging", configuration=module)
        failed = await agent.call("start_debugging", program="fails.py")
    assert (missing["status"], missing["code"]) == ("error", "program_not_found")
    assert (failed["status"], failed["exit_code"]) == ("completed", 1)


async def test_a_frame_without_variables_shows_no_variables(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text("import no_such_module_anywhere\n")
    async with agent_in(tmp_path) as agent:
        answer = await agent.call("start_debugging", program="bare.py")
    assert answer["stop_event_data"]["exception"]["type"] == "ModuleNotFoundError"
    assert answer["stop_event_data"]["top_frame_variables"] is None
