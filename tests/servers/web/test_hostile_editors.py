"""Editors that stop reading, say half of things, or claim to be others: each harms itself at most."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.editors.registry import OUTGOING_AT_MOST
from tests.daemons import eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.raw_http import WebSocket, frame
from tests.servers.target_daemon import MB
from tests.servers.web.fake_editor import FakeEditor, Json, Silence, fake_editor, proved
from tests.servers.web.lent_program import Program, live, stopped


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("hostile")) as place:
        yield place


@pytest.fixture
def lent(place: DebugWorkspace) -> Iterator[str]:
    """A session that a sound editor lends all the while, and that must be there afterwards."""
    program = Program(place)
    with fake_editor(place, program.answers) as program.editor:
        session = stopped(place, program)
        yield session
        assert place.tool("evaluate_expression", session_id=session, expression="total")["result"] == "0"
    eventually(lambda: not live(place), every_s=0.02)


def hello(place: DebugWorkspace, **more: Any) -> bytes:
    about = {"name": "Rude", "folders": [str(place.folder)], "features": [], **more}
    return json.dumps({"method": "hello", "params": about}).encode()


def rude(place: DebugWorkspace, **more: Any) -> WebSocket:
    wire = proved(place, **more)
    wire.send(hello(place))
    assert wire.receive_json()["method"] == "welcome"
    return wire


def memory_mb(place: DebugWorkspace) -> float:
    return float(place.daemon.process.memory_info().rss / MB)


@pytest.mark.usefixtures("lent")
def test_one_that_stops_reading_is_disconnected_and_costs_nobody_else_anything(place: DebugWorkspace) -> None:
    before = memory_mb(place)
    with rude(place, receive_buffer=4096) as wire:
        wire.socket.settimeout(0.2)
        word = "x" * 5000
        for number in range(40 * OUTGOING_AT_MOST):  # each is answered with an error that names it
            try:
                wire.socket.sendall(frame(json.dumps({"id": number, "method": word}).encode()))
            except OSError:
                break
        assert memory_mb(place) - before < 40
        place.daemon.assert_serves()


@pytest.mark.usefixtures("lent")
def test_half_a_message_is_waited_for_without_harm_and_its_end_is_taken(place: DebugWorkspace) -> None:
    with rude(place) as wire:
        whole = frame(json.dumps({"id": 7, "method": "debug.lendable", "params": {"sessions": []}}).encode())
        wire.send_raw(whole[:9])
        place.daemon.assert_serves()
        wire.send_raw(whole[9:])
        assert wire.receive_json() == {"id": 7, "result": None}


@pytest.mark.usefixtures("lent")
@pytest.mark.parametrize(
    "result",
    [b"", b"{", b"[]", b'{"id": {}}', b'{"method": 3}', b'{"params": []}', b'"\\ud83d"', b'{"id": 1, "error": "x"}',
     b"[" * 100_000, b'{"method": "' + b"x" * 100 + b'\xff"}'],
)  # fmt: skip
def test_what_is_not_a_message_ends_that_connection_alone(place: DebugWorkspace, result: bytes) -> None:
    with rude(place) as wire:
        wire.send(result)
        assert wire.close_code() in {4400, 1007}


@pytest.mark.usefixtures("lent")
def test_25_megabytes_are_refused_before_they_are_held(place: DebugWorkspace) -> None:
    before = memory_mb(place)
    with rude(place) as wire:
        wire.send(b"x" * 25_000_000)
        assert wire.close_code() in {1009, 0}
    assert memory_mb(place) - before < 20


@pytest.mark.usefixtures("lent")
def test_answers_that_nobody_asked_for_are_nobodys(place: DebugWorkspace) -> None:
    with rude(place) as wire:
        for result in ({"id": 1, "result": {}}, {"id": -5, "error": {"code": "x"}}, {"id": 2**60}, {"result": 3}, {}):
            wire.send(json.dumps(result).encode())
        wire.send(json.dumps({"id": 9, "method": "focused", "params": {}}).encode())
        assert wire.receive_json() == {"id": 9, "result": None}


def test_what_fails_by_our_own_fault_is_an_answer_and_not_the_end(place: DebugWorkspace) -> None:
    # A limit that is not a count: a fault such as any of ours could be.
    place.daemon.patch("dragoman.daemon.editor_wiring:MAX_LENT_SESSIONS", 0.5)
    try:
        with fake_editor(place, {}) as editor:
            answer = editor.call("debug.lendable", {"sessions": [{"name": "a", "folder": "/b"}]})
            assert answer["error"]["code"] == "internal_error"
            assert editor.call("focused", {})["result"] is None
    finally:
        place.daemon.patch("dragoman.daemon.editor_wiring:MAX_LENT_SESSIONS", 16)


def test_two_editors_with_the_same_name_for_a_session_have_one_each(place: DebugWorkspace) -> None:
    one, two = Program(place), Program(place)
    two.total = "7"
    with fake_editor(place, one.answers) as one.editor:
        first = stopped(place, one)
        two.editor = FakeEditor(place, two.answers)
        second = str(two.offer(place)["result"]["session_id"])
        eventually(lambda: [it["state"] for it in live(place)] == ["Stopped"] * 2, every_s=0.02)
        results = [
            place.tool("evaluate_expression", session_id=it, expression="total")["result"] for it in (first, second)
        ]
        assert results == ["0", "7"]
        two.editor.notify("debug.ended", {"session": "s1"})
        eventually(lambda: [it["session_id"] for it in live(place)] == [first], every_s=0.02)
        two.editor.leave()
    eventually(lambda: not live(place), every_s=0.02)


def test_a_silent_adapter_costs_only_its_caller_time(place: DebugWorkspace) -> None:
    def silent(_: Json) -> None:
        raise Silence

    program = Program(place)
    with fake_editor(place, {"debug.request": silent, "debug.breakpoints": silent}) as program.editor:
        program.offer(place, stops=[])
        (session,) = (it["session_id"] for it in live(place))
        before = time.monotonic()
        answer = place.tool("pause_debugging", session_id=session, timeout_s=0.5)
        assert answer["status"] != "success" or answer.get("state") != "Stopped"
        assert time.monotonic() - before < 8
        assert place.tool("set_breakpoint", file_path="adding.py", line_number=4)["breakpoint"]["verified"] is False
    place.tool("remove_breakpoint", clear_all=True)
    eventually(lambda: not live(place), every_s=0.02)


def test_one_that_is_cut_off_in_the_middle_of_a_message_has_left(place: DebugWorkspace) -> None:
    program = Program(place)
    with fake_editor(place, program.answers) as program.editor:
        stopped(place, program)
        program.editor.wire.send_raw(frame(b"x" * 1000)[:100])
        program.editor.wire.socket.shutdown(socket.SHUT_RDWR)
        eventually(lambda: not live(place), every_s=0.02)
