"""An adapter that somebody else started, perhaps elsewhere, and that lies: nothing here runs or is reached for it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.errors import RemoteProtocolError
from dragoman.debug.backends.adapters.adapter_process import ExternalAdapter
from dragoman.debug.backends.adapters.dap_backend import DapBackend
from dragoman.debug.backends.adapters.spec import AdapterSpec, Address, LaunchContext
from dragoman.io.net.streams import TcpStream
from dragoman.io.processes.command import ProcessCommand
from dragoman.io.processes.nodelay import NoDelayScheduler
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.protocols.dap import Response, ResponseReceived
from tests.daemons import PATIENCE
from tests.io.drivers.fake_adapter import FakeAdapter

pytestmark = pytest.mark.anyio


class Elsewhere:
    """A port where every call is taken."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self.calls: list[socket.socket] = []
        self._called = anyio.Event()

    async def take_calls(self) -> None:
        while True:
            await anyio.wait_readable(self._listener)
            self.calls.append(self._listener.accept()[0])
            self._called.set()

    async def adapter(self) -> FakeAdapter:
        with anyio.fail_after(10 * PATIENCE):
            await self._called.wait()
        return FakeAdapter(TcpStream(self.calls[0]))

    def close(self) -> None:
        for open_socket in (self._listener, *self.calls):
            open_socket.close()


@pytest.fixture
async def elsewhere() -> AsyncIterator[Elsewhere]:
    made = Elsewhere()
    async with anyio.create_task_group() as group:
        group.start_soon(made.take_calls)
        yield made
        group.cancel_scope.cancel()
    made.close()


def spec_for(port: int) -> AdapterSpec:
    """`connect` means one that listens already; without it a program of ours is started."""
    return AdapterSpec(
        name="lying",
        types=frozenset({"lying"}),
        adapter_id="lying",
        transport="tcp",
        command=lambda _: ProcessCommand(["/bin/false"], {}, Path("/")),
        arguments=lambda it: dict(it.arguments),
        running_adapter=lambda _: Address("127.0.0.1", port),
    )


@asynccontextmanager
async def attached(elsewhere: Elsewhere, ran: list[Mapping[str, Any]], tmp_path: Path) -> AsyncIterator[FakeAdapter]:
    async def terminal(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        ran.append(arguments)
        return {}

    arguments = {"console": "integratedTerminal"}
    situation = LaunchContext("attach", arguments, {}, tmp_path, terminal=terminal)
    async with SupervisorPool() as supervisors, anyio.create_task_group() as group:
        opened = await DapBackend.open(supervisors, NoDelayScheduler(group), group, spec_for(elsewhere.port), situation)
        adapter = await elsewhere.adapter()
        yield adapter
        await adapter.stream.aclose()
        await opened.end()
        group.cancel_scope.cancel()


async def answered(adapter: FakeAdapter, command: str, arguments: dict[str, Any]) -> Response:
    await adapter.stream.send(adapter.connection.send_request(command, arguments))
    got = await adapter.next()
    assert isinstance(got, ResponseReceived)
    return got.message


async def test_it_gets_no_command_run_in_the_editors_terminal(elsewhere: Elsewhere, tmp_path: Path) -> None:
    ran: list[Mapping[str, Any]] = []
    async with attached(elsewhere, ran, tmp_path) as adapter:
        asked = {"cwd": str(tmp_path), "args": ["touch", str(tmp_path / "owned")]}
        assert not (await answered(adapter, "runInTerminal", asked)).success
    assert ran == []
    assert not (tmp_path / "owned").exists()


async def test_it_cannot_have_another_host_spoken_to(elsewhere: Elsewhere) -> None:
    """127.0.0.2 is this machine too, and nobody listens there: the call goes to the adapter's own host."""
    place = ExternalAdapter(Address("127.0.0.1", elsewhere.port), frozenset())
    stream = await place.connect({"connect": {"host": "127.0.0.2", "port": elsewhere.port}})
    await stream.aclose()
    assert len(elsewhere.calls) == 1


@pytest.mark.parametrize("port", [None, "x", -1, 0, 65536, "", [], 1.5, True, "9" * 5000])
async def test_an_invalid_port_is_a_fault_of_its_own(elsewhere: Elsewhere, port: object) -> None:
    place = ExternalAdapter(Address("127.0.0.1", elsewhere.port), frozenset())
    with pytest.raises(RemoteProtocolError):
        await place.connect({"connect": {"port": port}})
    assert elsewhere.calls == []
