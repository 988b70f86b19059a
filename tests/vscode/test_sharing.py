"""A person's own debug sessions are an agent's to look at, once the person allowed it: in the real editor."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.daemons import PATIENCE, eventually
from tests.vscode.agent import Agent, agent
from tests.vscode.editor import Editor
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(150 * PATIENCE)]


def test_a_persons_own_session_is_looked_at_and_stepped_by_an_agent(running: Editor, first: Window) -> None:
    """js-debug comes with the editor: two sessions of its own for one program, of which one has the program."""
    (first.folder / "adding.js").write_text(ADDING_JS)
    launch = {"name": "Mine", "type": "node", "request": "launch", "program": "${workspaceFolder}/adding.js"}
    _write_launch(first, launch)
    first.command("Dragoman: Forget what agents may do in this workspace")
    first.command("Debug: Start Debugging")
    first.toast("Let agents look at your debug session").get_by_role("button", name="Always allow").click()
    with agent(running, first.folder) as it:
        session = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
        variables = it.tool("evaluate_expression", expression="total", session_id=session)
        assert variables["result"] == "0"
        stepped = it.tool("step_execution", session_id=session, step_type="over")
        assert stepped["stop_event_data"]["line"] == 4
        at = first.page.locator('[id="status.editor.selection"]')
        expect(at).to_contain_text("Ln 4")  # the editor shows what the agent did …
        first.page.keyboard.press("F10")
        eventually(lambda: _by_a_person(it, session), within_s=15, every_s=0.2)  # … and the agent what the person did
        it.tool("continue_debugging", session_id=session)
        eventually(lambda: _state(it, session) == "Terminated", within_s=20, every_s=0.2)
    expect(first.page.locator(".debug-toolbar")).to_be_hidden()


def test_a_python_session_of_another_extension_is_lent_as_well_with_the_agents_breakpoints(
    running: Editor, first: Window
) -> None:
    launch = {"name": "Theirs", "type": "plain-python", "request": "launch", "program": "${workspaceFolder}/adding.py"}
    _write_launch(first, {**launch, "python": sys.executable, "stopOnEntry": True, "console": "internalConsole"})
    first.command("Dragoman: Forget what agents may do in this workspace")
    first.command("Debug: Start Debugging")
    first.toast("Let agents look at your debug session").get_by_role("button", name="Always allow").click()
    with agent(running, first.folder) as it:
        session = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
        assert it.tool("set_breakpoint", file_path="adding.py", line_number=4)["status"] != "error"
        reached = it.tool("continue_debugging", session_id=session)
        assert reached["stop_event_data"]["line"] == 4
        assert it.tool("evaluate_expression", expression="values", session_id=session)["result"] == "[1, 2, 3]"
        first.picture("lent")
        it.tool("remove_breakpoint", clear_all=True)
        it.tool("stop_debugging", session_id=session)  # lets go: the person's program still stands
        expect(first.page.locator(".debug-toolbar")).to_be_visible()
        first.page.keyboard.press("F5")
    expect(first.page.locator(".debug-toolbar")).to_be_hidden()


def _write_launch(window: Window, configuration: dict[str, Any]) -> None:
    (window.folder / ".vscode").mkdir(exist_ok=True)
    told = {"version": "0.2.0", "configurations": [configuration]}
    (window.folder / ".vscode" / "launch.json").write_text(json.dumps(told))


def _stopped(it: Agent) -> str:
    found = [one for one in it.tool("list_sessions")["sessions"] if one["state"] == "Stopped"]
    return str(found[0]["session_id"]) if found else ""


def _state(it: Agent, session: str) -> str:
    return next(str(one["state"]) for one in it.tool("list_sessions")["sessions"] if one["session_id"] == session)


def _by_a_person(it: Agent, session: str) -> bool:
    """It stands again, and not by what the agent did."""
    seen = it.tool("wait_for_stop", session_id=session, timeout_s=0)
    return bool(seen.get("stop_event_data")) and "a person in" in str(seen)


ADDING_JS = """\
const numbers = [1, 2, 3];
let total = 0;
debugger;
for (const number of numbers) {
  total += number;
}
console.log("the sum is", total);
"""
