"""A client as the protocol document describes it, word for word, at our own gateway."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from tests.faces.gateway.house import house
from tests.faces.gateway.test_visits import forever, is_end

pytestmark = pytest.mark.anyio


@pytest.mark.requirement(
    "gateway:session-create:method",
    "gateway:session-create:key",
    "gateway:session-create:agent",
    "gateway:session-list:method",
    "gateway:session-list:params",
    "gateway:session-list:sessions",
)
async def test_sessions_are_made_and_listed_in_the_documents_spelling(tmp_path: Path) -> None:
    async with house(tmp_path) as it, it.member() as guest:
        assert (await guest.ask("session.create", {"key": "acp:new", "agent": "main"}))["ok"]
        listed = (await guest.ask("session.list", {}))["payload"]
        assert [row["key"] for row in listed["sessions"]] == ["agent:main:acp:new"]


@pytest.mark.requirement(
    "gateway:chat-send:method",
    "gateway:chat-send:session-key",
    "gateway:chat-send:message",
    "gateway:chat-send:idempotency-key",
    "gateway:chat-send:run-id",
    "gateway:chat-history:method",
    "gateway:chat-history:session-key",
    "gateway:chat-history:messages",
    "gateway:event:pushed",
)
async def test_a_message_is_sent_once_whatever_is_repeated_and_stands_in_the_history(tmp_path: Path) -> None:
    key = str(uuid4())
    async with house(tmp_path) as it, it.member() as guest, it.member() as silent:
        send = {"sessionKey": "acp:uuid", "message": "hello", "idempotencyKey": key}
        assert (await guest.ask("chat.send", send))["payload"]["runId"] == key
        assert (await silent.until(is_end))["payload"]["runId"] == key
        assert (await guest.ask("chat.send", send))["payload"]["status"] == "ok"
        messages = (await guest.ask("chat.history", {"sessionKey": "acp:uuid"}))["payload"]["messages"]
        assert [row["content"][0]["text"] for row in messages] == ["hello", "you said hello"]


@pytest.mark.requirement("gateway:chat-abort:method", "gateway:chat-abort:session-key", "gateway:chat-abort:run-id")
async def test_an_answer_is_stopped_by_its_session_and_run(tmp_path: Path) -> None:
    async with house(tmp_path, forever) as it, it.member() as guest:
        await guest.ask("chat.send", {"sessionKey": "acp:a", "message": "x", "idempotencyKey": "r1"})
        stopped = (await guest.ask("chat.abort", {"sessionKey": "acp:a", "runId": "r1"}))["payload"]
        assert stopped["runIds"] == ["r1"]
        assert (await guest.until(is_end))["payload"]["state"] == "aborted"
