"""Who is a person on the gateway: by a proved socket. Only they say that a folder may run what it holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.chat.errors import too_many_waiting
from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.core.localization import Language
from dragoman.servers.gateway.calls import safe_client_name
from tests.servers.gateway.gateway_fixture import GatewayUnderTest, ManualClient, running_gateway

pytestmark = pytest.mark.anyio

MAIN = "agent:main:main"
POSING = {"id": "openclaw-control-ui", "displayName": "the page", "version": "1", "platform": "linux", "mode": "ui"}


@asynccontextmanager
async def person(it: GatewayUnderTest, **changed: Any) -> AsyncIterator[ManualClient]:
    async with it.open_client(is_person=True) as peer:
        assert (await peer.connect("", **changed))["ok"]
        yield peer


def is_wanted(frame: dict[str, Any]) -> bool:
    return frame.get("event") == "dragoman.approval.requested"


async def test_trust_is_answered_by_a_person_and_by_nobody_who_calls_himself_one(tmp_path: Path) -> None:
    answers: list[bool] = []
    async with (
        running_gateway(tmp_path) as it,
        it.member(client=POSING, locale="zh-CN") as agent,
        person(it) as reader,
        anyio.create_task_group() as group,
    ):

        async def ask() -> None:
            answers.append(await it.approvals.ask_trust("agent:main:main", "r", "/home/me/shop"))

        group.start_soon(ask)
        wanted = (await agent.until(is_wanted))["payload"]
        assert (wanted["kind"], wanted["subject"]) == ("trust", "/home/me/shop")
        answer = {"id": wanted["id"], "decision": "allow"}
        refused = await agent.ask("dragoman.approval.resolve", answer)
        assert not refused["ok"]
        assert "只有人可以" in refused["error"]["message"]
        assert len(it.approvals.waiting()) == 1
        assert answers == []
        assert (await reader.ask("dragoman.approval.resolve", answer))["payload"]["counted"]
    assert answers == [True]


async def test_a_conversation_is_about_the_folder_of_the_window_that_began_it(tmp_path: Path) -> None:
    received: list[str] = []

    async def listen(asked: AgentRequest, _: RunOutput) -> None:
        received.append(asked.workspace)

    two = tmp_path / "two"
    two.mkdir()
    async with running_gateway(tmp_path, listen) as it, it.member(client=POSING) as agent, person(it) as window:
        assert not (await agent.ask("dragoman.open", {"workspace": str(two)}))["ok"], "an agent chooses no folder"
        assert not (await window.ask("dragoman.open", {"workspace": "two"}))["ok"]
        assert (await window.ask("dragoman.open", {"workspace": str(tmp_path)}))["payload"] == {"key": MAIN}
        opened = (await window.ask("dragoman.open", {"workspace": str(two)}))["payload"]
        assert (await window.ask("dragoman.open", {"workspace": str(two)}))["payload"] == opened
        created = (await window.ask("sessions.create", {}))["payload"]["key"]
        assert (await window.ask("dragoman.open", {"workspace": str(two), "key": created}))["ok"]
        for run_id, key in (("r1", "main"), ("r2", opened["key"]), ("r3", created)):
            await window.ask("chat.send", {"sessionKey": key, "message": "hi", "idempotencyKey": run_id})
            assert await it.runs.outcome(run_id) == "final"
        moved = (await window.ask("dragoman.open", {"workspace": str(tmp_path / "three"), "key": created}))["payload"]
        typed = {"text": "/x", "sessionKey": created}
        files = [(await it.ask("dragoman.complete", typed))["payload"]["offers"][0] for it in (window, agent)]
    assert received == ["", str(two), str(two)]
    assert [it["description"].rpartition(", ")[2] for it in files] == [str(two), "nowhere"], "names are for a person"
    assert moved["workspace"] == str(two), "what was said in it was said there"


async def test_the_caller_is_known_by_its_token_and_not_by_a_name(tmp_path: Path) -> None:
    received: list[tuple[str, bool]] = []

    async def listen(asked: AgentRequest, _: RunOutput) -> None:
        received.append((asked.by, asked.is_person))

    async with running_gateway(tmp_path, listen) as it, it.member(client=POSING) as agent, person(it) as somebody:
        for peer, run_id in ((agent, "r1"), (somebody, "r2")):
            data = {"sessionKey": "main", "message": "hi", "idempotencyKey": run_id}
            assert (await peer.ask("chat.send", data))["ok"]
            assert await it.runs.outcome(run_id) == "final"
    assert received == [("client the page", False), ("the page", True)]


@pytest.mark.parametrize(
    ("ours", "locale", "spoken"), [("en", "zh-CN", "zh"), ("zh", "en-US", "en"), ("zh", None, "zh"), ("en", None, "en")]
)
async def test_a_caller_is_answered_in_the_language_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: str, locale: str | None, spoken: Language
) -> None:
    monkeypatch.setenv("DRAGOMAN_LANG", ours)
    fault = too_many_waiting(most=3)

    async def refuse(asked: AgentRequest, _: RunOutput) -> None:
        assert asked.language == spoken
        raise fault

    data = {"sessionKey": "main", "message": "hi", "idempotencyKey": "r1"}
    async with running_gateway(tmp_path, refuse) as it, person(it, **({"locale": locale} if locale else {})) as reader:
        offers = (await reader.ask("dragoman.complete", {"text": "/he"}))["payload"]["offers"]
        await reader.ask("chat.send", data)
        assert await it.runs.outcome("r1") == "error"
        entries = (await it.conversations.history("main"))[-1].error
    assert offers[0]["description"] == f"goes on, in {spoken}, {tmp_path}"
    assert entries == fault.in_language(spoken)


@pytest.mark.parametrize(
    "name", ["page", " The Page ", "dragoman", "terminal", "person-1:VS Code", "mcp-0123456789abcdef"]
)
def test_nobody_is_reported_under_a_name_of_ours(name: str) -> None:
    assert safe_client_name(name) == f"client {name}"
    assert safe_client_name("the pager") == "the pager"
