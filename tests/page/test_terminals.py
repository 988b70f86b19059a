"""The terminals of the page: commands as they end, how they ended, what they printed, and the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.faces.attacked import Attacked
from tests.page.tab import Tab
from tests.page.workplace import Workplace, workplace

pytestmark = pytest.mark.needs("bash", "chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """With a terminal that an agent has."""
    with workplace(tmp_path_factory.mktemp("terminals")) as place:
        assert run(place, "echo hello; seq 3")["exit_code"] == 0
        yield place


@pytest.fixture(scope="module")
def daemon(place: Workplace) -> Attacked:
    return place.daemon


@pytest.fixture
def view(tab: Tab) -> Locator:
    return tab.show("Terminals")


def run(place: Workplace, line: str) -> dict[str, object]:
    command = place.tool("run_in_terminal", command=line)["command"]
    assert isinstance(command, dict)
    return command


def command(view: Locator, line: str) -> Locator:
    return view.locator("#commands .command").filter(has_text=line)


def test_a_command_is_listed_with_its_end_and_its_output_is_read(view: Locator) -> None:
    listed = command(view, "echo hello; seq 3")
    expect(listed.get_by_label("exit code 0")).to_be_visible()
    listed.click()
    expect(view.locator("#output .shown")).to_have_text(["hello", "1", "2", "3"])
    expect(view.locator(".head")).to_contain_text("echo hello; seq 3")


def test_a_command_that_ends_while_one_looks_appears_and_failures_can_be_filtered(
    view: Locator, place: Workplace
) -> None:
    expect(command(view, "echo hello; seq 3")).to_be_visible()
    run(place, "ls /no/such/folder")
    expect(command(view, "ls /no/such/folder").get_by_label("exit code 2")).to_be_visible()
    view.get_by_label("Only failed").check()
    expect(view.locator("#commands .command")).to_have_count(1)


def test_words_are_found_in_commands_and_in_what_they_printed(view: Locator, place: Workplace) -> None:
    run(place, "printf '%s\\n' need''le in a stack")
    view.locator("#find").fill("needle")
    hit = view.locator("#hits .item").filter(has_text="needle")
    expect(hit.first).to_be_visible()
    hit.first.click()
    expect(view.locator("#output .shown").first).to_have_text("needle")


def test_the_screen_of_a_terminal_is_shown_and_nothing_in_it_is_markup(view: Locator, place: Workplace) -> None:
    run(place, "echo \"<img src=x onerror='window.pwned = 1'>\"")
    view.locator("#terminals .item").nth(1).click()
    view.get_by_role("button", name="Screen").click()
    expect(view.locator("#screen")).to_contain_text("<img src=x")
    expect(view.locator("#screen img")).to_have_count(0)


def test_a_long_output_is_drawn_in_part_and_read_to_its_end(view: Locator, place: Workplace) -> None:
    run(place, "seq 100000 130000")
    command(view, "seq 100000").click()
    expect(view.locator("#output .shown").first).to_have_text("100000")
    assert view.locator("#output .shown").count() < 120
    view.get_by_role("button", name="More of it").click()
    expect(view.locator("#output [role=listitem]").first).to_have_attribute("aria-setsize", re.compile(r"^2\d{4}$"))
    view.locator("#output").evaluate("it => it.scrollTop = 19 * 14000")
    expect(view.get_by_text("114000", exact=True)).to_be_visible()


def test_it_speaks_chinese_and_fits_a_narrow_window(browser: Browser, daemon: Attacked) -> None:
    context = browser.new_context(locale="zh-CN", color_scheme="dark", viewport={"width": 420, "height": 800})
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    tab.page.get_by_role("tab", name="终端").click()
    view = tab.page.locator("dragoman-terminals")
    expect(view.get_by_text("所有终端")).to_be_visible()
    assert view.evaluate("it => it.scrollWidth <= it.clientWidth")
    tab.assert_at_home()
    context.close()
