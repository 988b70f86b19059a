"""Editors that do not behave: each costs its own connection at most, and never another's, nor the daemon's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.daemons import eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.raw_http import WebSocket, frame
from tests.servers.target_daemon import MB
from tests.servers.web.fake_editor import FakeEditor, fake_editor, proved

HUGE = 25 * MB


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("rude")) as place:
        yield place


def _wire(place: DebugWorkspace, *, receive_buffer: int = 0) -> WebSocket:
    wire = proved(place, receive_buffer=receive_buffer)
    hello = {"name": "Rude", "folders": [str(place.folder)], "features": ["notify", "diff"]}
    wire.send(json.dumps({"method": "hello", "params": hello}).encode())
    assert wire.receive_json()["method"] == "welcome"
    return wire


def _has_none(place: DebugWorkspace) -> bool:
    return bool(place.tool("ide_diff", path="x.py", text="", timeout_s=0.1).get("code") == "no_editor")


def test_one_that_stops_reading_is_disconnected_and_its_queue_is_bounded(place: DebugWorkspace) -> None:
    place.daemon.patch("dragoman.io.net.http_server:TAKEN_WITHIN_S", 0.3)
    before = place.daemon.process.memory_info().rss
    with _wire(place, receive_buffer=4096):
        answer = [place.tool("ide_diff", path="x.py", text="y" * 400_000, timeout_s=0.05) for _ in range(20)]
        assert answer[0]["status"] == "waiting"
        eventually(lambda: _has_none(place), within_s=20, every_s=0.1)
    assert place.daemon.process.memory_info().rss - before < 40 * MB
    place.daemon.assert_serves()


def test_half_a_message_holds_up_nobody_and_goes_with_its_connection(place: DebugWorkspace) -> None:
    whole = frame(json.dumps({"method": "focused", "params": {}}).encode())
    with _wire(place) as half:
        half.send_raw(whole[: len(whole) // 2])
        beside = FakeEditor(place, {"notify": lambda _: {}})
        assert place.tool("ide_notify", message="beside")["status"] == "shown"
        beside.leave()
    eventually(lambda: _has_none(place), every_s=0.05)


def test_a_message_of_many_megabytes_ends_its_connection_and_costs_no_memory(place: DebugWorkspace) -> None:
    before = place.daemon.process.memory_info().rss
    with _wire(place) as wire:
        wire.send(b'{"method": "focused", "params": {"x": "' + b"y" * HUGE + b'"}}')
        assert wire.close_code() in {0, 1009}
    assert place.daemon.process.memory_info().rss - before < HUGE
    eventually(lambda: _has_none(place), every_s=0.05)


def test_answers_to_questions_that_nobody_asked_are_nobodys(place: DebugWorkspace) -> None:
    with fake_editor(place, {"notify": lambda _: {}}) as editor:
        for number in (*range(200), -1, 2**62):
            editor.wire.send(json.dumps({"id": number, "result": {"forged": True}}).encode())
            editor.wire.send(json.dumps({"id": number, "error": {"code": 3, "message": None}}).encode())
        assert place.tool("ide_notify", message="still there")["status"] == "shown"
        assert len(editor.asked) == 1


def test_an_answer_that_is_both_and_one_that_comes_twice_count_once(place: DebugWorkspace) -> None:
    def twice(_: Any) -> dict[str, Any]:
        number = editor.asked[-1]["id"]
        editor.wire.send(json.dumps({"id": number, "result": {}, "error": None}).encode())
        return {}

    with fake_editor(place, {"notify": twice}) as editor:
        assert [place.tool("ide_notify", message=str(n))["status"] for n in range(3)] == ["shown"] * 3


def test_two_editors_that_call_their_sessions_by_the_same_name_are_two(place: DebugWorkspace) -> None:
    offer = {"session": "s1", "type": "debugpy", "folder": str(place.folder), "capabilities": {}}
    nothing = {"debug.request": lambda _: {"body": {}}, "debug.breakpoints": lambda _: {"body": {"breakpoints": []}}}
    with fake_editor(place, nothing) as one:
        two = FakeEditor(place, nothing)
        ids = [
            editor.call("debug.offered", {**offer, "name": name})["result"]["session_id"]
            for editor, name in ((one, "First"), (two, "Second"))
        ]
        assert len(set(ids)) == 2
        two.notify("debug.ended", {"session": "s1"})
        eventually(lambda: _states(place) == {"First": "Running", "Second": "Terminated"}, every_s=0.05)
        two.leave()
        assert _states(place)["First"] == "Running"


def _states(place: DebugWorkspace) -> dict[str, str]:
    return {it["name"]: it["state"] for it in place.tool("list_sessions")["sessions"]}


@pytest.mark.parametrize(
    "params", [{}, {"session": 3}, {"session": "s1", "event": 7, "body": []}, {"session": "x" * 9000}]
)
def test_news_of_sessions_that_are_not_lent_are_nobodys(place: DebugWorkspace, params: dict[str, Any]) -> None:
    with fake_editor(place, {"notify": lambda _: {}}) as editor:
        for method in ("debug.event", "debug.ended", "debug.breakpoint", "no.such"):
            editor.notify(method, params)
        assert place.tool("ide_notify", message="still there")["status"] == "shown"
