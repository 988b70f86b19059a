"""A debugger that only a connected editor has: an agent starts with it, the person is asked, the session is lent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.daemons import PATIENCE, eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.servers.web.fake_editor import Answers, FakeEditor, Json, Refusal, Silence
from tests.servers.web.lent_program import CAPABILITIES, Program

TYPES = ["plain-script", "java", "cppvsdbg"]
CONFIGURATION = {"type": "plain-script", "request": "launch", "name": "Script", "program": "${workspaceFolder}/it.txt"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("editors")) as place:
        yield place


class Delegate(Program):
    """An editor that starts what it is asked for, and lends it where it stands."""

    def __init__(self, place: DebugWorkspace) -> None:
        super().__init__(place)
        self.place = place
        self.started: list[Json] = []
        self.stopped_sessions: list[str] = []

    @property
    def answers(self) -> Answers:
        return {**super().answers, "debug.start": self.start, "debug.stop": self.stop}

    def start(self, params: Json) -> Json:
        """In another thread: the daemon answers the offer to the one that reads here."""
        self.started.append(params)
        number = self.editor.asked[-1]["id"]
        threading.Thread(target=self.lend, args=(params["start"], number), daemon=True).start()
        raise Silence

    def lend(self, start: str, number: int) -> None:
        self.offer(self.place, start=start, type="plain-script")
        self.answer(number, {})

    def answer(self, number: int, result: Json) -> None:
        self.editor.wire.send(json.dumps({"id": number, "result": result}).encode())

    def stop(self, params: Json) -> Json:
        self.stopped_sessions.append(params["session"])
        self.editor.notify("debug.ended", {"session": params["session"]})
        return {}


@contextmanager
def _editor(place: DebugWorkspace, *programs: Program, types: Sequence[str] = TYPES) -> Iterator[FakeEditor]:
    """A window for each, with the debuggers of those types; the first is given."""
    for program in programs:
        program.editor = FakeEditor(place, program.answers, debug_types=list(types))
    try:
        yield programs[0].editor
    finally:
        for program in programs:
            program.editor.leave()
        eventually(lambda: place.tool("ide_notify", message="there?").get("code") == "no_editor", every_s=0.02)


def _start(place: DebugWorkspace, **more: Any) -> Json:
    answer: Json = place.tool("start_debugging", configuration={**CONFIGURATION, **more}, timeout_s=20)
    return answer


def test_the_editor_starts_it_with_the_breakpoints_and_the_agent_has_a_shared_session(place: DebugWorkspace) -> None:
    delegate = Delegate(place)
    place.tool("set_breakpoint", file_path="adding.py", line_number=3, condition="total > 0")
    with _editor(place, delegate):
        result = _start(place, args=["one", "two"], env={"MODE": "fast"})
        assert result["stop_event_data"]["line"] == 3, result
        (asked,) = delegate.started
        assert asked["configuration"] == {
            **CONFIGURATION, "program": f"{place.folder}/it.txt", "args": ["one", "two"], "env": {"MODE": "fast"},
        }  # fmt: skip
        assert asked["folder"] == str(place.folder)
        (file,) = asked["breakpoints"]
        assert file["breakpoints"] == [{"line": 3, "condition": "total > 0"}]
        assert place.tool("get_breakpoints")["breakpoints"][0]["verified"] is True
        (session,) = [it for it in place.tool("list_sessions")["sessions"] if it["state"] == "Stopped"]
        assert session["runs_with"] == {"editor": "Fake Code", "debugger": "plain-script"}
        assert place.tool("evaluate_expression", expression="total")["result"] == "0"
        assert place.tool("step_execution", step_type="over")["stop_event_data"]["line"] == 4
        place.tool("stop_debugging", session_id=session["session_id"])
        eventually(lambda: delegate.stopped_sessions == ["s1"])  # whoever started it may end it
    place.tool("remove_breakpoint", clear_all=True)


def test_what_the_adapter_says_of_a_breakpoint_later_is_known_by_the_same_number(place: DebugWorkspace) -> None:
    class Unsure(Delegate):
        def set_breakpoints(self, params: Json) -> Json:
            return {"body": {"breakpoints": [{"id": 7, "verified": False} for _ in params["arguments"]["breakpoints"]]}}

    delegate = Unsure(place)
    place.tool("set_breakpoint", file_path="adding.py", line_number=4)
    with _editor(place, delegate):
        _start(place)
        assert place.tool("get_breakpoints")["breakpoints"][0]["verified"] is False
        delegate.event("breakpoint", reason="changed", breakpoint={"id": 7, "verified": True, "line": 4})
        eventually(lambda: place.tool("get_breakpoints")["breakpoints"][0]["verified"] is True, every_s=0.05)
        place.tool("stop_debugging")
    place.tool("remove_breakpoint", clear_all=True)


def test_a_refusal_a_failure_and_an_editor_that_leaves_are_distinguished(place: DebugWorkspace) -> None:
    def refuse(code: str) -> Json:
        raise Refusal(code)

    class Leaving(Delegate):
        def start(self, params: Json) -> Json:
            self.editor.leave()
            raise Silence

    class Refusing(Delegate):
        code = "not_allowed"

        def start(self, params: Json) -> Json:
            return refuse(self.code)

    refusing = Refusing(place)
    with _editor(place, refusing):
        assert _start(place)["code"] == "not_allowed"
        refusing.code = "not_started"
        assert _start(place)["code"] == "editor_refused"
    with _editor(place, Leaving(place)):
        assert _start(place)["code"] == "editor_gone"
    assert _start(place)["code"] == "no_adapter"  # and nobody is there to ask
    assert all(it["state"] == "Terminated" for it in place.tool("list_sessions")["sessions"])


def test_an_editor_that_says_yes_and_lends_nothing_is_an_error(place: DebugWorkspace) -> None:
    class Forgetful(Delegate):
        def start(self, params: Json) -> Json:
            return {}

    with _editor(place, Forgetful(place)):
        assert _start(place)["code"] == "adapter_refused"


def test_a_person_who_does_not_answer_is_a_refusal_after_a_while(place: DebugWorkspace) -> None:
    place.daemon.patch("dragoman.debug.backends.editor_launch:EDITOR_START_TIMEOUT_S", 0.3)

    class Waiting(Delegate):
        def start(self, params: Json) -> Json:
            raise Silence

    try:
        with _editor(place, Waiting(place)) as editor:
            assert _start(place)["code"] == "editor_silent"
            eventually(lambda: "withdrawn" in [it["method"] for it in editor.notified], every_s=0.02)
    finally:
        place.daemon.patch("dragoman.debug.backends.editor_launch:EDITOR_START_TIMEOUT_S", 180.0)


def test_an_agent_that_stops_it_while_the_person_is_asked_withdraws_the_question(place: DebugWorkspace) -> None:
    class Late(Delegate):
        def start(self, params: Json) -> Json:
            self.started.append(params)
            raise Silence

    late = Late(place)
    with _editor(place, late) as editor:
        answer = place.tool("start_debugging", configuration=CONFIGURATION, wait=False)
        eventually(lambda: late.started, every_s=0.02)
        place.tool("stop_debugging", session_id=answer["session_id"])
        eventually(lambda: "withdrawn" in [it["method"] for it in editor.notified], every_s=0.02)
        offered = late.offer(place, start=late.started[0]["start"], type="plain-script")
        assert offered["error"]["code"] == "not_taken"  # a person who says yes too late gives nobody a session
    assert not [it for it in place.tool("list_sessions")["sessions"] if it["state"] != "Terminated"]


def test_a_program_that_is_over_before_it_is_lent_is_reported_with_what_it_printed(place: DebugWorkspace) -> None:
    class Short(Delegate):
        def lend(self, start: str, number: int) -> None:
            offered = {"session": "s1", "name": "Script", "type": "plain-script", "folder": str(place.folder)}
            self.editor.notify("debug.offered", {**offered, "capabilities": CAPABILITIES, "start": start}, id=7000)
            self.event("output", category="stdout", output="all is said\n")
            self.event("exited", exitCode=3)
            self.editor.notify("debug.ended", {"session": "s1"})
            self.answer(number, {})

    with _editor(place, Short(place)):
        result = _start(place)
        assert (result["state"], result["exit_code"]) == ("Terminated", 3), result
        assert "all is said" in str(result)


def test_another_window_cannot_take_what_one_was_asked_for(place: DebugWorkspace) -> None:
    class Slow(Delegate):
        def start(self, params: Json) -> Json:
            self.started.append(params)
            raise Silence

    slow, other = Slow(place), Delegate(place)
    with _editor(place, slow):
        other.editor = FakeEditor(place, other.answers, debug_types=["unrelated"])
        answer = place.tool("start_debugging", configuration=CONFIGURATION, wait=False)
        eventually(lambda: slow.started, every_s=0.02)
        assert not other.started  # it has no such debugger
        stolen = other.offer(place, start=slow.started[0]["start"], type="plain-script")
        assert stolen["error"]["code"] == "not_taken"
        place.tool("stop_debugging", session_id=answer["session_id"])
        other.editor.leave()


def test_of_two_windows_the_one_that_was_looked_at_last_starts_it(place: DebugWorkspace) -> None:
    one, two = Delegate(place), Delegate(place)
    with _editor(place, one, two):
        one.editor.call("focused", {})
        _start(place)
        assert (len(one.started), len(two.started)) == (1, 0)
        place.tool("stop_debugging")


def test_a_named_configuration_runs_its_task_here_before_the_editor_is_asked(place: DebugWorkspace) -> None:
    folder = place.folder / ".vscode"
    folder.mkdir(exist_ok=True)
    task = {"label": "mark", "type": "shell", "command": "echo done > marked.txt"}
    listed = {**CONFIGURATION, "type": "cppvsdbg", "preLaunchTask": "mark",
              "environment": [{"name": "A", "value": "b"}],
              "serverReadyAction": {"action": "startDebugging", "name": "Other"}}  # fmt: skip
    before = {
        name: (folder / name).read_text() if (folder / name).exists() else None
        for name in ("launch.json", "tasks.json")
    }
    (folder / "launch.json").write_text(json.dumps({"version": "0.2.0", "configurations": [listed]}))
    (folder / "tasks.json").write_text(json.dumps({"version": "2.0.0", "tasks": [task]}))
    delegate = Delegate(place)
    try:
        with _editor(place, delegate):
            place.tool("start_debugging", configuration_name="Script", timeout_s=30)
            assert (place.folder / "marked.txt").read_text() == "done\n"
            result = delegate.started[0]["configuration"]
            assert result["environment"] == [{"name": "A", "value": "b"}]
            assert {"preLaunchTask", "env", "serverReadyAction"}.isdisjoint(result)
            place.tool("stop_debugging")
    finally:
        for name, text in before.items():
            (folder / name).unlink() if text is None else (folder / name).write_text(text)


def test_what_the_editor_would_expand_once_more_is_not_handed_to_it(place: DebugWorkspace) -> None:
    """From outside: what our own look at the configuration has not replaced, and must not run a command there."""
    delegate = Delegate(place)
    with _editor(place, delegate):
        answer = place.tool(
            "start_debugging",
            configuration={**CONFIGURATION, "args": ["${env:HIDDEN}"]},
            env={"X": "${command:workbench.action.terminal.new}"},
        )
        assert answer["code"] == "bad_configuration"
        assert not delegate.started


def test_what_the_daemon_can_debug_itself_stays_here(place: DebugWorkspace) -> None:
    delegate = Delegate(place)
    with _editor(place, delegate, types=["debugpy", "python"]):
        answer = place.tool("start_debugging", program="adding.py", timeout_s=30 * PATIENCE)
        assert answer["state"] == "Terminated", answer
        assert not delegate.started
