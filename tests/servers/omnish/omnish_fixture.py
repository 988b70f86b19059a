"""The omnish server over fakes: a record in memory that can be slow or refuse, and scripted answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread

from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language, localize
from dragoman.io.net.unix_socket import bind_private_socket
from dragoman.protocols.omnish import BASE_REVISION, Schema
from dragoman.servers.omnish.connection import OmnishServices
from dragoman.servers.omnish.server import OmnishServer
from dragoman.servers.omnish.services import TerminalScope
from dragoman.terminal.consent import ConsentBroker
from dragoman.terminal.model import CommandReport, TerminalNotice
from tests.servers.omnish.client import Client

TOKEN = "the-token"


class Suggestion(NamedTuple):
    text: str
    confidence: float


@dataclass
class MemoryRecord:
    """Keeps what it was told, in order."""

    reported: list[tuple[Any, ...]] = field(default_factory=list)
    live: set[str] = field(default_factory=set)
    may_take: anyio.Event | None = None
    waiting: int = 0
    held: set[str] = field(default_factory=set)
    is_broken: bool = False
    reopened: int = 0

    async def _keep(self, *what: Any) -> None:
        if self.is_broken:
            raise DragomanError("disk_full", localize("The disk is full: cannot write {path}.", path="x"))
        if self.may_take is not None:
            self.waiting += 1
            try:
                await self.may_take.wait()
            finally:
                self.waiting -= 1
        self.reported.append(what)

    async def begin(
        self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str], reopens: bool = True
    ) -> None:
        self.reopened += reopens
        await self._keep("begin", terminal_id, parent, at_ms, dict(attributes))

    async def record(self, terminal_id: str, kind: str, at_ms: int, data: bytes) -> None:
        await self._keep(kind, terminal_id, at_ms, data)

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None:
        await self._keep("command", terminal_id, at_ms, line)

    async def command_ended(self, reported: CommandReport) -> None:
        await self._keep("ended", reported)

    async def notice(self, terminal_id: str, at_ms: int, notice: TerminalNotice) -> None:
        await self._keep("notice", terminal_id, at_ms, notice)

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None:
        await self._keep("end", terminal_id, at_ms, exit_code)

    def holds(self, terminal_id: str) -> bool:
        return terminal_id in self.held

    def connected(self, terminal_id: str) -> None:
        self.live.add(terminal_id)

    def disconnected(self, terminal_id: str) -> None:
        self.live.discard(terminal_id)

    def output(self, terminal_id: str) -> bytes:
        return b"".join(it[3] for it in self.reported if it[:2] == ("output", terminal_id))


@dataclass
class ScriptedAnswers:
    script: Callable[[str], AsyncGenerator[str, None]]
    asked: list[tuple[str, TerminalScope, str]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    languages: list[Language] = field(default_factory=list)

    async def stream(
        self, query: str, *, scope: TerminalScope, asking: str, language: Language
    ) -> AsyncGenerator[str, None]:
        self.asked.append((query, scope, asking))
        self.languages.append(language)
        try:
            async for piece in self.script(query):
                yield piece
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(query)
            raise


async def two_pieces(query: str) -> AsyncGenerator[str, None]:
    yield f"about {query}: "
    yield "it failed"


@dataclass
class HeldCompletions:
    """Answers only when it may."""

    may_answer: anyio.Event = field(default_factory=anyio.Event)
    asked: list[tuple[str, int, str, str]] = field(default_factory=list)

    async def suggest(self, text: str, cursor: int, *, terminal: str, cwd: str) -> Sequence[Suggestion]:
        self.asked.append((text, cursor, terminal, cwd))
        await self.may_answer.wait()
        return [Suggestion(f"{text} --more", 0.5)]


@dataclass
class OmnishUnderTest:
    path: Path
    record: MemoryRecord
    answers: ScriptedAnswers
    completions: HeldCompletions
    wrappers: ConsentBroker
    server: OmnishServer

    @contextlib.asynccontextmanager
    async def client(self, schema: Schema = BASE_REVISION) -> AsyncIterator[AwaitedClient]:
        client = await anyio.to_thread.run_sync(Client, self.path, schema)
        with client:
            yield AwaitedClient(client)


class AwaitedClient:
    """The same client, beside the face's own event loop."""

    def __init__(self, client: Client) -> None:
        self.blocking = client

    async def ask(self, message: object) -> Any:
        return await anyio.to_thread.run_sync(self.blocking.ask, message)

    async def send(self, message: object) -> int:
        return await anyio.to_thread.run_sync(self.blocking.send, message)

    async def reply_to(self, frame_id: int) -> Any:
        return await anyio.to_thread.run_sync(self.blocking.reply_to, frame_id)

    async def next(self) -> Any:
        return await anyio.to_thread.run_sync(self.blocking.next)

    async def push(self) -> Any:
        return await anyio.to_thread.run_sync(self.blocking.push)

    async def is_closed(self) -> bool:
        return await anyio.to_thread.run_sync(self.blocking.is_closed)


@contextlib.asynccontextmanager
async def standing(
    folder: Path, script: Callable[[str], AsyncGenerator[str, None]] = two_pieces
) -> AsyncIterator[OmnishUnderTest]:
    record, answers, completions, wrappers = MemoryRecord(), ScriptedAnswers(script), HeldCompletions(), ConsentBroker()
    services = OmnishServices(record, answers, completions, wrappers, accepts_token=TOKEN.__eq__, version="1.2.3")
    server, path = OmnishServer(services), folder / "run" / "s"
    with bind_private_socket(path) as listener:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, listener)
            yield OmnishUnderTest(path, record, answers, completions, wrappers, server)
            group.cancel_scope.cancel()
