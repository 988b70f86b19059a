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

from dragoman.clock import SystemClock
from dragoman.debug.launch import configurations
from dragoman.debug.service import DebugService
from dragoman.debug.starting import AdapterStarter
from dragoman.journal import Journal
from dragoman.tools import Caller, Toolbox
from dragoman.tools.debug import Waits, debug_operations
from dragoman.transport.supervisors import Supervisors
from dragoman.workspace.breakpoints import STORE, BreakpointBook

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
    toolbox: Toolbox
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
        Supervisors() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointBook(journal, clock)
        await book.load()
        service = DebugService(group, book, AdapterStarter(supervisors, group), journal, clock)
        yield Agent(Toolbox(debug_operations(service, configurations, Waits(clock), clock)), caller)
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
async def test_a_bad_expression_is_told_in_words_that_help_and_harms_nothing(
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
