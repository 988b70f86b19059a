"""Tests that run inside the extension host of a real editor, and end it with their exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext

from tests.daemons import PATIENCE, eventually
from tests.vscode.conftest import ADDING
from tests.vscode.editor import ROOT, Editor, editor, node

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(180 * PATIENCE)]
EXTENSION = ROOT / "vscode"


@pytest.mark.requirement("vscode:build:debug-host")
def test_the_extension_passes_its_own_tests_in_a_development_host(
    vsix: Path, context: BrowserContext, tmp_path: Path
) -> None:
    assert vsix.exists()  # what it is made of is built
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "adding.py").write_text(ADDING)
    with editor(tmp_path, None, runs_tests=True) as started:
        code, said = _run(started, context, folder, _bundled(tmp_path))
    assert code == 0, "\n".join(said)


def _bundled(room: Path) -> Path:
    """The tests as one file, as the editor loads it."""
    module = room / "tests" / "index.js"
    esbuild = EXTENSION / "node_modules" / ".bin" / "esbuild"
    words = ["--bundle", "--platform=node", "--format=cjs", "--external:vscode", "--log-level=error"]
    subprocess.run(
        [node(), esbuild.resolve(), "test/host/index.ts", *words, f"--outfile={module}"], cwd=EXTENSION, check=True
    )
    return module


def _run(started: Editor, context: BrowserContext, folder: Path, module: Path) -> tuple[int, list[str]]:
    page, said, codes = context.new_page(), [], []
    page.expose_function("codeAutomationLog", lambda kind, words: said.append(f"{kind}: {words}"))
    page.expose_function("codeAutomationExit", lambda code, *_: codes.append(code))
    here = f"vscode-remote://127.0.0.1:{started.port}"
    payload = [
        ["extensionDevelopmentPath", f"{here}{EXTENSION}"],
        ["extensionTestsPath", f"{here}{module.with_suffix('')}"],
        ["skipWelcome", "true"],
    ]
    page.goto(f"{started.address}/?folder={folder}&payload={quote(json.dumps(payload))}", wait_until="commit")

    def ended() -> bool:
        page.wait_for_timeout(200)  # lets the exposed functions be called
        return bool(codes)

    eventually(ended, within_s=120, every_s=0.01)
    page.close()
    return codes[0], said
