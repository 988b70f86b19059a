"""How `mcp --on` connects again: with growing pauses, for half a minute, and the next call begins anew."""

from __future__ import annotations

import socket
import threading

import pytest

from dragoman.cli.remote import connector
from dragoman.cli.remote.connector import RemoteConnector
from dragoman.cli.stdio import daemon_search
from dragoman.cli.stdio.daemon_search import DaemonSearch
from dragoman.core.errors import DragomanError
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.net.remote_errors import explain_exit, far_side_silent
from dragoman.io.net.targets import Target

TARGET = Target("ssh:a", ("ssh",))


class Clock:
    """Of a search, whose sleep passes at once."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if seconds:
            self.pauses.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(daemon_search, "time", clock)
    return clock


def search(monkeypatch: pytest.MonkeyPatch, answers: list[DragomanError | ControlClient], *, is_first: bool) -> object:
    """The outcome of one search; the last answer is repeated."""
    given = iter(answers)
    last = answers[-1]

    def open_target(*_: object, **__: object) -> ControlClient:
        answer = next(given, last)
        if isinstance(answer, DragomanError):
            raise answer
        return answer

    monkeypatch.setattr(connector, "open_target", open_target)
    monkeypatch.setattr(threading.Thread, "start", lambda _: None)
    made = DaemonSearch(RemoteConnector(TARGET, {}), is_first=is_first, pause_s=0)
    made.request_daemon()
    made._run()
    made.close()
    return made.outcome


SILENT = far_side_silent(target="ssh:a", seconds=20)
REFUSED = explain_exit(TARGET, 255, b"Permission denied (publickey).")


def test_the_pauses_grow_to_eight_seconds_and_after_half_a_minute_it_gives_up(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert search(monkeypatch, [SILENT], is_first=False) is SILENT
    assert clock.pauses == [0.5, 1, 2, 4, 8, 8, 8]


def test_it_goes_on_when_the_machine_is_back(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        client = ControlClient(ours)
        monkeypatch.setattr(DaemonSearch, "_with_same_version", lambda _, link: link)
        assert search(monkeypatch, [SILENT, SILENT, client], is_first=False) is ours
    assert clock.pauses == [0.5, 1]


@pytest.mark.parametrize(("error", "is_first"), [(SILENT, True), (REFUSED, False), (REFUSED, True)])
def test_what_a_person_has_to_put_right_is_said_at_once(
    error: DragomanError, is_first: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert search(monkeypatch, [error], is_first=is_first) is error
    assert clock.pauses == []
