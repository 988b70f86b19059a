"""A Lua session in an editor: the runtime speaks another protocol, and the editor sees none of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faces.dap.conftest import Agent
from tests.faces.dap.editor import Editor

pytestmark = pytest.mark.needs("lua")

PROGRAM = """\
local function double(value)
  local doubled = value * 2
  return doubled
end

local total = 0
for number = 1, 4 do
  total = total + double(number)
  print("total", total)
end
"""
IN_LOOP, IN_FUNCTION = 8, 2


@pytest.fixture
def lua(tmp_path: Path) -> Path:
    path = tmp_path / "main.lua"
    path.write_text(PROGRAM)
    return path


def test_an_agents_lua_session_is_seen_stepped_and_changed_in_an_editor(
    agent: Agent, editor: Editor, lua: Path
) -> None:
    can = editor.join(agent.stopped_at(lua, IN_LOOP)["session_id"])
    assert can["supportsSetVariable"]
    thread = editor.event("stopped")["threadId"]
    top = editor.frames(thread)[0]
    assert (top["line"], top["source"]["path"]) == (IN_LOOP, str(lua))
    assert editor.locals(top["id"])["number"] == "1"
    scope = editor.ask("scopes", frameId=top["id"])["scopes"][0]["variablesReference"]
    editor.ask("setVariable", variablesReference=scope, name="total", value="100")
    editor.ask("stepIn", threadId=thread)
    editor.event("stopped")
    assert editor.frames(thread)[0]["line"] == IN_FUNCTION
    seen = agent.call("wait_for_stop")["stop_event_data"]
    assert (seen["line"], seen["sent_on_by"]) == (IN_FUNCTION, "a person in Visual Studio Code")
    assert agent.call("evaluate_expression", expression="value")["result"] == "1"


def test_an_editor_starts_a_lua_program_and_the_agent_joins(
    agent: Agent, editor: Editor, lua: Path, tmp_path: Path
) -> None:
    begun = editor.launch(
        {lua: [{"line": IN_FUNCTION, "condition": "value == 3"}]},
        dragomanType="lua",
        program=str(lua),
        workspace=str(tmp_path),
    )
    stopped = editor.event("stopped")
    editor.answer(begun)
    assert editor.locals(editor.frames(stopped["threadId"])[0]["id"])["value"] == "3"
    assert agent.call("step_execution", step_type="over")["stop_event_data"]["line"] == IN_FUNCTION + 1
    editor.event("continued")
    editor.event("stopped")
    editor.ask("continue", threadId=stopped["threadId"])
    editor.event("terminated")
    assert "total\t20" in editor.output()


def test_data_is_watched_and_loaded_sources_are_listed(agent: Agent, editor: Editor, lua: Path) -> None:
    can = editor.join(agent.stopped_at(lua, IN_LOOP)["session_id"])
    assert can["supportsDataBreakpoints"]
    agent.call("remove_breakpoint", clear_all=True)
    thread = editor.event("stopped")["threadId"]
    assert str(lua) in {it.get("path") for it in editor.ask("loadedSources")["sources"]}
    scopes = editor.ask("scopes", frameId=editor.frames(thread)[0]["id"])["scopes"]
    found = editor.ask("dataBreakpointInfo", variablesReference=scopes[0]["variablesReference"], name="total")
    (watched,) = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": found["dataId"], "accessType": "write"}])[
        "breakpoints"
    ]
    assert watched["verified"], watched
    editor.ask("continue", threadId=thread)
    assert editor.event("stopped")["reason"] == "data breakpoint"
    assert editor.ask("setDataBreakpoints", breakpoints=[])["breakpoints"] == []
    editor.ask("continue", threadId=thread)
    editor.event("terminated")
