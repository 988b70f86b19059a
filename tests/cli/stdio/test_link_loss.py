"""What an agent is answers when the link to another machine is lost: the state of its programs there."""

from __future__ import annotations

import json
import select
import socket
from typing import Any

import pytest

from dragoman.cli.stdio.daemon_side import DaemonSide
from dragoman.cli.stdio.last_stops import LastStops
from dragoman.core.errors import DragomanError
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.net.remote_errors import link_silent

SILENT = "ssh:build1 has been silent for 10 s, so the connection to it was closed."
RETRY = "The request may have taken effect there. The next call reconnects: check the sessions before you retry."


def answer(data: dict[str, Any]) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": data}}, separators=(",", ":")
    ).encode()


def stopped(session: str = "debug-1", line: int = 21, resumes_in_s: int | None = None) -> dict[str, Any]:
    source = {"path": "/srv/shop/orders.py"}
    stop: dict[str, Any] = {"session_id": session, "source": source, "line": line}
    stop |= {} if resumes_in_s is None else {"resumes_in_s": resumes_in_s}
    return {"status": "stopped", "stop_event_data": stop}


def running(session: str = "debug-1", status: str = "timeout") -> dict[str, Any]:
    return {"status": status, "session_id": session, "state": "Running"}


@pytest.mark.parametrize(
    ("answers", "later_s", "expected_state"),
    [
        ([], 0, ""),
        ([stopped()], 500, "The program is stopped at orders.py:21 until its session ends."),
        ([stopped(resumes_in_s=30)], 24.5, "The program is stopped at orders.py:21 and resumes in 6 s."),
        ([stopped(resumes_in_s=600)], 12, "The program is stopped at orders.py:21 and resumes in 10 s."),
        ([stopped(resumes_in_s=30)], 31, "The program was stopped at orders.py:21 and has resumed."),
        ([stopped(), running()], 0, ""),
        ([stopped(resumes_in_s=30), running(status="completed")], 0, ""),
        (
            [stopped(), {"status": "error", "code": "x"}],
            0,
            "The program is stopped at orders.py:21 until its session ends.",
        ),
        ([stopped(line=7), stopped()], 0, "The program is stopped at orders.py:21 until its session ends."),
        ([running(), running("debug-2")], 0, ""),
    ],
)
def test_the_state_is_what_was_told_last(answers: list[dict[str, Any]], later_s: float, expected_state: str) -> None:
    stops = LastStops()
    for it in answers:
        stops.receive(answer(it), 1000.0)
    whole = f"{expected_state} `wait_for_stop` reconnects." if expected_state else ""
    assert stops.sentences(1000.0 + later_s) == whole


@pytest.mark.parametrize(
    "data",
    [
        {"session_id": 7, "stop_event_data": {}},
        {"stop_event_data": {"session_id": "s", "source": 7, "line": [], "resumes_in_s": "soon"}},
        {"stop_event_data": {"session_id": "s", "source": {"path": "a\x1b[2J\n.py"}, "line": 1, "resumes_in_s": 1e99}},
        {"session_id": [], "status": 1},
    ],
)
def test_what_another_machine_sends_is_text_without_escapes(data: dict[str, Any]) -> None:
    stops = LastStops()
    stops.receive(answer(data), 0.0)
    assert stops.sentences(0.0).isprintable()
    for line in (b'"structuredContent" "session_id"', b"[" * 9999 + b'"structuredContent" "session_id"'):
        stops.receive(line, 0.0)
    for number in range(100):
        stops.receive(answer(stopped(f"debug-{number}")), 0.0)
    assert stops.sentences(0.0).count("orders.py") == 3


class OneConnection:
    """A connector whose only connection breaks with a fault of the link."""

    first_pause_s = max_pause_s = 0.01

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def open(self, *, is_first: bool) -> ControlClient:
        if not is_first:
            raise DragomanError("unreachable", link_silent(target="ssh:build1", seconds=10).message)
        return ControlClient(self._sock)

    def retries(self, error: DragomanError, *, is_first: bool) -> bool:
        return False

    def should_start(self, *, is_first: bool, waited_s: float) -> bool:
        return False

    def start(self) -> None:
        raise AssertionError

    def updated(self, client: ControlClient) -> ControlClient:
        return client

    def fault(self) -> DragomanError | None:
        return link_silent(target="ssh:build1", seconds=10)


def test_an_open_call_says_where_the_program_is() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        side = DaemonSide(OneConnection(ours))
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "wait_for_stop"}}
        side.relay.receive_from_client(json.dumps(call).encode() + b"\n")
        side._connect(ours)
        theirs.sendall(answer(stopped(resumes_in_s=300)) + b"\n")
        (_, handler), *_ = side.interests(reads=True).values()
        handler(select.POLLIN)
        theirs.shutdown(socket.SHUT_WR)
        handler(select.POLLIN)
        lines = [json.loads(it.data) for it in side.relay.to_client.pop_all()]
    assert lines[-1]["error"]["data"]["code"] == "link_lost"
    state = "The program is stopped at orders.py:21 and resumes in 10 s. `wait_for_stop` reconnects."
    assert lines[-1]["error"]["message"] == f"{SILENT} {state} {RETRY}"
