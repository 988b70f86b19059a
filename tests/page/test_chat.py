"""The chat in the page: with the built-in commands, and with a model that does what a test tells it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, Locator, expect

from dragoman.testing.fake_model import Calls, Ends, FakeModel, Says, Step, Waits
from tests.faces.attacked import Attacked, attacked
from tests.page.tab import Tab

pytestmark = pytest.mark.needs("chromium", "page")


def say(chat: Locator, text: str) -> None:
    chat.get_by_label("Message").fill(text)
    chat.get_by_label("Message").press("Enter")


def fresh(tab: Tab) -> Locator:
    """A conversation of its own."""
    chat = tab.show("Chat")
    before = tab.page.evaluate("sessionStorage.chat")
    chat.get_by_role("button", name="New conversation").click()
    tab.page.wait_for_function("before => sessionStorage.chat !== before", arg=before)
    expect(chat.locator("article")).to_have_count(0)
    return chat


@pytest.mark.requirement(
    "page:chat:messages", "page:chat:tool-calls", "page:chat:tool-result-shown", "page:chat:input-bar"
)
def test_a_command_shows_its_tool_folded_and_its_answer_and_a_reload_keeps_both(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/status")
    expect(chat.locator("article.user")).to_contain_text("/status")
    tool = chat.locator("details.tool.done")
    expect(tool.locator("summary")).to_contain_text("dragoman_status")
    expect(chat.locator("article.assistant .prose")).not_to_be_empty()
    assert tool.get_attribute("open") is None
    expect(tool.locator("pre")).to_have_count(2)  # what it was given, what it gave
    answer = chat.locator("article.assistant .prose").inner_text()
    tab.page.reload()
    expect(chat.locator("details.tool.done")).to_have_count(1)
    expect(chat.locator("article.user")).to_have_count(1)
    assert chat.locator("article.assistant .prose").inner_text() == answer


def test_commands_are_completed_by_keyboard_and_a_draft_outlives_a_reload(tab: Tab) -> None:
    chat = fresh(tab)
    box = chat.get_by_label("Message")
    box.press_sequentially("/stat")
    expect(chat.locator("#offers").get_by_role("option")).to_have_text(["/status"])
    box.press("Tab")
    expect(box).to_have_value("/status ")
    box.fill("not yet sent")
    tab.page.reload()
    expect(chat.get_by_label("Message")).to_have_value("not yet sent")
    chat.get_by_label("Message").fill("")


@pytest.mark.requirement("chat:session:create", "chat:session:switch-loads-history")
def test_another_conversation_is_opened_with_what_was_said_in_it(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/status detail=first")
    expect(chat.locator("article.user .words")).to_have_text(["/status detail=first"])
    expect(chat.locator(".going")).to_have_count(0)
    fresh(tab)
    chat.get_by_label("Conversation").first.select_option(label="/status detail=first")
    expect(chat.locator("article.user .words")).to_have_text(["/status detail=first"])


@pytest.mark.requirement("page:chat:tool-start-shown")
def test_what_runs_is_stopped_at_once(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, "/read_actions timeout_s=60")
    expect(chat.locator("details.tool.running")).to_be_visible()
    chat.get_by_role("button", name="Stop").click()
    expect(chat.locator("article.assistant")).to_contain_text("Stopped.")
    expect(chat.get_by_role("button", name="Stop")).to_have_count(0)


def test_two_pages_see_the_same_conversation(tab: Tab, browser: Browser, daemon: Attacked) -> None:
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
    expect(chat.locator("article.assistant").last).to_contain_text("There is no command /<img.")
    assert chat.locator("article img, article a").count() == 0
    expect(chat.get_by_label("Conversation").locator("option[selected]")).to_contain_text("<img src=x")  # its name


REPLIES: list[list[Step]] = [
    [Says(["I will ", "look. "]), Calls("run_in_terminal", ['{"command": "echo once"}']), Ends("tool_calls")],
    [Says(["You said **no**."]), Ends()],
    [Says(["<img src=x onerror=window.pwned=1>", " thinking"]), Waits()],
]


@pytest.fixture(scope="module")
def thinking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(FakeModel.running(*REPLIES)) as model,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DRAGOMAN_MODEL", "openai")
        patch.setenv("DRAGOMAN_MODEL_NAME", "fake")
        patch.setenv("DRAGOMAN_MODEL_ADDRESS", model.address)
        with attacked(tmp_path_factory.mktemp("thinking")) as daemon:
            yield daemon


@pytest.mark.requirement("page:chat:markdown", "page:chat:text-grows", "page:chat:done-shown")
def test_a_model_asks_first_hears_a_refusal_and_is_stopped_in_mid_stream(browser: Browser, thinking: Attacked) -> None:
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
    say(chat, "go on")
    expect(chat.locator("article.assistant").last).to_contain_text("<img src=x onerror=window.pwned=1> thinking")
    chat.get_by_role("button", name="Stop").click()
    expect(chat.locator("article.assistant").last).to_contain_text("Stopped.")
    tab.assert_at_home()
    context.close()
