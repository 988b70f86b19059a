"""The chat in the side bar and the canvas beside the editors, in the real editor."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Frame, expect

from tests.daemons import PATIENCE
from tests.vscode.agent import Later, agent
from tests.vscode.editor import Editor
from tests.vscode.upstream_gateway import gateway_behind
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(120 * PATIENCE)]

COMPONENTS = [
    {"id": "root", "component": "Column", "children": ["words", "press"]},
    {"id": "words", "component": "Text", "text": "Shall I?"},
    {"id": "press", "component": "Button", "child": "label", "action": {"event": {"name": "agreed"}}},
    {"id": "label", "component": "Text", "text": "Yes"},
]


@pytest.fixture
def chat(running: Editor, first: Window) -> Frame:
    first.command("Dragoman: Open the chat")
    frame = first.frame_with("dragoman-chat")
    expect(frame.locator(".away")).to_have_count(0)
    return frame


@pytest.mark.requirement("vscode:chat-view:life", "vscode:chat-view:send", "vscode:from-chat:send")
@pytest.mark.requirement("vscode:to-chat:tool-start", "vscode:to-chat:tool-result", "vscode:to-chat:done")
def test_a_message_in_the_side_bar_is_answered_there(running: Editor, first: Window, chat: Frame) -> None:
    _say(chat, "/status")
    expect(chat.locator("article.user").last).to_contain_text("/status")
    tool = chat.locator("article.assistant").last.locator("details.tool.done")
    expect(tool).to_contain_text("dragoman_status")
    expect(tool.locator(".title")).to_have_text("Checking Dragoman's status")
    expect(tool.locator("pre")).to_have_count(2)  # what it was given, what it gave
    expect(chat.locator(".going")).to_have_count(0)
    expect(chat.locator("article.assistant .prose").last).to_contain_text(str(running.cli.status()["port"]))
    colours = "(it) => [it, it.parentElement, document.body].map((one) => getComputedStyle(one).backgroundColor)"
    own, around, below = chat.locator("article.user").last.evaluate(colours)
    assert own not in (around, below)  # who said it is seen, in a light theme too
    first.picture("chat")


@pytest.mark.requirement("vscode:command:send-selection", "vscode:to-chat:inject-prompt")
def test_the_selection_is_put_where_the_person_can_continue_with_it(first: Window, chat: Frame) -> None:
    first.open("adding.py")
    first.page.keyboard.press("Control+A")
    first.command("Dragoman: Send selection to Dragoman's chat")
    expect(chat.get_by_label("Message")).to_have_value(_begins("adding.py:1\n```python\ndef add(values):"))
    chat.get_by_label("Message").fill("")


@pytest.mark.requirement("vscode:chat-view:switch-session", "vscode:chat-view:list-sessions")
@pytest.mark.requirement("vscode:from-chat:switch-session", "vscode:from-chat:request-sessions")
@pytest.mark.requirement("vscode:to-chat:sessions", "vscode:to-chat:history")
def test_conversations_are_listed_and_their_messages_are_read_back(first: Window, chat: Frame) -> None:
    _say(chat, "/help")
    expect(chat.locator("article.assistant .prose").last).to_contain_text("/status")
    count = chat.locator("article").count()
    chat.get_by_role("button", name="New conversation").click()
    expect(chat.locator("article")).to_have_count(0)
    chat.get_by_label("Conversation").first.select_option(index=1)
    expect(chat.locator("article")).to_have_count(count)


@pytest.mark.requirement("vscode:chat-view:connection-state", "vscode:to-chat:connection-state")
def test_the_chat_says_when_the_daemon_is_away_and_continues_when_it_is_back(
    running: Editor, first: Window, chat: Frame
) -> None:
    running.cli("down", "--yes")
    away = chat.get_by_role("status").filter(has_text="not connected")
    expect(away).to_be_visible()
    running.cli("up", "--workspace", str(first.folder))
    expect(chat.locator(".away")).to_have_count(0)


CHANGES: dict[str, dict[str, Any]] = {
    "change it": {"path": "adding.py", "original": "total = 0\n", "modified": "total = 1\n"},
    "make one": {"path": "made.py", "original": None, "modified": "print('made')\n"},
    "again": {"path": "again.py", "original": "a\n", "modified": "b\n"},
}


@pytest.mark.requirement("vscode:bridge:diff-view", "vscode:chat-view:abort", "vscode:from-chat:abort")
@pytest.mark.requirement("vscode:chat-view:send", "vscode:to-chat:text-delta", "vscode:to-chat:diff")
def test_what_an_agent_changed_is_in_the_chat_and_is_compared_as_the_person_allows(
    running: Editor, first: Window, chat: Frame
) -> None:
    with gateway_behind(running, CHANGES) as behind:
        first.expect_status(r"Dragoman \d+")
        expect(chat.locator(".away")).to_have_count(0)
        _say(chat, "change it")
        expect(chat.locator("details.diff").last).to_contain_text("+ total = 1")
        first.toast("An agent changed adding.py.").get_by_role("button", name="Show").click()
        expect(first.tab("adding.py (changed by an agent)")).to_be_visible()
        expect(first.page.locator(".monaco-diff-editor .line-delete").first).to_be_visible()
        first.picture("diff")

        _say(chat, "make one")
        first.toast("An agent changed made.py.").get_by_role("button", name="Always").click()
        expect(first.tab("made.py (new)")).to_be_visible()
        _say(chat, "again")
        expect(first.tab("again.py (changed by an agent)")).to_be_visible()  # always: not asked

        _say(chat, "never ends")
        expect(chat.locator("article.assistant .prose").last).to_contain_text("You said: never ends")
        chat.get_by_role("button", name="Stop").click()
        expect(chat.locator("article.assistant").last).to_contain_text("Stopped.")
        assert behind.messages == [*CHANGES, "never ends"]  # each once, as `chat.send`
        assert [it["sessionKey"] for it in behind.aborted] == ["agent:main:main"]
    expect(chat.locator(".away, .bad")).to_have_count(0)  # without a gateway it goes on with the daemon alone
    running.configure_person()
    first.command("View: Close All Editors")


def _say(chat: Frame, words: str) -> None:
    chat.get_by_label("Message").fill(words)
    chat.get_by_label("Message").press("Enter")


@pytest.mark.requirement("vscode:canvas-view:panel", "vscode:to-canvas:a2ui", "vscode:from-canvas:user-action")
def test_what_an_agent_draws_is_shown_and_a_click_reaches_it(running: Editor, first: Window) -> None:
    with agent(running, first.folder) as it:
        it.tool("show_canvas", surface_id="question", title="A question", components=COMPONENTS)
        first.toast("An agent drew something").get_by_role("button", name="Open the canvas").click()
        canvas = first.frame_with("dragoman-canvas")
        expect(canvas.get_by_text("Shall I?")).to_be_visible()
        first.picture("canvas")
        canvas.get_by_role("button", name="Yes").click()
        expect(canvas.get_by_text("Sent to ")).to_be_visible()
        assert "agreed" in str(it.tool("read_actions"))
        first.wear("dark")
        first.picture("canvas-dark")
        first.wear("light")
    first.command("View: Close Editor")


def test_a_question_is_announced_with_its_agent_and_the_answer_is_confirmed(running: Editor, first: Window) -> None:
    asked = Later(running, first.folder, "ask_user", title="Which port?", fields=[{"name": "n"}], timeout_s=60)
    first.toast("the command line: Which port?").get_by_role("button", name="Answer").click()
    canvas = first.frame_with("dragoman-canvas")
    canvas.get_by_role("textbox").fill("8080")
    canvas.get_by_role("button", name="Send").click()
    assert asked.data()["values"] == {"n": "8080"}
    expect(first.toast("You answered.")).to_contain_text("Which port?")
    first.command("View: Close Editor")


def _begins(text: str) -> re.Pattern[str]:
    return re.compile("^" + re.escape(text))
