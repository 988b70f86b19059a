"""The debugger of the page: a program debugged by clicks and keys, beside another who works in the same session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.daemons import eventually
from tests.faces.attacked import Attacked
from tests.page.tab import Tab
from tests.page.workplace import Workplace, workplace

pytestmark = pytest.mark.needs("chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    with workplace(tmp_path_factory.mktemp("debugged")) as place:
        yield place


@pytest.fixture(scope="module")
def daemon(place: Workplace) -> Attacked:
    return place.daemon


@pytest.fixture
def view(tab: Tab, place: Workplace) -> Iterator[Locator]:
    """The debugger, with nothing in it that an earlier test left."""
    yield tab.show("Debugger")
    for session in place.tool("list_sessions")["sessions"]:
        if session["state"] != "Terminated":
            place.tool("stop_debugging", session_id=session["session_id"])
    place.tool("remove_breakpoint", clear_all=True)


def start(view: Locator, name: str) -> None:
    view.locator("#configuration").select_option(name)
    view.locator("#start").click()


def gutter(view: Locator, line: int) -> Locator:
    return view.get_by_role("button", name=f"Breakpoint at line {line}", exact=True)


def break_at(view: Locator, file: str, line: int) -> None:
    view.locator("#file").fill(file)
    view.locator("#file").press("Enter")
    gutter(view, line).click()
    expect(gutter(view, line)).to_have_attribute("aria-pressed", "true")


def current(view: Locator) -> Locator:
    return view.locator("dragoman-source .line[aria-current]")


def variable(view: Locator, name: str) -> Locator:
    return view.locator("#variables .row").filter(has=view.page.locator(".name", has_text=re.compile(f"^{name}$")))


def test_a_program_is_debugged_by_clicks_to_its_end(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    expect(view.locator("#standing")).to_contain_text("Stopped: breakpoint")
    expect(view.locator("#stack .item").first).to_contain_text("add")
    expect(variable(view, "total")).to_contain_text("0")
    view.locator("#over").click()
    expect(current(view)).to_contain_text("for value in values")
    expect(variable(view, "total")).to_contain_text("1")
    expect(variable(view, "total").locator(".changed")).to_be_visible()
    variable(view, "values").click()
    expect(variable(view, "2")).to_contain_text("3")
    gutter(view, 4).click()
    expect(gutter(view, 4)).to_have_attribute("aria-pressed", "false")
    view.locator("#continue").click()
    expect(view.locator("#standing")).to_contain_text("Terminated: exit code 0")
    expect(view.locator("#output")).to_contain_text("the sum is 6")
    expect(view.locator("#output")).to_contain_text("onerror")  # as text: that it did not run is seen at the end
    expect(view.locator("#timeline")).to_contain_text("this page continued")


def test_keys_step_and_a_frame_below_is_looked_at(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 11)
    start(view, "adding")
    expect(current(view)).to_contain_text("result = add(numbers)")
    tab.page.keyboard.press("F11")
    expect(current(view)).to_contain_text("total = 0")
    view.locator("#stack .item").nth(1).click()
    expect(current(view)).to_contain_text("result = add(numbers)")
    expect(variable(view, "numbers")).to_contain_text("[1, 2, 3]")
    tab.page.keyboard.press("Shift+F11")
    expect(view.locator("#stack .item")).to_have_count(1)
    tab.page.keyboard.press("Shift+F8")
    expect(view.locator("#standing")).to_contain_text("Terminated")


def test_ten_thousand_values_are_opened_and_few_are_drawn(view: Locator) -> None:
    break_at(view, "adding.py", 11)
    start(view, "adding")
    variable(view, "many").click()
    expect(variable(view, "0")).to_be_visible()
    view.locator("#variables dragoman-rows").evaluate("it => it.scrollTop = 24 * 6000")
    expect(view.locator("#variables .row .value", has_text=re.compile(r"^59\d\d$")).first).to_be_visible()
    assert view.locator("#variables .row").count() < 80


def test_a_watched_expression_is_evaluated_at_each_stop_and_outlives_a_reload(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    for expression in ("total * 100 + value", "no_such_name"):
        view.locator("#watch").fill(expression)
        view.locator("#watch").press("Enter")
    watched = view.locator("#watches .row")
    expect(watched.first.locator(".value")).to_have_text("1")
    expect(watched.nth(1).locator(".bad")).to_contain_text("no_such_name")
    view.locator("#continue").click()
    expect(watched.first.locator(".value")).to_have_text("102")
    tab.page.reload()
    tab.assert_connected()
    expect(watched.first.locator(".value")).to_have_text("102")
    view.get_by_role("button", name="Stop watching no_such_name").click()
    expect(watched).to_have_count(1)


def test_what_another_does_shows_at_once_and_who_did_it(view: Locator, place: Workplace) -> None:
    place.tool("set_breakpoint", file_path="adding.py", line_number=4)
    started = place.tool("start_debugging", configuration_name="adding")
    expect(current(view)).to_contain_text("total += value")
    place.tool("step_execution", session_id=started["session_id"], step_type="over")
    expect(current(view)).to_contain_text("for value in values")
    expect(view.locator("#standing")).to_contain_text("the command line stepped over")
    view.locator("#over").click()
    expect(current(view)).to_contain_text("total += value")
    expect(view.locator("#standing")).to_contain_text("this page stepped over")
    told = place.tool("list_sessions")["sessions"]
    assert [it["stop_number"] for it in told if it["session_id"] == started["session_id"]] == [3]


def test_a_running_program_is_paused_and_restarted(view: Locator) -> None:
    start(view, "endless")
    expect(view.locator("#standing")).to_contain_text("Running")
    view.locator("#pause").click()
    expect(view.locator("#standing")).to_contain_text("Stopped: pause")
    view.locator("#restart").click()
    expect(view.locator("#standing")).to_contain_text("Running")
    view.locator("#stop").click()
    expect(view.locator("#standing")).to_contain_text("Terminated")


def test_who_waits_for_the_program_is_answered_by_a_persons_wish(view: Locator, place: Workplace) -> None:
    start(view, "endless")
    expect(view.locator("#standing")).to_contain_text("Running")
    with ThreadPoolExecutor() as others:
        waiting = others.submit(place.tool, "wait_for_stop", timeout_s=60)
        eventually(lambda: _ended_one_wait(view))
        assert waiting.result(10)["status"] == "interrupted"
    expect(view.locator("#standing")).to_contain_text("Running")


def _ended_one_wait(view: Locator) -> bool:
    view.locator("#unwait").click()
    expect(view.get_by_role("alert")).to_contain_text("Waits that were ended")
    return "ended: 1." in view.get_by_role("alert").inner_text()


def test_what_cannot_be_done_is_told_with_what_to_do(view: Locator, place: Workplace) -> None:
    (place.folder / "adding.py").rename(place.folder / "gone.py")
    try:
        start(view, "adding")
        expect(view.get_by_role("alert")).to_contain_text("adding.py")
    finally:
        (place.folder / "gone.py").rename(place.folder / "adding.py")


def test_it_speaks_chinese_and_fits_a_narrow_window(browser: Browser, daemon: Attacked) -> None:
    context = browser.new_context(locale="zh-CN", color_scheme="dark", viewport={"width": 420, "height": 800})
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    tab.page.get_by_role("tab", name="调试器").click()
    view = tab.page.locator("dragoman-debugger")
    expect(view.get_by_role("heading", name="调用栈")).to_be_visible()
    assert view.evaluate("it => it.scrollWidth <= it.clientWidth")
    tab.assert_at_home()
    context.close()
