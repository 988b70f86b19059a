"""An agent and a person at one debug session, the person in the editor's own debugger."""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import PATIENCE, eventually
from tests.vscode.agent import Agent, agent
from tests.vscode.editor import Editor
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(120 * PATIENCE)]


def test_an_agents_session_is_joined_by_its_notification_and_stepped_by_hand(running: Editor, first: Window) -> None:
    with agent(running, first.folder) as it:
        session = _joined_by_invitation(it, first)
        _expect_line(first, 4)
        _open_locals(first)
        expect(_variables(first).filter(has_text="total")).to_contain_text("0")
        first.picture("joined")

        first.page.keyboard.press("F10")  # a person steps …
        _expect_line(first, 3)
        seen = it.tool("wait_for_stop", session_id=session, timeout_s=0)
        assert seen["stop_event_data"]["line"] == 3  # … and the agent's next answer is true to it

        it.tool("step_execution", session_id=session, step_type="over")  # … and the other way round
        _expect_line(first, 4)
        expect(first.page.locator(".call-stack-state-message")).to_contain_text("By another client: paused on step")
        expect(_variables(first).filter(has_text="total")).to_contain_text("1")

        first.page.keyboard.press("Shift+F5")  # a client that leaves ends nothing
        expect(first.page.locator(".debug-toolbar")).to_be_hidden()
        states = {one["session_id"]: one["state"] for one in it.tool("list_sessions")["sessions"]}
        assert states[session] == "Stopped"
        it.tool("stop_debugging", session_id=session)
    first.expect_status(r"Dragoman \d+")


def test_breakpoints_of_both_are_in_one_list_and_the_last_writer_wins(running: Editor, first: Window) -> None:
    listed = _breakpoints(first)
    with agent(running, first.folder) as it:
        session = _stopped_in_add(it, first)
        first.command("Dragoman: Join a live debug session")
        _expect_line(first, 4)
        _make_room(first)
        expect(listed).to_have_count(0)

        it.tool("set_breakpoint", file_path="adding.py", line_number=5)
        expect(listed).to_have_count(1)
        first.picture("breakpoints")
        it.tool("remove_breakpoint", clear_all=True)
        expect(listed).to_have_count(0)

        it.tool("set_breakpoint", file_path="adding.py", line_number=5)
        expect(listed).to_have_count(1)
        first.page.locator(".view-line").filter(has_text="return total").click()
        first.page.keyboard.press("F9")  # the person takes it away
        eventually(lambda: it.tool("get_breakpoints")["breakpoints"] == [], every_s=0.1)

        it.tool("set_breakpoint", file_path="adding.py", line_number=5)
        expect(listed).to_have_count(1)
        first.page.keyboard.press("Shift+F5")
        expect(listed).to_have_count(0)  # it was the agent's, and still is
        assert _lines(it) == [5]
        it.tool("remove_breakpoint", clear_all=True)
        it.tool("stop_debugging", session_id=session)


def test_in_a_window_of_another_folder_than_the_daemons_both_keep_what_is_theirs(both: Editor, second: Window) -> None:
    """Only the session knows in which folder its breakpoints are; and who leaves keeps the person's own."""
    second.come_forward()
    listed = _breakpoints(second)
    with agent(both, second.folder) as it:
        second.page.get_by_role("treeitem", name="adding.py").dblclick()
        second.page.locator(".view-line").filter(has_text="numbers = ").first.click()
        second.page.keyboard.press("F9")  # the person's own, before anything runs
        session = _stopped_in_add(it, second)
        second.command("Dragoman: Join a live debug session")
        _expect_line(second, 4)
        _make_room(second)
        expect(listed).to_have_count(1)
        it.tool("set_breakpoint", file_path="adding.py", line_number=5)
        expect(listed).to_have_count(2)
        second.page.locator(".view-line").filter(has_text="return total").click()
        second.page.keyboard.press("F9")  # the agent's is taken away …
        eventually(lambda: _lines(it) == [8], every_s=0.1)
        second.page.keyboard.press("Shift+F5")
        expect(second.page.locator(".debug-toolbar")).to_be_hidden()
        expect(listed).to_have_count(1)  # … and the person's own stays
        eventually(lambda: it.tool("get_breakpoints")["breakpoints"] == [], every_s=0.1)
        it.tool("stop_debugging", session_id=session)
        second.page.locator(".view-line").filter(has_text="numbers = ").first.click()
        second.page.keyboard.press("F9")
        expect(listed).to_have_count(0)


def test_a_window_that_is_reloaded_in_the_middle_ends_nothing_and_joins_again_by_the_menu(
    running: Editor, first: Window
) -> None:
    with agent(running, first.folder) as it:
        session = _joined_by_invitation(it, first)
        _expect_line(first, 4)
        _make_room(first)
        it.tool("set_breakpoint", file_path="adding.py", line_number=5)
        expect(_breakpoints(first)).to_have_count(1)
        first.reload()
        first.expect_status(r"Dragoman \d+ · 1")
        it.tool("remove_breakpoint", clear_all=True)
        first.menu()
        first.choose("Join a live session")
        _expect_line(first, 4)
        expect(_breakpoints(first)).to_have_count(0)
        first.page.keyboard.press("Shift+F5")
        expect(first.page.locator(".debug-toolbar")).to_be_hidden()
        it.tool("stop_debugging", session_id=session)


def test_what_a_person_starts_runs_through_the_daemon_and_an_agent_joins_it(running: Editor, first: Window) -> None:
    (first.folder / ".vscode").mkdir(exist_ok=True)
    launch = {"name": "Adding", "type": "dragoman", "request": "launch", "program": "${workspaceFolder}/adding.py"}
    (first.folder / ".vscode" / "launch.json").write_text(json.dumps({"version": "0.2.0", "configurations": [launch]}))
    with agent(running, first.folder) as it:
        it.tool("set_breakpoint", file_path="adding.py", line_number=5)
        first.clear_toasts()
        first.command("Debug: Start Debugging")
        _expect_line(first, 5)
        listed = [session for session in it.tool("list_sessions")["sessions"] if session["state"] == "Stopped"]
        assert [session["name"] for session in listed] == ["adding.py"]
        expect(first.toasts.filter(has_text="A debug session started in this folder")).to_have_count(
            0
        )  # it is the person's own
        answer = it.tool("evaluate_expression", expression="total", session_id=listed[0]["session_id"])
        assert answer["result"] == "6"
        it.tool("remove_breakpoint", clear_all=True)
        first.page.keyboard.press("F5")
        expect(first.page.locator(".debug-toolbar")).to_be_hidden()
    first.expect_status(r"Dragoman \d+")


def _stopped_in_add(it: Agent, window: Window) -> str:
    it.tool("set_breakpoint", file_path="adding.py", line_number=4)
    wanted = {"type": "debugpy", "request": "launch", "program": "adding.py", "python": sys.executable}
    started = it.tool(
        "start_debugging", configuration={**wanted, "name": "adding.py", "program": str(window.folder / "adding.py")}
    )
    it.tool("remove_breakpoint", clear_all=True)
    return str(started["session_id"])


def _joined_by_invitation(it: Agent, window: Window) -> str:
    window.clear_toasts()  # one to another session has the same words
    with ThreadPoolExecutor() as beside:
        starting = beside.submit(_stopped_in_add, it, window)
        invitation = window.toast("A debug session started in this folder: adding.py")
        # The editor takes it away after some seconds, unless the pointer is on it: a start may take longer.
        invitation.hover()
        session = starting.result()
    invitation.get_by_role("button", name="Join").click()
    return session


def _lines(it: Agent) -> list[int]:
    """Beside them stands what the editor breaks at by itself: exceptions that nobody catches."""
    return [at["line"] for at in it.tool("get_breakpoints")["breakpoints"] if at["kind"] == "line"]


def _expect_line(window: Window, line: int) -> None:
    """The yellow line of the editor."""
    mark = window.page.locator(".codicon-debug-stackframe")
    expect(mark.first).to_be_visible(timeout=20_000)

    def shown() -> bool:
        text = window.page.locator(".debug-call-stack .stack-frame .line-number").first.text_content() or ""
        return re.match(rf"{line}:", text) is not None

    eventually(shown, within_s=15, every_s=0.1)


def _breakpoints(window: Window) -> Locator:
    return window.page.locator(".debug-breakpoints .monaco-list-row").filter(has_text="adding.py")


def _make_room(window: Window) -> None:
    """The list of breakpoints is the last of four, and draws only what fits."""
    watch = window.page.get_by_role("button", name="Watch Section")
    if watch.get_attribute("aria-expanded") == "true":
        watch.click()


def _variables(window: Window) -> Locator:
    return window.page.locator(".debug-variables .monaco-list-row")


def _open_locals(window: Window) -> None:
    """Whether it was open before, or is drawn anew at the moment of a click."""
    scope = window.page.get_by_role("treeitem", name="Scope Locals")

    def is_open() -> bool:
        if scope.get_attribute("aria-expanded") != "true":
            scope.click()
        return scope.get_attribute("aria-expanded") == "true"

    eventually(is_open, within_s=15, every_s=0.5)
