"""A folder that the person has not said to trust: nothing in it is run, and nobody is asked anything for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.daemons import PATIENCE
from tests.vscode.agent import agent, refused
from tests.vscode.conftest import RUNNING
from tests.vscode.editor import editor
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(120 * PATIENCE)]

PLANTED = '#!/bin/sh\ntouch "{sign}"\necho dragoman 9.9\n'


def test_what_lies_in_it_is_not_run_and_agents_are_refused_without_a_question(
    vsix: Path, context: BrowserContext, tmp_path: Path
) -> None:
    sign, folder = tmp_path / "was-run", tmp_path / "project"
    planted = [folder / ".venv" / "bin" / "dragoman", folder / "named"]
    for file in planted:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PLANTED.format(sign=sign))
        file.chmod(0o755)
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "settings.json").write_text(json.dumps({"dragoman.path": str(planted[1])}))
    with editor(tmp_path, vsix, asks_for_trust=True) as started:
        started.configure_person(**{"security.workspace.trust.startupPrompt": "never"})
        window = Window.opened(context, started, folder)
        window.expect_status(RUNNING)
        expect(window.page.get_by_role("button", name="Restricted Mode")).to_be_visible()
        with agent(started, folder) as it:
            for tool, arguments in ASKED.items():
                assert refused(it, tool, **arguments) == "editor_refused"
        expect(window.toasts.filter(has_text="wants to")).to_have_count(0)
        window.picture("untrusted")
        window.close()
    assert not sign.exists()


ASKED: dict[str, dict[str, str]] = {
    "ide_open": {"path": "named"},
    "ide_selection": {},
    "ide_diagnostics": {},
    "ide_notify": {"message": "hello"},
    "ide_run_in_terminal": {"command": "true"},
    "ide_diff": {"path": "named", "text": ""},
}
