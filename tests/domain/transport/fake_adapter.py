"""The other end of a driver: an adapter that does exactly what a test tells it, over a real socket."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from dragoman.transport.dap_driver import DapDriver
from dragoman.transport.dap_events import Delivered
from dragoman.transport.streams import TcpStream
from dragoman.wire import dap
from tests.daemons import PATIENCE


class FakeAdapter:
    def __init__(self, stream: TcpStream) -> None:
        self.stream = stream
        self.connection = dap.Connection()
        self._backlog: list[dap.ConnectionEvent] = []

    async def next(self) -> dap.ConnectionEvent:
        with anyio.fail_after(10 * PATIENCE):
            while not self._backlog:
                self.connection.receive_data(await self.stream.receive())
                self._backlog += self.connection.events()
        return self._backlog.pop(0)

    async def next_request(self) -> dap.Request:
        got = await self.next()
        assert isinstance(got, dap.RequestReceived)
        return got.message

    async def answer(self, request: dap.Request, body: Any = None, **more: Any) -> None:
        await self.stream.send(self.connection.send_response(request, body or {}, **more))

    async def event(self, name: str, body: Any = None) -> None:
        await self.stream.send(self.connection.send_event(name, body or {}))


class Heard:
    """What the driver's owner was given; it can be held up."""

    def __init__(self) -> None:
        self.events: list[Delivered] = []
        self.go_on = anyio.Event()
        self.go_on.set()
        self.requests: list[str] = []

    async def on_events(self, batch: Sequence[Delivered]) -> None:
        await self.go_on.wait()
        self.events += batch

    async def on_request(self, request: dap.Request) -> Any:
        self.requests.append(request.command)
        return {"processId": 1}

    @property
    def names(self) -> list[str]:
        return [event.event for event in self.events if isinstance(event, dap.Event)]


@asynccontextmanager
async def driven(heard: Heard) -> AsyncIterator[tuple[DapDriver, FakeAdapter]]:
    ours, theirs = socket.socketpair()
    adapter = FakeAdapter(TcpStream(theirs))
    driver = DapDriver(TcpStream(ours), on_events=heard.on_events, on_request=heard.on_request)
    async with anyio.create_task_group() as group:
        group.start_soon(driver.run)
        try:
            yield driver, adapter
        finally:
            group.cancel_scope.cancel()
            await adapter.stream.aclose()
