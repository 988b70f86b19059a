"""Dragoman as an editor's debug adapter: what it starts, an agent can join."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import Cli, eventually
from tests.servers.dap.conftest import AT_INNER, IN_LOOP, Agent
from tests.servers.dap.editor import Editor, at_pump


@pytest.mark.parametrize("way", ["flat", "inner", "program", "as its own type"])
def test_a_program_is_started_with_the_editors_breakpoints_from_its_first_line(
    agent: Agent, editor: Editor, program: Path, tmp_path: Path, way: str
) -> None:
    ways: dict[str, dict[str, Any]] = {
        "flat": {"type": "dragoman", "dragomanType": "python", "program": str(program), "args": ["2"]},
        "inner": {"configuration": {"type": "debugpy", "program": str(program), "args": ["2"]}},
        "program": {"type": "dragoman", "program": str(program), "args": ["2"]},
        "as its own type": {"type": "python", "program": str(program), "args": ["2"], "__sessionId": "x"},
    }
    begun = editor.launch({program: [1]}, name="it", request="launch", workspace=str(tmp_path), **ways[way])
    stopped = editor.event("stopped")
    editor.answer(begun)
    assert editor.frames(stopped["threadId"])[0]["line"] == 1
    (session,) = agent.call("list_sessions")["sessions"]
    assert session["state"] == "Stopped"
    seen = agent.call("wait_for_stop")["stop_event_data"]
    assert (seen["line"], seen["source"]["path"]) == (1, str(program))
    assert agent.call("evaluate_expression", expression="__name__")["result"] == "'__main__'"
    editor.ask("continue", threadId=stopped["threadId"])
    assert editor.event("exited")["exitCode"] == 0
    assert "result 2" in editor.output()


def test_the_first_answer_says_which_breakpoints_are_bound_and_leaving_ends_what_was_launched(
    agent: Agent, editor: Editor, program: Path, tmp_path: Path
) -> None:
    """In the order of the official test client, which sends no setExceptionBreakpoints and looks at one answer."""
    editor.initialize()
    begun = editor.begin("launch", dragomanType="python", program=str(program), workspace=str(tmp_path))
    editor.event("initialized")
    (bound,) = editor.set_lines(program, IN_LOOP)
    assert (bound["verified"], bound["line"]) == (True, IN_LOOP)
    editor.ask("configurationDone")
    editor.answer(begun)
    assert editor.frames(editor.event("stopped")["threadId"])[0]["line"] == IN_LOOP
    (session,) = agent.call("list_sessions")["sessions"]
    pid = agent.call("evaluate_expression", session_id=session["session_id"], expression="__import__('os').getpid()")
    editor.ask("disconnect")
    eventually(lambda: agent.call("list_sessions")["sessions"][0]["state"] == "Terminated")
    eventually(lambda: not Path("/proc", pid["result"]).exists())


def test_an_editor_that_says_so_leaves_what_it_launched_running(
    agent: Agent, editor: Editor, program: Path, tmp_path: Path
) -> None:
    editor.launch({program: [IN_LOOP]}, dragomanType="python", program=str(program), workspace=str(tmp_path))
    editor.event("stopped")
    editor.ask("disconnect", terminateDebuggee=False)
    eventually(lambda: agent.call("get_breakpoints")["breakpoints"] == [])
    assert agent.call("continue_debugging")["status"] == "completed"


def test_an_editor_that_ticks_no_box_gets_no_exception_stops(editor: Editor, tmp_path: Path) -> None:
    program = tmp_path / "raises.py"
    program.write_text("raise ValueError('no')\n")
    editor.initialize()
    editor.begin("launch", dragomanType="python", program=str(program), workspace=str(tmp_path))
    editor.event("initialized")
    editor.ask("configurationDone")
    assert editor.event("exited")["exitCode"] == 1
    assert editor.events("stopped") == []


def test_what_an_editor_unticks_is_not_stopped_at_where_it_started_the_program(editor: Editor, tmp_path: Path) -> None:
    program = tmp_path / "raises.py"
    program.write_text("raise ValueError('no')\n")
    editor.launch(dragomanType="python", program=str(program), workspace=str(tmp_path))
    assert editor.event("exited")["exitCode"] == 1
    assert editor.events("stopped") == []


def test_the_boxes_that_it_is_offered_first_hold_for_the_program_and_its_own_words_are_passed_on(
    editor: Editor, tmp_path: Path
) -> None:
    """VS Code takes the boxes from the first answer alone, before anybody knows which debugger it will be."""
    program = tmp_path / "raises.py"
    program.write_text("first = 1\nraise ValueError('no')\n")
    offered = editor.initialize()["exceptionBreakpointFilters"]
    assert [(it["filter"], it["default"]) for it in offered] == [("raised", False), ("uncaught", True)]
    begun = editor.begin("launch", program=str(program), workspace=str(tmp_path), stopOnEntry=True)
    editor.event("initialized")
    (box,) = editor.ask("setExceptionBreakpoints", filters=["uncaught"])["breakpoints"]
    editor.ask("configurationDone")
    entry = editor.event("stopped")
    assert (entry["reason"], editor.frames(entry["threadId"])[0]["line"]) == ("entry", 1)
    editor.answer(begun)
    editor.ask("continue", threadId=entry["threadId"])
    assert editor.event("stopped")["reason"] == "exception"
    assert box["id"]
    editor.ask("terminate")


def test_without_debugging_the_program_just_runs(editor: Editor, program: Path, tmp_path: Path) -> None:
    editor.launch(
        {program: [IN_LOOP]}, dragomanType="python", program=str(program), workspace=str(tmp_path), noDebug=True
    )
    assert editor.event("exited")["exitCode"] == 0
    assert editor.events("stopped") == []
    assert "result 20" in editor.output()


def test_a_launch_that_fails_says_why_and_leaves_no_session(agent: Agent, editor: Editor, tmp_path: Path) -> None:
    editor.initialize()
    code, text = editor.refused("launch", dragomanType="cobol", program="x.cob", workspace=str(tmp_path))
    assert code == "no_adapter"
    assert "cobol" in text
    code, _ = editor.refused("launch", type="dragoman", workspace=str(tmp_path))
    assert code == "no_target"
    code, _ = editor.refused("launch", program=str(tmp_path / "none.py"), workspace=str(tmp_path))
    assert code == "no_such_program"
    assert agent.call("list_sessions")["sessions"] == []


def test_a_restart_keeps_the_editors_breakpoints_and_its_connection(
    editor: Editor, program: Path, tmp_path: Path
) -> None:
    editor.launch({program: [AT_INNER]}, dragomanType="python", program=str(program), workspace=str(tmp_path))
    editor.event("stopped")
    editor.ask("restart")
    editor.event("continued")
    stopped = editor.event("stopped")
    assert editor.frames(stopped["threadId"])[0]["line"] == AT_INNER
    assert editor.locals(editor.frames(stopped["threadId"])[0]["id"])["value"] == "0"
    assert editor.events("terminated") == []
    editor.ask("disconnect", terminateDebuggee=True)


def test_a_program_that_wants_a_terminal_gets_the_editors(editor: Editor, program: Path, tmp_path: Path) -> None:
    """Whose environment is the person's own: here with a debugpy that cannot be used."""
    (tmp_path / "theirs" / "debugpy").mkdir(parents=True)
    (tmp_path / "theirs" / "debugpy" / "__init__.py").write_text("raise SystemExit('theirs')\n")
    editor.initialize(supportsRunInTerminalRequest=True)
    begun = editor.begin(
        "launch", dragomanType="python", program=str(program), console="integratedTerminal", workspace=str(tmp_path)
    )
    asked = editor.request("runInTerminal")
    wanted = asked["arguments"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "theirs"),
        **{key: value for key, value in (wanted.get("env") or {}).items() if value is not None},
    }
    with subprocess.Popen(wanted["args"], cwd=wanted.get("cwd"), env=environment, stdout=subprocess.PIPE) as ran:
        data = {"type": "response", "request_seq": asked["seq"], "command": "runInTerminal", "success": True}
        editor.send({"seq": 1000, **data, "body": {"processId": ran.pid}})
        editor.event("initialized")
        editor.ask("configurationDone")
        editor.answer(begun)
        editor.event("terminated")
        assert ran.stdout is not None
        assert b"result 20" in ran.stdout.read()
    eventually(lambda: "result 20" in editor.output())


def test_an_editor_that_dies_before_it_was_configured_leaves_no_session(
    agent: Agent, daemon: Cli, program: Path, tmp_path: Path
) -> None:
    with at_pump(daemon, cwd=tmp_path) as editor:
        editor.initialize()
        editor.begin("launch", dragomanType="python", program=str(program))
        editor.event("initialized")
    eventually(lambda: all(it["state"] == "Terminated" for it in agent.call("list_sessions")["sessions"]))


def test_an_editor_that_goes_leaves_the_program_to_the_agent(
    agent: Agent, daemon: Cli, program: Path, tmp_path: Path
) -> None:
    with at_pump(daemon, cwd=tmp_path) as editor:
        editor.launch({program: [IN_LOOP]}, dragomanType="python", program=str(program))
        editor.event("stopped")
    eventually(lambda: agent.call("get_breakpoints")["breakpoints"] == [])
    assert agent.call("wait_for_stop")["stop_event_data"]["line"] == IN_LOOP
    assert agent.call("continue_debugging")["status"] == "completed"
