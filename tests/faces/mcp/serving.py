"""The real face at a real socket, in a thread of the test: with operations that a test can see into and hold up."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import anyio
from anyio.abc import ByteStream
from anyio.from_thread import start_blocking_portal
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from dragoman import __version__
from dragoman.access.guard import OwnNames
from dragoman.access.links import Links
from dragoman.access.tokens import Tokens
from dragoman.daemon.control import ControlServer, TakeOver
from dragoman.errors import DragomanError
from dragoman.journal import Journal
from dragoman.mcp.door import Door
from dragoman.mcp.http_door import HttpDoor
from dragoman.phrases import say
from dragoman.places import Places
from dragoman.tools import Caller, Effects, Operation, Outcome, Toolbox
from dragoman.tools.operation import Parameters, Result
from dragoman.transport.http_server import HttpServer
from dragoman.transport.tcp import bind_tcp
from dragoman.transport.unix_socket import bind_private_socket
from dragoman.wire.control import Hello
from tests.faces.mcp.over_http import Wire


class Size(Parameters):
    size: int = 0


class Text(Result):
    text: str


@dataclass
class Serving:
    """What the operations have seen."""

    links: Links
    callers: list[Caller] = field(default_factory=list)
    entered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    cancelled: threading.Event = field(default_factory=threading.Event)
    most_at_once: int = 0
    at_once: int = 0

    def toolbox(self) -> Toolbox:
        runs: dict[str, Callable[[Caller, Size], Awaitable[Outcome]]] = {
            "large": self._large, "wait": self._wait, "fail": self._fail, "refuse": self._refuse, "odd": self._odd,
        }  # fmt: skip
        return Toolbox(Operation(name, name, name, Size, Text, run, Effects()) for name, run in runs.items())

    async def _large(self, caller: Caller, wanted: Size) -> Outcome:
        self.callers.append(caller)
        return Outcome([say("{text}", text="x" * 10)], Text(text="x" * wanted.size))

    async def _wait(self, _: Caller, __: Size) -> Outcome:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.entered.release()
        try:
            await anyio.sleep_forever()
        finally:
            self.at_once -= 1
            self.cancelled.set()
        raise AssertionError

    async def _fail(self, _: Caller, __: Size) -> Outcome:
        raise RuntimeError("a secret of the inside")

    async def _refuse(self, _: Caller, __: Size) -> Outcome:
        raise DragomanError("journal_closed", say("No daemon is running."), hint=say("Start one with `dragoman up`."))

    async def _odd(self, _: Caller, __: Size) -> Outcome:
        return Outcome([say("{text}", text="a\ud800b\0\u2028")], Text(text="\udcff\n"))


@contextlib.contextmanager
def closing_at_once(places: Places) -> Iterator[list[Hello]]:
    """A daemon whose face is broken: it lets a client in and ends the conversation before it has begun."""
    met: list[Hello] = []

    async def leave(hello: Hello, _: ByteStream, __: bytes) -> None:
        met.append(hello)

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_listening(places, leave)):
        yield met


@contextlib.contextmanager
def serving(places: Places) -> Iterator[Serving]:
    shown = Serving(Links(Tokens(places.tokens_folder)))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_served(places, shown)):
        yield shown


@contextlib.asynccontextmanager
async def _served(places: Places, shown: Serving) -> AsyncIterator[None]:
    async with Journal.open(places.journal_folder) as journal:
        door = Door(shown.toolbox(), journal, shown.links, __version__)
        async with _listening(places, door):
            yield


@contextlib.contextmanager
def serving_http(places: Places) -> Iterator[tuple[Serving, Wire]]:
    """The same operations behind `/mcp`, without a daemon around it."""
    tokens = Tokens(places.tokens_folder)
    shown = Serving(Links(tokens))
    with (
        start_blocking_portal() as portal,
        bind_tcp("127.0.0.1", 0) as listener,
        portal.wrap_async_context_manager(_served_over_http(places, shown, listener)),
    ):
        yield shown, Wire(listener.getsockname()[1], tokens.of("mcp"))


@contextlib.asynccontextmanager
async def _served_over_http(places: Places, shown: Serving, listener: socket.socket) -> AsyncIterator[None]:
    async with Journal.open(places.journal_folder) as journal, anyio.create_task_group() as group:
        door = Door(shown.toolbox(), journal, shown.links, __version__)
        http = HttpDoor(door, OwnNames.of("127.0.0.1", listener.getsockname()[1]), places.state)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await http(await Request(scope, receive).body(), scope, receive, send)

        group.start_soon(http.run)
        group.start_soon(HttpServer(app).serve_on, listener)
        yield
        http.end()
        group.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def _listening(places: Places, role: TakeOver) -> AsyncIterator[None]:
    async with anyio.create_task_group() as group:
        with bind_private_socket(places.socket) as listener:
            group.start_soon(ControlServer(__version__, {}, {"mcp": role}).serve, listener)
            yield
            group.cancel_scope.cancel()
