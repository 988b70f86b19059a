"""The frame of the page: login, what happens shown live, the daemon lost and back, keyboard, language, colours."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.daemons import call
from tests.faces.attacked import Attacked
from tests.page.tab import Tab
from tests.raw_http import Ask, ask

pytestmark = pytest.mark.needs("chromium", "page")


def test_the_link_logs_in_and_what_happens_is_shown_live(daemon: Attacked, tab: Tab) -> None:
    assert tab.page.url == f"http://127.0.0.1:{daemon.port}/"
    activity = tab.show("Activity")
    expect(activity.locator(".row").last).to_contain_text("daemon.started")
    last = daemon.append(3)
    expect(activity.locator(".row").first).to_contain_text(str(last))
    numbers = [int(text) for text in activity.locator(".number").all_inner_texts()]
    assert numbers == list(range(last, last - len(numbers), -1))


def test_what_happened_can_be_filtered_held_and_opened(daemon: Attacked, tab: Tab) -> None:
    activity = tab.show("Activity")
    daemon.append(2)
    activity.locator("#find").fill("daemon.started")
    expect(activity.locator(".row")).to_have_count(1)
    activity.locator(".row").click()
    expect(activity.locator("aside pre")).to_contain_text("{")
    activity.locator("#find").fill("")
    activity.get_by_role("button", name="Hold").click()
    shown = activity.locator(".row").first.inner_text()
    daemon.append(4)
    expect(activity.get_by_role("button", name="Go on (4 new)")).to_be_visible()
    assert activity.locator(".row").first.inner_text() == shown


def test_many_events_are_kept_and_few_are_drawn(daemon: Attacked, tab: Tab) -> None:
    activity = tab.show("Activity")
    last = daemon.append(3000, size=10)
    expect(activity.locator(".row").first).to_contain_text(str(last))
    assert activity.locator(".row").count() < 80
    activity.locator("dragoman-rows").evaluate("it => it.scrollTop = it.scrollHeight / 2")
    expect(activity.get_by_text(str(last - 1500), exact=True)).to_be_visible()


def test_tabs_are_walked_by_keyboard_and_a_reload_keeps_the_view(tab: Tab) -> None:
    tab.page.get_by_role("tab").first.focus()
    tab.page.keyboard.press("End")
    last = tab.page.get_by_role("tab").last
    expect(last).to_be_focused()
    expect(last).to_have_attribute("aria-selected", "true")
    tab.page.reload()
    tab.assert_connected()
    expect(tab.page.get_by_role("tab").last).to_have_attribute("aria-selected", "true")
    tab.page.get_by_role("tab").last.press("ArrowRight")
    expect(tab.page.get_by_role("tab").first).to_be_focused()


def test_a_spent_link_says_so_and_shows_nothing(daemon: Attacked, tab: Tab, browser: Browser) -> None:
    spent = tab.link()
    tab.page.goto("about:blank")
    tab.page.goto(spent)
    tab.assert_connected()
    context = browser.new_context(locale="zh-CN")
    second = Tab.opened(context, daemon)
    second.page.goto(spent)
    expect(second.page.locator("#connection.bad")).to_contain_text("此登录链接已被使用")
    expect(second.page.get_by_role("tab")).to_have_count(0)
    assert second.page.evaluate("sessionStorage.length") == 0
    context.close()


def test_a_rotated_token_ends_the_page_and_it_says_what_to_do(daemon: Attacked, tab: Tab) -> None:
    call(daemon.places, "token_rotate", {"purpose": "page"})
    expect(tab.page.locator("#connection.bad")).to_contain_text("Run `dragoman page`")
    expect(tab.page.get_by_role("tab")).to_have_count(0)
    assert tab.page.evaluate("sessionStorage.length") == 0
    tab.page.goto("about:blank")  # what it tried with the old session is refused, and the browser writes that down
    tab.complaints.clear()
    tab.page.evaluate("window.violations = []")


def test_assets_are_kept_by_browsers_and_the_page_itself_is_not(daemon: Attacked) -> None:
    index = ask(daemon.port, Ask("/", headers=[daemon.host]))
    asset = re.search(rb'src="(/assets/[\w.-]+\.js)"', index.body)
    assert asset is not None
    script = ask(daemon.port, Ask(asset[1].decode(), headers=[daemon.host]))
    assert (script.status, script.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert "immutable" in script.headers["cache-control"]
    assert index.headers["cache-control"] == "no-store"
    for gone in ("/assets/none.js", "/assets/..%2findex.html", "/assets/.made-of"):
        missing = ask(daemon.port, Ask(gone, headers=[daemon.host]))
        assert (missing.status, missing.headers["cache-control"]) in {(404, "no-store"), (401, "no-store")}
