"""Servers of other users on this machine: neither a gateway's token nor a model's key goes to them unasked."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import pytest

from dragoman.chat.gateway_client.client import GatewayAddress, GatewayClient
from dragoman.chat.gateway_client.connection_status import GatewayStatus
from dragoman.chat.gateway_client.identity import DeviceIdentity
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.settings.schema import Settings
from dragoman.io.net import trusted_servers as net_trusted_servers
from dragoman.io.net.streams import is_trusted_owner, owner_of
from dragoman.io.net.trusted_servers import server_address
from dragoman.io.net.websocket_client import WebSocketRefusedError, open_websocket
from dragoman.models.interface import ModelRequest, Turn
from dragoman.models.selection import select_model
from tests.chat.gateway_client.scripted_connection import until

NOBODY = 65534
SECRET = "secret-7f3a9b"
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is"),
]
only_root = pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")

# Completes a WebSocket handshake where one is asked for, and writes down whatever it is sent.
SERVER = """
import base64, hashlib, os, re, socket
listener = socket.create_server(("127.0.0.1", 0))
os.setuid(USER)
print(listener.getsockname()[1], flush=True)
while True:
    link, _ = listener.accept()
    link.settimeout(0.3)
    heard = b""
    try:
        while piece := link.recv(65536):
            heard += piece
            key = re.search(rb"Sec-WebSocket-Key: (\\S+)", heard)
            if key and heard.endswith(b"\\r\\n\\r\\n"):
                if MOVED:
                    link.sendall(b"HTTP/1.1 302 Found\\r\\nLocation: " + MOVED + b"\\r\\nContent-Length: 0\\r\\n\\r\\n")
                    continue
                made = base64.b64encode(hashlib.sha1(key[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
                link.sendall(b"HTTP/1.1 101 x\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                             b"Sec-WebSocket-Accept: " + made + b"\\r\\n\\r\\n")
                challenge = b'{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":1}}'
                link.sendall(bytes([0x81, len(challenge)]) + challenge)
    except OSError:
        pass
    print(len(heard), int(SECRET in heard), flush=True)
"""


@contextmanager
def served_by(user: int, *, moved: str = "") -> Iterator[tuple[int, Callable[[], tuple[int, bool]]]]:
    """The port of a server of that user; then, of each connection, how many bytes it was sent and if the secret was."""
    program = f"USER, MOVED, SECRET = {user}, {moved.encode()!r}, {SECRET.encode()!r}\n{SERVER}"

    def sent() -> tuple[int, bool]:
        count, has_secret = process.stdout.readline().split()  # type: ignore[union-attr]
        return int(count), has_secret == "1"

    with subprocess.Popen([sys.executable, "-I", "-c", program], stdout=subprocess.PIPE, text=True) as process:
        out = process.stdout
        assert out is not None
        try:
            yield int(out.readline()), sent
        finally:
            process.kill()


@asynccontextmanager
async def gateway_client(
    port: int, folder: Path, trusted: Callable[[], Sequence[str]]
) -> AsyncIterator[tuple[GatewayClient, list[GatewayStatus]]]:
    received: list[GatewayStatus] = []
    gateway = GatewayAddress(f"ws://user:{SECRET}@127.0.0.1:{port}/?token={SECRET}", SECRET)
    client = GatewayClient(
        gateway,
        DeviceIdentity(folder),
        SystemClock(),
        lambda url: open_websocket(url, trusted=trusted),
        on_status=received.append,
        on_event=lambda _: None,
    )
    async with anyio.create_task_group() as group:
        group.start_soon(client.run)
        client.connect()
        yield client, received
        group.cancel_scope.cancel()


async def settled(result: list[GatewayStatus]) -> GatewayStatus:
    await until(lambda: bool(result) and result[-1].code in {"foreign_server", "connection_lost"}, within_s=20)
    return result[-1]


@only_root
async def test_a_gateway_of_another_user_is_sent_nothing_and_the_way_to_allow_it_is_reported(tmp_path: Path) -> None:
    with served_by(NOBODY) as (port, sent):
        async with gateway_client(port, tmp_path, list) as (_, result):
            standing = await settled(result)
            assert (standing.state, standing.code) == ("paused", "foreign_server")
            assert f"config set trusted_servers '127.0.0.1:{port} nobody'" in str(standing.hint)
            assert SECRET not in f"{standing.reason} {standing.hint}"
        assert await anyio.to_thread.run_sync(sent) == (0, False)


@only_root
@pytest.mark.parametrize("user", ["nobody", str(NOBODY)])
async def test_one_that_a_person_trusts_is_spoken_to(tmp_path: Path, user: str) -> None:
    with served_by(NOBODY) as (port, sent):
        async with gateway_client(port, tmp_path, lambda: [f"127.0.0.1:{port} {user}"]) as _:
            assert (await anyio.to_thread.run_sync(sent))[1]


@only_root
@pytest.mark.parametrize("entry", ["127.0.0.1:1 nobody", "127.0.0.1:{port} daemon", "localhost:{port} nobody"])
async def test_trust_is_for_that_address_and_that_user(tmp_path: Path, entry: str) -> None:
    with served_by(NOBODY) as (port, sent):
        async with gateway_client(port, tmp_path, lambda: [entry.format(port=port)]) as (_, result):
            assert (await settled(result)).code == "foreign_server"
        assert await anyio.to_thread.run_sync(sent) == (0, False)


@only_root
async def test_without_the_check_it_would_be_sent_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net_trusted_servers, "is_trusted_owner", lambda *_: True)
    with served_by(NOBODY) as (port, sent):
        async with gateway_client(port, tmp_path, list):
            assert (await anyio.to_thread.run_sync(sent))[1]


async def test_a_server_of_our_own_is_spoken_to(tmp_path: Path) -> None:
    with served_by(os.getuid()) as (port, sent):
        async with gateway_client(port, tmp_path, list):
            assert (await anyio.to_thread.run_sync(sent))[1]


@only_root
async def test_a_redirect_to_another_users_server_is_not_followed() -> None:
    with (
        served_by(NOBODY) as (foreign, _),
        served_by(0, moved=f"ws://127.0.0.1:{foreign}/") as (port, _),
        pytest.raises(WebSocketRefusedError),
    ):
        await open_websocket(f"ws://127.0.0.1:{port}/").__aenter__()


def model(port: int, key: str, trusted: Sequence[str] = ()) -> Settings:
    return Settings(
        model="openai",
        model_name="small",
        model_address=f"http://127.0.0.1:{port}/v1",
        model_key_variable="OUR_KEY" if key else "",
        trusted_servers=list(trusted),
    )


async def asked(settings: Settings) -> str:
    chosen = select_model(settings, {"OUR_KEY": SECRET})
    assert chosen is not None
    question = ModelRequest(system="", turns=(Turn(role="user", text="why?"),), silence_s=5.0)
    async with aclosing(chosen.stream(question)) as deltas:
        with anyio.fail_after(20), pytest.raises(DragomanError) as caught:
            await anext(deltas)
    return caught.value.code


@only_root
async def test_a_model_of_another_user_gets_no_key_until_a_person_trusts_it() -> None:
    with served_by(NOBODY) as (port, sent):
        assert await asked(model(port, SECRET)) == "foreign_server"
        assert await anyio.to_thread.run_sync(sent) == (0, False)
        assert await asked(model(port, SECRET, [f"127.0.0.1:{port} nobody"])) != "foreign_server"
        assert (await anyio.to_thread.run_sync(sent))[1]


@only_root
async def test_a_model_without_a_key_may_be_anybodys() -> None:
    with served_by(NOBODY) as (port, sent):
        assert await asked(model(port, "")) != "foreign_server"
        assert (await anyio.to_thread.run_sync(sent))[0] > 0


async def test_one_that_hangs_up_at_once_is_nobodys() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        link = socket.create_connection(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        accepted.close()
        with link:
            assert not is_trusted_owner(await owner_of(link))


def test_an_address_is_reported_with_its_port() -> None:
    entries = [server_address(it) for it in ("ws://Localhost", "wss://[::1]/x", "http://u:p@127.0.0.1:11434/v1")]
    assert entries == ["localhost:80", "[::1]:443", "127.0.0.1:11434"]
