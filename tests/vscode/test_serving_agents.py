"""An agent asks the editor, and the person decides: in the real editor."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.daemons import PATIENCE, eventually
from tests.vscode.agent import Later, agent, refused
from tests.vscode.editor import Editor
from tests.vscode.other_extension import CHOSEN
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(150 * PATIENCE)]


@pytest.fixture(autouse=True)
def _nothing_allowed_yet(running: Editor, first: Window) -> None:
    """When it says so: what was allowed in the test before is not allowed any more."""
    text = first.page.locator(".statusbar-item").filter(has_text="Permissions cleared: agents ask again")
    expect(text).to_have_count(0)
    first.command("Dragoman: Forget what agents may do in this workspace")
    expect(text).to_be_visible()


@pytest.mark.requirement("vscode:bridge:open-file")
def test_an_agent_opens_a_file_and_reads_what_the_person_sees_as_the_person_allows(
    running: Editor, first: Window
) -> None:
    opening = Later(running, first.folder, "ide_open", path="adding.py", line=3, end_line=4)
    asked = first.toast("wants to open adding.py")
    first.picture("allow")
    asked.get_by_role("button", name="Always allow").click()
    assert opening.data() == {"status": "opened", "path": str(first.folder / "adding.py"), "line": 3}
    expect(first.page.locator('.tab.active[aria-label^="adding.py"]')).to_be_visible()

    reading = Later(running, first.folder, "ide_selection")
    first.toast("wants to read what you have selected").get_by_role("button", name="Allow once").click()
    selected = reading.data()
    assert (selected["start_line"], selected["end_line"]) == (3, 4)
    assert selected["text"] == "    for value in values:\n        total += value"

    listing = Later(running, first.folder, "ide_open_files")
    first.toast("wants to know which files are open").get_by_role("button", name="Allow once").click()
    wanted = {"path": str(first.folder / "adding.py"), "is_active": True, "is_changed": False}
    assert wanted in listing.data()["files"]

    never = Later(running, first.folder, "ide_open_files")
    first.toast("wants to know which files are open").get_by_role("button", name="Never allow").click()
    assert never.data()["code"] == "not_allowed"
    with agent(running, first.folder) as it:
        assert refused(it, "ide_open_files") == "not_allowed"  # not asked again


def test_an_agent_reads_the_problems_that_the_editor_knows(running: Editor, first: Window) -> None:
    """The editor's own JSON knows what is wrong in a file that is open."""
    (first.folder / "wrong.json").write_text('{\n  "a": ,\n  "b": 1\n}\n')
    opening = Later(running, first.folder, "ide_open", path="wrong.json")
    first.toast("wants to open wrong.json").get_by_role("button", name="Allow once").click()
    assert opening.data()["status"] == "opened"
    looking = Later(running, first.folder, "ide_diagnostics", path="wrong.json")
    first.toast("wants to read the list of problems").get_by_role("button", name="Always allow").click()
    looking.data()
    with agent(running, first.folder) as it:
        found = eventually(lambda: it.tool("ide_diagnostics", path="wrong.json")["problems"], within_s=20, every_s=0.3)
        assert [(one["line"], one["severity"], one["message"]) for one in found] == [(2, "error", "Value expected")]
        assert found[0]["path"] == str(first.folder / "wrong.json")
        assert it.tool("ide_diagnostics", path="adding.py")["problems"] == []
    first.command("View: Close Editor")


@pytest.mark.requirement("vscode:bridge:notification")
def test_a_notice_is_shown_as_it_is_and_nothing_in_it_can_be_pressed(running: Editor, first: Window) -> None:
    message = "[press me](command:workbench.action.quit) and [here](https://example.org)"
    noticing = Later(running, first.folder, "ide_notify", message=message, level="warning")
    first.toast("wants to show you notifications").get_by_role("button", name="Allow once").click()
    assert noticing.data() == {"status": "shown"}
    shown = first.toast("press me").locator(".notification-list-item-message")
    expect(shown.locator("a")).to_have_count(0)
    assert (shown.text_content() or "").replace("\u200b", "").endswith(message)
    first.clear_toasts()


@pytest.mark.requirement("vscode:bridge:terminal")
def test_a_command_runs_in_a_terminal_of_agents_and_never_in_the_persons(running: Editor, first: Window) -> None:
    first.command("Terminal: Create New Terminal")
    expect(first.page.locator(".terminal-wrapper.active .xterm-screen")).to_be_visible()
    first.page.keyboard.type("cat > persons.txt\n")
    eventually((first.folder / "persons.txt").exists, within_s=20, every_s=0.1)

    typing = Later(running, first.folder, "ide_run_in_terminal", command="echo done > ran.txt", name="bash")
    asked = first.toast("wants to run this in the terminal bash (always: any command of any agent): echo done")
    assert not (first.folder / "ran.txt").exists()
    asked.get_by_role("button", name="Allow once").click()
    assert typing.data() == {"status": "started", "terminal": "bash"}
    eventually((first.folder / "ran.txt").exists, within_s=20, every_s=0.1)
    assert (first.folder / "persons.txt").read_text() == ""
    first.command("Terminal: Kill All Terminals")


def test_a_proposal_is_decided_in_the_comparison_and_what_was_decided_meanwhile_is_reported(
    running: Editor, first: Window
) -> None:
    fresh = first.folder / "fresh.py"
    proposing = Later(running, first.folder, "ide_diff", path="fresh.py", text="print('new')\n", title="A new file")
    first.toast("wants to propose a change to fresh.py").get_by_role("button", name="Always allow").click()
    expect(first.tab("fresh.py (proposed, new)")).to_be_visible()
    first.toast("proposes a change: A new file")
    first.picture("proposal")
    first.page.locator(".editor-actions").get_by_role("button", name="Accept the proposed change").click()
    assert proposing.data() == {"status": "accepted", "path": str(fresh), "is_new": True}
    assert fresh.read_text() == "print('new')\n"

    with agent(running, first.folder) as it:
        other = {"path": "fresh.py", "text": "print('other')\n"}
        assert it.tool("ide_diff", **other, timeout_s=2)["status"] == "waiting"
        expect(first.tab("fresh.py (proposed)")).to_be_visible()
        first.command("Dragoman: Reject the proposed change")
        expect(first.tab("fresh.py (proposed)")).to_have_count(0)
        assert it.tool("ide_diff", **other)["status"] == "rejected"  # and is not asked again
        expect(first.tab("fresh.py (proposed)")).to_have_count(0)
        assert fresh.read_text() == "print('new')\n"

    closing = Later(running, first.folder, "ide_diff", **other)
    expect(first.tab("fresh.py (proposed)")).to_be_visible()
    first.command("View: Close Editor")
    assert closing.data()["status"] == "closed"

    failing = Later(running, first.folder, "ide_diff", path="adding.py/in_a_file.py", text="x", title="Nowhere")
    first.toast("proposes a change: Nowhere").get_by_role("button", name="Accept").click()
    assert failing.data()["code"] == "editor_refused"
    assert "could not be written" in failing.data()["message"]
    first.clear_toasts()


INPUTS = [
    {
        "id": "which",
        "type": "pickString",
        "description": "Which?",
        "options": ["words.py", {"label": "x", "value": "y"}],
    },
    {"id": "word", "type": "promptString", "description": "A word"},
    {"id": "number", "type": "command", "command": "plain-python.choose"},
]


def test_what_only_an_editor_can_resolve_in_a_launch_file_is_asked_of_the_person(
    running: Editor, first: Window
) -> None:
    (first.folder / "words.py").write_text("import sys\nprint(sys.argv[1:])\n")
    asked: dict[str, Any] = {
        "name": "Asked", "type": "debugpy", "request": "launch", "python": sys.executable,
        "program": "${workspaceFolder}/${input:which}",
        "args": ["${input:word}", "${input:number}", "${command:Choose}"],
    }  # fmt: skip
    (first.folder / ".vscode").mkdir(exist_ok=True)
    data = {"version": "0.2.0", "configurations": [asked], "inputs": INPUTS}
    (first.folder / ".vscode" / "launch.json").write_text(json.dumps(data))
    starting = Later(running, first.folder, "start_debugging", configuration_name="Asked", timeout_s=30)
    title = first.page.locator(".quick-input-title")
    expect(title).to_have_text("For a launch configuration that an agent starts: which")
    first.choose("words.py")
    expect(title).to_have_text("For a launch configuration that an agent starts: word")
    first.enter("spoken")
    running_it = first.toast("A launch configuration that an agent starts runs the command plain-python.choose.")
    running_it.get_by_role("button", name="Always allow").click()
    assert str(["spoken", CHOSEN, CHOSEN]) in json.dumps(starting.data(), ensure_ascii=False)
