"""TCP_NODELAY from outside, and who is at the other end of a connection: on real processes and sockets."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.net.peers import TcpPeer, has_foreign_listener, is_caller_allowed, listeners, peer_of
from dragoman.io.net.streams import connect_tcp
from dragoman.io.processes import nodelay
from dragoman.io.processes.nodelay import NoDelaySetter, nodelay_unavailable_reason
from tests.daemons import eventually
from tests.io.processes.supervised_support import open_descriptors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets sockets be reached from outside")

# Answers each byte with two small writes, the second of which waits for the acknowledgement of the first.
SERVER = """
import socket
family = socket.AF_INET6 if ":" in HOST else socket.AF_INET
listener = socket.create_server((HOST, 0), family=family, dualstack_ipv6=HOST == "::")
print(listener.getsockname()[1], flush=True)
peer, _ = listener.accept()
while order := peer.recv(1):
    if order == b"?":
        peer.send(b"%d" % peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
    else:
        peer.send(b"head"); peer.send(b"body")
"""


@contextmanager
def served(host: str = "127.0.0.1", *, before: str = "") -> Iterator[tuple[int, int]]:
    """The pid of a server process, and its port."""
    command = [sys.executable, "-I", "-S", "-c", f"{before}\nHOST = {host!r}\n{SERVER}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def exchange_s(link: socket.socket, rounds: int = 8) -> float:
    """One byte there, eight back, with acknowledgements as lazy as they are by default."""
    began = time.monotonic()
    for _ in range(rounds):
        link.send(b".")
        received = b""
        while len(received) < 8:
            received += link.recv(8)
    return (time.monotonic() - began) / rounds


def asked(link: socket.socket) -> int:
    link.send(b"?")
    return int(link.recv(1))


def test_the_option_is_set_in_another_process() -> None:
    with served() as (pid, port), socket.create_connection(("127.0.0.1", port)) as link:
        exchange_s(link, 1)
        assert asked(link) == 0
        before = exchange_s(link)
        assert NoDelaySetter().set_nodelay([pid]) == 2, "the listener and the connection"
        assert asked(link) == 1
        after = exchange_s(link)
        print(f"a message in two writes: {before * 1000:.2f} ms before, {after * 1000:.2f} ms after")


def test_a_connection_accepted_later_is_cured_by_its_listener() -> None:
    with served() as (pid, port):
        assert NoDelaySetter().set_nodelay([pid]) == 1
        with socket.create_connection(("127.0.0.1", port)) as link:
            assert asked(link) == 1


def test_what_was_looked_at_is_not_looked_at_again() -> None:
    with served() as (pid, port):
        set_nodelay = NoDelaySetter()
        assert set_nodelay.set_nodelay([pid]) == 1
        assert set_nodelay.set_nodelay([pid]) == 0
        with socket.create_connection(("127.0.0.1", port)) as link:
            exchange_s(link, 1)
            assert set_nodelay.set_nodelay([pid]) == 1
            assert set_nodelay.set_nodelay([pid]) == 0


def test_other_sockets_and_gone_processes_are_passed_over_and_nothing_leaks() -> None:
    others = "import socket; pair = socket.socketpair(); datagrams = socket.socket(type=socket.SOCK_DGRAM)"
    with served(before=others) as (pid, _):
        before = open_descriptors()
        assert NoDelaySetter().set_nodelay([pid, 2**22 - 1, 0]) == 1
        assert open_descriptors() == before
    assert NoDelaySetter().set_nodelay([pid]) == 0


def test_a_look_at_four_processes_takes_little() -> None:
    with served() as (a, _), served() as (b, _), served() as (c, _), served() as (d, _):
        set_nodelay = NoDelaySetter()
        assert set_nodelay.set_nodelay([a, b, c, d]) == 4
        fastest_s = min(timed(lambda: set_nodelay.set_nodelay([a, b, c, d])) for _ in range(50))
    print(f"four processes looked at again in {fastest_s * 1000:.3f} ms")
    assert fastest_s < 0.002


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def test_nothing_speaks_against_it_here() -> None:
    assert nodelay_unavailable_reason() is None


def test_yama_is_named_where_it_forbids_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = tmp_path / "ptrace_scope"
    monkeypatch.setattr(nodelay, "_YAMA", scope)
    monkeypatch.setattr(nodelay, "_may_trace_anybody", lambda: False)
    scope.write_text("1\n")
    assert nodelay_unavailable_reason() is None
    scope.write_text("2\n")
    assert str(scope) in str(nodelay_unavailable_reason())


@pytest.mark.parametrize(("code", "words"), [(38, "no pidfd_getfd"), (1, "not allow pidfd_getfd")])
def test_a_system_that_refuses_is_reported_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def refused(pidfd: int, fd: int) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(nodelay, "_duplicate", refused)
    before = open_descriptors()
    assert words in str(nodelay_unavailable_reason())
    assert open_descriptors() == before
    with served() as (pid, _):
        assert NoDelaySetter().set_nodelay([pid]) == 0


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("0.0.0.0", False), ("::", False)],
)
def test_a_listener_is_known_with_its_address(host: str, is_loopback: bool) -> None:
    with served(host) as (pid, port):
        (listener,) = listeners([pid])
        assert (listener.pid, listener.host, listener.port) == (pid, host, port)
        assert listener.is_loopback == is_loopback
        assert listeners([os.getpid(), 2**22 - 1]) == listeners([os.getpid()])


@pytest.mark.parametrize(("server", "client"), [("127.0.0.1",) * 2, ("::1",) * 2, ("::", "127.0.0.1")])
def test_the_owner_of_the_other_end_is_known_once_it_has_accepted(server: str, client: str) -> None:
    with served(server) as (_, port), socket.create_connection((client, port)) as link:
        eventually(lambda: peer_of(link) == TcpPeer(os.getuid()))


def test_a_connection_nobody_has_accepted_has_no_owner_yet() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as link:
        assert peer_of(link).is_unaccepted
        accepted, _ = listener.accept()
        with accepted:
            assert peer_of(link) == TcpPeer(os.getuid())
            assert peer_of(accepted) == TcpPeer(os.getuid())


def test_a_unix_socket_has_no_tcp_peer() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_of(ours) == TcpPeer(None)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
@pytest.mark.anyio
async def test_a_port_that_another_user_took_is_refused() -> None:
    with served(before="import os, socket; os.setuid(65534)") as (_, port):
        before = open_descriptors()
        with pytest.raises(DragomanError) as caught:
            await connect_tcp("127.0.0.1", port, deadline_s=10)
        assert caught.value.code == "foreign_peer"
        assert open_descriptors() == before


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_a_port_where_another_user_listens_is_known_before_anybody_connects() -> None:
    with served(before="import os, socket; os.setuid(65534)") as (_, foreign), served() as (_, own):
        for host in ("127.0.0.1", "localhost", ""):
            assert has_foreign_listener(host, foreign)
            assert not has_foreign_listener(host, foreign, frozenset({65534}))
            assert not has_foreign_listener(host, own)
        assert not has_foreign_listener("::1", foreign)
        with socket.create_server(("127.0.0.2", foreign)):  # ours, on another address, makes it no better
            assert has_foreign_listener("127.0.0.1", foreign)
            assert not has_foreign_listener("127.0.0.2", foreign)
    assert not has_foreign_listener("127.0.0.1", own)


CALLER = """\
link = socket.socket()
link.connect((HOST, PORT))
print(0, flush=True)
link.recv(1)
"""


def own_addresses() -> list[str]:
    """Loopback, and the one by which others reach this machine, where it has a network. Nothing is sent for that."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("203.0.113.1", 9))
        return ["127.0.0.1", "127.0.0.2", probe.getsockname()[0]]
    return ["127.0.0.1", "127.0.0.2"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
@pytest.mark.parametrize("address", own_addresses())
def test_another_user_of_this_machine_is_known_by_whichever_address_they_dial(address: str) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = listener.getsockname()[1]
        for uid, users, admitted in ((65534, {0}, False), (65534, {65534}, True), (0, {0}, True)):
            before = f"import os, socket; os.setuid({uid}); HOST, PORT = {address!r}, {port}\n{CALLER}"
            with served(before=before), listener.accept()[0] as link:
                ends = link.getsockname(), link.getpeername()
                assert is_caller_allowed(*ends, frozenset(users)) is admitted, (uid, users)
        assert is_caller_allowed((address, port), ("203.0.113.1", 40_000), frozenset())  # another machine's


@pytest.mark.anyio
async def test_a_port_of_ours_is_accepted_by_us() -> None:
    with served() as (_, port):
        async with await connect_tcp("127.0.0.1", port, deadline_s=10) as stream:
            await stream.send(b"?")
            assert await stream.receive() == b"0"
