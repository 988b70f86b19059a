"""Debugging by commands in the chat: trust is asked for where it is needed, and a stop is read as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import call, eventually
from tests.page.chat_page import fresh, say
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")

WIDTHS = (290, 900)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("commands")) as place:
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


def test_a_person_trusts_the_folder_in_the_chat_and_debugs_there(
    tab: Tab, place: DebugWorkspace, tmp_path: Path
) -> None:
    call(place.daemon.paths, "trust_revoke", {"folder": str(place.folder)})
    chat = fresh(tab)
    block = chat.locator("article.assistant").last.locator(".prose pre")
    say(chat, "/break adding.py:4")
    expect(block).to_contain_text("adding.py:4")
    say(chat, "/start adding.py")
    asked = chat.get_by_role("alertdialog", name="Trust this folder")
    expect(asked.locator("pre")).to_have_text(str(place.folder.resolve()))
    photograph(tab, tmp_path, "trust")
    last = chat.locator("article.assistant").last
    expect(last.locator("details.tool.running")).to_have_count(1)
    expect(last.locator(".going")).to_have_text("waiting for your answer below")
    asked.get_by_role("button", name="Refuse").click()
    expect(chat.locator("article.assistant .bad")).to_contain_text("dragoman trust")
    expect(chat.get_by_label("Message")).to_be_focused()
    assert call(place.daemon.paths, "trust_list")["trusted"] == []
    say(chat, "/start adding.py")
    asked.get_by_role("button", name="Allow").click()
    expect(block).to_contain_text(">    4          total += value")
    expect(asked).to_have_count(0)
    expect(last.locator("details.tool.done")).to_have_count(1)
    expect(last.locator("details.tool.failed")).to_have_count(0)  # what was lifted is no failure
    assert [it["folder"] for it in call(place.daemon.paths, "trust_list")["trusted"]] == [str(place.folder.resolve())]
    assert chat.locator("article blockquote").count() == 0
    photograph(tab, tmp_path, "stop")
    assert_narrow(tab, chat, block)
    say(chat, "/vars")
    expect(block).to_contain_text("  total = 0")
    say(chat, "/where")
    expect(block).to_contain_text("> add  ")
    photograph(tab, tmp_path, "where")
    say(chat, "/help")
    expect(chat.locator("article.assistant").last).to_contain_text("/vars, /stack")
    assert_begins_in_sight(tab, chat)
    photograph(tab, tmp_path, "help")
    say(chat, "/stop")


def test_no_view_makes_the_page_itself_scroll_however_much_is_in_it(tab: Tab, place: DebugWorkspace) -> None:
    chat = fresh(tab)
    for number in range(1, 4):
        say(chat, "/help tools")
        say(chat, "/status")
        expect(chat.locator("details.tool.done")).to_have_count(number)
    place.tool("run_in_terminal", command="seq 300")
    drawn = [{"id": "root", "component": "CodeBlock", "code": "x = 1\n" * 300}]
    place.tool("show_canvas", surface_id="long", components=drawn)
    assert chat.locator(".said").evaluate("it => it.scrollHeight > 2 * it.clientHeight")
    for width in (400, 1200):
        tab.page.set_viewport_size({"width": width, "height": 640})
        for view in ("Chat", "Canvas", "Debugger", "Terminals", "Activity", "Settings"):
            expect(tab.show(view)).to_be_visible()
            sizes = "[document.scrollingElement.scrollHeight, document.querySelector('dragoman-app').scrollHeight]"
            assert max(tab.page.evaluate(sizes)) <= 640, (view, width)


def test_a_command_that_continues_after_stop_is_reported_and_its_line_stays_as_it_was(
    tab: Tab, place: DebugWorkspace
) -> None:
    call(place.daemon.paths, "trust_add", {"folder": str(place.folder)})
    chat = fresh(tab)
    say(chat, "/run sleep 600")
    eventually(lambda: running(place) == ["sleep 600"])
    chat.get_by_role("button", name="Stop", exact=True).click()
    answer = chat.locator("article.assistant").first
    for _ in range(2):
        expect(answer).to_contain_text("the command keeps running in its terminal")
        expect(answer).to_contain_text("Stopped.")
        expect(answer.locator(".tool.failed")).to_have_count(1)
        tab.page.reload()
        tab.assert_connected()
    assert running(place) == ["sleep 600"]
    say(chat, "/run_in_terminal interrupt=true")
    eventually(lambda: running(place) == [])
    expect(answer.locator(".tool.failed")).to_have_count(1)


def running(place: DebugWorkspace) -> list[str]:
    return [it["running"]["command"] for it in place.tool("list_terminals")["terminals"] if it["running"]]


def assert_narrow(tab: Tab, chat: Locator, block: Locator) -> None:
    """Lines are not broken: they are scrolled to, inside of their block. What a tool was given can be read whole."""
    tab.page.set_viewport_size({"width": WIDTHS[0], "height": 700})
    assert block.evaluate("it => it.scrollWidth > it.clientWidth && getComputedStyle(it).whiteSpace === 'pre'")
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    summary = chat.locator("details.tool summary").last
    expect(summary).to_contain_text("adding.py")
    assert summary.evaluate("it => it.scrollWidth <= it.clientWidth")
    tab.page.set_viewport_size({"width": 1200, "height": 760})


def assert_begins_in_sight(tab: Tab, chat: Locator) -> None:
    tab.page.set_viewport_size({"width": WIDTHS[0], "height": 700})
    chat.locator(".said").evaluate("it => it.scrollTo(0, it.scrollHeight)")
    expect(chat.locator("article.assistant").last.locator("li").first).to_be_in_viewport(ratio=1)
    tab.page.set_viewport_size({"width": 1200, "height": 760})


def photograph(tab: Tab, folder: Path, name: str) -> None:
    for width in WIDTHS:
        tab.page.set_viewport_size({"width": width, "height": 700})
        tab.page.screenshot(path=folder / f"chat-{name}-{width}.png")
    tab.page.set_viewport_size({"width": 1200, "height": 760})
