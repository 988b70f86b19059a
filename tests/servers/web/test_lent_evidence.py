"""The tools for evidence on a session that an editor lends: a real debugger, with a small editor between it and us."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.daemons import eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.servers.dap.editor import Editor
from tests.servers.web.fake_editor import Answers, FakeEditor, Json

LOOPING = """\
def add(values):
    total = 0
    for value in values:
        total += value
    return total


print("begins")
sums = [add([1, 2, 3]), add([4, 5, 6])]
sums[9]
"""
IN_LOOP, BEGINS = 4, 8
_MOVES = frozenset({"continue", "next", "stepIn", "stepOut"})


class Lender:
    """As the extension does: what is asked goes to the debugger, what the debugger tells is told on."""

    def __init__(self, place: DebugWorkspace, dap: Editor) -> None:
        self._dap = dap
        self._stops = 0
        answers: Answers = {"debug.request": self._asked, "debug.breakpoints": self._marks}
        self.editor = FakeEditor(place, answers)

    def receive(self, message: Json) -> None:
        if message["type"] == "event":
            self._stops += message["event"] == "stopped"
            self._notify(message["event"], message.get("body", {}))

    def _asked(self, params: Json) -> Json:
        before = self._stops
        got = self._dap.response(self._dap.begin(params["command"], **params["arguments"]))
        if not got["success"]:
            return {"refused": got.get("message", "")}
        if params["command"] in _MOVES and before == self._stops:
            self._notify("continued", {"threadId": params["arguments"]["threadId"], "allThreadsContinued": True})
        return {"body": got.get("body", {})}

    def _marks(self, params: Json) -> Json:
        return {"body": self._dap.ask("setBreakpoints", **params["arguments"])}

    def _notify(self, event: str, body: Json) -> None:
        self.editor.notify("debug.event", {"session": "real", "event": event, "body": body})


class _Heard(list[Json]):
    """Messages as they come, told on from the moment that somebody borrows."""

    lender: Lender | None = None

    def append(self, message: Json) -> None:
        super().append(message)
        if self.lender is not None:
            self.lender.receive(message)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("lent-evidence")) as place:
        (place.folder / "looping.py").write_text(LOOPING)
        yield place


@contextlib.contextmanager
def debugger() -> Iterator[Editor]:
    """debugpy's own adapter, as an editor starts it."""
    command = [sys.executable, "-m", "debugpy.adapter"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        reading, writing = process.stdout.fileno(), process.stdin.fileno()

        def write(data: bytes) -> None:
            while data:
                data = data[os.write(writing, data) :]

        yield Editor(lambda: os.read(reading, 1 << 16), write, "A person's editor")
        process.kill()


@pytest.fixture
def lent(place: DebugWorkspace) -> Iterator[str]:
    """A program of a person's that stands at its first line, lent."""
    path = place.folder / "looping.py"
    with debugger() as dap:
        dap.messages = result = _Heard()
        can = dap.initialize()
        begun = dap.begin("launch", program=str(path), console="internalConsole", python=[sys.executable])
        dap.event("initialized")
        dap.set_lines(path, BEGINS)
        dap.ask("setExceptionBreakpoints", filters=["uncaught"])
        dap.ask("configurationDone")
        dap.answer(begun)
        stopped = dap.event("stopped")
        result.lender = Lender(place, dap)
        yield _offer(place, result.lender.editor, can, stopped)
        result.lender.editor.leave()
        result.lender = None
    eventually(lambda: place.tool("ide_notify", message="there?").get("code") == "no_editor", every_s=0.02)
    place.tool("remove_breakpoint", clear_all=True)


def _offer(place: DebugWorkspace, editor: FakeEditor, can: Json, stopped: Json) -> str:
    about = {"session": "real", "name": "Mine", "type": "debugpy", "folder": str(place.folder)}
    answer = editor.call("debug.offered", {**about, "capabilities": can, "stops": [stopped]})
    session = str(answer["result"]["session_id"])
    eventually(lambda: _state(place, session) == "Stopped", every_s=0.05)
    return session


def _state(place: DebugWorkspace, session: str) -> str:
    listed = place.tool("list_sessions")["sessions"]
    return next(str(it["state"]) for it in listed if it["session_id"] == session)


def at(line: int) -> dict[str, Any]:
    return {"file_path": "looping.py", "line_number": line}


def test_a_trace_continues_from_where_it_stopped_and_the_run_ends_at_the_persons_own_stop(
    place: DebugWorkspace, lent: str
) -> None:
    answer = place.tool("trace", session_id=lent, points=[{**at(IN_LOOP), "expressions": ["total", "value"]}])
    assert answer["status"] != "error", answer
    assert len(answer["rows"]) == 6
    place.tool("set_breakpoint", **at(IN_LOOP))
    assert [it["line"] for it in place.tool("get_breakpoints")["breakpoints"]] == [IN_LOOP]  # the agent's are back


def test_a_claim_is_checked_and_the_stop_history_has_what_was_seen(place: DebugWorkspace, lent: str) -> None:
    answer = place.tool("check", session_id=lent, claim="total < 9", **at(IN_LOOP))
    assert (answer["verdict"], answer["hits"]) == ("broken", 6), answer
    history = place.tool("stop_history", session_id=lent)
    assert history["status"] != "error", history
    assert str(place.folder / "looping.py") in str(history) or "looping.py" in str(history)


def test_where_a_value_changes_is_found_by_steps(place: DebugWorkspace, lent: str) -> None:
    answer = place.tool("find_change", session_id=lent, expression="total", invariant="total < 3", **at(2))
    assert answer["status"] != "error", answer
    assert (answer["verdict"], answer["by"]) == ("changed", "steps"), answer
    assert answer["place"].endswith(f"looping.py:{IN_LOOP}"), answer


def test_a_crash_is_explained_where_the_persons_debugger_stops_at_it(place: DebugWorkspace, lent: str) -> None:
    place.tool("continue_debugging", session_id=lent)
    answer = place.tool("explain_crash", session_id=lent)
    assert "IndexError" in str(answer), answer


@pytest.mark.parametrize("tool", ["debug_test", "compare_runs"])
def test_what_needs_a_run_of_its_own_says_so_and_leaves_the_person_alone(
    place: DebugWorkspace, lent: str, tool: str
) -> None:
    points = [{**at(IN_LOOP), "expressions": ["total"]}]
    more: dict[str, Any] = {"test": "x.py::y"} if tool == "debug_test" else {"points": points}
    answer = place.tool(tool, session_id=lent, **more)
    assert answer["status"] == "error"
    assert answer["message"]
    assert _state(place, lent) == "Stopped"
