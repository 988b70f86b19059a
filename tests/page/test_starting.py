"""How a program is first started in the debugger of the page: without a launch.json, and with one that comes later."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import call
from tests.page.debugging_page import open_file, standing
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    """Without a launch.json, and nobody has vouched for it."""
    with debug_workspace(tmp_path_factory.mktemp("starting")) as place:
        (place.folder / ".vscode" / "launch.json").unlink()
        call(place.daemon.paths, "trust_revoke", {"folder": str(place.folder)})
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab) -> Locator:
    return tab.show("Debugger")


def test_the_open_file_is_started_and_where_trust_is_missing_that_is_reported(
    view: Locator, place: DebugWorkspace
) -> None:
    expect(view.locator(".bar")).to_contain_text("Open a file below to start it.")
    open_file(view, "adding.py")
    begin = view.get_by_role("button", name="Start adding.py", exact=True)
    begin.click()
    element = view.get_by_role("alert")
    expect(element).to_contain_text("trust")
    expect(element).to_contain_text("adding.py")
    call(place.daemon.paths, "trust_add", {"folder": str(place.folder)})
    begin.click()
    expect(view.locator("#output")).to_contain_text("the sum is 6")
    expect(standing(view)).to_contain_text("Terminated: exit code 0")
    expect(element).to_have_count(0)


def test_a_launch_json_that_is_written_later_is_offered_by_itself(view: Locator, place: DebugWorkspace) -> None:
    open_file(view, "adding.py")
    expect(view.locator("#start-file")).to_be_visible()
    expect(view.locator("#unreadable")).to_have_count(0)  # to have none is no fault
    file = place.folder / ".vscode" / "launch.json"
    file.write_text('{"configurations": [')
    expect(view.locator("#unreadable")).to_contain_text("launch.json")
    written = {"name": "later", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/adding.py"}
    file.write_text(json.dumps({"configurations": [written]}))
    expect(view.locator("#configuration option")).to_have_text(["later"])
    expect(view.locator("#unreadable")).to_have_count(0)
    expect(view.locator("#start-file")).to_have_count(0)
    file.unlink()
    expect(view.locator("#start-file")).to_be_visible()
