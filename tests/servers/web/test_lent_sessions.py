"""Debug sessions of a person's in an editor, as tools see them: looked at, stepped, and never ended by an agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.cli.daemon.launcher import ending_sessions
from tests.daemons import call, eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.servers.web.fake_editor import Json, Silence, fake_editor
from tests.servers.web.lent_program import Program, live, stopped


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("lent")) as place:
        yield place


@pytest.fixture
def program(place: DebugWorkspace) -> Iterator[Program]:
    program = Program(place)
    with fake_editor(place, program.answers) as program.editor:
        yield program
    eventually(lambda: not live(place), every_s=0.02)


def test_a_stopped_session_is_taken_as_it_is_and_inspected(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)
    assert [(it["session_id"], it["name"]) for it in live(place)] == [(session, "Mine")]
    assert place.tool("evaluate_expression", expression="total")["result"] == "0"
    answer = place.tool("wait_for_stop", timeout_s=0)
    assert answer["stop_event_data"]["line"] == 3
    assert "total" in str(answer["stop_event_data"])


def test_an_agent_steps_it_and_nothing_else_reaches_the_debugger(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)
    answer = place.tool("step_execution", session_id=session, step_type="over")
    assert answer["stop_event_data"]["line"] == 4
    place.tool("stop_debugging", session_id=session)  # lets go of it
    eventually(lambda: not live(place), every_s=0.02)
    assert not {"disconnect", "terminate", "initialize", "attach", "configurationDone"} & set(program.commands)


def test_what_the_person_does_is_reported_as_the_persons_action(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)
    program.event("continued", threadId=1, allThreadsContinued=True)
    program.stop_at(11)
    result = eventually(lambda: at_line(place, session, 11), every_s=0.02)
    assert "a person in Fake Code" in str(result)


def at_line(place: DebugWorkspace, session: str, line: int) -> Any:
    answer = place.tool("wait_for_stop", session_id=session, timeout_s=0)
    return answer if (answer.get("stop_event_data") or {}).get("line") == line else None


def test_breakpoints_of_agents_are_set_by_the_editor(place: DebugWorkspace, program: Program) -> None:
    stopped(place, program)
    made = place.tool("set_breakpoint", file_path="adding.py", line_number=5, condition="total > 2")
    assert made["status"] != "error", made
    assert [(it["line"], it["condition"]) for it in program.breakpoints] == [(5, "total > 2")]
    assert "true" in str(made).lower()
    place.tool("remove_breakpoint", clear_all=True)
    assert program.breakpoints == []
    assert "setBreakpoints" not in program.commands


def test_what_the_person_takes_away_in_the_editor_leaves_the_agents_list_and_may_be_set_again(
    place: DebugWorkspace, program: Program
) -> None:
    stopped(place, program)
    place.tool("set_breakpoint", file_path="adding.py", line_number=5)
    place.tool("set_breakpoint", file_path="adding.py", line_number=6)
    gone = {"session": "s1", "path": program.path, "line": 5, "now": None}
    assert program.editor.call("debug.breakpoint", gone)["result"] == {"count": 1}
    assert [it["line"] for it in place.tool("get_breakpoints")["breakpoints"]] == [6]
    assert [it["line"] for it in program.breakpoints] == [6]
    place.tool("set_breakpoint", file_path="adding.py", line_number=5)  # the agent's word, said later
    assert sorted(it["line"] for it in program.breakpoints) == [5, 6]
    place.tool("remove_breakpoint", clear_all=True)


def test_what_the_person_changes_in_the_editor_is_so_for_the_agent(place: DebugWorkspace, program: Program) -> None:
    stopped(place, program)
    place.tool("set_breakpoint", file_path="adding.py", line_number=5)
    now = {"line": 6, "condition": "total > 1", "enabled": False}
    program.editor.call("debug.breakpoint", {"session": "s1", "path": program.path, "line": 5, "now": now})
    (listed,) = place.tool("get_breakpoints")["breakpoints"]
    assert (listed["line"], listed["condition"], listed["enabled"]) == (6, "total > 1", False)
    place.tool("remove_breakpoint", clear_all=True)


@pytest.mark.parametrize(
    ("result", "code"),
    [({"session": "s2", "path": "/a", "line": 1, "now": None}, "not_lent"), ({"session": "s1"}, "bad_offer"),
     ({"session": "s1", "path": "/a", "line": "x", "now": None}, "bad_offer")],
)  # fmt: skip
def test_a_breakpoint_of_no_lent_session_is_refused(
    place: DebugWorkspace, program: Program, result: Json, code: str
) -> None:
    stopped(place, program)
    assert program.editor.call("debug.breakpoint", result)["error"]["code"] == code


def test_it_does_not_end_with_the_daemon(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)
    status = call(place.daemon.paths, "status")
    assert [(it["id"], it["ends"]) for it in status["sessions"]] == [(session, False)]
    assert ending_sessions(status) == []


def test_the_end_is_reported(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)
    program.event("exited", exitCode=3)
    program.editor.notify("debug.ended", {"session": "s1"})
    eventually(lambda: not live(place), every_s=0.02)
    ended = next(it for it in place.tool("list_sessions")["sessions"] if it["session_id"] == session)
    assert ended["state"] == "Terminated"


def test_an_editor_that_is_killed_takes_its_sessions_along(place: DebugWorkspace, program: Program) -> None:
    stopped(place, program)
    program.editor.leave()
    eventually(lambda: not live(place), every_s=0.02)


def test_a_question_that_the_editor_does_not_answer_ends_in_time(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)

    def silent(_: Json) -> None:
        raise Silence

    program.editor.answers["debug.request"] = silent
    answer = place.tool("evaluate_expression", session_id=session, expression="total", timeout_s=0.3)
    assert answer["status"] != "success"
    assert "total" not in answer.get("result", "")


@pytest.mark.parametrize("categories", [("stdout",), ("stdout", "stderr")])
def test_a_program_that_prints_without_a_pause_and_then_stops_loses_nothing(
    place: DebugWorkspace, program: Program, categories: tuple[str, ...]
) -> None:
    session = stopped(place, program)
    program.event("continued", threadId=1, allThreadsContinued=True)
    for number in range(5000):
        program.event("output", category=categories[number % len(categories)], output=f"line {number}\n")
    program.stop_at(12)
    assert eventually(lambda: at_line(place, session, 12), every_s=0.05)
    assert [f"line {number}" for number in range(5000)] == sorted(
        all_printed(place, session).splitlines(), key=lambda it: int(it.split()[-1])
    )


def all_printed(place: DebugWorkspace, session: str) -> str:
    text, page = "", {"cursor": 0, "left": 1}
    while page["left"]:
        page = place.tool("get_output", session_id=session, max_chars=20_000, cursor=page["cursor"])
        text += page["output"]
    return text


def test_a_body_with_any_names_in_it_costs_no_session(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)
    for body in ({"event": "x", "output": "y"}, {"output": 3}, {"output": {"a": 1}, "category": []}, {"self": 1}):
        program.editor.notify("debug.event", {"session": "s1", "event": "output", "body": body})
        program.editor.notify("debug.event", {"session": "s1", "event": "thread", "body": body})
    program.editor.notify("debug.event", {"session": "s1", "event": "stopped", "body": []})
    assert place.tool("evaluate_expression", session_id=session, expression="total")["result"] == "0"


def test_an_agent_that_releases_a_session_says_so_and_it_can_be_lent_again(
    place: DebugWorkspace, program: Program
) -> None:
    session = stopped(place, program)
    place.tool("stop_debugging", session_id=session)
    result = eventually(lambda: program.editor.notified, every_s=0.02)
    assert [(it["method"], it["params"]) for it in result] == [("debug.released", {"session": "s1", "why": "let_go"})]
    assert stopped(place, program) != session


def test_one_that_the_person_takes_back_says_so_and_can_be_lent_again(place: DebugWorkspace, program: Program) -> None:
    session = stopped(place, program)
    program.editor.notify("debug.ended", {"session": "s1", "why": "taken_back"})
    eventually(lambda: not live(place), every_s=0.02)
    assert "took this session back" in str(place.tool("get_output", session_id=session))
    assert program.editor.notified == []
    assert stopped(place, program) != session


def test_threads_that_all_stopped_are_reported_with_the_offer(place: DebugWorkspace, program: Program) -> None:
    stops = [{"reason": "breakpoint", "threadId": thread, "allThreadsStopped": False} for thread in (1, 2)]
    program.offer(place, stops=stops)
    eventually(lambda: [it.get("thread_id") for it in live(place)] == [2], every_s=0.02)


def own(program: Program, line: int, **more: Any) -> Json:
    return {"path": program.path, "line": line, "column": None, "enabled": True, **more}


def report_own_breakpoints(program: Program, *marks: Json, session: str = "s1") -> Json:
    return program.editor.call("debug.own", {"session": session, "breakpoints": list(marks)})


def test_the_persons_own_breakpoints_are_in_the_list_as_theirs_and_nobody_sets_them_again(
    place: DebugWorkspace, program: Program
) -> None:
    session = stopped(place, program)
    report_own_breakpoints(
        program, own(program, 4, isBound=True), own(program, 5, condition="total", hitCondition="2", enabled=False)
    )
    place.tool("set_breakpoint", file_path="adding.py", line_number=4)
    listed = place.tool("get_breakpoints")["breakpoints"]
    assert [(it["line"], it["set_by"], it["verified"], it["enabled"]) for it in listed[:2]] == [
        (4, "a person in Fake Code", True, True),
        (5, "a person in Fake Code", False, False),
    ]
    assert [it["line"] for it in program.breakpoints] == [4]  # the agent's alone
    report_own_breakpoints(program, own(program, 6))
    assert [it["line"] for it in place.tool("get_breakpoints")["breakpoints"]] == [4, 6]
    place.tool("remove_breakpoint", clear_all=True)
    assert [it["line"] for it in place.tool("get_breakpoints")["breakpoints"]] == [6]  # theirs stay
    refusal = place.tool("remove_breakpoint", location={"file_path": "adding.py", "line_number": 6})
    assert refusal["code"] == "persons_own"
    place.tool("stop_debugging", session_id=session)
    eventually(lambda: place.tool("get_breakpoints")["breakpoints"] == [], every_s=0.02)


def test_what_the_person_does_to_an_agents_leaves_their_own_at_that_line_alone(
    place: DebugWorkspace, program: Program
) -> None:
    stopped(place, program)
    report_own_breakpoints(program, own(program, 5))
    place.tool("set_breakpoint", file_path="adding.py", line_number=5)
    gone = {"session": "s1", "path": program.path, "line": 5, "now": None}
    assert program.editor.call("debug.breakpoint", gone)["result"] == {"count": 1}
    assert [it["line"] for it in place.tool("get_breakpoints")["breakpoints"]] == [5]


def test_breakpoints_that_no_editor_would_send_are_refused(place: DebugWorkspace, program: Program) -> None:
    stopped(place, program)
    assert report_own_breakpoints(program, own(program, 4), session="other")["error"]["code"] == "not_lent"
    for marks in ([{"line": 3}], [{"path": "/a", "line": "x"}], ["text"], [own(program, 3, enabled="yes")]):
        assert report_own_breakpoints(program, *marks)["error"]["code"] == "bad_offer"


def test_agents_learn_of_a_session_that_could_be_lent_and_no_longer_when_it_is(
    place: DebugWorkspace, program: Program
) -> None:
    here = {"name": "Mine", "folder": str(place.folder)}
    program.editor.notify("debug.lendable", {"sessions": [here, {"name": "Far", "folder": "/elsewhere"}]})
    eventually(lambda: place.tool("list_sessions").get("not_lent") == ["Mine"], every_s=0.02)
    program.editor.call("debug.lendable", {"sessions": "none"})
    assert place.tool("list_sessions")["not_lent"] == ["Mine"]
    program.editor.call("debug.lendable", {"sessions": []})
    assert place.tool("list_sessions").get("not_lent") is None


def test_what_an_editor_registered_is_removed_with_it(place: DebugWorkspace) -> None:
    with fake_editor(place, {}) as editor:
        editor.call("debug.lendable", {"sessions": [{"name": "Mine", "folder": str(place.folder)}]})
    assert place.tool("list_sessions").get("not_lent") is None


@pytest.mark.parametrize("more", [{"folder": "/elsewhere"}, {"capabilities": 3}, {"session": None}, {"stops": "there"}])
def test_an_offer_that_makes_no_sense_is_refused(place: DebugWorkspace, program: Program, more: Json) -> None:
    assert program.offer(place, **more)["error"]["code"] in {"not_taken", "bad_offer"}
    assert live(place) == []


def test_the_same_session_is_lent_once(place: DebugWorkspace, program: Program) -> None:
    stopped(place, program)
    assert program.offer(place)["error"]["code"] == "not_taken"
