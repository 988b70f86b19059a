"""The real MCP server at a real socket, in a thread of the test, with tools that a test can observe and block."""

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
from dragoman.access.request_guard import AllowedNames
from dragoman.access.tokens import AccessLinks, Tokens
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.paths import Paths
from dragoman.io.net.http_server import HttpServer
from dragoman.io.net.tcp_listener import bind_tcp
from dragoman.io.net.unix_socket import bind_private_socket
from dragoman.journal import Journal
from dragoman.protocols.control import Hello
from dragoman.servers.control.server import ControlServer, RoleHandler
from dragoman.servers.mcp.client_options import ClientOptions
from dragoman.servers.mcp.http_endpoint import McpHttpEndpoint
from dragoman.servers.mcp.stdio_endpoint import McpEndpoint
from dragoman.tools import Effects, Tool, ToolOutcome, ToolRegistry
from dragoman.tools.tool import Parameters, Result
from dragoman.workspace.caller import Caller
from tests.servers.mcp.http_clients import Wire


class Size(Parameters):
    size: int = 0


class Text(Result):
    text: str


@dataclass
class Serving:
    """What the operations have seen."""

    links: AccessLinks
    callers: list[Caller] = field(default_factory=list)
    entered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    cancelled: threading.Event = field(default_factory=threading.Event)
    most_at_once: int = 0
    at_once: int = 0

    def toolbox(self) -> ToolRegistry:
        runs: dict[str, Callable[[Caller, Size], Awaitable[ToolOutcome]]] = {
            "large": self._large, "wait": self._wait, "fail": self._fail, "refuse": self._refuse, "odd": self._odd,
        }  # fmt: skip
        return ToolRegistry(Tool(name, name, name, Size, Text, run, Effects()) for name, run in runs.items())

    async def _large(self, caller: Caller, wanted: Size) -> ToolOutcome:
        self.callers.append(caller)
        return ToolOutcome([localize("{text}", text="x" * 10)], Text(text="x" * wanted.size))

    async def _wait(self, _: Caller, __: Size) -> ToolOutcome:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.entered.release()
        try:
            await anyio.sleep_forever()
        finally:
            self.at_once -= 1
            self.cancelled.set()
        raise AssertionError

    async def _fail(self, _: Caller, __: Size) -> ToolOutcome:
        raise RuntimeError("a secret of the inside")

    async def _refuse(self, _: Caller, __: Size) -> ToolOutcome:
        raise DragomanError(
            "journal_closed", localize("No daemon is running."), hint=localize("Start one with `dragoman up`.")
        )

    async def _odd(self, _: Caller, __: Size) -> ToolOutcome:
        return ToolOutcome([localize("{text}", text="a\ud800b\0\u2028")], Text(text="\udcff\n"))


@contextlib.contextmanager
def closing_at_once(paths: Paths) -> Iterator[list[Hello]]:
    """A daemon whose face is broken: it lets a client in and ends the conversation before it has begun."""
    met: list[Hello] = []

    async def leave(hello: Hello, _: ByteStream, __: bytes) -> None:
        met.append(hello)

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_listening(paths, leave)):
        yield met


@contextlib.contextmanager
def serving(paths: Paths) -> Iterator[Serving]:
    shown = Serving(AccessLinks(Tokens(paths.tokens_folder)))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_served(paths, shown)):
        yield shown


@contextlib.asynccontextmanager
async def _served(paths: Paths, shown: Serving) -> AsyncIterator[None]:
    async with Journal.open(paths.journal_folder) as journal:
        door = McpEndpoint(shown.toolbox(), journal, shown.links, __version__, defaults=ClientOptions(("all",)))
        async with _listening(paths, door):
            yield


@contextlib.contextmanager
def serving_http(paths: Paths) -> Iterator[tuple[Serving, Wire]]:
    """The same operations behind `/mcp`, without a daemon around it."""
    tokens = Tokens(paths.tokens_folder)
    shown = Serving(AccessLinks(tokens))
    with (
        start_blocking_portal() as portal,
        bind_tcp("127.0.0.1", 0) as listener,
        portal.wrap_async_context_manager(_served_over_http(paths, shown, listener)),
    ):
        yield shown, Wire(listener.getsockname()[1], tokens.of("mcp"))


@contextlib.asynccontextmanager
async def _served_over_http(paths: Paths, shown: Serving, listener: socket.socket) -> AsyncIterator[None]:
    async with Journal.open(paths.journal_folder) as journal, anyio.create_task_group() as group:
        door = McpEndpoint(shown.toolbox(), journal, shown.links, __version__, defaults=ClientOptions(("all",)))
        http = McpHttpEndpoint(door, AllowedNames.of("127.0.0.1", listener.getsockname()[1]), paths.state)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await http(await Request(scope, receive).body(), scope, receive, send)

        group.start_soon(http.run)
        group.start_soon(HttpServer(app).serve_on, listener)
        yield
        http.end()
        group.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def _listening(paths: Paths, role: RoleHandler) -> AsyncIterator[None]:
    async with anyio.create_task_group() as group:
        with bind_private_socket(paths.socket) as listener:
            group.start_soon(ControlServer(__version__, {}, {"mcp": role}).serve, listener)
            yield
            group.cancel_scope.cancel()
