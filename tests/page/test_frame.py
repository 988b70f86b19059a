"""The frame of the page: login, what happens shown live, the daemon lost and back, keyboard, language, colours."""

from __future__ import annotations

import re
from typing import Literal

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.daemons import PATIENCE, call, cli_with_home
from tests.page.agent import Agent
from tests.page.page_fixture import DebugWorkspace
from tests.page.tab import Tab
from tests.raw_http import Ask, ask
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")


def test_the_link_logs_in_and_what_happens_is_shown_live(daemon: TargetDaemon, tab: Tab) -> None:
    assert tab.page.url == f"http://{daemon.page_host}/#chat"
    activity = tab.show("Activity")
    expect(activity.locator(".row .kind").last).to_have_attribute("title", "daemon.started")
    last = daemon.append(3)
    expect(activity.locator(".row .number").first).to_have_text(str(last))
    numbers = [int(text) for text in activity.locator(".number").all_inner_texts()]
    assert numbers == list(range(last, last - len(numbers), -1))


def test_what_happened_can_be_filtered_held_and_opened(daemon: TargetDaemon, tab: Tab) -> None:
    activity = tab.show("Activity")
    daemon.append(2)
    activity.locator("#find").fill("daemon.started")
    expect(activity.locator(".row")).to_have_count(1)
    activity.locator(".row").click()
    expect(activity.locator("aside pre")).to_contain_text("{")
    activity.locator("#find").fill("")
    activity.get_by_role("button", name="Pause the list").click()
    shown = activity.locator(".row").first.inner_text()
    daemon.append(4)
    expect(activity.get_by_role("button", name="Resume (4 new)")).to_be_visible()
    assert activity.locator(".row").first.inner_text() == shown


def test_many_events_are_kept_and_few_are_drawn(daemon: TargetDaemon, tab: Tab) -> None:
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
    first = tab.page.get_by_role("tab").first
    expect(first).to_be_focused()
    assert first.evaluate("it => getComputedStyle(it).outlineOffset") == "-2px"  # inside of what scrolls: it is whole
    under = "it => getComputedStyle(it).borderBottomColor"
    tab.page.get_by_role("tab").nth(1).hover()
    assert tab.page.get_by_role("tab").nth(1).evaluate(under) != first.evaluate(under)  # one alone looks chosen


def test_a_spent_link_says_so_and_shows_nothing(daemon: TargetDaemon, tab: Tab, browser: Browser) -> None:
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


def test_a_rotated_token_ends_the_page_and_it_says_what_to_do(daemon: TargetDaemon, tab: Tab) -> None:
    call(daemon.paths, "token_rotate", {"purpose": "page"})
    expect(tab.page.locator("#connection.bad")).to_contain_text("Run dragoman page")
    expect(tab.page.locator("#connection code")).to_have_text("dragoman page")
    expect(tab.page.get_by_role("tab")).to_have_count(0)
    assert tab.page.evaluate("sessionStorage.session") is None
    tab.complaints.clear()  # what it tried with the old session is refused, and the browser writes that down
    tab.page.goto(tab.link())  # in the same tab: the fragment alone changes
    tab.assert_connected()
    assert "code" not in tab.page.url


@pytest.mark.requirement("page:chat:status-bar")
def test_a_daemon_killed_in_the_middle_of_things_is_reported_plainly_and_the_next_one_asks_for_a_link(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("work")
    with cli_with_home(tmp_path_factory.mktemp("lost")) as cli:
        assert cli("up", "--port", "0", cwd=folder).returncode == 0
        port = cli.status()["port"]
        call(cli.paths, "trust_add", {"folder": str(folder)})
        place = DebugWorkspace(folder, TargetDaemon(psutil.Process(), port, cli.paths))
        place.tool("run_in_terminal", command="echo before")
        page = browser.new_page()
        page.goto(str(call(cli.paths, "login_link")["link"]))
        page.locator("textarea").fill("/read_actions timeout_s=60")
        expect(page.locator("dragoman-chat .away")).to_have_count(0)  # what is sent before that is given back
        page.locator("textarea").press("Enter")
        expect(page.locator("details.tool.running")).to_be_visible()
        page.locator("textarea").fill("half a thought")
        page.get_by_role("tab", name="Settings").click()
        expect(page.locator("dragoman-setting#port").get_by_role("textbox")).to_be_visible()
        page.get_by_role("tab", name="Terminals").click()
        page.locator("#terminals .item").nth(1).click()
        expect(page.locator("#screen")).to_contain_text("before")
        cli.kill()
        assert_lost(page)
        assert cli("up", "--port", str(port), cwd=folder).returncode == 0
        assert_of_another_instance(page)
        page.goto(str(call(cli.paths, "login_link")["link"]))
        expect(page.locator("#connection.good")).to_be_visible(timeout=15_000 * PATIENCE)
        assert_back(page)
        page.close()


def assert_of_another_instance(page: Page) -> None:
    """What it shows stays, what was typed too; it asks for a link, and tries nobody any more."""
    element = page.locator("#connection.bad")
    expect(element).to_contain_text("Dragoman was restarted, or another program answers at this address.")
    expect(element.locator("code")).to_have_text("dragoman page")
    expect(page.locator("textarea")).to_have_value("half a thought")
    expect(page.locator("article.user .words")).to_have_text(["/read_actions timeout_s=60"])
    page.get_by_role("tab", name="Terminals").click()
    expect(page.locator("#screen")).to_contain_text("before")
    assert page.evaluate("sessionStorage.session") is None


def assert_lost(page: Page) -> None:
    lost = page.locator("#connection.bad")
    expect(lost).to_contain_text("Dragoman is not running or does not respond.")
    expect(lost.locator("code")).to_have_text(["dragoman up", "dragoman page"])
    page.get_by_role("tab", name="Canvas").click()  # not loaded yet, and nobody is there to load it from
    expect(page.get_by_text("Cannot load this view while Dragoman does not respond.")).to_be_visible()
    page.get_by_role("tab", name="Settings").click()
    field = page.locator("dragoman-setting#port")
    field.get_by_role("textbox").fill("8911")
    field.get_by_role("textbox").press("Enter")
    expect(field.get_by_role("alert")).to_contain_text("Dragoman is not running or does not respond.")
    expect(field.get_by_role("textbox")).to_have_value("8911")
    page.get_by_role("tab", name="Terminals").click()
    expect(page.locator("dragoman-screen .state.lost")).to_contain_text("Retrying")
    page.get_by_role("tab", name="Chat").click()
    expect(page.locator("dragoman-chat .away")).to_contain_text("Retrying")
    page.locator("textarea").press("Enter")
    expect(page.locator("textarea")).to_have_value("half a thought")  # it was not sent, so it is not gone
    expect(page.locator("article.user")).to_have_count(1)


def assert_back(page: Page) -> None:
    """The run died with the daemon, and can be tried again."""
    expect(page.locator("dragoman-chat .going")).to_have_count(0)
    page.locator("article").last.get_by_role("button", name="Try again").click()
    expect(page.locator("article.user .words")).to_have_text(["/read_actions timeout_s=60"] * 2)
    expect(page.locator("details.tool.running")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("dragoman-chat .going")).to_have_count(0)
    page.get_by_role("tab", name="Canvas").click()
    expect(page.locator("dragoman-canvas")).to_be_visible()


def contrast(page: Page, selector: str) -> float:
    """WCAG 2's measure of text against what is behind it; 4.5 is its bound for body text."""
    return float(page.locator(selector).first.evaluate(CONTRAST))


SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
CONTRAST = """(it) => {
  const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const above = (it) => it.parentElement ?? it.getRootNode().host;
  const ground = (it) => getComputedStyle(it).backgroundColor.endsWith(", 0)") ? ground(above(it)) : it;
  const pair = [light(getComputedStyle(it).color), light(getComputedStyle(ground(it)).backgroundColor)];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}"""


def test_a_chinese_reader_in_a_narrow_window_gets_chinese_and_readable_colours(
    daemon: TargetDaemon, browser: Browser
) -> None:
    context = browser.new_context(locale="zh-CN", viewport={"width": 360, "height": 640})
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    expect(tab.page.locator("#connection.good")).to_have_text("已连接")
    assert tab.page.evaluate("document.documentElement.lang") == "zh"
    expect(tab.page.get_by_role("tab").first).to_have_text("入门")
    tab.page.locator("#tab-chat").click()
    expect(tab.page.locator("dragoman-chat .state.connected")).to_be_visible()  # what is said before comes back
    say_to_chat = tab.page.locator("dragoman-chat textarea")
    say_to_chat.fill("/vrs")
    say_to_chat.press("Enter")
    expect(tab.page.locator("dragoman-chat article").last).to_contain_text(
        "没有命令 /vrs"
    )  # the daemon's own are English
    tab.page.get_by_role("tab", name="动态").click()
    grounds = set()
    for scheme in SCHEMES:
        tab.page.emulate_media(color_scheme=scheme)
        for selector in ("#connection", "[role=tab][aria-selected=true]", ".kind", "time", ".text", ".count"):
            assert contrast(tab.page, selector) >= 4.5, (scheme, selector)
        grounds.add(tab.page.locator("body").evaluate("it => getComputedStyle(it).backgroundColor"))
    assert len(grounds) == len(SCHEMES)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 360
    tab.assert_at_home()
    context.close()


def test_an_error_of_the_page_itself_is_reported_and_can_be_put_away(tab: Tab) -> None:
    tab.page.evaluate("() => void setTimeout(() => { throw new Error('<b>oops</b>'); })")
    element = tab.page.locator(".trouble[role=alert]")
    expect(element).to_contain_text("Something went wrong on this page: Uncaught Error: <b>oops</b>")
    tab.page.evaluate("() => void Promise.reject(new Error('late'))")
    expect(element).to_contain_text("late")
    element.get_by_role("button", name="Close").click()
    expect(element).to_have_count(0)
    assert len(tab.complaints) == 2
    tab.complaints.clear()


def test_a_person_stops_everything_by_keyboard_and_lets_agents_go_on(daemon: TargetDaemon, tab: Tab) -> None:
    agent = Agent.at(daemon)
    keys, page = tab.page.keyboard, tab.page
    button = page.locator("#stop-all")
    button.focus()
    keys.press("Enter")
    expect(page.get_by_role("dialog", name="Stop everything that agents do?")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()
    assert agent.data_of("list_sessions")["sessions"] == []
    keys.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Stop everything").press("Enter")
    banner = page.locator(".paused")
    expect(banner).to_contain_text("Agents are paused. Ended: 0 calls")
    expect(page.get_by_role("dialog")).to_have_count(0)
    refused = agent.wire.call("list_sessions").messages[-1]["result"]
    assert (refused["isError"], refused["structuredContent"]["code"]) == (True, "paused_by_person")
    page.reload()
    tab.assert_connected()
    expect(banner).to_contain_text("Agents are paused.")  # also who did not stop them sees it
    banner.get_by_role("button", name="Resume agents").press("Enter")
    expect(banner).to_have_count(0)
    assert agent.data_of("list_sessions")["sessions"] == []


def test_the_tabs_are_in_one_row_and_each_can_be_reached_however_narrow(tab: Tab) -> None:
    for width in (400, 320):
        tab.page.set_viewport_size({"width": width, "height": 640})
        tops = tab.page.get_by_role("tab").evaluate_all("tabs => tabs.map((it) => it.getBoundingClientRect().top)")
        assert len(set(tops)) == 1, width
        tab.page.get_by_role("tab").first.focus()
        tab.page.keyboard.press("End")
        expect(tab.page.get_by_role("tab").last).to_be_in_viewport(ratio=1)
    tab.page.set_viewport_size({"width": 400, "height": 640})
    for each in tab.page.get_by_role("tab").all():
        expect(each).to_be_in_viewport(ratio=1)


def test_assets_are_kept_by_browsers_and_the_page_itself_is_not(daemon: TargetDaemon) -> None:
    index = ask(daemon.port, Ask("/", headers=[("Host", daemon.page_host)]))
    asset = re.search(rb'src="(/assets/[\w.-]+\.js)"', index.body)
    assert asset is not None
    script = ask(daemon.port, Ask(asset[1].decode(), headers=[("Host", daemon.page_host)]))
    assert (script.status, script.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert "immutable" in script.headers["cache-control"]
    assert index.headers["cache-control"] == "no-store"
    for gone in ("/assets/none.js", "/assets/..%2findex.html", "/assets/.made-of"):
        missing = ask(daemon.port, Ask(gone, headers=[("Host", daemon.page_host)]))
        assert (missing.status, missing.headers["cache-control"]) in {(404, "no-store"), (401, "no-store")}
