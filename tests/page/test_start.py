"""A first visit: where it begins, trusting the folder, connecting an agent, and watching the demo find its bug."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.daemons import PATIENCE
from tests.page.tab import SIZE, Tab
from tests.servers.target_daemon import TargetDaemon, target_daemon

pytestmark = pytest.mark.needs("chromium", "page")


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("person")
    (home / ".cursor").mkdir()
    return home


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, person: Path) -> Iterator[TargetDaemon]:
    folder = tmp_path_factory.mktemp("visit") / "shop"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(person))
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        with target_daemon(folder.parent / "home", folder=folder) as daemon:
            daemon.patch("dragoman.servers.web.onboarding.demo_api:PACE_S", 0.1)
            yield daemon


def step(tab: Tab, name: str) -> Locator:
    return tab.page.locator(f"dragoman-start #step-{name}")


def test_a_first_visit_begins_here_and_each_step_is_checked_off_when_it_is_done(
    browser: Browser, daemon: TargetDaemon, person: Path
) -> None:
    tab = Tab.opened(browser.new_context(viewport=SIZE), daemon)
    tab.page.goto(tab.link())
    expect(tab.page).to_have_url(re.compile("#start$"))
    expect(tab.page.locator("dragoman-start .progress")).to_contain_text("0 of 5 steps done")

    trust = step(tab, "trust")
    expect(trust).to_contain_text("/shop")
    expect(trust).to_contain_text("Not trusted")
    trust.get_by_role("button", name="Trust").click()
    expect(trust).to_have_class("done")
    expect(trust.get_by_role("button")).to_have_count(0)

    cursor = step(tab, "connect").locator("#client-cursor")
    expect(cursor).to_contain_text("found on this machine")
    cursor.get_by_role("button", name="Write it for me: Cursor").click()
    expect(cursor.locator(".plan")).to_contain_text(str(person / ".cursor" / "mcp.json"))
    expect(cursor.locator(".plan pre")).to_contain_text('"dragoman"')
    assert not (person / ".cursor" / "mcp.json").exists()
    cursor.get_by_role("button", name="Write", exact=True).click()
    expect(cursor).to_contain_text("connected to Dragoman")
    assert "dragoman" in json.loads((person / ".cursor" / "mcp.json").read_text())["mcpServers"]

    expect(step(tab, "shell").locator("code")).to_have_text("dragoman shell")
    tab.assert_at_home()
    tab.page.context.close()


def test_the_demo_is_watched_in_the_debugger_and_ends_with_the_bug(tab: Tab) -> None:
    tab.show("Start").get_by_role("button", name="Run the demo").click()
    expect(tab.page).to_have_url(re.compile("#debugger/"), timeout=30_000 * PATIENCE)
    expect(tab.page.locator("dragoman-debugger")).to_contain_text("orders.py")
    strip = tab.page.locator("dragoman-demo-strip section")
    expect(strip).to_have_class("done", timeout=30_000 * PATIENCE)
    expect(strip).to_contain_text("a list used as a default value is shared by all calls")
    strip.get_by_role("button", name="Connect your own agent").click()
    expect(step(tab, "demo")).to_have_class("done")
    expect(step(tab, "demo").get_by_role("log")).to_contain_text("6. Fix it and verify")
    tab.page.locator("#tab-settings").click()
    expect(tab.page.locator("dragoman-demo-strip")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1024])
def test_it_fits_its_window_and_is_chinese_for_a_chinese_reader(
    browser: Browser, daemon: TargetDaemon, width: int
) -> None:
    tab = Tab.opened(browser.new_context(viewport={"width": width, "height": 800}, locale="zh-CN"), daemon)
    tab.page.goto(f"{tab.link()}")
    tab.page.locator("#tab-start").click()
    view = tab.page.locator("dragoman-start .all")
    expect(view).to_contain_text("与你的智能体一起调试")
    expect(view.locator("#client-cursor")).to_be_visible()
    assert view.evaluate("it => it.scrollWidth <= it.clientWidth")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    tab.assert_at_home()
    tab.page.context.close()


def test_a_theme_is_kept_and_there_from_the_first_paint(tab: Tab) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.page.evaluate(ground)
    tab.show("Settings").get_by_label("Theme of this page").select_option("dark")
    expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert tab.page.evaluate(ground) != light
    tab.page.reload(wait_until="commit")
    tab.page.wait_for_selector("html[data-theme=dark]", state="attached")
    tab.assert_connected()
    assert tab.page.evaluate(ground) != light
