"""The gateway at the daemon's own address: the guard before it, its own refusals, a chat, and the canvas."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from dragoman.chat.command_agent import fenced
from tests.daemons import call
from tests.servers.gateway.gateway_fixture import ManualClient, window
from tests.servers.gateway.test_connections import is_end
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


@asynccontextmanager
async def open_client(victim: TargetDaemon, **options: Any) -> AsyncIterator[ManualClient]:
    url = f"ws://127.0.0.1:{victim.port}/gateway"
    async with connect(url, compression=None, proxy=None, max_size=None, close_timeout=0.5, **options) as socket:
        yield ManualClient(socket)


@asynccontextmanager
async def person(victim: TargetDaemon) -> AsyncIterator[ManualClient]:
    async with window(victim.paths) as opened:
        yield opened


def token(victim: TargetDaemon, purpose: str = "gateway") -> str:
    return victim.paths.token_file(purpose).read_text().strip()


async def send_message(client: ManualClient, text: str, run: str, key: str = "main") -> Json:
    send = {"sessionKey": key, "message": text, "idempotencyKey": run}
    assert (await client.ask("chat.send", send))["payload"]["status"] == "started"
    end = await client.until(lambda frame: is_end(frame) and frame["payload"]["runId"] == run)
    payload: Json = end["payload"]
    return payload


def text_of(ended: Json) -> str:
    return str(ended["message"]["content"][0]["text"])


@pytest.mark.parametrize("purpose", ["mcp", "omnish"])
async def test_tokens_for_other_endpoints_are_refused_by_the_handshake_and_leave_no_trace(
    victim: TargetDaemon, purpose: str
) -> None:
    before = call(victim.paths, "status")["journal_sequence"]
    async with open_client(victim) as stranger:
        refused = await stranger.connect(token(victim, purpose))
        assert refused["error"]["details"]["code"] == "AUTH_TOKEN_MISMATCH"
        assert await stranger.closed() == 1008
    assert call(victim.paths, "status")["journal_sequence"] == before


async def test_a_page_of_another_origin_gets_no_upgrade(victim: TargetDaemon) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with open_client(victim, origin="http://evil.example"):
            pass
    assert refused.value.response.status_code == 403


async def test_clients_are_counted_until_they_disconnect(victim: TargetDaemon) -> None:
    async with open_client(victim) as client:
        assert (await client.connect(token(victim)))["ok"]
        await client.ask("health")
        assert call(victim.paths, "status")["links"]["gateway"] == 1
        assert [row["host"] for row in (await client.ask("system-presence"))["payload"]] == ["dragoman", "cli"]


async def test_a_conversation_that_was_forgotten_is_in_no_list(victim: TargetDaemon) -> None:
    key = "agent:main:forgotten"
    async with open_client(victim) as client:
        await client.connect(token(victim))
        await client.ask("sessions.create", {"key": key, "label": "what nobody is to know"})
        assert call(victim.paths, "journal_forget", {"session": key})["events"] > 0
        found = (await client.ask("sessions.list", {"search": "nobody is to know"}))["payload"]
        assert found["sessions"] == []


async def test_a_client_with_an_open_conversation_learns_that_it_was_forgotten(victim: TargetDaemon) -> None:
    key = "agent:main:open"
    async with open_client(victim) as watcher, open_client(victim) as other:
        await watcher.connect(token(victim))
        await other.connect(token(victim))
        await watcher.ask("sessions.subscribe")
        await other.ask("sessions.messages.subscribe", {"key": key})
        await other.ask("sessions.create", {"key": key})
        call(victim.paths, "journal_forget", {"session": key})
        for each in (watcher, other):
            answer = await each.until(lambda frame: frame.get("payload", {}).get("reason") == "delete")
            assert (answer["event"], answer["payload"]["sessionKey"]) == ("sessions.changed", key)


async def test_without_a_model_every_tool_is_a_command(victim: TargetDaemon) -> None:
    async with open_client(victim) as client:
        await client.connect(token(victim), caps=["tool-events"])
        assert "/why" in text_of(await send_message(client, "what is wrong with my program?", "r1"))
        assert "Dragoman" in text_of(await send_message(client, "/dragoman_status", "r2"))
        assert "Unknown command /brek" in (await send_message(client, "/brek", "r3"))["errorMessage"]
        offered = (await client.ask("dragoman.complete", {"text": "/show_c"}))["payload"]
        assert offered["completions"] == ["/show_canvas"]
        (offer,) = offered["offers"]
        assert offer["text"] == "/show_canvas"
        assert offer["description"].startswith("Use when prose is not enough")


async def test_what_is_drawn_in_the_chat_is_reported_with_its_viewers(victim: TargetDaemon) -> None:
    drawing = {"components": [{"id": "hello", "component": "Text", "text": "Hello"}], "surface_id": "greeting"}
    async with open_client(victim) as client:
        await client.connect(token(victim))
        assert "no page is open" in text_of(await send_message(client, f"/show_canvas {json.dumps(drawing)}", "r4"))
        with victim.feed() as feed:
            feed.receive_json()
            shown = text_of(await send_message(client, f"/show_canvas {json.dumps(drawing)}", "r5"))
            assert shown == fenced("shown: greeting (version 2)")


async def test_what_is_said_in_a_windows_conversation_is_done_in_its_folder_which_has_a_trust_of_its_own(
    victim: TargetDaemon, tmp_path: Path
) -> None:
    (tmp_path / "orders.py").write_text("print('of the second window')\n")
    async with person(victim) as window:
        assert (await window.connect(""))["ok"]
        key = (await window.ask("dragoman.open", {"workspace": str(tmp_path)}))["payload"]["key"]
        assert "of the second window" in text_of(await send_message(window, "/source orders.py", "w1", key))
        start = {"sessionKey": key, "message": "/start orders.py", "idempotencyKey": "w2"}
        assert (await window.ask("chat.send", start))["ok"]
        wanted = (await window.until(lambda it: it.get("event") == "dragoman.approval.requested"))["payload"]
        assert (wanted["kind"], wanted["subject"]) == ("trust", str(tmp_path))
        await window.ask("dragoman.approval.resolve", {"id": wanted["id"], "decision": "deny"})
        ended = await window.until(lambda frame: is_end(frame) and frame["payload"]["runId"] == "w2")
        assert f"dragoman trust {tmp_path}" in ended["payload"]["errorMessage"]
    assert call(victim.paths, "trust_list")["trusted"] == []


async def test_trust_in_another_folder_is_asked_for_where_it_is_refused_and_of_the_person_alone(
    victim: TargetDaemon, tmp_path: Path
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
    (other / "orders.py").touch()
    call(victim.paths, "trust_add", {"folder": str(own)})
    start = f"/start {other / 'orders.py'}"
    async with person(victim) as window, open_client(victim) as client:
        assert (await window.connect(""))["ok"]
        assert (await client.connect(token(victim)))["ok"]
        key = (await window.ask("dragoman.open", {"workspace": str(own)}))["payload"]["key"]
        refused = await send_message(client, start, "o1", key)  # nobody is asked for a client of the gateway
        assert f"dragoman trust {other}" in refused["errorMessage"]
        assert (await window.ask("dragoman.approvals", {}))["payload"]["approvals"] == []
        assert (await window.ask("chat.send", {"sessionKey": key, "message": start, "idempotencyKey": "o2"}))["ok"]
        wanted = (await window.until(lambda it: it.get("event") == "dragoman.approval.requested"))["payload"]
        assert (wanted["kind"], wanted["tool"], wanted["subject"]) == ("trust", "", str(other))
        await window.ask("dragoman.approval.resolve", {"id": wanted["id"], "decision": "deny"})
        await window.until(lambda frame: is_end(frame) and frame["payload"]["runId"] == "o2")
    assert [it["folder"] for it in call(victim.paths, "trust_list")["trusted"]] == [str(own)]
    call(victim.paths, "trust_revoke", {"folder": str(own)})


async def test_a_frame_over_the_limit_ends_its_sender_alone(victim: TargetDaemon) -> None:
    async with open_client(victim) as client, open_client(victim) as glutton:
        assert (await client.connect(token(victim)))["ok"]
        hello = (await glutton.connect(token(victim)))["payload"]
        await glutton.send("x" * (hello["policy"]["maxPayload"] + 1))
        assert await glutton.closed() == 1009
        assert (await client.ask("health"))["ok"]


async def test_an_idle_daemon_with_a_gateway_stays_small(victim: TargetDaemon) -> None:
    assert call(victim.paths, "status")["resident_mb"] < 130, "with every schema made and a connection served"
