"""The other end of a driver: an adapter scripted by the test, over a real socket."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from dragoman.core.errors import RemoteProtocolError
from dragoman.io.drivers.dap_adapter_driver import DapAdapterDriver
from dragoman.io.net.streams import TcpStream
from dragoman.protocols import dap
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


class DriverOwner:
    """What the driver's owner was given; it can be full."""

    def __init__(self) -> None:
        self.events: list[dap.Event] = []
        self.omitted = 0
        self.room = 1_000_000
        self.requests: list[str] = []
        self._changed = anyio.Event()

    @property
    def is_full(self) -> bool:
        return len(self.events) >= self.room

    def handle_event(self, event: dap.Event, size: int, *, may_omit: bool) -> None:
        if may_omit and event.event == "output" and self.is_full:
            self.omitted += 1
        elif len(self.events) >= 2 * self.room:
            raise RemoteProtocolError("too_many_events", "too many")
        else:
            self.events.append(event)

    async def wait_for_change(self) -> None:
        self._changed = anyio.Event()
        await self._changed.wait()

    def wake(self) -> None:
        self._changed.set()

    async def on_request(self, request: dap.Request) -> Any:
        self.requests.append(request.command)
        return {"processId": 1}

    @property
    def names(self) -> list[str]:
        return [event.event for event in self.events]


@asynccontextmanager
async def driven(result: DriverOwner) -> AsyncIterator[tuple[DapAdapterDriver, FakeAdapter]]:
    ours, theirs = socket.socketpair()
    adapter = FakeAdapter(TcpStream(theirs))
    driver = DapAdapterDriver(TcpStream(ours), events=result, on_request=result.on_request)
    async with anyio.create_task_group() as group:
        group.start_soon(driver.run)
        try:
            yield driver, adapter
        finally:
            group.cancel_scope.cancel()
            await adapter.stream.aclose()
