"""The chat of a window that came second: it is about that window's folder, and trust is given there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Frame, expect

from tests.daemons import PATIENCE
from tests.vscode.editor import Editor
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(120 * PATIENCE)]


@pytest.fixture
def untrusted(both: Editor, second: Window) -> Iterator[str]:
    """An agent that a person started there has vouched for the folder; here nobody has."""
    folder = str(second.folder)
    both.cli("trust", folder, "--revoke")
    yield folder
    both.cli("debug", "stop", cwd=second.folder)
    both.cli("trust", folder, "--revoke")


def test_a_second_windows_commands_run_in_its_folder_once_the_person_trusts_it(second: Window, untrusted: str) -> None:
    second.command("Dragoman: Open the chat")
    chat = second.frame_with("dragoman-chat")
    expect(chat.locator(".away")).to_have_count(0)
    _say(chat, "/nonsense")
    expect(chat.locator("article.assistant .bad").last).to_contain_text("Unknown command /nonsense.")
    block = chat.locator("article.assistant").last.locator(".prose pre")
    _say(chat, "/break adding.py:4")
    expect(block).to_contain_text("waits for a session")
    _say(chat, "/start adding.py")
    asked = chat.get_by_role("alertdialog", name="Trust this folder")
    expect(asked.locator("pre")).to_have_text(untrusted)
    asked.get_by_role("button", name="Allow").click()
    expect(block).to_contain_text(">    4          total += value")
    second.picture("second-chat")
    _say(chat, "/where")
    expect(block).to_contain_text(f"> add  {untrusted}/adding.py:4")


def _say(chat: Frame, text: str) -> None:
    chat.get_by_label("Message").fill(text)
    chat.get_by_label("Message").press("Enter")
