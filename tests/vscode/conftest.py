"""One editor and one browser for all: what takes long is starting them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.daemons import PATIENCE
from tests.faces.web.browser import chromium
from tests.vscode.editor import ROOT, Editor, editor
from tests.vscode.window import Window

expect.set_options(timeout=15_000 * PATIENCE)


@pytest.fixture(scope="session")
def vsix() -> Path:
    built = subprocess.run(
        [sys.executable, "tools/build_vsix.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return Path(built.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def edited(tmp_path_factory: pytest.TempPathFactory, vsix: Path) -> Iterator[Editor]:
    """The editor. Its daemon takes any free port, so that nobody else's is in the way."""
    room = tmp_path_factory.mktemp("editor")
    (room / "home" / "config").mkdir(parents=True)
    (room / "home" / "config" / "settings.toml").write_text("port = 0\n")
    with editor(room, vsix) as started:
        yield started


@pytest.fixture(scope="session")
def context() -> Iterator[BrowserContext]:
    with chromium() as browser:
        allowed = ["clipboard-read", "clipboard-write"]
        yield browser.new_context(viewport={"width": 1200, "height": 760}, permissions=allowed)


@pytest.fixture(scope="session")
def folders(edited: Editor) -> tuple[Path, Path]:
    """Two projects, each with a program."""
    one, two = edited.room / "one", edited.room / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "adding.py").write_text(ADDING)
    return one, two


@pytest.fixture(scope="session")
def first(edited: Editor, context: BrowserContext, folders: tuple[Path, Path]) -> Window:
    """The window that a person opens first, with no server running."""
    return Window.opened(context, edited, folders[0])


@pytest.fixture(scope="session")
def second(first: Window, edited: Editor, context: BrowserContext, folders: tuple[Path, Path]) -> Window:
    """Another window, opened while the first has started the server."""
    first.expect_status(RUNNING)
    return Window.opened(context, edited, folders[1])


RUNNING = r"Dragoman \d+"

ADDING = """\
def add(values):
    total = 0
    for value in values:
        total += value
    return total


numbers = [1, 2, 3]
result = add(numbers)
print("the sum is", result)
"""
