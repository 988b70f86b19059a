"""What tests of the chat share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Locator, expect

from dragoman.testing.fake_model import FakeModel, Step
from tests.faces.attacked import Attacked, attacked
from tests.page.tab import Tab


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


@contextlib.contextmanager
def with_model(room: Path, *replies: Sequence[Step]) -> Iterator[Attacked]:
    """A daemon whose agent is a model that does what the replies say, one after another."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(FakeModel.running(*map(list, replies))) as model,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DRAGOMAN_MODEL", "openai")
        patch.setenv("DRAGOMAN_MODEL_NAME", "fake")
        patch.setenv("DRAGOMAN_MODEL_ADDRESS", model.address)
        with attacked(room) as daemon:
            yield daemon
