"""Programs of other users at a port for Lua programs: cut off unread, reported once, allowed if a person says so."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
import pytest

from dragoman.debug.backends.luapanda import shared_ports
from dragoman.debug.backends.luapanda.shared_ports import PortLease, SharedPorts
from dragoman.io.net import peers
from dragoman.io.net.peers import NoSockDiagError, TcpPeer, is_from_allowed_user, known_uids, peer_of
from dragoman.io.net.streams import free_port
from tests.daemons import PATIENCE

NOBODY = 65534
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is"),
]
only_root = pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")

# Connects once for each line it is given, and says what became of the connection.
CALLER = """
import os, socket, sys
"localhost".encode("idna")  # loaded when a name is first looked up, from files that another user cannot read
os.setuid(USER)
for line in sys.stdin:
    with socket.create_connection((HOST, PORT), timeout=10) as link:
        link.sendall(b"hello")
        if line.strip() == "leave":
            continue
        try:
            print("closed" if not link.recv(100) else "heard", flush=True)
        except ConnectionError:
            print("closed", flush=True)
        except TimeoutError:
            print("waits", flush=True)
"""


@contextmanager
def caller(port: int, *, user: int = NOBODY, host: str = "127.0.0.1") -> Iterator[subprocess.Popen[str]]:
    program = f"HOST, PORT, USER = {host!r}, {port}, {user}\n{CALLER}"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def becomes_of(process: subprocess.Popen[str]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("stay\n")
    process.stdin.flush()
    return (await anyio.to_thread.run_sync(process.stdout.readline)).strip()


@asynccontextmanager
async def waiting(host: str = "127.0.0.1", users: frozenset[int] = frozenset()) -> AsyncIterator[tuple[PortLease, int]]:
    port = free_port()
    async with anyio.create_task_group() as group:
        lease = SharedPorts().lease(group, host, port, users=users)
        yield lease, port
        await lease.release()


@only_root
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0"])
async def test_a_program_of_another_user_is_cut_off_and_our_own_is_let_in(host: str) -> None:
    to = "::1" if host == "::1" else "127.0.0.1"
    async with waiting(host) as (lease, port):
        with caller(port, host=to) as stranger:
            assert await becomes_of(stranger) == "closed"
        assert lease.is_free
        with socket.create_connection((to, port)) as own:
            own.sendall(b"mine")
            with anyio.fail_after(10):
                stream = await lease.wait_for_connection()
                assert await stream.receive() == b"mine"
            await stream.aclose()


@only_root
async def test_without_the_check_the_same_caller_would_have_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_ports, "is_from_allowed_user", lambda *_: True)
    async with waiting() as (lease, port):
        with caller(port) as stranger:
            assert stranger.stdin is not None
            stranger.stdin.write("stay\n")
            stranger.stdin.flush()
            with anyio.fail_after(10):
                stream = await lease.wait_for_connection()
                assert await stream.receive() == b"hello"
            await stream.aclose()


@only_root
async def test_a_forwarder_that_the_settings_name_is_let_in() -> None:
    async with waiting(users=known_uids(["nobody", "no-such-user-here"])) as (lease, port):
        with caller(port) as forwarder:
            assert forwarder.stdin is not None
            forwarder.stdin.write("stay\n")
            forwarder.stdin.flush()
            with anyio.fail_after(10):
                stream = await lease.wait_for_connection()
            await stream.aclose()


@only_root
async def test_one_that_hangs_up_before_it_is_looked_at_is_not_taken_for_roots() -> None:
    """A socket that its process has closed is root's in the kernel's table, and what it sent could still be read."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with caller(listener.getsockname()[1]) as stranger:
            assert stranger.stdin is not None
            stranger.stdin.write("leave\n")
            stranger.stdin.close()
            await anyio.to_thread.run_sync(stranger.wait)
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.recv(5, socket.MSG_PEEK) == b"hello"
            assert peer_of(accepted).uid is None
            assert not is_from_allowed_user(accepted, frozenset({0}))


@only_root
async def test_a_flood_of_another_user_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    async with waiting() as (lease, port):
        with caller(port) as stranger:
            for _ in range(50):
                assert await becomes_of(stranger) == "closed"
        assert lease.refused.receive_nowait() == "nobody"
        with pytest.raises(anyio.WouldBlock):
            lease.refused.receive_nowait()
    assert len([it for it in caplog.records if "refused at the Lua port" in it.message]) == 1


@pytest.mark.parametrize(("server", "client"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1")])
async def test_where_lookups_are_not_served_the_printed_table_says_the_same(
    server: str, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with (
        socket.create_server((server, 0), family=family, dualstack_ipv6=server == "::") as listener,
        socket.create_connection((client, listener.getsockname()[1])) as link,
    ):
        accepted, _ = listener.accept()
        with accepted:
            found = [(peer_of(link), peer_of(accepted))]
            monkeypatch.setattr(peers, "find_socket", _not_served)
            found.append((peer_of(link), peer_of(accepted)))
    own = TcpPeer(os.getuid())
    assert found == [(own, own), (own, own)]


async def test_a_caller_that_no_table_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_socket", lambda *_, **__: None)
    async with waiting() as (lease, port):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as own:
            assert await anyio.to_thread.run_sync(own.recv, 1) == b""
        assert lease.is_free


async def test_a_look_is_quick_among_many_connections() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        links = [socket.create_connection(listener.getsockname()) for _ in range(400)]
        accepted = [listener.accept()[0] for _ in links]
        began = anyio.current_time()
        assert all(is_from_allowed_user(it) for it in accepted)
        took_ms = (anyio.current_time() - began) * 1000 / len(links)
        print(f"one look among {2 * len(links)} sockets: {took_ms:.3f} ms")
        for link in (*links, *accepted):
            link.close()
    assert took_ms < 5 * PATIENCE


def _not_served(*_: object, **__: object) -> None:
    raise NoSockDiagError(1, "not served")
