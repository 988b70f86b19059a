"""The command line's link: a call posted out of a signal handler, while another is sent or waited for."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any, cast

import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.drivers.control_client import ControlClient
from dragoman.protocols.control import ControlAnswer


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, daemons = socket.socketpair()
    with ours, daemons:
        daemons.settimeout(5)
        yield ours, daemons


class InterruptedInTheMiddle:
    """A socket whose first line is half out when the signal comes."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.link: ControlClient | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def sendall(self, data: bytes) -> None:
        half = len(data) // 2
        self._sock.sendall(data[:half])
        link, self.link = self.link, None
        if link is not None:
            link.post("stop_waiting", {"own": True})
        self._sock.sendall(data[half:])


def json_lines(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_a_call_posted_while_another_is_half_sent_follows_it_whole(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, daemons = ends
    between = InterruptedInTheMiddle(ours)
    between.link = link = ControlClient(cast("socket.socket", between))
    daemons.sendall(json_lines({"id": 2, "result": {"count": 1}}, {"id": 1, "result": "done"}))
    assert link.call("call", {"tool": "x"}) == "done"
    lines = [json.loads(line) for line in daemons.recv(65536).splitlines()]
    assert [(line["id"], line["method"]) for line in lines] == [(1, "call"), (2, "stop_waiting")]


@pytest.mark.parametrize(
    "other", [{"id": 2, "result": {}}, {"id": 2, "item": 1}, {"id": 2, "error": {"code": "a", "message": "b"}}]
)
def test_replies_to_a_posted_call_are_not_taken_for_those_that_are_waited_for(
    ends: tuple[socket.socket, socket.socket], other: dict[str, Any]
) -> None:
    ours, daemons = ends
    link = ControlClient(ours)
    daemons.sendall(json_lines({"id": 1, "item": "first"}))
    replies = link.stream("call", {}, idle_s=5)
    next(replies)
    link.post("stop_waiting")
    daemons.sendall(json_lines(other, {"id": 1, "result": "mine"}))
    assert list(replies) == [ControlAnswer(1, "mine")]


def test_a_failure_of_the_connection_itself_ends_every_call(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, daemons = ends
    daemons.sendall(json_lines({"id": 0, "error": {"code": "too_many_calls", "message": "b"}}))
    with pytest.raises(DragomanError) as failed:
        ControlClient(ours).call("call", {})
    assert failed.value.code == "too_many_calls"
