"""How the extension is built, tested and packaged: the scripts of its manifest, run as a developer runs them."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.paths import find_paths
from tests.daemons import PATIENCE, eventually
from tests.vscode.editor import ROOT, node

# What runs in a host of its own begins here, beside what needs no window.
pytestmark = [
    pytest.mark.needs("editor", "chromium"),
    pytest.mark.usefixtures("hosted"),
    pytest.mark.timeout(180 * PATIENCE),
]
EXTENSION = ROOT / "vscode"
WITHOUT_THE_PAGE = ("extension/dist/webview/chat.js", "extension/dist/webview/canvas.js")


def manifest() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text())
    return value


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


@pytest.mark.requirement("vscode:build:node-22", "vscode:build:install", "vscode:build:command", "vscode:build:package")
def test_it_is_packaged_into_a_small_file(vsix: Path) -> None:
    assert (manifest()["engines"]["node"], manifest()["engines"]["npm"]) == (">=22", ">=10")
    assert {"build", "watch", "test", "test:watch", "package"} <= manifest()["scripts"].keys()
    with zipfile.ZipFile(vsix) as packed:
        own = sum(it.compress_size for it in packed.infolist() if it.filename not in WITHOUT_THE_PAGE)
        names = set(packed.namelist())
    assert own <= 300_000
    assert {"extension/dist/extension.js", *WITHOUT_THE_PAGE, "extension/package.nls.zh-cn.json"} <= names
    assert not [name for name in names if "node_modules" in name or name.endswith((".ts", ".map"))]


def test_its_readme_brings_its_pictures_along(vsix: Path) -> None:
    """An editor shows those of the net and those in the text itself: a relative link is an empty frame."""
    with zipfile.ZipFile(vsix) as packed:
        (name,) = [it for it in packed.namelist() if it.lower().endswith("readme.md")]
        readme = packed.read(name).decode()
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]*)\)", readme)
    assert len(pictures) == 3
    shown = [base64.b64decode(it.removeprefix("data:image/png;base64,"), validate=True) for it in pictures]
    assert {it[:8] for it in shown} == {b"\x89PNG\r\n\x1a\n"}


def test_the_command_that_it_manages_is_built_beside_it_as_a_wheel(vsix: Path) -> None:
    made = subprocess.run(
        [sys.executable, "tools/build_wheel.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    wheel = Path(made.stdout.splitlines()[-1])
    assert (wheel.parent, wheel.suffix) == (vsix.parent, ".whl")
    assert "dragoman/daemon/app.py" in zipfile.ZipFile(wheel).namelist()
    recipe = (ROOT / "Makefile").read_text().partition("\nvsix:\n")[2].partition("\n\n")[0]
    assert {"tools/build_vsix.py", "tools/build_wheel.py"} <= set(recipe.split())


@pytest.mark.requirement("vscode:build:extension-bundle", "vscode:build:vscode-external")
@pytest.mark.requirement("vscode:build:chat-bundle", "vscode:build:canvas-bundle")
def test_the_bundles_are_what_their_hosts_load(vsix: Path) -> None:
    with zipfile.ZipFile(vsix) as packed:
        extension = packed.read("extension/dist/extension.js").decode()
        views = [packed.read(name).decode() for name in WITHOUT_THE_PAGE]
    assert 'require("vscode")' in extension
    assert "module.exports" in extension
    for view in views:
        assert "acquireVsCodeApi" in view
        assert "module.exports" not in view
        assert re.search(r"\bexport\s*\{|\bimport\s*[{*\"]", view) is None  # one file, whole


TABLES = (
    "another conversation: loading, then its past",
    "what the gateway refuses is an error to show",
    "an error that the extension tells is handed to who shows it",
    "what a person does on the canvas is told as the specification writes it",
)


@pytest.mark.requirement("vscode:build:test")
@pytest.mark.requirement("vscode:to-chat:error", "vscode:to-chat:history-loading", "vscode:from-canvas:user-action")
def test_the_plain_modules_pass_their_own_tests(vsix: Path) -> None:
    """Among them the tables of messages, in test/gateway, test/views and test/webview."""
    assert vsix.exists()  # its packages are installed
    words = ["npm", "test", "--silent", "--", "--reporter=verbose"]
    done = subprocess.run(words, cwd=EXTENSION, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [it for it in TABLES if it not in done.stdout] == []
    assert re.search(r"Tests +\d+ passed \(\d+\)", done.stdout), done.stdout
    assert manifest()["scripts"]["test:watch"] == "vitest"


@pytest.mark.requirement("vscode:build:watch")
def test_watching_builds_again_when_a_file_changes(vsix: Path, tmp_path: Path) -> None:
    assert manifest()["scripts"]["watch"] == "node esbuild.mjs --watch"
    copy = tmp_path / "vscode"
    copy.mkdir()
    for name in ("node_modules", "esbuild.mjs", "package.json", "tsconfig.json", "README.md", "media"):
        (copy / name).symlink_to(EXTENSION / name)
    shutil.copytree(EXTENSION / "src", copy / "src")
    for name in ("web", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    built = copy / "dist" / "extension.js"
    with subprocess.Popen(
        [node(), "esbuild.mjs", "--watch"], cwd=copy, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as watching:
        try:
            eventually(built.exists, within_s=30)
            with (copy / "src" / "extension.ts").open("a") as source:
                source.write('\nexport const sign = "seen again";\n')
            eventually(lambda: "seen again" in built.read_text(), within_s=30, every_s=0.1)
        finally:
            watching.terminate()


DEEP = "/h/" + "deep/" * 30


@pytest.mark.parametrize(
    ("name", "value"),
    [("DRAGOMAN_HOME", "/h/x"), ("DRAGOMAN_HOME", DEEP), ("XDG_STATE_HOME", "/s"), ("XDG_STATE_HOME", "relative")],
)
def test_the_daemons_files_are_looked_for_where_it_puts_them(
    vsix: Path, name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vsix.exists()
    script = tmp_path / "places.mjs"
    esbuild = (EXTENSION / "node_modules" / ".bin" / "esbuild").resolve()
    words = ["--bundle", "--platform=node", "--format=esm", f"--outfile={script}", "--log-level=error"]
    subprocess.run([node(), esbuild, "src/daemon/places.ts", *words], cwd=EXTENSION, check=True)
    report = f"import {{ findPlaces }} from {json.dumps(str(script))}; console.log(JSON.stringify(findPlaces()))"
    for other in ("DRAGOMAN_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    answer = subprocess.run([node(), "--input-type=module", "-e", report], capture_output=True, check=True)
    wanted = find_paths(os.environ)
    assert json.loads(answer.stdout) == {
        "stateFile": str(wanted.state_file),
        "controlSocket": str(wanted.socket),
        "tokensFolder": str(wanted.tokens_folder),
        "logFile": str(wanted.log_file),
    }


def test_a_developer_starts_it_with_one_key() -> None:
    launch = json.loads((EXTENSION / ".vscode" / "launch.json").read_text())["configurations"][0]
    assert (launch["type"], launch["preLaunchTask"]) == ("extensionHost", "watch")
