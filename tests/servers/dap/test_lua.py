"""A Lua session in an editor: the runtime speaks another protocol, and the editor sees none of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dragoman.debug.backends.luapanda.runtime import runtime_file
from dragoman.io.net.streams import free_port
from tests.daemons import eventually
from tests.servers.dap.conftest import Agent
from tests.servers.dap.editor import Editor

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
# For programs that nobody starts for us: whoever is first, runtime or debugger, the other comes while it runs.
LASTING_PROGRAM = PROGRAM.replace("1, 4 do", "1, 2000 do os.execute('sleep 0.02') os.clock()")


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


@pytest.mark.parametrize("is_client", [False, True])
def test_an_editor_attaches_to_a_lua_program_by_luapandas_own_keys(
    editor: Editor, lua: Path, tmp_path: Path, is_client: bool
) -> None:
    lua.write_text(LASTING_PROGRAM)
    port, own = free_port(), {"VSCodeAsClient": True} if is_client else {}
    editor.initialize()
    asked = {"type": "lua", "connectionPort": port, "workspace": str(tmp_path), **own}
    begun = editor.begin("attach", **asked)
    if not is_client:  # a short program that finds nobody listening is not held up
        eventually(lambda: _is_listened_at(port))
    with _running(lua, f"{'startServer' if is_client else 'start'}('127.0.0.1', {port})") as program:
        editor.event("initialized")
        editor.set_lines(lua, IN_FUNCTION)
        editor.ask("configurationDone")
        editor.answer(begun)
        thread = editor.event("stopped")["threadId"]
        assert int(editor.locals(editor.frames(thread)[0]["id"])["value"]) >= 1
        editor.ask("disconnect")
        program.kill()


def test_a_session_that_is_named_is_joined_whatever_else_is(agent: Agent, editor: Editor, lua: Path) -> None:
    session = agent.stopped_at(lua, IN_LOOP)["session_id"]
    editor.join(session, type="lua", connectionPort=1)
    editor.event("stopped")


def test_garbage_is_collected_on_request(agent: Agent, editor: Editor, lua: Path) -> None:
    lua.write_text("collectgarbage('stop')\nfor n = 1, 20000 do local t = {n} end\nprint('here')\nprint('there')\n")
    editor.join(agent.stopped_at(lua, 3)["session_id"])
    editor.event("stopped")
    counted = {"expression": "(collectgarbage('count'))"}
    before = float(agent.call("evaluate_expression", **counted)["result"])
    editor.ask("collectGarbage")
    assert float(agent.call("evaluate_expression", **counted)["result"]) < before - 500


def test_what_the_runtime_notes_is_shown_to_people_and_agents(agent: Agent, editor: Editor, lua: Path) -> None:
    begun = editor.launch({lua: [IN_FUNCTION]}, dragomanType="lua", program=str(lua), workspace=str(lua.parent))
    editor.event("stopped")
    editor.answer(begun)
    eventually(lambda: "debugger init success" in editor.output())
    assert "debugger init success" in str(agent.call("get_output", category="console"))


def _is_listened_at(port: int) -> bool:
    return f":{port:04X} 00000000:0000 0A" in Path("/proc/net/tcp").read_text()


@contextmanager
def _running(program: Path, call: str) -> Iterator[subprocess.Popen[bytes]]:
    runtime = runtime_file()
    assert runtime is not None
    first = f"LuaPanda = dofile([[{runtime}]]); LuaPanda.{call}"
    with subprocess.Popen(["lua5.4", "-e", first, program.name], cwd=program.parent) as process:
        try:
            yield process
        finally:
            process.kill()
