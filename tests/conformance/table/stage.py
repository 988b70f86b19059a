"""An agent with the real tools, in a workspace that holds one language's program."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psutil

from dragoman.core.clock import SystemClock
from dragoman.core.redaction import Redactor
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.launch import list_configurations
from dragoman.debug.service import DebugService
from dragoman.debug.stops.history.stop_history import StopHistory
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.tools import ToolRegistry
from dragoman.tools.debug import OpenWaits, SourceFiles, debug_tools
from dragoman.tools.evidence import evidence_tools
from dragoman.workspace.breakpoints import STORE, BreakpointRegistry
from dragoman.workspace.caller import Caller
from tests.conformance.table.languages import Language
from tests.debug.evidence.evidence_tools import Typed

Answer = dict[str, Any]


class CannotError(Exception):
    """The adapter cannot, in words that it, or the program under it, gave during this run."""


@dataclass(frozen=True)
class Stop:
    """What an agent is told of a stop."""

    data: Answer

    @property
    def line(self) -> int:
        return int(self.data["line"])

    @property
    def reason(self) -> str:
        return str(self.data["reason"])

    @property
    def hit(self) -> list[int] | None:
        ids: list[int] | None = self.data["hit_breakpoint_ids"]
        return ids

    @property
    def function(self) -> str:
        return str(self.data["call_stack"][0]["function_name"])

    @property
    def output(self) -> str:
        return self.data.get("output") or ""

    @property
    def local(self) -> dict[str, str]:
        scope = self.data["top_frame_variables"]
        return {it["name"]: it["value"] for it in scope["variables"]} if scope else {}

    def frame(self, index: int) -> int:
        return int(self.data["call_stack"][index]["frame_id"])


@dataclass
class Stage:
    language: Language
    workspace: Path
    program: Path
    toolbox: ToolRegistry
    service: DebugService
    caller: Caller
    session: str = ""
    """The one that is reused, and the mode that its program runs in."""
    mode: str = ""
    kept: dict[str, Answer] = field(default_factory=dict)
    """Ends of runs that prove several behaviours."""

    @property
    def source(self) -> Path:
        return self.workspace / Path(self.language.source).name

    def line(self, mark: str) -> int:
        lines = self.source.read_text().splitlines()
        (found,) = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith(f" @{mark}")]
        return found

    # Calls, as an agent makes them.

    async def call(self, tool: str, **arguments: Any) -> Answer:
        with anyio.fail_after(50):
            outcome = await self.toolbox.call(tool, arguments, self.caller)
        return outcome.data.model_dump(mode="json")

    async def done(self, tool: str, **arguments: Any) -> Answer:
        answer = await self.call(tool, **arguments)
        assert answer["status"] != "error", answer
        return answer

    async def stopped(self, tool: str, **arguments: Any) -> Stop:
        answer = await self.call(tool, **arguments)
        assert answer["status"] == "stopped", answer
        return Stop(answer["stop_event_data"])

    async def refused(self, code: str, tool: str, **arguments: Any) -> Answer:
        answer = await self.call(tool, **arguments)
        assert (answer["status"], answer.get("code")) == ("error", code), answer
        assert answer["message"]
        return answer

    async def set(self, mark: str, **fields: Any) -> int:
        wanted = {"file_path": str(self.source), "line_number": self.line(mark), **fields}
        return int((await self.done("set_breakpoint", **wanted))["breakpoint"]["id"])

    async def on(self, **arguments: Any) -> Stop:
        return await self.stopped("continue_debugging", **arguments)

    async def step(self, kind: str, **arguments: Any) -> Stop:
        return await self.stopped("step_execution", step_type=kind, **arguments)

    async def value(self, expression: str, **arguments: Any) -> str:
        return str((await self.done("evaluate_expression", expression=expression, **arguments))["result"])

    def has(self, capability: str) -> bool:
        """As its `initialize` said."""
        return self.service.find(self.caller).capabilities.has(capability)

    # Sessions.

    def launch(self, mode: str, **fields: Any) -> Answer:
        named = {"type": self.language.type, "request": "launch", "name": mode}
        more = {**self.language.configuration, **fields}
        return {"configuration": {**named, "program": str(self.program), "args": [mode], **more}}

    async def start(self, mode: str, **arguments: Any) -> Answer:
        return await self.call("start_debugging", **self.launch(mode), **arguments)

    async def at(self, mode: str, mark: str) -> Stop:
        """The reused session, or a new one, stopped at a line that the program comes by again and again."""
        await self.done("remove_breakpoint", clear_all=True)
        if self.mode == mode:
            return await self.on(until={"file_path": str(self.source), "line_number": self.line(mark)})
        await self.leave()
        id = await self.set(mark)
        answer = await self.start(mode)
        assert answer["status"] == "stopped", answer
        self.session, self.mode = answer["session_id"], mode
        await self.done("remove_breakpoint", breakpoint_id=id)
        return Stop(answer["stop_event_data"])

    async def leave(self) -> None:
        """All that live are ended: the next behaviour begins with nothing."""
        self.session = self.mode = ""
        for session in (await self.done("list_sessions"))["sessions"]:
            if session["state"] not in {"Terminating", "Terminated"}:
                await self.call("stop_debugging", session_id=session["session_id"])
        await self.done("remove_breakpoint", clear_all=True)
        await eventually(self._all_ended)

    async def _all_ended(self) -> bool:
        return all(it["state"] == "Terminated" for it in (await self.done("list_sessions"))["sessions"])

    def processes(self) -> list[int]:
        """Those of a session: what we started, directly or not, and that has the program in its command line."""
        found = []
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                found += [process.pid] if any(it.endswith(self.program.name) for it in process.cmdline()) else []
        return found

    async def ran(self, how: str, **arguments: Any) -> Answer:
        """A run to its end, once for all behaviours that look at it."""
        if how not in self.kept:
            await self.leave()
            answer = await self.start(how, **arguments)
            printed = await self.done("get_output", session_id=answer["session_id"])
            self.kept[how] = {**answer, "printed": printed["output"]}
        return self.kept[how]


async def eventually(condition: Callable[[], Any], within_s: float = 10) -> None:
    with anyio.fail_after(within_s):
        while not await condition():  # noqa: ASYNC110  another process has no event for us
            await anyio.sleep(0.02)


@asynccontextmanager
async def stage_in(workspace: Path, language: Language) -> AsyncIterator[Stage]:
    program = language.built_in(workspace)
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "WHO": "client"}
    caller = Caller("agent", workspace, workspace, environment=environment, trusts_workspace=True)
    clock = SystemClock()
    async with (
        Journal.open(workspace / "journal", stores=[STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointRegistry(journal, clock)
        await book.load()
        service = DebugService(group, book, AdapterStarter(supervisors, group), journal, clock)
        waits = OpenWaits(clock)
        evidence = evidence_tools(
            service, waits, clock, SourceFiles(), Redactor(), StopHistory(journal, clock), Typed()
        )
        toolbox = ToolRegistry([*debug_tools(service, list_configurations, waits, clock), *evidence])
        yield Stage(language, workspace, program, toolbox, service, caller)
        group.cancel_scope.cancel()
