"""Tests that a page brings into the extension host of an editor of their own, which runs them by itself."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import BrowserContext, Page

from tests.daemons import eventually
from tests.vscode.editor import ROOT, Editor, node

EXTENSION = ROOT / "vscode"


@dataclass
class HostRun:
    page: Page
    log: list[str] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)

    @classmethod
    def begun(cls, started: Editor, context: BrowserContext, folder: Path) -> HostRun:
        run = cls(context.new_page())
        run.page.expose_function("codeAutomationLog", lambda kind, words: run.log.append(f"{kind}: {words}"))
        run.page.expose_function("codeAutomationExit", lambda code, *_: run.codes.append(code))
        here, module = f"vscode-remote://127.0.0.1:{started.port}", _bundled(started.room)
        payload = [
            ["extensionDevelopmentPath", f"{here}{EXTENSION}"],
            ["extensionTestsPath", f"{here}{module.with_suffix('')}"],
            ["skipWelcome", "true"],
        ]
        address = f"{started.address}/?folder={folder}&payload={quote(json.dumps(payload))}"
        run.page.goto(address, wait_until="commit")
        return run

    def code(self) -> int:
        """Of the whole run, when it has ended."""

        def ended() -> bool:
            self.page.wait_for_timeout(200)  # lets the exposed functions be called
            return bool(self.codes)

        eventually(ended, within_s=120, every_s=0.01)
        self.page.close()
        return self.codes[0]


def _bundled(room: Path) -> Path:
    """The tests as one file, as the editor loads it."""
    module = room / "tests" / "index.js"
    esbuild = EXTENSION / "node_modules" / ".bin" / "esbuild"
    words = ["--bundle", "--platform=node", "--format=cjs", "--external:vscode", "--log-level=error"]
    subprocess.run(
        [node(), esbuild.resolve(), "test/host/index.ts", *words, f"--outfile={module}"], cwd=EXTENSION, check=True
    )
    return module
