"""The official client for tests of debug adapters, which checks that a breakpoint is verified and where it stops."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemons import PATIENCE, cli_with_home
from tests.vscode.editor import ROOT, node

PROGRAM = "total = 0\nfor number in range(3):\n    total += number\nprint(total)\n"


@pytest.mark.needs("editor")
@pytest.mark.timeout(120 * PATIENCE)
def test_it_launches_hits_a_breakpoint_looks_and_continues(vsix: Path, tmp_path: Path) -> None:
    assert vsix.exists()  # the client is one of the packages that it is built with
    program = tmp_path / "adding.py"
    program.write_text(PROGRAM)
    adapter = tmp_path / "adapter.sh"  # the client passes one word to what it starts
    adapter.write_text(f"exec {shlex.quote(str(Path(sys.executable).with_name('dragoman')))} dap --stdio\n")
    testsupport = ROOT / "vscode" / "node_modules" / "@vscode" / "debugadapter-testsupport"
    with cli_with_home(tmp_path / "home") as cli:
        done = subprocess.run(
            [
                *(str(node()), str(Path(__file__).with_name("debug_client.cjs")), str(testsupport)),
                *(str(adapter), sys.executable, str(program), "3"),
            ],
            env=cli.variables(), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"total": "0"}
