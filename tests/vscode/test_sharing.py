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


def test_a_persons_own_session_is_looked_at_and_stepped_by_an_agent_over_the_death_of_a_daemon(
    running: Editor, first: Window
) -> None:
    """js-debug comes with the editor: two sessions of its own for one program, of which one has the program."""
    (first.folder / "adding.js").write_text(ADDING_JS)
    _write_launch(first, MINE)
    first.command("Dragoman: Forget what agents may do in this workspace")
    first.command("Debug: Start Debugging")
    asked = first.toast("Let agents look at your debug session Mine, step it, set values and run expressions in it?")
    first.picture("lending-asked")
    with agent(running, first.folder) as it:
        eventually(lambda: it.tool("list_sessions").get("not_lent"), within_s=20, every_s=0.2)  # could be asked for
        asked.get_by_role("button", name="Allow once").click()
        session = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
        _stands_in_the_persons_file(it, first, session)
        session = _taken_back_and_lent_by_hand(it, first, session)
        assert [life["ends"] for life in running.cli.status()["sessions"]] == [False]
    _die_and_come_back(running, first)
    with agent(running, first.folder) as it:
        again = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
        assert again != session
        expect(first.toasts.filter(has_text="Let agents look")).to_have_count(0)  # once was for this session
        at_five = {"file_path": "adding.js", "line_number": 5}
        checked = it.tool("check", session_id=again, claim="total < 1", stop=True, **at_five)
        assert (checked["verdict"], checked["hits"]) == ("broken", 2), checked
        _steps_of_both(it, first, again)
        it.tool("continue_debugging", session_id=again)
        eventually(lambda: _state(it, again) == "Terminated", within_s=20, every_s=0.2)
    expect(first.page.locator(".debug-toolbar")).to_be_hidden()


def _stands_in_the_persons_file(it: Agent, window: Window, session: str) -> None:
    """In this window files have addresses of a remote machine; agents know paths, and so read the source."""
    seen = it.tool("wait_for_stop", session_id=session, timeout_s=0)["stop_event_data"]
    assert seen["source"]["path"] == str(window.folder / "adding.js")
    assert "let total = 0" in str(seen)  # the lines around
    assert it.tool("evaluate_expression", expression="total", session_id=session)["result"] == "0"
    assert it.tool("set_variable", session_id=session, name="total", value="0")["status"] != "error"
    assert it.tool("list_sessions").get("not_lent") is None


def _taken_back_and_lent_by_hand(it: Agent, window: Window, session: str) -> str:
    window.command("Dragoman: Lend this debug session to agents")
    window.choose("Take back")
    eventually(lambda: _state(it, session) == "Terminated", within_s=15, every_s=0.2)
    assert "took this session back" in str(it.tool("get_output", session_id=session))
    window.menu()
    window.choose("Lend this debug session to agents")
    expect(window.rows.filter(has_text="Lend adding.js")).to_be_visible()
    window.picture("lending")
    window.choose("Lend adding.js")
    return str(eventually(lambda: _stopped(it), within_s=15, every_s=0.2))


def _steps_of_both(it: Agent, window: Window, session: str) -> None:
    stepped = it.tool("step_execution", session_id=session, step_type="over")
    at = window.page.locator('[id="status.editor.selection"]')
    expect(at).to_contain_text(f"Ln {stepped['stop_event_data']['line']}")  # the editor shows what the agent did …
    window.page.keyboard.press("F10")
    eventually(lambda: _by_a_person(it, session), within_s=15, every_s=0.2)  # … and the agent what the person did


def test_a_python_session_of_another_extension_is_lent_with_breakpoints_that_either_takes_away(
    running: Editor, first: Window
) -> None:
    _begin_python(first)
    listed = first.page.locator(".debug-breakpoints .monaco-list-row").filter(has_text="adding.py")
    with agent(running, first.folder) as it:
        session = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
        assert it.tool("set_breakpoint", file_path="adding.py", line_number=4)["status"] != "error"
        reached = it.tool("continue_debugging", session_id=session)
        assert reached["stop_event_data"]["line"] == 4
        checked = it.tool("check", session_id=session, claim="total < 1", file_path="adding.py", line_number=4)
        assert checked["verdict"] == "broken", checked  # and stands where it broke
        first.picture("lent")
        _click_f9(first, "total += value")
        eventually(lambda: it.tool("get_breakpoints")["breakpoints"] == [], within_s=15, every_s=0.2)
        assert it.tool("set_breakpoint", file_path="adding.py", line_number=5)["breakpoint"]["verified"]
    _die_and_come_back(running, first)
    with agent(running, first.folder) as it:
        again = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
        expect(first.toasts.filter(has_text="Let agents look")).to_have_count(0)
        assert it.tool("continue_debugging", session_id=again)["stop_event_data"]["line"] == 5
        it.tool("stop_debugging", session_id=again)  # lets go: the person's program still stands, without its mark
        expect(listed).to_have_count(0)
        expect(first.page.locator(".debug-toolbar")).to_be_visible()
        first.page.keyboard.press("F5")
        it.tool("remove_breakpoint", clear_all=True)
    expect(first.page.locator(".debug-toolbar")).to_be_hidden()


def test_a_window_that_is_reloaded_in_the_middle_of_a_lent_session_leaves_nothing_behind(
    running: Editor, first: Window
) -> None:
    _begin_python(first)
    with agent(running, first.folder) as it:
        session = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
        it.tool("set_breakpoint", file_path="adding.py", line_number=4)
        _click_f9(first, "print(")  # where none is, one is set: the person's own
        eventually(lambda: _set_by(it) == {4: None, 10: "a person in code-server"}, within_s=15, every_s=0.2)
        first.picture("lent-both")
        it.tool("remove_breakpoint", clear_all=True)
        assert list(_set_by(it)) == [10]  # what is the person's, an agent does not take away
        it.tool("set_breakpoint", file_path="adding.py", line_number=4)
        first.reload()
        eventually(lambda: _state(it, session) == "Terminated", within_s=20, every_s=0.2)  # its debugger went along
        first.expect_status(r"Dragoman \d+")
        first.command("View: Show Run and Debug")
        listed = first.page.locator(".debug-breakpoints .monaco-list-row").filter(has_text="adding.py")
        expect(listed).to_have_count(1)  # the agent's mark did not come back as the person's
        listed.dblclick()  # shows its line
        _click_f9(first, "print(")
        expect(listed).to_have_count(0)
        assert list(_set_by(it)) == [4]
        it.tool("remove_breakpoint", clear_all=True)
        _lent_by_another_debugger_and_reloaded(it, first)


def _lent_by_another_debugger_and_reloaded(it: Agent, window: Window) -> None:
    """What was always allowed is so after a reload: js-debug's is lent without a question, and leaves nothing."""
    (window.folder / "adding.js").write_text(ADDING_JS)
    _write_launch(window, MINE)
    window.command("Debug: Start Debugging")
    session = eventually(lambda: _stopped(it), within_s=20, every_s=0.2)
    expect(window.toasts.filter(has_text="Let agents look")).to_have_count(0)
    listed = window.page.locator(".debug-breakpoints .monaco-list-row").filter(has_text="adding.js")
    assert it.tool("set_breakpoint", file_path="adding.js", line_number=5)["breakpoint"]["verified"]
    expect(listed).to_have_count(1)
    window.reload()
    eventually(lambda: _state(it, session) == "Terminated", within_s=20, every_s=0.2)
    window.command("View: Show Run and Debug")
    expect(listed).to_have_count(0)
    it.tool("remove_breakpoint", clear_all=True)


def _set_by(it: Agent) -> dict[int, str | None]:
    return {at["line"]: at.get("set_by") for at in it.tool("get_breakpoints")["breakpoints"]}


def _begin_python(window: Window) -> None:
    launch = {"name": "Theirs", "type": "plain-python", "request": "launch", "program": "${workspaceFolder}/adding.py"}
    _write_launch(window, {**launch, "python": sys.executable, "stopOnEntry": True, "console": "internalConsole"})
    window.command("Dragoman: Forget what agents may do in this workspace")
    window.command("Debug: Start Debugging")
    window.toast("Let agents look at your debug session").get_by_role("button", name="Always allow").click()


def _die_and_come_back(editor: Editor, window: Window) -> None:
    """Killed, and started again by somebody: the person's program stands all the while."""
    editor.cli.kill()
    editor.cli("up", "--workspace", str(window.folder))
    window.expect_status(rf"Dragoman {editor.cli.status()['port']} · 1")


def _click_f9(window: Window, line: str) -> None:
    window.page.locator(".view-line").filter(has_text=line).click()
    window.page.keyboard.press("F9")


def _write_launch(window: Window, configuration: dict[str, Any]) -> None:
    (window.folder / ".vscode").mkdir(exist_ok=True)
    data = {"version": "0.2.0", "configurations": [configuration]}
    (window.folder / ".vscode" / "launch.json").write_text(json.dumps(data))


def _stopped(it: Agent) -> str:
    found = [one for one in it.tool("list_sessions")["sessions"] if one["state"] == "Stopped"]
    return str(found[0]["session_id"]) if found else ""


def _state(it: Agent, session: str) -> str:
    return next(str(one["state"]) for one in it.tool("list_sessions")["sessions"] if one["session_id"] == session)


def _by_a_person(it: Agent, session: str) -> bool:
    """It stands again, and not by what the agent did."""
    seen = it.tool("wait_for_stop", session_id=session, timeout_s=0)
    return bool(seen.get("stop_event_data")) and "a person in" in str(seen)


MINE = {"name": "Mine", "type": "node", "request": "launch", "program": "${workspaceFolder}/adding.js"}
ADDING_JS = """\
const numbers = [1, 2, 3];
let total = 0;
debugger;
for (const number of numbers) {
  total += number;
}
console.log("the sum is", total);
"""
