"""An editor joins an agent's session: it sees the present state, both step, and each sees what the other did."""

from __future__ import annotations

import json
from pathlib import Path

from tests.daemons import Cli, eventually
from tests.servers.dap.conftest import AT_INNER, IN_LOOP, Agent, OpenEditor
from tests.servers.dap.editor import Editor


def test_who_is_opened_in_a_folder_below_joins_the_only_session_there_is(
    agent: Agent, editor: Editor, program: Path, tmp_path: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    (tmp_path / "below").mkdir()
    editor.join(workspace=str(tmp_path / "below"))
    editor.event("stopped")
    assert session in {it["session_id"] for it in agent.call("list_sessions")["sessions"]}
    editor.ask("continue", threadId=1)
    editor.event("stopped")
    assert "a person in Visual Studio Code" in str(agent.call("wait_for_stop"))


def test_a_late_joiner_sees_the_present_stop_its_stack_its_variables_and_what_was_printed(
    agent: Agent, editor: Editor, program: Path
) -> None:
    agent.stopped_at(program, IN_LOOP)
    stop = agent.call("continue_debugging")["stop_event_data"]
    text = editor.join(stop["session_id"])
    assert text["supportsSetVariable"]
    stopped = editor.event("stopped")
    assert (stopped["reason"], stopped["threadId"], stopped["allThreadsStopped"]) == (
        "breakpoint",
        stop["thread_id"],
        True,
    )
    assert "total 0" in editor.output()
    assert [it["id"] for it in editor.ask("threads")["threads"]] == [stop["thread_id"]]
    top, *rest = editor.frames(stopped["threadId"])
    assert (top["name"], top["line"], top["source"]["path"]) == ("outer", IN_LOOP, str(program))
    assert rest[-1]["name"] == "<module>"
    assert editor.locals(top["id"])["number"] == "1"
    assert editor.ask("evaluate", expression="count + 1", frameId=top["id"], context="hover")["result"] == "6"


def test_the_agent_learns_that_a_person_stepped_and_where_that_led(agent: Agent, editor: Editor, program: Path) -> None:
    stop = agent.stopped_at(program, IN_LOOP)["stop_event_data"]
    editor.join(stop["session_id"])
    thread = editor.event("stopped")["threadId"]
    editor.ask("stepIn", threadId=thread)
    assert editor.event("stopped")["reason"] == "step"
    refused = agent.call("step_execution", step_type="over")
    assert refused["code"] == "moved_on"
    assert "a person in Visual Studio Code ran `stepIn`" in refused["message"]
    now = agent.call("wait_for_stop")["stop_event_data"]
    assert (now["call_stack"][0]["function_name"], now["line"]) == ("inner", AT_INNER)
    assert now["sent_on_by"] == "a person in Visual Studio Code"
    assert "a person in Visual Studio Code" in agent.text


def test_what_the_agent_does_reaches_every_editor_in_order(
    agent: Agent, editor: Editor, editor_at: OpenEditor, program: Path
) -> None:
    stop = agent.stopped_at(program, IN_LOOP)["stop_event_data"]
    with editor_at("nvim") as other:
        for each in (editor, other):
            each.join(stop["session_id"])
            each.event("stopped")
        agent.call("step_execution", step_type="over")
        for each in (editor, other):
            each.event("continued")
            stopped = each.event("stopped")
            assert each.frames(stopped["threadId"])[0]["line"] == IN_LOOP + 1
            assert stopped["description"] == "By raw: paused on step"  # the line jumped, and not by the person here
        editor.ask("next", threadId=agent.call("wait_for_stop")["stop_event_data"]["thread_id"])
        assert "description" not in editor.event("stopped")
        assert other.event("stopped")["description"] == "By a person in Visual Studio Code: paused on step"


def test_a_value_that_a_person_set_is_what_the_agent_reads(agent: Agent, editor: Editor, program: Path) -> None:
    stop = agent.stopped_at(program, IN_LOOP)["stop_event_data"]
    editor.join(stop["session_id"])
    top = editor.frames(editor.event("stopped")["threadId"])[0]
    scope = editor.ask("scopes", frameId=top["id"])["scopes"][0]["variablesReference"]
    assert editor.ask("setVariable", variablesReference=scope, name="total", value="70")["value"] == "70"
    assert agent.call("evaluate_expression", expression="total")["result"] == "70"
    editor.ask("evaluate", expression="total = 80", frameId=top["id"], context="repl")
    seen = agent.call("wait_for_stop")["stop_event_data"]["top_frame_variables"]["variables"]
    assert {it["name"]: it["value"] for it in seen}["total"] == "80"


def test_an_editor_that_leaves_ends_nothing_and_its_breakpoints_go_with_it(
    agent: Agent, editor: Editor, program: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    editor.join(session, {program: [AT_INNER]})
    assert len(agent.call("get_breakpoints")["breakpoints"]) == 2
    editor.ask("disconnect")
    editor.ends()
    assert agent.call("continue_debugging")["stop_event_data"]["line"] == IN_LOOP
    assert [it["line"] for it in agent.call("get_breakpoints")["breakpoints"]] == [IN_LOOP]


def test_an_editor_ends_the_session_only_when_it_says_so(agent: Agent, editor: Editor, program: Path) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    editor.join(session)
    editor.event("stopped")
    editor.ask("disconnect", terminateDebuggee=True)
    ended = agent.call("wait_for_stop", session_id=session)
    assert ended["message"] == "The session was ended by a person in Visual Studio Code."


def test_the_client_that_ended_a_session_is_reported_to_the_others(
    agent: Agent, editor_at: OpenEditor, program: Path
) -> None:
    for ends, result in (("person", "a person in Visual Studio Code"), ("agent", "raw")):
        session = agent.stopped_at(program, IN_LOOP)["session_id"]
        with editor_at("Visual Studio Code") as editor, editor_at("nvim") as other:
            for each in (editor, other):
                each.join(session)
                each.event("stopped")
            _ = editor.ask("terminate") if ends == "person" else agent.call("stop_debugging", session_id=session)
            for each in (editor, other):
                each.event("terminated")
            assert f"The session was ended by {result}." in other.output()
            assert ("The session was ended by" in editor.output()) == (ends == "agent")  # who did it knows


def test_without_an_id_the_active_session_of_the_named_folder_is_joined(
    agent: Agent, editor: Editor, program: Path, tmp_path: Path
) -> None:
    agent.stopped_at(program, IN_LOOP)
    editor.join(workspace=str(tmp_path))
    assert editor.frames(editor.event("stopped")["threadId"])[0]["line"] == IN_LOOP


def test_a_client_that_joins_a_session_of_another_folder_learns_which(
    agent: Agent, editor_at: OpenEditor, program: Path, tmp_path: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    for folder, is_reported in ((tmp_path, False), (tmp_path / "below", False), (tmp_path.parent / "other", True)):
        folder.mkdir(exist_ok=True)
        with editor_at("nvim") as editor:
            editor.join(session, workspace=str(folder))
            editor.event("stopped")
            assert (f"This session belongs to {tmp_path}." in editor.output()) == is_reported


def test_the_end_of_the_program_reaches_the_editor_with_its_exit_code(
    agent: Agent, editor: Editor, program: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    editor.join(session)
    thread = editor.event("stopped")["threadId"]
    agent.call("remove_breakpoint", clear_all=True)
    editor.ask("continue", threadId=thread)
    assert editor.event("exited")["exitCode"] == 0
    editor.event("terminated")
    assert "result 20" in editor.output()
    assert editor.refused("next", threadId=thread)[0] == "already_ended"


def test_the_record_has_who_joined_and_what_was_typed_but_no_glances(
    agent: Agent, daemon: Cli, editor: Editor, program: Path
) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    editor.join(session)
    top = editor.frames(editor.event("stopped")["threadId"])[0]["id"]
    editor.ask("evaluate", expression="count - 1", frameId=top, context="hover")
    editor.ask("evaluate", expression="count - 2", frameId=top, context="repl")
    editor.ask("disconnect")

    def report() -> list[tuple[str, str]]:
        events = list(map(json.loads, daemon("journal", "export").stdout.splitlines()))
        mine = [it for it in events if it["session"] == session and "Visual" in str(it["body"].get("by"))]
        return [(it["kind"], it["body"].get("expression", "")) for it in mine]

    expected = [("debug.joined", ""), ("debug.evaluated", "count - 2"), ("debug.left", "")]
    eventually(lambda: report() == expected, every_s=0.2)
