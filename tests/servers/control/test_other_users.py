"""Another user of the machine: the socket's folder, the peer's uid, the token, and what listens at all."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import psutil
import pytest

from tests.daemons import call, eventually
from tests.raw_http import Ask, ask
from tests.servers.target_daemon import TargetDaemon, target_daemon

NOBODY = 65534
only_root = pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")


@contextlib.contextmanager
def within_reach(home: Path) -> Iterator[TargetDaemon]:
    """Its home can be reached by others on purpose: what keeps them out must be its own doing."""
    for folder in (home, *home.parents):
        if folder.is_relative_to(gettempdir()) and folder != Path(gettempdir()):
            folder.chmod(0o711)
    with target_daemon(home) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def guarded() -> Iterator[TargetDaemon]:
    """Not below pytest's own folder: each pytest that a test beside this one starts closes that to others again."""
    with TemporaryDirectory(prefix="dragoman-") as folder, within_reach(Path(folder)) as daemon:
        yield daemon


@pytest.fixture
def victim(guarded: TargetDaemon) -> Iterator[TargetDaemon]:
    """Whoever opens its doors finds them closed again afterwards."""
    folder, socket_file = guarded.paths.socket.parent, guarded.paths.socket
    before = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder, socket_file)}
    yield guarded
    for path, mode in before.items():
        path.chmod(mode)


def as_nobody(action: Callable[[], str]) -> str:
    """What a child of another user finds; the interpreter itself may be unreadable to it, so it is only forked."""
    "localhost".encode("idna")  # loaded when a name is first looked up, from files that the child cannot read
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writer, action().encode())
        except OSError as error:
            os.write(writer, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found


def greet(path: Path) -> str:
    """The daemon's first words to a perfect hello, or nothing."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(path))
        try:
            connection.sendall(b'{"dragoman":1,"role":"control","version":"0"}\n')
            return connection.recv(100).decode()
        except ConnectionError:
            return ""


@only_root
def test_the_folder_refuses_another_user(victim: TargetDaemon) -> None:
    assert stat.S_IMODE(victim.paths.socket.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(victim.paths.socket.stat().st_mode) == 0o600
    assert as_nobody(lambda: greet(victim.paths.socket)) == "PermissionError"


@only_root
def test_with_folder_and_socket_open_the_peers_uid_still_refuses(victim: TargetDaemon) -> None:
    victim.paths.socket.parent.chmod(0o777)
    assert as_nobody(lambda: greet(victim.paths.socket)) == "PermissionError"
    victim.paths.socket.chmod(0o777)
    assert as_nobody(lambda: greet(victim.paths.socket)) == ""
    assert '"pid"' in greet(victim.paths.socket)
    assert "another user" in victim.paths.log_file.read_text()


@only_root
def test_another_user_that_keeps_connecting_blocks_nobody(victim: TargetDaemon) -> None:
    victim.paths.socket.parent.chmod(0o777)
    victim.paths.socket.chmod(0o777)
    assert as_nobody(lambda: "".join(greet(victim.paths.socket) for _ in range(1000))) == ""
    assert call(victim.paths, "status")["state"] == "running"
    assert eventually(lambda: victim.callers() == 0)


@only_root
def test_without_the_check_of_the_uid_the_same_caller_would_be_welcome() -> None:
    with TemporaryDirectory(prefix="dragoman-") as folder, within_reach(Path(folder)) as victim:
        victim.switch_off("dragoman.servers.control.server:is_own_peer", answer=True)
        victim.paths.socket.parent.chmod(0o777)
        victim.paths.socket.chmod(0o777)
        assert '"pid"' in as_nobody(lambda: greet(victim.paths.socket))


@only_root
def test_another_user_can_read_neither_token_nor_record(victim: TargetDaemon) -> None:
    for path in (victim.paths.token_file("mcp"), victim.paths.log_file, victim.paths.journal_folder):
        assert as_nobody(lambda path=path: str(path.open("rb"))) == "PermissionError", path  # type: ignore[misc]


@only_root
def test_over_http_another_user_needs_the_token(victim: TargetDaemon) -> None:
    request = Ask("/mcp", headers=[victim.host])
    assert as_nobody(lambda: str(ask(victim.port, request).status)) == "401"


def test_nothing_but_our_own_port_listens_and_only_on_loopback(victim: TargetDaemon) -> None:
    tree = [victim.process, *victim.process.children(recursive=True)]
    listening = [it.laddr for one in tree for it in one.net_connections("inet") if it.status == psutil.CONN_LISTEN]
    assert {(it.ip, it.port) for it in listening} == {("127.0.0.1", victim.port), ("::1", victim.port)}
    assert not [it for one in tree for it in one.net_connections("udp")]
