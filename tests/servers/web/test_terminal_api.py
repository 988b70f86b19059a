"""A terminal watched over a socket, and questions about terminals answered as the answer comes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.servers.web.terminal_api import FlowControlWindow
from tests.daemons import call, eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.proving import log_in
from tests.raw_http import Answer, WebSocket

pytestmark = pytest.mark.needs("bash")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("watched")) as place:
        assert run(place, "echo before") == 0
        yield place


def run(place: DebugWorkspace, line: str) -> object:
    return place.tool("run_in_terminal", command=line)["command"]["exit_code"]


def terminal(place: DebugWorkspace) -> str:
    return str(place.tool("list_terminals")["terminals"][0]["terminal"])


def watch(place: DebugWorkspace, id: str) -> WebSocket:
    socket = log_in(place.daemon.paths).open("/link/terminal")
    socket.send(id.encode())
    return socket


def shown_until(watcher: WebSocket, wanted: bytes) -> bytes:
    shown = b""
    while wanted not in shown:
        opcode, payload = watcher.receive()
        assert opcode in (1, 2), (opcode, payload, shown)
        if opcode == 2:
            shown += payload
            watcher.send(str(len(payload)).encode())
    return shown


def post(place: DebugWorkspace, body: Any, *, language: str = "en") -> Answer:
    return place.daemon.ask_page("/api/terminals/ask", "POST", body, language=language)


def test_a_watcher_gets_the_size_then_the_screen_then_what_comes(place: DebugWorkspace) -> None:
    with watch(place, terminal(place)) as watcher:
        begin = watcher.receive_json()
        assert (begin["type"], begin["missed"]) == ("begin", 0)
        assert begin["columns"] >= 20
        assert begin["rows"] >= 5
        before = shown_until(watcher, b"before")
        run(place, "printf 'mar%s\\n' ker")
        after = shown_until(watcher, b"marker")
        assert (before + after).count(b"marker") == 1


def test_what_a_page_types_reaches_no_terminal(place: DebugWorkspace) -> None:
    with watch(place, terminal(place)) as watcher:
        shown_until(watcher, b"before")
        for typed in (b"touch typed\r", b"\x03", b"-1", b"99999999999", b"\xff"):
            watcher.send(typed)
        watcher.send(b"touch typed\r", opcode=2)
        run(place, "printf 'af%s\\n' ter")
    assert not (place.folder / "typed").exists()


def test_a_page_that_stops_reading_gets_the_screen_again_and_the_count_it_missed(place: DebugWorkspace) -> None:
    with watch(place, terminal(place)) as watcher:
        assert watcher.receive_json()["missed"] == 0
        run(place, "head -c 3000000 /dev/zero | tr '\\0' x; printf '\\n%s\\n' las''t")
        held = 0
        while (received := watcher.receive())[0] == 2:
            held += len(received[1])
            if held > 600_000:
                raise AssertionError("more was given than may be open")
            if held >= 450_000:
                break
        watcher.send(str(held).encode())
        begin = b""
        while b'"begin"' not in begin:
            opcode, begin = watcher.receive()
            if opcode == 2:
                watcher.send(str(len(begin)).encode())
        assert json.loads(begin)["missed"] > 1_000_000
        assert b"last" in shown_until(watcher, b"last")


def test_a_close_reports_an_unknown_terminal(place: DebugWorkspace) -> None:
    with watch(place, "no such") as watcher:
        assert watcher.close_code() == 4404


def test_who_left_is_forgotten_and_a_rotated_token_ends_the_watching(place: DebugWorkspace) -> None:
    with watch(place, terminal(place)) as watcher:
        watcher.receive_json()
        assert place.daemon.links() == 1
    eventually(lambda: place.daemon.links() == 0)
    with watch(place, terminal(place)) as watcher:
        watcher.receive_json()
        call(place.daemon.paths, "token_rotate", {"purpose": "page"})
        assert watcher.close_code() == 4401


def test_a_question_is_answered_from_what_the_terminals_showed(place: DebugWorkspace) -> None:
    run(place, "ls /no/such/place")
    answer = post(place, {"query": "why did ls fail?"})
    assert answer.status == 200
    assert b"/no/such/place" in answer.body
    of_one = post(place, {"query": "why did ls fail?", "terminals": [terminal(place)]}, language="zh")
    assert "退出码" in of_one.body.decode(errors="replace")


def test_a_question_is_about_the_workspace_unless_a_person_asks_for_all(place: DebugWorkspace, tmp_path: Path) -> None:
    call(place.daemon.paths, "trust_add", {"folder": str(tmp_path)})
    place.tool("run_in_terminal", folder=tmp_path, command="cat /no/such/elsewhere")
    known = place.tool("list_terminals", folder=tmp_path)["terminals"][0]["terminal"]
    for query in ("why did cat fail?", "what was run?", "elsewhere"):
        for named in ([], [known]):
            asked = {"query": query, "terminals": named}
            assert b"elsewhere" not in post(place, asked).body.replace(query.encode(), b""), asked
            widened = post(place, {**asked, "all_workspaces": True}).body
            assert b"/no/such/elsewhere" in widened, asked


@pytest.mark.parametrize(
    ("body", "status"), [({"terminals": []}, 400), ({"query": "x", "terminals": ["none"]}, 404), ([], 400)]
)
def test_a_question_of_another_shape_is_refused(place: DebugWorkspace, body: object, status: int) -> None:
    assert post(place, body).status == status


def test_questions_beyond_the_bound_are_asked_to_wait(place: DebugWorkspace) -> None:
    place.daemon.patch("dragoman.servers.web.terminal_api:QUESTIONS_AT_ONCE", 0)
    assert post(place, {"query": "why?"}).status == 429
    place.daemon.patch("dragoman.servers.web.terminal_api:QUESTIONS_AT_ONCE", 4)
    assert post(place, {"query": "why?"}).status == 200


@pytest.mark.anyio
async def test_a_window_lets_through_what_fits_and_one_that_never_would() -> None:
    window = FlowControlWindow(10)
    await window.acquire(50)
    with anyio.move_on_after(0.01) as waited:
        await window.acquire(1)
    assert waited.cancelled_caught
    window.acknowledge(50)
    await window.acquire(10)
