"""The tools for evidence as an agent calls them: over a debugger that a test steers, and over real ones."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from dragoman.core.clock import SystemClock
from dragoman.core.redaction import Redactor
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.launch import list_configurations
from dragoman.debug.service import DebugService
from dragoman.debug.stops.history import store as stops
from dragoman.debug.stops.history.stop_history import StopHistory
from dragoman.debug.stops.history.store import stop_recorder
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.terminal.model import RecordedCommand
from dragoman.tools import ToolRegistry
from dragoman.tools.debug import OpenWaits, SourceFiles, debug_tools
from dragoman.tools.evidence import evidence_tools
from dragoman.workspace.breakpoints import STORE, BreakpointRegistry
from dragoman.workspace.caller import Caller
from tests.chinese_text import english_in
from tests.support.fake_adapter import FakeAdapter
from tests.tools.tool_fixture import Answer, Bench, frame, opened, stack_of, unsaid


@asynccontextmanager
async def steered(tmp_path: Path, *, adapters: int = 1) -> AsyncIterator[Bench]:
    """Its program is `app.py`, whose line 5 it comes to whenever the test lets it."""
    async with opened(tmp_path, adapters=adapters) as bench:
        tools = evidence_tools(
            bench.service,
            bench.waits,
            bench.clock,
            SourceFiles(),
            Redactor(),
            StopHistory(bench.journal, bench.clock),
            Typed(),
        )
        bench.toolbox = ToolRegistry([*bench.toolbox.tools, *tools])
        yield bench


def passes(adapter: FakeAdapter, count: int, then: Callable[[], None], *, on: str = "continue") -> None:
    """The program comes by so many times, the first time when it begins, and then does something else."""
    left = [count]

    def go_on() -> None:
        left[0] -= 1
        adapter.stop("breakpoint") if left[0] >= 0 else then()

    adapter.when("configurationDone", go_on)
    adapter.when(on, go_on)


def exits(adapter: FakeAdapter, code: int = 0) -> Callable[[], None]:
    def act() -> None:
        adapter.emit("exited", exitCode=code)
        adapter.emit("terminated")

    return act


def answer_values(adapter: FakeAdapter, values: dict[str, Sequence[str]]) -> None:
    """Each expression has its values in turn, the last of them for ever; others are refused."""
    asked = dict.fromkeys(values, 0)

    def evaluate(arguments: dict[str, Any]) -> Any:
        expression = arguments["expression"]
        if expression not in values:
            raise_ = adapter.answers["refusal"]
            return raise_(arguments)
        at = min(asked[expression], len(values[expression]) - 1)
        asked[expression] += 1
        return {"result": values[expression][at], "variablesReference": 0}

    adapter.refuse("refusal", "no such name")
    adapter.answers["evaluate"] = evaluate


def at_line(bench: Bench, line: int, function: str = "total", depth: int = 1) -> None:
    frames = [frame(at + 1, function, str(bench.file), line) for at in range(depth)]
    bench.adapter.answers["stackTrace"] = lambda _: stack_of(*frames)


def stops_at(bench: Bench, line: int, reason: str, *, depth: int = 1) -> Callable[[], None]:
    def act() -> None:
        at_line(bench, line, depth=depth)
        bench.adapter.stop(reason)

    return act


class Typed:
    """What a terminal's record says, for tests of who reads it: recorded terminals have tests of their own."""

    def __init__(self) -> None:
        self.failed: list[RecordedCommand] = []

    async def last_failure(self, *, terminal: str = "", cwd: str = "", verified: bool = True) -> RecordedCommand | None:
        chosen = [it for it in self.failed if it.terminal.startswith(terminal) and it.verified >= verified]
        return chosen[-1] if chosen else None

    async def command(self, command_id: str) -> RecordedCommand:
        return next(it for it in self.failed if it.id == command_id)


class Agent:
    """Real programs in a real workspace."""

    def __init__(self, toolbox: ToolRegistry, caller: Caller, service: DebugService, typed: Typed) -> None:
        self.toolbox, self.caller, self.service, self.typed = toolbox, caller, service, typed

    async def call(self, tool: str, **arguments: Any) -> Answer:
        with anyio.fail_after(60):
            outcome = await self.toolbox.call(tool, arguments, self.caller)
        text = "\n".join(line.in_language(self.caller.language) for line in outcome.lines)
        data = outcome.data.model_dump(mode="json")
        assert outcome.is_error or [left for line in outcome.lines for left in english_in(line)] == []
        assert not outcome.is_error or unsaid(data, text) == []
        return Answer(data, text, outcome.is_error)

    def write(self, name: str, text: str) -> Path:
        file = self.caller.workspace / name
        file.write_text(text)
        return file


@asynccontextmanager
async def agent_in(workspace: Path, *, trusted: bool = True) -> AsyncIterator[Agent]:
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    environment = {"PATH": path, "LANG": "C.UTF-8", "HOME": os.environ["HOME"]}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # to load all of ours takes half of the time of a short run
    caller = Caller("agent", workspace, workspace, environment=environment, trusts_workspace=trusted)
    clock = SystemClock()
    async with (
        Journal.open(workspace / "journal", stores=[STORE, stops.STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointRegistry(journal, clock)
        await book.load()
        service = DebugService(
            group, book, AdapterStarter(supervisors, group), journal, clock, record_stop=stop_recorder(Redactor().value)
        )
        waits = OpenWaits(clock)
        tools = debug_tools(service, list_configurations, waits, clock)
        tools += evidence_tools(
            service, waits, clock, SourceFiles(), Redactor(), StopHistory(journal, clock), typed := Typed()
        )
        yield Agent(ToolRegistry(tools), caller, service, typed)
        group.cancel_scope.cancel()
