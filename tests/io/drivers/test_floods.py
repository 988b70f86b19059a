"""No peer delays the event loop: floods of tiny messages, one huge message, crumbs and deep nesting at every pump."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator

import anyio
import pytest

from dragoman.core.errors import RemoteProtocolError
from dragoman.io import event_loop
from dragoman.io.drivers.dap_adapter_driver import DapAdapterDriver
from dragoman.io.drivers.dap_editor_driver import DapEditorDriver
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver
from dragoman.io.drivers.omnish_driver import OmnishDriver
from dragoman.io.net.streams import TcpStream
from dragoman.protocols.dap.messages import decode_message
from dragoman.protocols.luapanda.framing import read_message as read_lua_message
from dragoman.protocols.omnish import BASE_REVISION, OmnishFrame, encode_frame
from dragoman.protocols.omnish.messages import Ack
from dragoman.servers.mcp.messages import read_messages
from tests.daemons import PATIENCE
from tests.io.drivers.fake_adapter import DriverOwner
from tests.machine import ready_s

MAX_LAG_S = 0.25
MB = 1 << 20

Pump = Callable[[TcpStream], Awaitable[object]]


async def worst_lag_s(pump: Pump, flood: bytes, *, piece: int = MB) -> float:
    """How late a timer beside the pump was at worst, without what the machine gave to others meanwhile."""
    near, far = socket.socketpair()
    worst = 0.0

    async def measure() -> None:
        nonlocal worst
        while True:
            crowded, due = ready_s("self"), anyio.current_time() + 0.01
            await anyio.sleep_until(due)
            worst = max(worst, anyio.current_time() - due - (ready_s("self") - crowded))

    threads = [threading.Thread(target=_write, args=(far, flood, piece)), threading.Thread(target=_drain, args=(far,))]
    with near, far:
        for thread in threads:
            thread.start()
        async with anyio.create_task_group() as group:
            group.start_soon(measure)
            with anyio.fail_after(20 * PATIENCE):
                await pump(TcpStream(near))
            await anyio.sleep(0.02)  # one more look: the last piece of work counts as well
            group.cancel_scope.cancel()
        near.close()
        for thread in threads:
            thread.join()
    return worst


def _write(far: socket.socket, flood: bytes, piece: int) -> None:
    with contextlib.suppress(OSError):
        for start in range(0, len(flood), piece):
            far.sendall(flood[start : start + piece])
        far.shutdown(socket.SHUT_WR)


def _drain(far: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while far.recv(MB):
            pass


async def omnish(stream: TcpStream) -> None:
    async def take(frame_id: int, message: object) -> None:
        assert (frame_id, message) == (1, Ack())

    driver = OmnishDriver(stream, take)
    await driver.run()


async def dap_adapter(stream: TcpStream) -> None:
    async def nothing(_: object) -> None: ...

    await DapAdapterDriver(stream, events=DriverOwner(), on_request=nothing).run()


async def dap_editor(stream: TcpStream) -> None:
    host = DapEditorDriver(stream)
    await host.run(host.respond, lambda: None)


async def luapanda(stream: TcpStream) -> None:
    async def nothing(_: object) -> None: ...

    await LuaPandaDriver(stream, on_message=nothing).run()


async def mcp(stream: TcpStream) -> None:
    async for _ in read_messages(stream, b""):
        pass


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def on_the_wire(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


EVENT = b'{"seq":1,"type":"event","event":"x","body":%b}'
DEEP = b"[" * 100_000 + b"]" * 100_000
WIDE = b"[" + b"0," * (4 * MB) + b"0]"
NOTICE = b'{"cmd":"output","info":{"logInfo":"x"}}|*|\n'

FLOODS: dict[str, tuple[Pump, bytes, int]] = {
    "omnish: zeros": (omnish, bytes(4 * MB), MB),
    "omnish: acks": (omnish, on_the_wire(encode_frame(OmnishFrame(1, Ack()), BASE_REVISION)) * 20_000, MB),
    "omnish: frames without magic": (omnish, on_the_wire(bytes(14)) * 20_000, MB),
    "omnish: one large frame": (omnish, on_the_wire(bytes(4 * MB)), MB),
    "omnish: crumbs": (omnish, on_the_wire(encode_frame(OmnishFrame(1, Ack()), BASE_REVISION)) * 500, 1),
    "adapter: empty objects": (dap_adapter, framed(b"{}") * 60_000, MB),
    "adapter: events": (dap_adapter, framed(EVENT % b"{}") * 30_000, MB),
    "adapter: deep": (dap_adapter, framed(EVENT % DEEP), MB),
    "adapter: wide": (dap_adapter, framed(EVENT % WIDE), MB),
    "adapter: crumbs": (dap_adapter, framed(EVENT % b"{}") * 100, 1),
    "editor: events": (dap_editor, framed(EVENT % b"{}") * 30_000, MB),
    "editor: requests": (dap_editor, b"".join(
        framed(b'{"seq":%d,"type":"request","command":"x"}' % number) for number in range(1, 5_000)), MB),
    "editor: deep": (dap_editor, framed(EVENT % DEEP), MB),
    "editor: wide": (dap_editor, framed(EVENT % WIDE), MB),
    "lua: notices": (luapanda, NOTICE * 30_000, MB),
    "lua: deep": (luapanda, b'{"cmd":"output","info":%b}|*|\n' % DEEP, MB),
    "lua: wide": (luapanda, b'{"cmd":"output","info":{"a":%b}}|*|\n' % WIDE, MB),
    "mcp: empty lines": (mcp, b"\n" * 200_000, MB),
    "mcp: empty objects": (mcp, b"{}\n" * 5_000, MB),
    "mcp: notifications": (mcp, b'{"jsonrpc":"2.0","method":"x"}\n' * 10_000, MB),
    "mcp: deep": (mcp, DEEP + b"\n", MB),
    "mcp: a batch": (mcp, b"[" + b"{}," * 20_000 + b"{}]\n", MB),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def heap_of_a_daemon() -> Iterator[None]:
    """Collecting what thousands of tests of this process left takes most of a second, which no daemon's heap does."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.anyio
@pytest.mark.parametrize("name", FLOODS)
async def test_no_flood_delays_the_loop(name: str) -> None:
    pump, flood, piece = FLOODS[name]
    lag = await worst_lag_s(pump, flood, piece=piece)
    assert lag < MAX_LAG_S


@pytest.mark.anyio
async def test_a_pump_that_never_yields_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "SLICE_S", 1e9)
    batch = b"[" + b"{}," * 20_000 + b"{}]\n"
    assert await worst_lag_s(mcp, batch) > 0.08


@pytest.mark.parametrize("item", [b'{"name":"","value":"","type":""}', rb'{"\\":"\\","a\\":"\\","b\\":"\\"}'])
@pytest.mark.parametrize("decode", [read_lua_message, decode_message])
def test_a_message_of_too_many_parts_is_refused_unread(decode: Callable[[bytes], object], item: bytes) -> None:
    """A backslash before the quote that ends a text does not hide it."""
    items = b",".join([item] * 400_000)
    with pytest.raises(RemoteProtocolError, match="too many parts"):
        decode(b'{"seq":1,"type":"response","cmd":"x","body":{"variables":[%b]}}' % items)
