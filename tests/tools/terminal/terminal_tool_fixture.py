"""The real record and the tools over it, with terminals that a test speaks for; nobody types in them."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import jsonschema

from dragoman.core.clock import SystemClock
from dragoman.core.redaction import Redactor
from dragoman.journal import Journal
from dragoman.terminal.agent_terminals.pool import AgentTerminalPool
from dragoman.terminal.agent_terminals.terminal import AgentClient
from dragoman.terminal.consent import ConsentBroker, RunRequest
from dragoman.terminal.model import AGENT, VERIFIES, CommandReport, RecordedCommand
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import TerminalService
from dragoman.tools import ToolRegistry
from dragoman.tools.terminal import terminal_tools
from dragoman.workspace.caller import Caller
from tests.chinese_text import english_in

START_MS = 1_700_000_000_000


@dataclass
class Person:
    """Who sits in front of a wrapper, and what they press."""

    wrappers: ConsentBroker
    decision: str = "accepted"
    asked: list[RunRequest] = field(default_factory=list)
    withdrawn: list[RunRequest] = field(default_factory=list)

    def put(self, launch_request: RunRequest) -> None:
        self.asked.append(launch_request)
        if self.decision:
            self.wrappers.answered(self, launch_request.id, self.decision)

    def withdraw(self, launch_request: RunRequest) -> None:
        self.withdrawn.append(launch_request)


@dataclass
class HeldTerminal:
    """An agent's terminal whose shell is the test: it says what each command prints and how it ends."""

    bench: Bench
    id: str
    link: str
    workspace: Path
    is_at_prompt: bool = True
    reserved: bool = True
    has_marks: bool = True
    typed: list[str] = field(default_factory=list)
    ends: bool = True
    command_id: str = ""
    read_bytes: int = 0
    application_keys: bool = False

    async def run(self, command: str) -> None:
        self.typed.append(command)
        self.read_bytes = 0
        self.command_id = self.bench.next_id(self.id)
        if self.ends:
            await self.bench.ran(self.id, command, b"printed\r\n", 0)
        else:
            self.is_at_prompt = False
            await self.bench.service.command_began(self.id, self.bench.next_ms(), command)
            await self.bench.service.record(self.id, "output", self.bench.next_ms(), b"so far\r\n")

    def runs(self, command_id: str) -> bool:
        return command_id == self.command_id and self.bench.service.terminal(self.id).running is not None

    async def wait_for_start(self, _: float) -> bool:
        return True

    async def wait_for_finish(self, command_id: str, within_s: float) -> bool:
        with anyio.move_on_after(within_s):
            while self.runs(command_id):  # noqa: ASYNC110  of things that tell nobody
                await anyio.sleep(0.01)
        return not self.runs(command_id)

    async def wait_ready(self, _: float) -> bool:
        return self.is_at_prompt

    async def wait_until(self, condition: Callable[[], bool], _: float) -> bool:
        return condition()

    async def type(self, data: bytes) -> None:
        self.typed.append("^C" if data == b"\x03" else data.decode())
        if self.bench.service.terminal(self.id).running is not None:
            await self.bench.finish(self.id, 130 if data == b"\x03" else 0)

    def release(self) -> None:
        self.reserved = False


@dataclass
class Held:
    """In the place of the daemon's own terminals."""

    bench: Bench
    trusted: bool = True
    opened: list[HeldTerminal] = field(default_factory=list)

    def find(self, client: AgentClient, terminal_id: str) -> HeldTerminal | None:
        return next((it for it in self.of(client) if it.id == terminal_id), None)

    def of(self, client: AgentClient) -> list[HeldTerminal]:
        own = (client.link, client.workspace)
        return [it for it in reversed(self.opened) if (it.link, it.workspace) == own]

    def mark_used(self, _: HeldTerminal) -> None:
        pass

    def reserve(self, own: HeldTerminal) -> bool:
        if own.reserved or not own.is_at_prompt:
            return False
        own.reserved = True
        return True

    async def require_trust(self, client: AgentClient) -> None:
        trusts = self.bench.trust_of(self.trusted)
        await AgentTerminalPool.require_trust(cast("AgentTerminalPool", trusts), client)

    async def acquire(self, client: AgentClient, cwd: Path | None, _: float) -> HeldTerminal:
        if cwd is None and (free := next(filter(self.reserve, self.of(client)), None)):
            return free
        own = HeldTerminal(self.bench, f"own{len(self.opened) + 1}", client.link, client.workspace)
        await self.bench.terminal(own.id, {AGENT: client.id, "cwd": str(cwd or client.cwd)})
        self.opened.append(own)
        return own


class _Trusting:
    def __init__(self, trusted: bool) -> None:
        self._trust = self
        self.trusted = trusted

    async def trusts(self, _: Path) -> bool:
        return self.trusted


@dataclass
class Answer:
    data: dict[str, Any]
    text: str

    def __getitem__(self, key: str) -> Any:
        return self.data[key]


class Bench:
    def __init__(self, service: TerminalService, workspace: Path, redactor: Redactor) -> None:
        self.service = service
        self.wrappers = ConsentBroker()
        self.own = Held(self)
        # Commands here run in folders that are made up; who may see which is tested in test_scope.py.
        self.caller = Caller(
            "agent-1", workspace, workspace, environment={"HOME": "/home/x"}, sees_every_workspace=True
        )
        self.show_through(redactor)
        self._ms = itertools.count(START_MS, 10)
        self._ended_count = 0
        self._running: dict[str, tuple[int, str]] = {}

    def show_through(self, redactor: Redactor) -> None:
        held = cast("AgentTerminalPool", self.own)
        self.toolbox = ToolRegistry(terminal_tools(self.service, self.wrappers, held, redactor, SystemClock()))

    def next_ms(self) -> int:
        return next(self._ms)

    def next_id(self, terminal: str, suffix: str = "") -> str:
        """Of the command that ends next."""
        return f"{terminal}:{self._ended_count + 1}{suffix}"

    def trust_of(self, trusted: bool) -> _Trusting:
        return _Trusting(trusted)

    async def call(self, tool: str, **arguments: Any) -> Answer:
        with anyio.fail_after(10):
            outcome = await self.toolbox.call(tool, arguments, self.caller)
        called = next(it for it in self.toolbox.tools if it.name == tool)
        data = outcome.data.model_dump(mode="json")
        jsonschema.validate(data, called.output_schema)
        assert [left for line in outcome.lines for left in english_in(line)] == []
        return Answer(data, "\n".join(line.in_language("en") for line in outcome.lines))

    async def terminal(self, id: str, attributes: Mapping[str, str] | None = None) -> None:
        data = {VERIFIES: "1", "shell": "bash", "cwd": "/home/x", **(attributes or {})}
        await self.service.begin(id, parent="", at_ms=self.next_ms(), attributes=data)
        self.service.connected(id)

    async def person(self, id: str, text: str = "accepted") -> Person:
        await self.terminal(id)
        person = Person(self.wrappers, text)
        self.wrappers.register_link(id, person)
        return person

    async def ran(
        self, terminal: str, line: str, output: bytes, exit_code: int, cwd: str = "/home/x", suffix: str = ""
    ) -> RecordedCommand:
        await self.service.command_began(terminal, self.next_ms(), line)
        await self.service.record(terminal, "output", self.next_ms(), output)
        return await self._ended(terminal, line, exit_code, cwd, suffix)

    async def printed(self, terminal: str, output: bytes) -> None:
        await self.service.record(terminal, "output", self.next_ms(), output)

    async def finish(self, terminal: str, exit_code: int) -> RecordedCommand:
        running = self.service.terminal(terminal).running
        assert running is not None
        return await self._ended(terminal, running.line, exit_code, "/home/x", "")

    async def _ended(self, terminal: str, line: str, exit_code: int, cwd: str, suffix: str) -> RecordedCommand:
        at_ms = self.next_ms()
        result = CommandReport(
            id=self.next_id(terminal, suffix), terminal=terminal, line=line, cwd=cwd,
            started_ms=at_ms - 5, ended_ms=at_ms, exit_code=exit_code,
        )  # fmt: skip
        self._ended_count += 1
        return await self.service.command_ended(result)


@asynccontextmanager
async def opened(tmp_path: Path, redactor: Redactor | None = None) -> AsyncIterator[Bench]:
    store, workspace = CommandStore(), tmp_path / "project"
    workspace.mkdir()
    async with (
        Journal.open(tmp_path / "journal", stores=[store]) as journal,
        TerminalService.open(journal, store, tmp_path / "index", redactor=redactor or Redactor()) as service,
    ):
        yield Bench(service, workspace, redactor or Redactor())
