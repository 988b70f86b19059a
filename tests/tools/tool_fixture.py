"""A real service, a real journal and a debugger that a test steers, behind the tools as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import jsonschema

from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.launch import LaunchNote
from dragoman.debug.model import LaunchRequest
from dragoman.debug.service import DebugService
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.launch_request import PreparedLaunch, PreparedSession
from dragoman.journal import Journal
from dragoman.tools import ToolOutcome, ToolRegistry
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug import OpenWaits, debug_tools
from dragoman.workspace.breakpoints import STORE, BreakpointRegistry
from dragoman.workspace.caller import Caller
from tests.chinese_text import english_in
from tests.debug.fake_sessions import NothingToDisclose
from tests.support.clocks import VirtualClock
from tests.support.fake_adapter import FakeAdapter

SOURCE = "".join(f"line {number}\n" for number in range(1, 11))


@dataclass
class Starter(NothingToDisclose):
    """Gives out the adapters in turn; keeps what was wished for."""

    adapters: list[FakeAdapter]
    request: str = "launch"
    facts: dict[str, str] = field(default_factory=dict)
    notes: tuple[LaunchNote, ...] = ()
    title: str = "app.py"
    together: int = 1
    given: int = 0
    requests: list[tuple[Caller, LaunchRequest]] = field(default_factory=list)
    refuses: DragomanError | None = None

    async def prepare(self, client: Caller, launch_request: LaunchRequest) -> PreparedLaunch:
        self.requests.append((client, launch_request))
        if self.refuses is not None:
            raise self.refuses
        return PreparedLaunch(tuple(self._prepared(launch_request) for _ in range(self.together)))

    def _prepared(self, launch_request: LaunchRequest) -> PreparedSession:
        adapter = self.adapters[min(self.given, len(self.adapters) - 1)]
        self.given += 1
        launch = AdapterLaunch(self.request, {}, "fake", quirks=AdapterQuirks(), no_debug=launch_request.no_debug)
        return PreparedSession(self.title, adapter, launch, launch_request, facts=self.facts, notes=self.notes)


@dataclass
class Listing:
    configurations: list[dict[str, Any]] = field(default_factory=list)
    compounds: list[dict[str, Any]] = field(default_factory=list)
    problems: list[DragomanError] = field(default_factory=list)
    refuses: DragomanError | None = None

    def __call__(self, _: Path) -> Listing:
        if self.refuses is not None:
            raise self.refuses
        return self


@dataclass
class Answer:
    """What an agent gets: the object, the text, and whether it is an error."""

    data: dict[str, Any]
    text: str
    is_error: bool

    def __getitem__(self, key: str) -> Any:
        return self.data[key]


def unsaid(value: Any, text: str) -> list[str]:
    """What of an error's object does not stand in its text."""
    if isinstance(value, Mapping):
        return [it for key, inner in value.items() if key not in _NOT_SAID for it in unsaid(inner, text)]
    if isinstance(value, list):
        return [it for inner in value for it in unsaid(inner, text)]
    shown = [one_line(it).strip() for it in str(value).splitlines()] if value not in (None, "") else []
    return [it for it in shown if it not in text]


_NOT_SAID = frozenset({"status", "state"})  # what the call is marked with, and what stands there as a label


@dataclass
class Bench:
    toolbox: ToolRegistry
    caller: Caller
    adapters: list[FakeAdapter]
    starter: Starter
    listing: Listing
    waits: OpenWaits
    clock: VirtualClock
    service: DebugService
    journal: Journal

    @property
    def adapter(self) -> FakeAdapter:
        return self.adapters[0]

    @property
    def file(self) -> Path:
        return self.caller.workspace / "app.py"

    async def call(
        self, tool: str, *, language: Language = "en", caller: Caller | None = None, **arguments: Any
    ) -> Answer:
        asking = replace(caller or self.caller, language=language)
        with anyio.fail_after(10):
            outcome = await self.toolbox.call(tool, arguments, asking)
        return self.checked(tool, outcome, language)

    def checked(self, tool: str, outcome: ToolOutcome, language: Language) -> Answer:
        """Every answer of every test keeps the schema that its tool declares, has a status, and no label of ours that
        is English in Chinese. The text of an error says all that its object says: clients pass on the text alone."""
        called = next(it for it in self.toolbox.tools if it.name == tool)
        data = outcome.data.model_dump(mode="json")
        jsonschema.validate(data, called.output_schema)
        assert (data["status"] == "error") == outcome.is_error
        codes = {str(data.get("code"))}
        is_made = outcome.is_error and language == "en"  # what an error is about is text by then, of this language
        left = [] if is_made else [it for line in outcome.lines for it in english_in(line, codes)]
        assert not left, left
        text = "\n".join(line.in_language(language) for line in outcome.lines)
        assert not outcome.is_error or language != "en" or unsaid(data, text) == []
        return Answer(data, text, outcome.is_error)

    async def started(self, **arguments: Any) -> Answer:
        """Stopped at line 5 of the file."""
        self.adapter.when("configurationDone", lambda: self.adapter.stop("breakpoint"))
        answer = await self.call("start_debugging", program="app.py", **arguments)
        assert answer["status"] == "stopped", answer
        return answer

    async def running(self, **arguments: Any) -> Answer:
        return await self.call("start_debugging", program="app.py", wait=False, **arguments)


# Each waiting tool: what it is called with, and the request that the debugger gets.
MOVES: dict[str, tuple[dict[str, Any], str]] = {
    "continue_debugging": ({}, "continue"),
    "step_execution": ({"step_type": "over"}, "next"),
}


async def moved(bench: Bench, tool: str, then: Callable[[], None] | None = None, **more: Any) -> Any:
    arguments, request = MOVES[tool]
    if then is not None:
        bench.adapter.when(request, then)
    return await bench.call(tool, **{**arguments, **more})


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(5):
        while not condition():
            await anyio.lowlevel.checkpoint()


def stack_of(*frames: Mapping[str, Any]) -> dict[str, Any]:
    return {"stackFrames": list(frames), "totalFrames": len(frames)}


def frame(id: int, name: str, path: str, line: int, column: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "line": line, "column": column, "source": {"path": path}, **more}


@asynccontextmanager
async def opened(tmp_path: Path, *, adapters: int = 1, every_s: float = 60) -> AsyncIterator[Bench]:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "app.py").write_text(SOURCE)
    fakes = [FakeAdapter() for _ in range(adapters)]
    for fake in fakes:
        fake.answers["stackTrace"] = lambda _: stack_of(frame(1, "total", str(workspace / "app.py"), 5, 3))
        fake.can("supportsConditionalBreakpoints")
    clock, starter, listing = VirtualClock(), Starter(fakes), Listing()
    async with Journal.open(tmp_path / "journal", stores=[STORE]) as journal, anyio.create_task_group() as group:
        book = BreakpointRegistry(journal, clock)
        await book.load()
        service = DebugService(group, book, starter, journal, clock)
        waits = OpenWaits(clock, every_s)
        toolbox = ToolRegistry(debug_tools(service, listing, waits, clock))
        caller = Caller("agent-1", workspace, workspace)
        yield Bench(toolbox, caller, fakes, starter, listing, waits, clock, service, journal)
        group.cancel_scope.cancel()
    for fake in fakes:
        await fake.end()
