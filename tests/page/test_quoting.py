"""What is chosen anywhere in the page is put into the chat, quoted, with where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.chat_page import fresh, say
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("asking")) as place:
        place.tool("run_in_terminal", command="echo first; echo second")
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


def drag_over(page: Page, words: Locator) -> None:
    box = words.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 1, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, middle, steps=4)
    page.mouse.up()


def test_terminal_output_that_was_dragged_over_is_quoted_in_the_chat(tab: Tab) -> None:
    view = tab.show("Terminals")
    view.locator("#commands .command").first.click()
    line = view.locator("#output .shown").nth(1)
    expect(line).to_have_text("second")
    line.dblclick()
    tab.page.locator("dragoman-asking").get_by_role("button").click()  # not the one for the whole output
    box = tab.page.get_by_label("Message")
    expect(box).to_have_value("About the output of `echo first; echo second`:\n> second\n\n")
    expect(box).to_be_focused()
    tab.page.keyboard.type("why?")
    expect(box).to_have_value("About the output of `echo first; echo second`:\n> second\n\nwhy?")
    box.fill("")


def test_by_keyboard_a_whole_output_is_asked_about_and_what_was_written_stays(tab: Tab) -> None:
    chat = tab.show("Chat")
    chat.get_by_label("Message").fill("half a thought")
    view = tab.show("Terminals")
    view.locator("#commands .command").first.press("Enter")
    view.locator("#ask-about").press("Enter")
    box = chat.get_by_label("Message")
    expect(box).to_have_value("About the output of `echo first; echo second`:\n> first\n> second\n\nhalf a thought")
    box.fill("")


def test_words_of_a_conversation_are_asked_about_by_a_shortcut(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "sesquipedalian")
    expect(chat.locator("article.user .words")).to_be_visible()
    chat.locator("article.user .words").dblclick()
    expect(tab.page.get_by_role("button", name="Ask about this")).to_be_visible()
    tab.page.keyboard.press("Alt+Shift+A")
    expect(chat.get_by_label("Message")).to_have_value("About your question:\n> sesquipedalian\n\n")
    expect(tab.page.get_by_role("button", name="Ask about this")).to_have_count(0)
    chat.get_by_label("Message").fill("")


def test_source_in_the_debugger_is_asked_about(tab: Tab, place: DebugWorkspace) -> None:
    view = tab.show("Debugger")
    view.get_by_label("File").fill(str(place.folder / "adding.py"))
    view.get_by_label("File").press("Enter")
    line = view.get_by_text("total += value")
    expect(line).to_be_visible()
    drag_over(tab.page, line)
    tab.page.get_by_role("button", name="Ask about this").click()
    expect(tab.page.get_by_label("Message")).to_have_value(re.compile(r"^About .*\n> .*total \+= value"))


def test_nothing_is_offered_where_nothing_is_chosen(tab: Tab) -> None:
    tab.show("Activity").locator(".row").first.click()
    expect(tab.page.get_by_role("button", name="Ask about this")).to_have_count(0)


def test_what_is_quoted_is_seen_whole_though_another_view_was_looked_at(tab: Tab) -> None:
    box = tab.show("Chat").get_by_label("Message")
    box.fill("\n".join(f"thought {number}" for number in range(5)))
    view = tab.show("Terminals")
    view.locator("#commands .command").first.press("Enter")
    view.locator("#ask-about").press("Enter")
    expect(box).to_be_visible()
    tab.page.wait_for_function("it => it.scrollHeight <= it.clientHeight", arg=box.element_handle())
    box.fill("")


def test_every_view_has_the_same_clock(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/status")
    of_24_hours = re.compile(r"^(\S+ s)?([01]\d|2[0-3]):\d\d:\d\d$")
    expect(chat.locator("article.user time")).to_have_text(of_24_hours)
    view = tab.show("Terminals")
    expect(view.locator(".command .when").first).to_have_text(of_24_hours)
    view.locator("#commands .command").first.click()
    expect(view.locator(".head")).not_to_contain_text(re.compile("[AP]M"))
    expect(tab.show("Activity").locator("time").first).to_have_text(of_24_hours)
    expect(tab.show("Settings")).to_contain_text("Started")
    expect(tab.show("Settings")).not_to_contain_text(re.compile(r"\d [AP]M"))
