"""An agent asks the editor, and the person's own debug sessions are an agent's to look at: in the real editor."""

from __future__ import annotations

import json
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.daemons import PATIENCE, eventually
from tests.vscode.agent import Agent, agent
from tests.vscode.editor import Editor
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(150 * PATIENCE)]


def refused(it: Agent, name: str, **arguments: Any) -> str:
    answer = it.link.call("call", {"tool": name, "arguments": arguments}, within_s=30 * PATIENCE)
    assert answer.get("is_error"), answer
    return str(answer["data"]["code"])


class Later:
    """A call that waits for the person, made beside the person."""

    def __init__(self, editor: Editor, window: Window, name: str, **arguments: Any) -> None:
        self.answer: dict[str, Any] = {}

        def run() -> None:
            with agent(editor, window.folder) as it:
                self.answer = it.link.call("call", {"tool": name, "arguments": arguments}, within_s=60 * PATIENCE)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def data(self) -> dict[str, Any]:
        self._thread.join(30 * PATIENCE)
        assert self.answer, "no answer came"
        found: dict[str, Any] = self.answer["data"]
        return found


@pytest.mark.requirement("vscode:bridge:open-file")
def test_an_agent_opens_a_file_and_reads_the_selection_as_the_person_allows(running: Editor, first: Window) -> None:
    first.command("Dragoman: Forget what agents may do in this workspace")
    opening = Later(running, first, "ide_open", path="adding.py", line=3, end_line=4)
    asked = first.toast("wants to open adding.py")
    first.picture("allow")
    asked.get_by_role("button", name="Always allow").click()
    assert opening.data() == {"status": "opened", "path": str(first.folder / "adding.py"), "line": 3}
    expect(first.page.locator('.tab.active[aria-label^="adding.py"]')).to_be_visible()

    reading = Later(running, first, "ide_selection")
    first.toast("wants to read what you have selected").get_by_role("button", name="Allow once").click()
    selected = reading.data()
    assert (selected["start_line"], selected["end_line"]) == (3, 4)
    assert selected["text"] == "    for value in values:\n        total += value"

    with agent(running, first.folder) as it:
        assert it.tool("ide_open", path="adding.py", line=1)["status"] == "opened"  # always: not asked again
        never = Later(running, first, "ide_open_files")
        first.toast("wants to know which files are open").get_by_role("button", name="Never allow").click()
        assert never.data()["code"] == "not_allowed"
        assert refused(it, "ide_open_files") == "not_allowed"  # nor is a no


@pytest.mark.requirement("vscode:bridge:notification", "vscode:bridge:terminal")
def test_a_notice_is_shown_and_a_command_is_typed_into_a_terminal_where_it_runs(running: Editor, first: Window) -> None:
    first.command("Dragoman: Forget what agents may do in this workspace")
    noticing = Later(running, first, "ide_notify", message="the tests are done", level="warning")
    first.toast("wants to show you notices").get_by_role("button", name="Allow once").click()
    assert noticing.data() == {"status": "shown"}
    first.toast("the tests are done")

    typing = Later(running, first, "ide_run_in_terminal", command="echo done > ran.txt")
    asked = first.toast("wants to run this in a terminal: echo done > ran.txt")
    assert not (first.folder / "ran.txt").exists()
    asked.get_by_role("button", name="Allow once").click()
    assert typing.data() == {"status": "started", "terminal": "Dragoman"}
    eventually((first.folder / "ran.txt").exists, within_s=20, every_s=0.1)
    first.clear_toasts()


def test_a_proposal_is_accepted_in_the_comparison_and_written(running: Editor, first: Window) -> None:
    first.command("Dragoman: Forget what agents may do in this workspace")
    proposing = Later(running, first, "ide_diff", path="fresh.py", text="print('new')\n", title="A new file")
    first.toast("wants to propose a change of fresh.py").get_by_role("button", name="Always allow").click()
    expect(first.page.locator(".monaco-diff-editor")).to_be_visible()
    first.picture("proposal")
    first.toast("An agent proposes a change: A new file").get_by_role("button", name="Accept").click()
    assert proposing.data() == {"status": "accepted", "path": str(first.folder / "fresh.py"), "is_new": True}
    assert (first.folder / "fresh.py").read_text() == "print('new')\n"

    closing = Later(running, first, "ide_diff", path="fresh.py", text="print('other')\n")
    expect(first.page.locator(".monaco-diff-editor")).to_be_visible()
    first.command("Dragoman: Reject the proposed change")
    assert closing.data()["status"] == "rejected"
    assert (first.folder / "fresh.py").read_text() == "print('new')\n"


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
    running.install(_python_extension(running.room))
    first.reload()
    first.expect_status(r"Dragoman \d+")
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


def _python_extension(room: Path) -> Path:
    """A debugger for Python as another extension brings one: nothing but where its adapter is."""
    debugger = {"type": "plain-python", "label": "Python", "languages": ["python"], "program": sys.executable}
    about = {
        "name": "plain-python", "publisher": "test", "version": "0.0.1", "engines": {"vscode": "^1.101.0"},
        "extensionKind": ["workspace"],
        "contributes": {
            "debuggers": [{**debugger, "args": ["-m", "debugpy.adapter"]}], "breakpoints": [{"language": "python"}],
        },
    }  # fmt: skip
    package = room / "plain-python.vsix"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("extension/package.json", json.dumps(about))
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("extension.vsixmanifest", _MANIFEST)
    return package


_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>"""
_MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata><Identity Language="en-US" Id="plain-python" Version="0.0.1" Publisher="test"/></Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation><Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"/></Assets>
</PackageManifest>"""


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
