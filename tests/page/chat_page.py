"""What tests of the chat share."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Locator, expect
from websockets.sync.client import ClientConnection, connect

from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon, target_daemon
from tests.support.fake_model import FakeModel, Step


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
def with_model(room: Path, *replies: Sequence[Step]) -> Iterator[TargetDaemon]:
    """A daemon whose agent is a model that does what the replies say, one after another."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(FakeModel.running(*map(list, replies))) as model,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DRAGOMAN_MODEL", "openai")
        patch.setenv("DRAGOMAN_MODEL_NAME", "fake")
        patch.setenv("DRAGOMAN_MODEL_ADDRESS", model.address)
        with target_daemon(room) as daemon:
            yield daemon


def speak_as(daemon: TargetDaemon, name: str, key: str, text: str, *, label: str = "") -> None:
    """As another client of the gateway, which says what it is called; with a label it names the conversation."""
    token = daemon.paths.token_file("gateway").read_text().strip()
    scopes = [f"operator.{it}" for it in ("read", "write", "admin")]
    client = {"id": "cli", "displayName": name, "version": "1", "platform": "linux", "mode": "cli"}
    hello = {"minProtocol": 4, "maxProtocol": 4, "client": client, "role": "operator", "scopes": scopes}
    with connect(f"ws://127.0.0.1:{daemon.port}/gateway", proxy=None) as socket:
        _ask(socket, "connect", {**hello, "auth": {"token": token}})
        if text:
            _ask(socket, "chat.send", {"sessionKey": key, "message": text, "idempotencyKey": str(uuid.uuid4())})
        if label:
            _ask(socket, "sessions.patch", {"key": key, "label": label})


def _ask(socket: ClientConnection, method: str, params: dict[str, Any]) -> None:
    socket.send(json.dumps({"type": "req", "id": method, "method": method, "params": params}))
    while (frame := json.loads(socket.recv(timeout=10))).get("id") != method:
        pass
    assert frame["ok"], frame
