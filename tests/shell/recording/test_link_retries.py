"""How often a wrapper looks for the daemon: soon after a loss, and ever more seldom where it is of no use."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.core.paths import find_paths
from dragoman.protocols.omnish.messages import SessionStart
from dragoman.shell.recording.daemon_link import DaemonLink
from dragoman.shell.recording.outbox import RecordingOutbox
from tests.daemons import eventually


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        yield listener


def link_to(daemon: socket.socket) -> DaemonLink:
    def start(_: int) -> SessionStart:
        return SessionStart("s", None, 1, {})

    environment = {"OMNISH_SOCKET": daemon.getsockname(), "HOME": "/nowhere"}
    return DaemonLink(RecordingOutbox(gap=start, resume=start), find_paths(environment), environment)


def lost_after(link: DaemonLink, daemon: socket.socket, at_s: float, lived_s: float) -> float:
    """How long after its end the next look is."""
    link.connect_if_due(at_s)
    assert link.connected
    daemon.accept()[0].close()
    link.receive(at_s + lived_s)
    assert not link.connected
    assert link.retry_at_s is not None
    return link.retry_at_s - at_s - lived_s


def test_a_daemon_that_lets_in_and_hangs_up_is_tried_ever_more_seldom(daemon: socket.socket) -> None:
    link, now_s, waited = link_to(daemon), 100.0, list[float]()
    for _ in range(7):
        waited.append(lost_after(link, daemon, now_s, 0.0))
        now_s += waited[-1]
    assert waited == pytest.approx([0.25, 0.5, 1, 2, 4, 5, 5])
    assert lost_after(link, daemon, now_s, 60.0) == pytest.approx(0.25)


@pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")
@pytest.mark.parametrize("uid", [0, 65534])
def test_what_a_terminal_shows_goes_to_no_other_users_listener(tmp_path: Path, uid: int) -> None:
    """Whoever owns the file: another may have been put in its place. The control: the same file, and we listen."""
    reader, writer = os.pipe()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.setuid(uid)
            listener.listen()
            os.read(reader, 1)
            os._exit(0)
        os.close(reader)
        link = link_to(listener)
        try:
            eventually(lambda: is_answered(listener.getsockname()))
            assert (tmp_path / "s").stat().st_uid == os.getuid()
            link.connect_if_due(100.0)
            assert link.connected is (uid == os.getuid())
        finally:
            link.close()
            os.close(writer)
            os.waitpid(child, 0)


def is_answered(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as caller:
        return caller.connect_ex(path) == 0
