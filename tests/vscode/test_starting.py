"""A debugger that only the editor has is an agent's to start with, once the person allowed it: in the real editor."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.daemons import PATIENCE, eventually
from tests.vscode.agent import Agent, Later, agent, refused
from tests.vscode.editor import Editor
from tests.vscode.line_script import TYPE
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(150 * PATIENCE)]

SCRIPT = "total = 1\ntotal = total + 2\ntotal = total + 3\nprint total\n"
ASKED = "wants to start this with the debugger line-script"


def test_an_agent_debugs_with_a_debugger_of_another_extension_after_the_person_allowed_it(
    running: Editor, first: Window
) -> None:
    (first.folder / "adding.txt").write_text(SCRIPT)
    first.command("Dragoman: Forget what agents may do in this workspace")
    with agent(running, first.folder) as it:
        assert it.tool("set_breakpoint", file_path="adding.txt", line_number=3)["status"] != "error"
        later = Later(running, first.folder, "start_debugging", configuration=_script(args=["shown"]), timeout_s=40)
        question = first.toast(ASKED)
        first.picture("starting-asked")
        expect(question).to_contain_text('"args":["shown"]')
        expect(question).to_contain_text(f'"program":"{first.folder}/adding.txt"')
        question.get_by_role("button", name="Allow once").click()
        stopped = later.data()
        assert stopped["stop_event_data"]["line"] == 3, stopped
        session = str(stopped["session_id"])
        assert it.tool("get_breakpoints")["breakpoints"][0]["verified"]
        _is_looked_at_and_stepped(it, first, session)
        assert [life["ends"] for life in running.cli.status()["sessions"]] == [False]
        expect(first.toasts.filter(has_text="Join it")).to_have_count(0)  # it is in this editor already
        it.tool("stop_debugging", session_id=session)
        expect(first.page.locator(".debug-toolbar")).to_be_hidden()  # whoever started it may end it
        listed = first.page.locator(".debug-breakpoints .monaco-list-row").filter(has_text="adding.txt")
        expect(listed).to_have_count(0)
        it.tool("remove_breakpoint", clear_all=True)
        _a_named_one_is_asked_for_anew_when_it_changes(it, running, first)


def _is_looked_at_and_stepped(it: Agent, window: Window, session: str) -> None:
    assert it.tool("evaluate_expression", expression="total + 10", session_id=session)["result"] == "13"
    scope = it.tool("get_scopes", session_id=session)["scopes"][0]
    seen = it.tool("get_variables", session_id=session, variables_reference=scope["variables_reference"])
    assert [(one["name"], one["value"]) for one in seen["variables"]] == [("total", "3")]
    assert it.tool("step_execution", session_id=session, step_type="over")["stop_event_data"]["line"] == 4
    expect(window.page.locator('[id="status.editor.selection"]')).to_contain_text("Ln 4")


def _a_named_one_is_asked_for_anew_when_it_changes(it: Agent, editor: Editor, window: Window) -> None:
    """What is always allowed is that configuration, as it was when the person saw it."""
    _write(window, _script())
    started = Later(editor, window.folder, "start_debugging", configuration_name="Script", timeout_s=40)
    window.toast(ASKED).get_by_role("button", name="Always allow").click()
    result = started.data()
    assert result.get("exit_code") == 0, result
    again = it.tool("start_debugging", configuration_name="Script", timeout_s=40)
    assert (again["state"], again["exit_code"]) == ("Terminated", 0)  # short: over before it could be lent, and told
    assert "6" in again["output"]
    expect(window.toasts.filter(has_text=ASKED)).to_have_count(0)
    _write(window, _script(args=["another"]))
    changed = Later(editor, window.folder, "start_debugging", configuration_name="Script", timeout_s=40)
    window.toast(ASKED).get_by_role("button", name="Never allow").click()
    assert changed.data()["code"] == "not_allowed"
    assert refused(it, "start_debugging", configuration_name="Script") == "not_allowed"  # and nobody is asked again


def test_a_start_that_fails_in_the_editor_and_one_that_is_given_up_leave_nothing_behind(
    running: Editor, first: Window
) -> None:
    (first.folder / "adding.txt").write_text(SCRIPT)
    first.command("Dragoman: Forget what agents may do in this workspace")
    with agent(running, first.folder) as it:
        begun = it.tool("start_debugging", configuration=_script(), wait=False)
        question = first.toast(ASKED)
        it.tool("stop_debugging", session_id=begun["session_id"])
        question.get_by_role("button", name="Allow once").click()
        first.toast("The agent is no longer waiting for this. Nothing was done.")
        expect(first.page.locator(".debug-toolbar")).to_be_hidden()
        first.clear_toasts()
        failing = Later(running, first.folder, "start_debugging", configuration=_script(fails=True), timeout_s=40)
        first.toast(ASKED).get_by_role("button", name="Allow once").click()
        first.dialog().get_by_role("button", name="Cancel").click()  # the editor says itself what is wrong
        assert failing.data()["code"] == "editor_refused", failing.answer
        assert refused(it, "start_debugging", configuration={**_script(), "type": "nobodys"}) == "no_adapter"
    eventually(lambda: running.cli.status()["sessions"] == [], within_s=15, every_s=0.2)


def _script(**more: Any) -> dict[str, Any]:
    about = {"name": "Script", "type": TYPE, "request": "launch", "program": "${workspaceFolder}/adding.txt"}
    return {**about, **more}


def _write(window: Window, configuration: dict[str, Any]) -> None:
    (window.folder / ".vscode").mkdir(exist_ok=True)
    data = {"version": "0.2.0", "configurations": [configuration]}
    (window.folder / ".vscode" / "launch.json").write_text(json.dumps(data))
