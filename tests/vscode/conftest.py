"""One editor and one browser for all: what takes long is starting them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.daemons import PATIENCE
from tests.servers.web.browser import chromium
from tests.vscode.editor import ROOT, Editor, editor
from tests.vscode.hosting import HostRun
from tests.vscode.line_script import line_script_extension
from tests.vscode.other_extension import others_extension
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
    room = tmp_path_factory.mktemp("editor")
    with editor(room, vsix, others_extension(room), line_script_extension(room)) as started:
        yield started


@pytest.fixture(scope="session")
def context() -> Iterator[BrowserContext]:
    with chromium() as browser:
        allowed = ["clipboard-read", "clipboard-write"]
        yield browser.new_context(viewport={"width": 1200, "height": 760}, permissions=allowed)


@pytest.fixture(scope="session")
def hosted(vsix: Path, context: BrowserContext, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostRun]:
    """Asked for before its result is needed, it runs while other tests do."""
    assert vsix.exists()  # what it is made of is built
    room = tmp_path_factory.mktemp("host")
    (room / "project").mkdir()
    (room / "project" / "adding.py").write_text(ADDING)
    with editor(room, runs_tests=True) as started:
        run = HostRun.begun(started, context, room / "project")
        yield run
        run.page.close()


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


@pytest.fixture
def running(edited: Editor, first: Window, request: pytest.FixtureRequest) -> Iterator[Editor]:
    """The server runs for the first window, which knows it, and nothing is in the way."""
    if edited.cli.status().get("workspace") != str(first.folder):
        taken = edited.cli("up", "--take-over", "--yes", "--workspace", str(first.folder))
        assert taken.returncode == 0, taken.stdout + taken.stderr
    first.come_forward()
    first.page.keyboard.press("Escape")
    first.expect_status(f"Dragoman {edited.cli.status()['port']}")
    yield edited
    edited.cli("debug", "stop", cwd=first.folder)
    if request.node.stash.get(FAILED, False):
        _begin_anew(edited, first)


def _begin_anew(edited: Editor, window: Window) -> None:
    """What a test that failed left in the middle is not the next one's: sessions, breakpoints, questions."""
    edited.cli("down", "--yes")
    window.reload()
    window.command("View: Show Run and Debug")
    expect(window.page.locator(".debug-breakpoints")).to_be_visible()
    if window.page.locator(".debug-breakpoints .monaco-list-row:has(.line-number)").count():
        window.command("Debug: Remove All Breakpoints")  # it has that name only where there are some
    window.command("View: Close All Editors")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def both(running: Editor, second: Window) -> Editor:
    """And the second window knows it too."""
    second.page.keyboard.press("Escape")
    second.expect_status(f"Dragoman {running.cli.status()['port']}")
    return running


FAILED = pytest.StashKey[bool]()
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
