"""Breakpoints of an editor: its own beside everybody's, one list to the debugger."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemons import eventually
from tests.servers.dap.conftest import AT_INNER, IN_LOOP, Agent, OpenEditor, SharedAgent
from tests.servers.dap.editor import Editor


@pytest.fixture
def shared(shared_agent: SharedAgent) -> SharedAgent:
    return shared_agent


@pytest.fixture
def looping(shared_folder: Path) -> Path:
    return shared_folder / "program.py"


def test_an_editors_list_leaves_the_agents_breakpoints_where_they_are(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session, {looping: [AT_INNER]})
    thread = editor.event("stopped")["threadId"]
    (own,) = editor.set_lines(looping, AT_INNER)
    assert own["verified"]
    editor.ask("continue", threadId=thread)
    assert editor.event("stopped")["hitBreakpointIds"] == [own["id"]]
    assert editor.set_lines(looping) == []
    editor.ask("continue", threadId=thread)
    assert editor.event("stopped")["hitBreakpointIds"] != [own["id"]]
    assert shared.call("wait_for_stop")["stop_event_data"]["line"] == IN_LOOP


def test_the_same_list_keeps_its_ids_and_shows_the_agent_their_owner(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session)
    first = editor.set_lines(looping, AT_INNER, {"line": AT_INNER + 1, "condition": "value > 3"})
    again = editor.set_lines(looping, {"line": AT_INNER + 1, "condition": "value > 2"}, AT_INNER)
    assert [it["id"] for it in again] == [first[1]["id"], first[0]["id"]]
    listed = {it["line"]: it for it in shared.call("get_breakpoints")["breakpoints"]}
    assert listed[AT_INNER + 1]["condition"] == "value > 2"
    assert listed[AT_INNER]["set_by"] == "a person in Visual Studio Code"
    assert listed[AT_INNER]["session_id"] == session
    assert "set_by" not in listed[IN_LOOP]


def test_what_the_agent_removes_leaves_the_editors_list_as_well(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session)
    (own,) = editor.set_lines(looping, AT_INNER)
    shared.call("remove_breakpoint", breakpoint_id=own["id"])
    assert editor.event("breakpoint", reason="removed")["breakpoint"]["id"] == own["id"]


def test_conditions_hits_and_log_messages_are_an_editors_too(agent: Agent, editor: Editor, program: Path) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    agent.call("remove_breakpoint", clear_all=True)
    editor.join(session)
    thread = editor.event("stopped")["threadId"]
    logged, counted, bad = editor.set_lines(
        program,
        {"line": AT_INNER + 1, "logMessage": "doubled is {doubled}"},
        {"line": AT_INNER, "hitCondition": "3"},
        {"line": IN_LOOP, "hitCondition": "sometimes"},
    )
    assert "id" not in bad
    assert "sometimes" in bad["message"]
    editor.ask("continue", threadId=thread)
    assert editor.event("stopped")["hitBreakpointIds"] == [counted["id"]]
    assert editor.locals(editor.frames(thread)[0]["id"])["value"] == "2"
    eventually(lambda: "doubled is 0\ndoubled is 2\n" in editor.output().replace("total 0\n", ""))
    assert logged["id"] != counted["id"]


def test_two_editors_have_two_lists(shared: SharedAgent, editor: Editor, editor_at: OpenEditor, looping: Path) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session, {looping: [AT_INNER]})
    with editor_at("nvim") as other:
        other.join(session, {looping: [AT_INNER]})
        other.ask("setBreakpoints", source={"path": str(looping)}, breakpoints=[])
        other.ask("disconnect")
    thread = editor.event("stopped")["threadId"]
    editor.ask("continue", threadId=thread)
    assert editor.event("stopped")["reason"] == "breakpoint"
    assert editor.frames(thread)[0]["line"] == AT_INNER


def test_functions_and_exceptions_are_set_where_the_debugger_can(agent: Agent, editor: Editor, program: Path) -> None:
    program.write_text(program.read_text().replace("return doubled", "return {}[doubled]"))
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    agent.call("remove_breakpoint", clear_all=True)
    can = editor.join(session)
    assert {it["filter"] for it in can["exceptionBreakpointFilters"]} >= {"raised", "uncaught"}
    thread = editor.event("stopped")["threadId"]
    (by_name,) = editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "inner"}])["breakpoints"]
    assert by_name["verified"]
    (raised,) = editor.ask("setExceptionBreakpoints", filters=["raised"])["breakpoints"]
    assert raised["verified"]
    editor.ask("continue", threadId=thread)
    assert editor.event("stopped")["reason"] == "function breakpoint"
    editor.ask("setFunctionBreakpoints", breakpoints=[])
    editor.ask("continue", threadId=thread)
    stopped = editor.event("stopped", reason="exception")
    assert stopped["hitBreakpointIds"] == [raised["id"]]
    info = editor.ask("exceptionInfo", threadId=thread)
    assert (info["exceptionId"], info["breakMode"]) == ("KeyError", "always")


def test_a_mirroring_editor_sees_the_others_breakpoints_and_its_echo_is_not_its_own(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session, mirrorsBreakpoints=True)
    (theirs,) = editor.event("dragomanBreakpoints")["breakpoints"]
    assert (theirs["path"], theirs["line"], theirs["verified"]) == (str(looping), IN_LOOP, True)
    echo, own = editor.set_lines(looping, IN_LOOP, AT_INNER)
    assert echo["id"] == theirs["id"]
    assert own["id"] != theirs["id"]
    assert len(shared.call("get_breakpoints")["breakpoints"]) == 2
    shared.call("remove_breakpoint", breakpoint_id=theirs["id"])
    assert editor.event("dragomanBreakpoints")["breakpoints"] == []
    assert [it["line"] for it in shared.call("get_breakpoints")["breakpoints"]] == [AT_INNER]


def test_a_person_changes_and_removes_an_agents_breakpoint_in_the_folder_of_the_session(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    """The daemon's own folder is another: only the session knows where its breakpoints are."""
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session, mirrorsBreakpoints=True)
    (theirs,) = editor.event("dragomanBreakpoints")["breakpoints"]
    editor.set_lines(looping, {"line": IN_LOOP, "condition": "total > 2"})  # the editor's list may come first
    answer = editor.ask("dragomanChangeBreakpoint", id=theirs["id"], line=IN_LOOP, condition="total > 2")
    assert [(it["id"], it["condition"]) for it in answer["breakpoints"]] == [(theirs["id"], "total > 2")]
    assert [it["condition"] for it in shared.call("get_breakpoints")["breakpoints"]] == ["total > 2"]
    editor.ask("dragomanChangeBreakpoint", id=theirs["id"], line=IN_LOOP, enabled=False)
    assert [it["enabled"] for it in shared.call("get_breakpoints")["breakpoints"]] == [False]
    assert editor.ask("dragomanRemoveBreakpoint", id=theirs["id"]) == {"breakpoints": []}
    assert shared.call("get_breakpoints")["breakpoints"] == []
    assert editor.refused("dragomanChangeBreakpoint", id=theirs["id"], line=3)[0] == "unknown_breakpoint"
    assert editor.ask("dragomanRemoveBreakpoint", id=theirs["id"]) == {"breakpoints": []}


def test_one_that_the_person_had_before_the_agents_is_not_an_echo_and_stays_when_the_agents_goes(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session, {looping: [IN_LOOP]}, mirrorsBreakpoints=True)  # not told of any yet: it is its own
    (theirs,) = editor.event("dragomanBreakpoints")["breakpoints"]
    (own,) = editor.set_lines(looping, IN_LOOP)
    assert own["id"] != theirs["id"]
    shared.call("remove_breakpoint", breakpoint_id=theirs["id"])
    assert [it["id"] for it in shared.call("get_breakpoints")["breakpoints"]] == [own["id"]]


def test_an_editor_that_disconnects_does_not_get_the_removal_of_its_own_breakpoints(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session, {looping: [AT_INNER]})
    editor.event("stopped")
    editor.ask("disconnect")
    editor.ends()
    assert [it for it in editor.events("breakpoint") if it["reason"] == "removed"] == []
    assert [it["line"] for it in shared.call("get_breakpoints")["breakpoints"]] == [IN_LOOP]


def test_a_box_that_is_ticked_by_itself_is_bound_and_no_fault_for_the_agent(
    shared: SharedAgent, editor: Editor, looping: Path
) -> None:
    session = shared.stopped_at(looping, IN_LOOP)["session_id"]
    editor.join(session)
    (box,) = editor.ask("setExceptionBreakpoints", filters=["uncaught"])["breakpoints"]
    assert box["verified"]
    shared.call("step_execution", step_type="over")
    assert "not bound" not in shared.text


def test_a_breakpoint_without_a_file_says_why_it_is_not_set(shared: SharedAgent, editor: Editor, looping: Path) -> None:
    editor.join(shared.stopped_at(looping, IN_LOOP)["session_id"])
    source = {"name": "<string>", "sourceReference": 3}
    (unset,) = editor.ask("setBreakpoints", source=source, breakpoints=[{"line": 1}])["breakpoints"]
    assert unset == {"verified": False, "message": "A breakpoint needs the absolute path of its file."}
