"""Our gateway in front of another: chats are the other's, rights and everything else are ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.core.paths import find_paths
from dragoman.core.settings.schema import Settings
from dragoman.daemon.upstream_gateway import UpstreamGateway, open_upstream_gateway
from dragoman.protocols.gateway import EventFrame, SequenceGap
from tests.canvas.canvas_fixture import studio
from tests.chat.gateway_client.scripted_connection import until
from tests.servers.gateway.document_client import document_client
from tests.servers.gateway.gateway_fixture import GatewayUnderTest, Script, running_gateway
from tests.servers.gateway.test_connections import is_end

pytestmark = pytest.mark.anyio

SEND = {"sessionKey": "main", "message": "hello", "idempotencyKey": "r1"}


async def agent(asked: AgentRequest, run_output: RunOutput) -> None:
    run_output.begin_tool("t1", "look", input={})
    run_output.end_tool("t1", "seen")
    run_output.say(f"behind: {asked.text}")


@asynccontextmanager
async def relayed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, script: Script = agent
) -> AsyncIterator[tuple[GatewayUnderTest, GatewayUnderTest, UpstreamGateway]]:
    async with running_gateway(folder / "behind", script) as behind, studio(folder / "canvas") as (canvas, journal):
        monkeypatch.setenv("BEHIND", behind.token)
        settings = Settings(gateway_address=behind.url, gateway_token_variable="BEHIND", gateway_relay=True)
        async with (
            open_upstream_gateway(settings, find_paths(), canvas, journal) as link,
            running_gateway(folder / "front", relay=link.relay) as front,
        ):
            link.listen(front.hub.relay_event)
            await until(lambda: link.gateway_status.state == "connected")
            yield front, behind, link


async def test_a_chat_is_that_of_the_gateway_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with relayed(tmp_path, monkeypatch) as (front, behind, _), front.member() as peer, front.member() as reader:
        assert (await peer.ask("chat.send", SEND))["payload"] == {"runId": "r1", "status": "started"}
        frames: list[dict[str, Any]] = []
        while not frames or not is_end(frames[-1]):
            frames.append(await reader.next())
        assert frames[-1]["payload"]["message"]["content"][0]["text"] == "behind: hello"
        streams = {frame["payload"].get("stream") for frame in frames}
        assert ("item" in streams, "tool" in streams) == (True, False), "this client did not ask for tool events"
        assert [frame["seq"] for frame in frames] == list(range(frames[0]["seq"], frames[0]["seq"] + len(frames)))
        there = (await peer.ask("chat.history", {"sessionKey": "main"}))["payload"]["messages"]
        assert there[0]["content"][0]["text"] == "hello"
        assert [row.key for row in behind.conversations.all()] == ["agent:main:main"]
        assert front.conversations.all() == ()


@pytest.mark.requirement("chat:router:diff-to-bridge")
async def test_a_file_that_an_agent_behind_changed_is_reported_to_the_editor_as_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def edits(_: AgentRequest, run_output: RunOutput) -> None:
        run_output.begin_tool("t1", "edit", input={"path": "a.py", "oldText": "total = 0", "newText": "total = 1"})
        run_output.end_tool("t1", "done")
        run_output.begin_tool("t2", "write", input={"path": "made.py", "content": "made"})
        run_output.end_tool("t2", "no", error="not allowed")
        run_output.begin_tool("t3", "write", input={"path": "made.py", "content": "made"})
        run_output.end_tool("t3", "done")

    async with (
        relayed(tmp_path, monkeypatch, edits) as (front, _, link),
        front.member(caps=["tool-events"]) as editor,
        front.member(scopes=["operator.write"]) as deaf,
    ):
        assert (await deaf.ask("chat.send", SEND))["ok"]
        changes: list[Any] = []
        while len(changes) < 2:
            frame = await editor.until(lambda it: it.get("payload", {}).get("stream") == "diff")
            about = (frame["event"], frame["payload"]["runId"], frame["payload"]["sessionKey"])
            assert about == ("agent", "r1", "agent:main:main")
            changes.append(frame["payload"]["data"])
        one = {"path": "a.py", "original": "total = 0", "modified": "total = 1", "toolCallId": "t1", "partial": True}
        made = {"path": "made.py", "original": None, "modified": "made", "toolCallId": "t3", "partial": False}
        assert changes == [one, made]
        recorded = [row.event.body for row in await link._journal.read(0) if row.event.kind == "chat.file_changed"]
        assert [(row["path"], row["modified"]) for row in recorded] == [("a.py", ""), ("made.py", "")]
        front.hub.end()
        assert (await deaf.next())["event"] == "shutdown"


async def test_a_client_of_the_document_follows_a_run_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway behind tells tools in its own streams; this client is told them in the form that it reads."""
    async with (
        relayed(tmp_path, monkeypatch) as (front, behind, _),
        document_client(front.url, front.token) as client,
    ):
        await client.chat_send("acp:a", "hello")
        await client.until_done()
        assert [it["kind"] for it in client.router.chat] == ["tool_start", "tool_result", "text_delta", "done"]
        assert client.router.chat[1] == {"kind": "tool_result", "id": "t1", "output": "seen", "error": None}
        assert (await client.session_create("acp:b"))["key"] == "agent:main:acp:b"
        assert {row["key"] for row in await client.session_list()} == {"agent:main:acp:a", "agent:main:acp:b"}
        assert {row.key for row in behind.conversations.all()} == {"agent:main:acp:a", "agent:main:acp:b"}


async def test_an_upstream_gateway_that_sends_event_kinds_is_relayed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = [
        {"kind": "text_delta", "content": "one"},
        {"kind": "tool_start", "tool": "run", "id": "t1", "title": "Run", "input": {"a": 1}},
        {"kind": "tool_result", "id": "t1", "output": "ok", "error": None},
        {"kind": "diff", "path": "a.py", "original": None, "modified": "x"},
        {"kind": "done", "stopReason": "end_turn"},
    ]
    async with relayed(tmp_path, monkeypatch) as (front, _, __), document_client(front.url, front.token) as client:
        for payload in kinds:
            front.hub.relay_event(EventFrame("agent", Raw(msgspec.json.encode(payload))))
        await client.until_done()
        assert client.router.chat == kinds


async def test_watchers_of_sessions_see_those_of_upstream_gateways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        relayed(tmp_path, monkeypatch) as (front, behind, _),
        front.member() as watcher,
        behind.member() as other,
    ):
        assert (await watcher.ask("sessions.subscribe", {}))["payload"] == {"subscribed": True}
        await other.ask("sessions.create", {"key": "one", "label": "made there"})
        answer = await watcher.until(lambda frame: frame.get("event") == "sessions.changed")
        assert answer["payload"]["label"] == "made there"


async def test_rights_are_judged_here_and_words_come_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with relayed(tmp_path, monkeypatch) as (front, _, link), front.member() as peer:
        async with front.member(scopes=["operator.read"]) as reader:
            assert "missing scope" in (await reader.ask("chat.send", SEND))["error"]["message"]
        refused = (await peer.ask("chat.history", {"sessionKey": "main", "limit": 5000}))["error"]
        assert refused["message"] == "invalid chat.history params: at /limit: must be <= 1000"
        assert (await peer.ask("dragoman.complete", {"text": "/h"}))["payload"]["completions"] == ["/h…"]
        link.disconnect()
        await until(lambda: link.gateway_status.state == "disconnected")
        assert (await peer.ask("chat.send", SEND))["error"]["code"] == "UNAVAILABLE"


async def test_lost_events_are_a_gap_for_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with relayed(tmp_path, monkeypatch) as (front, _, __), front.member() as peer, front.member() as reader:
        front.hub.relay_event(SequenceGap(expected=1, received=3))
        await peer.ask("chat.send", SEND)
        first = await reader.until(lambda frame: "seq" in frame)
        assert first["seq"] == 2
