"""The chat in the page: with the built-in commands, and with a scripted model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.chat_page import fresh, say, with_model
from tests.page.held import answered_with
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon
from tests.support.fake_model import Calls, Ends, Fails, Says, Step, Waits

pytestmark = pytest.mark.needs("chromium", "page")
TITLED = re.compile(r"✓ done\s+dragoman_status Checking Dragoman's status\s.*\d m?s\s*$", re.DOTALL)


@pytest.mark.requirement(
    "page:chat:messages", "page:chat:tool-calls", "page:chat:tool-result-shown", "page:chat:input-bar"
)
def test_a_command_shows_its_tool_folded_and_its_answer_and_a_reload_keeps_both(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/status")
    expect(chat.locator("article.user")).to_contain_text("/status")
    tool = chat.locator("details.tool.done")
    expect(tool.locator("summary")).to_have_text(TITLED)
    expect(chat.locator("article.assistant .prose")).not_to_be_empty()
    assert tool.get_attribute("open") is None
    expect(tool.locator("pre")).to_have_count(2)  # what it was given, what it gave
    answer = chat.locator("article.assistant .prose").inner_text()
    tab.page.reload()
    expect(chat.locator("details.tool.done pre")).to_have_count(2)
    expect(tool.locator("summary")).to_have_text(TITLED)
    expect(chat.locator("article.user")).to_have_count(1)
    assert chat.locator("article.assistant .prose").inner_text() == answer


def test_commands_are_completed_by_keyboard_and_a_draft_outlives_a_reload(tab: Tab) -> None:
    chat = fresh(tab)
    box = chat.get_by_label("Message")
    box.press_sequentially("/stat")
    offer = chat.locator("#offers").get_by_role("option")
    expect(offer.locator("b")).to_have_text(["/status"])
    expect(offer.locator(".quiet")).not_to_be_empty()  # what it does
    expect(offer).to_have_attribute("aria-selected", "true")
    box.press("Enter")  # the first, which nobody had to choose
    expect(box).to_have_value("/status ")
    expect(chat.locator("article.user")).to_have_count(0)
    box.fill("/stat")
    expect(offer.locator("b")).to_have_text(["/status"])
    box.press("Tab")
    expect(box).to_have_value("/status ")
    box.fill("/help")
    box.press("Enter")
    say(chat, "/help break")
    expect(chat.locator("article.assistant .prose")).to_have_count(2)
    for key, text in (("Up", "/help break"), ("Up", "/help"), ("Up", "/help"), ("Down", "/help break"), ("Down", "")):
        box.press(f"Arrow{key}")
        expect(box).to_have_value(text)
    box.fill("not yet sent")
    box.press("ArrowUp")
    expect(box).to_have_value("not yet sent")
    tab.page.reload()
    expect(chat.get_by_label("Message")).to_have_value("not yet sent")
    chat.get_by_label("Message").fill("")


@pytest.mark.requirement("chat:session:create", "chat:session:switch-loads-history")
def test_another_conversation_opens_with_its_messages(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/status detail=first")
    expect(chat.locator("article.user .words")).to_have_text(["/status detail=first"])
    expect(chat.locator(".going")).to_have_count(0)
    fresh(tab)
    choice = chat.get_by_label("Conversation").first
    choice.select_option(label="/status detail=first")
    expect(chat.locator("article.user .words")).to_have_text(["/status detail=first"])
    fresh(tab)
    expect(choice).to_have_value(tab.page.evaluate("sessionStorage.chat"))  # though a hand chose another before


@pytest.mark.requirement("page:chat:tool-start-shown")
def test_what_runs_is_stopped_at_once(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/read_actions timeout_s=60")
    expect(chat.locator("details.tool.running")).to_be_visible()
    chat.get_by_role("button", name="Stop").click()
    expect(chat.locator("article.assistant")).to_contain_text("Stopped.")
    expect(chat.get_by_role("button", name="Stop")).to_have_count(0)


def test_two_pages_see_the_same_conversation(tab: Tab, browser: Browser, daemon: TargetDaemon) -> None:
    chat = fresh(tab)
    key = tab.page.evaluate("sessionStorage.chat")
    context = browser.new_context()
    other = Tab.opened(context, daemon)
    other.log_in()
    other.page.evaluate("key => sessionStorage.setItem('chat', key)", key)
    other.page.reload()
    second = other.show("Chat")
    expect(second.locator(".empty")).to_be_visible()
    say(chat, "/status")
    expect(second.locator("article.user .words")).to_have_text(["/status"])
    expect(second.locator("details.tool.done")).to_have_count(1)
    other.assert_at_home()
    context.close()


def test_what_is_said_stays_text(tab: Tab) -> None:
    chat = fresh(tab)
    hostile = "<img src=x onerror=window.pwned=1> [x](javascript:window.pwned=1) ![y](https://evil.example/y.png)"
    say(chat, hostile)
    expect(chat.locator("article.user .words")).to_have_text(hostile)
    expect(chat.locator("article.assistant")).to_be_visible()
    say(chat, f"/{hostile}")
    expect(chat.locator("article.assistant").last).to_contain_text("Unknown command /<img.")
    assert chat.locator("article img, article a").count() == 0
    expect(chat.get_by_label("Conversation").locator("option[selected]")).to_contain_text("<img src=x")  # its name


def test_the_box_grows_with_what_is_written_up_to_a_bound(tab: Tab) -> None:
    box = fresh(tab).get_by_label("Message")
    height = "it => it.offsetHeight"
    empty = box.evaluate(height)
    box.fill("\n".join("abcdef"))
    assert box.evaluate("it => it.scrollHeight <= it.clientHeight")  # all of it is in sight
    box.fill("line\n" * 200)
    assert empty * 2 < box.evaluate(height) <= 760 * 0.4 + 1
    expect(tab.page.get_by_role("button", name="Send")).to_be_in_viewport()
    tab.page.reload()
    tab.page.wait_for_function("([it, empty]) => it.offsetHeight > empty * 2", arg=[box.element_handle(), empty])
    box.fill("")
    assert box.evaluate(height) == empty


def test_an_empty_conversation_is_listed_as_new(tab: Tab) -> None:
    chat = fresh(tab)
    chosen = chat.get_by_label("Conversation").first.locator("option:checked")
    expect(chosen).to_have_text("New conversation")
    say(chat, "/read_actions timeout_s=60")
    expect(chosen).to_have_text("/read_actions timeout_s=60 (running)")
    chat.get_by_role("button", name="Stop").click()
    expect(chosen).to_have_text("/read_actions timeout_s=60")


def test_what_an_older_page_left_behind_is_not_a_reason_to_read_nothing(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/status")
    expect(chat.locator("details.tool.done")).to_have_count(1)
    tab.page.evaluate("sessionStorage.setItem(`sending ${sessionStorage.chat}`, 'half {')")
    tab.page.reload()
    expect(chat.locator("details.tool.done")).to_have_count(1)
    assert chat.get_by_role("alert").count() == 0


def test_a_refusal_in_plain_words_is_reported_as_such(tab: Tab) -> None:
    answered_with(tab.page, "/api/canvas", 413, "Too large")
    element = tab.show("Canvas").get_by_role("alert")
    expect(element).to_have_text("Request refused (413): Too large")


ASKS_FIRST: list[list[Step]] = [
    [Says(["I will ", "look. "]), Calls("run_in_terminal", ['{"command": "echo once"}']), Ends("tool_calls")],
    [Says(["You said **no**."]), Ends()],
    [Says(["<img src=x onerror=window.pwned=1>", " thinking"]), Waits()],
]
SLOWLY: list[list[Step]] = [[Says(["Half of "]), Says(["an answer"]), Waits()]]
TIRED: list[list[Step]] = [
    [Says(["The beginning"]), Fails("the model is tired")],
    [Says(["Now it works."]), Ends()],
]


@pytest.fixture
def thinking(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[TargetDaemon]:
    """One for each test: what it says next must not depend on what was asked in another."""
    with with_model(tmp_path, *request.param) as daemon:
        yield daemon


@pytest.mark.requirement("page:chat:markdown", "page:chat:text-grows", "page:chat:done-shown")
@pytest.mark.parametrize("thinking", [ASKS_FIRST], indirect=True)
def test_a_model_asks_first_gets_a_refusal_and_is_stopped_in_mid_stream(
    browser: Browser, thinking: TargetDaemon
) -> None:
    context = browser.new_context()
    tab = Tab.opened(context, thinking)
    tab.log_in()
    chat = fresh(tab)
    say(chat, "why does it fail?")
    asked = chat.get_by_role("alertdialog")
    expect(asked).to_contain_text("echo once")
    expect(tab.page.get_by_role("tab", name="Chat 1")).to_be_visible()
    asked.get_by_role("button", name="Refuse").click()
    expect(chat.locator("article.assistant strong")).to_have_text("no")
    expect(chat.locator("details.tool.failed")).to_have_count(1)
    expect(chat.locator(".going")).to_have_count(0)
    expect(asked).to_have_count(0)
    tab.page.reload()
    parts = chat.locator("article.assistant").locator(".prose, details")
    expect(parts).to_have_class(["prose", "tool failed", "prose"])  # in the order in which they came
    expect(parts.first).to_have_text("I will look.")
    say(chat, "go on")
    expect(chat.locator("article.assistant").last).to_contain_text("<img src=x onerror=window.pwned=1> thinking")
    chat.get_by_role("button", name="Stop").click()
    expect(chat.locator("article.assistant").last).to_contain_text("Stopped.")
    tab.assert_at_home()
    context.close()


@pytest.mark.parametrize("thinking", [SLOWLY], indirect=True)
def test_a_reload_in_the_middle_of_an_answer_loses_nothing_of_it(browser: Browser, thinking: TargetDaemon) -> None:
    context = browser.new_context()
    tab = Tab.opened(context, thinking)
    tab.log_in()
    chat = fresh(tab)
    say(chat, "tell me slowly")
    expect(chat.locator("article.assistant")).to_contain_text("Half of an answer")
    chat.get_by_label("Message").fill("meanwhile")
    tab.page.reload()
    expect(chat.locator("article.assistant .prose")).to_have_text("Half of an answer")
    expect(chat.locator("article.assistant .going")).to_be_visible()
    expect(chat.get_by_label("Message")).to_have_value("meanwhile")
    chat.get_by_role("button", name="Stop").click()
    expect(chat.locator("article.assistant")).to_contain_text("Stopped.")
    expect(chat.locator("article.assistant .prose")).to_have_text("Half of an answer")
    tab.assert_at_home()
    context.close()


@pytest.mark.parametrize("thinking", [TIRED], indirect=True)
def test_a_failed_run_stays_failed_after_a_reload_and_can_be_tried_again(
    browser: Browser, thinking: TargetDaemon
) -> None:
    context = browser.new_context()
    tab = Tab.opened(context, thinking)
    tab.log_in()
    chat = fresh(tab)
    say(chat, "will it work?")
    failed = chat.locator("article.assistant .bad")
    expect(failed).to_be_visible()
    why = failed.inner_text()
    tab.page.reload()
    expect(failed).to_have_text(why)
    expect(chat.locator("article.assistant .prose")).to_have_text("The beginning")
    failed.get_by_role("button", name="Try again").press("Enter")
    expect(chat.locator("article.assistant").last).to_contain_text("Now it works.")
    expect(chat.locator("article.user .words")).to_have_text(["will it work?", "will it work?"])
    tab.assert_at_home()
    context.close()
