"""Our own gateway: who connects with what rights, closed schemas, runs published to everybody, slow readers closed."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.access.tokens import TokenHolder
from dragoman.chat.gateway_client.client import GatewayAddress, GatewayClient
from dragoman.chat.gateway_client.identity import DeviceIdentity
from dragoman.chat.gateway_client.roles import SCOPES
from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.io.net.websocket_client import open_websocket
from dragoman.journal import SessionScope
from dragoman.protocols.gateway import Reducer
from dragoman.protocols.gateway.chat_events import ChatTextDelta, Done
from dragoman.servers.gateway import connection, server
from tests.chat.gateway_client.scripted_connection import until
from tests.daemons import PATIENCE
from tests.servers.gateway.gateway_fixture import EVERYTHING, running_gateway

pytestmark = pytest.mark.anyio


def is_end(frame: dict[str, Any]) -> bool:
    return frame.get("event") == "chat" and frame["payload"]["state"] in ("final", "aborted", "error")


async def forever(asked: AgentRequest, run_output: RunOutput) -> None:
    run_output.say("so far")
    await anyio.sleep_forever()


async def test_our_own_client_talks_to_it_and_gets_what_was_sent(tmp_path: Path) -> None:
    on_event: list[Any] = []
    reducer = Reducer()
    async with running_gateway(tmp_path) as it, anyio.create_task_group() as group:
        client = GatewayClient(
            GatewayAddress(it.url, it.token),
            DeviceIdentity(tmp_path / "identity"),
            SystemClock(),
            open_websocket,
            on_status=lambda _: None,
            on_event=lambda event: on_event.extend(reducer.feed(event)),
        )
        group.start_soon(client.run)
        client.connect()
        await until(lambda: client.gateway_status.state == "connected")
        assert client.hello is not None
        assert client.hello.protocol == 4
        await client.request("chat.send", {"sessionKey": "main", "message": "hello", "idempotencyKey": "r1"})
        await until(lambda: any(isinstance(event, Done) for event in on_event))
        assert "".join(event.content for event in on_event if isinstance(event, ChatTextDelta)) == "you said hello"
        group.cancel_scope.cancel()


async def test_rights_come_from_the_token_and_are_those_that_exist(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.open_client() as peer:
        hello = await peer.connect(it.token, scopes=["operator.read", "operator.root", "operator.write"])
        assert hello["payload"]["auth"]["scopes"] == ["operator.read", "operator.write"]
        assert "deviceToken" not in hello["payload"]["auth"]
        answer = await peer.ask("sessions.delete", {"key": "main"})
        assert answer["error"]["details"]["missingScope"] == "operator.admin"


@pytest.mark.parametrize(
    ("auth", "code"),
    [
        ({}, "DEVICE_IDENTITY_REQUIRED"),
        ({"auth": {"token": "wrong"}}, "AUTH_TOKEN_MISMATCH"),
        ({"auth": {"deviceToken": "wrong"}}, "AUTH_DEVICE_TOKEN_MISMATCH"),
        ({"auth": {"password": "x"}}, "DEVICE_IDENTITY_REQUIRED"),
    ],
)
async def test_without_the_token_nobody_gets_in_whatever_he_declares(
    tmp_path: Path, auth: dict[str, Any], code: str
) -> None:
    async with running_gateway(tmp_path) as it, it.open_client() as peer:
        refused = await peer.connect(**auth, caps=["tool-events"], permissions={"is_admin": True})
        assert (refused["ok"], refused["error"]["details"]["code"]) == (False, code)
        assert await peer.closed() == 1008


async def test_a_proved_socket_of_the_page_gets_in_and_is_named_so(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.open_client(is_person=True) as peer:
        assert (await peer.connect(""))["ok"]
        present = (await peer.ask("system-presence", {}))["payload"]
        assert [row["host"] for row in present] == ["dragoman", "the page"]


async def test_a_revoked_client_token_ends_that_client_and_its_device_token_and_no_other(tmp_path: Path) -> None:
    async with (
        running_gateway(tmp_path) as it,
        it.open_client() as one,
        it.open_client() as two,
        it.open_client() as three,
    ):
        tokens = [it.tokens.clients.create(TokenHolder("gateway", name)) for name in ("one", "two")]
        assert (await one.connect(tokens[0]))["ok"]
        assert (await two.connect(it.tokens.new_session("gateway", "two")))["ok"]
        assert (await three.connect(it.token))["ok"]
        device = it.tokens.new_session("gateway", "one")
        it.tokens.clients.revoke(TokenHolder("gateway", "one"))
        assert await one.closed() == 4401
        for old in (tokens[0], device):
            async with it.open_client() as again:
                assert not (await again.connect(old))["ok"]
        for stays in (two, three):
            assert (await stays.ask("health"))["ok"]


@pytest.mark.parametrize("purpose", ["page", "editor", "mcp", "omnish"])
async def test_a_token_of_another_purpose_or_a_session_of_it_opens_nothing_here(tmp_path: Path, purpose: Any) -> None:
    async with running_gateway(tmp_path) as it:
        for token in (it.tokens.of(purpose), it.tokens.new_session(purpose)):
            async with it.open_client() as peer:
                assert not (await peer.connect(token))["ok"]


async def test_a_rotated_token_ends_the_connections_that_use_it(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.open_client() as peer:
        assert (await peer.connect(it.tokens.new_session("gateway")))["ok"]
        await peer.ask("health")
        old = it.tokens.new_session("gateway")
        it.tokens.rotate("gateway")
        assert await peer.closed() == 4401
        async with it.open_client() as again:
            assert not (await again.connect(old))["ok"]


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("chat.send", {"sessionKey": "a", "message": "hi"}, "must have required property 'idempotencyKey'"),
        ("sessions.create", {"key": "a", "agent": "main"}, "at root: unexpected property 'agent'"),
        ("chat.history", {"sessionKey": "main", "limit": 5000}, "at /limit: must be <= 1000"),
        ("chat.history", [], "must be object"),
    ],
)
async def test_what_is_asked_wrongly_is_refused_in_a_real_gateways_words(
    tmp_path: Path, method: str, params: Any, message: str
) -> None:
    async with running_gateway(tmp_path) as it, it.member() as peer:
        error = (await peer.ask(method, params))["error"]
        assert error == {"code": "INVALID_REQUEST", "message": f"invalid {method} params: {message}"}
        unknown = (await peer.ask("nope.method", {}))["error"]
        assert unknown == {"code": "INVALID_REQUEST", "message": "unknown method: nope.method"}


async def test_protocol_3_reports_a_missing_scope_its_own_way(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member(maxProtocol=3, scopes=["operator.read"]) as peer:
        answer = await peer.ask("chat.send", {"sessionKey": "a", "message": "x", "idempotencyKey": "1"})
        assert answer["error"] == {"code": "INVALID_REQUEST", "message": "missing scope: operator.write"}


async def test_sessions_live_from_create_to_delete_in_both_spellings(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as peer:
        made = (await peer.ask("session.create", {"key": "acp:one", "agent": "main", "label": "One"}))["payload"]
        assert made["key"] == "agent:main:acp:one"
        assert (await peer.ask("sessions.patch", {"key": "acp:one", "label": "Renamed"}))["ok"]
        (row,) = (await peer.ask("session.list", {}))["payload"]["sessions"]
        assert (row["key"], row["displayName"], row["hasActiveRun"]) == ("agent:main:acp:one", "Renamed", False)
        assert (await peer.ask("sessions.resolve", {"key": "acp:one"}))["payload"]["key"] == "agent:main:acp:one"
        assert (await peer.ask("sessions.delete", {"key": "acp:one"}))["payload"]["deleted"]
        assert (await peer.ask("chat.history", {"sessionKey": "acp:one"}))["payload"]["messages"] == []


async def test_watchers_of_sessions_see_the_changes_of_others(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as writer, it.member() as watcher, it.member() as other:
        await watcher.ask("sessions.subscribe", {})
        await other.ask("sessions.messages.subscribe", {"key": "else"})
        await writer.ask("sessions.create", {"key": "one", "label": "One"})
        await writer.ask("sessions.patch", {"key": "one", "label": "Two"})
        await writer.ask("sessions.delete", {"key": "one"})
        entries = [(await watcher.until(lambda frame: frame.get("event") == "sessions.changed")) for _ in range(3)]
        about = [[frame["payload"].get(name) for name in ("reason", "sessionKey", "label")] for frame in entries]
        key = "agent:main:one"
        assert about == [["create", key, "One"], ["patch", key, "Two"], ["delete", key, None]]
        it.hub.end()
        assert (await other.until(lambda frame: frame.get("event") != "tick"))["event"] == "shutdown"


async def test_a_session_that_is_deleted_in_the_middle_of_a_run_does_not_come_back(tmp_path: Path) -> None:
    async def half(_: AgentRequest, run_output: RunOutput) -> None:
        run_output.say("Half of it")
        await anyio.sleep_forever()

    async with running_gateway(tmp_path, half) as it, it.member() as peer:
        send = {"sessionKey": "main", "message": "go"}
        await peer.ask("chat.send", {**send, "idempotencyKey": "r1"})
        await peer.until(lambda frame: "Half of it" in str(frame))
        await peer.ask("chat.send", {**send, "idempotencyKey": "r2"})
        assert (await peer.ask("sessions.delete", {"key": "main"}))["payload"]["deleted"]
        for run in ("r1", "r2"):
            assert await it.runs.outcome(run) == "aborted"
        await anyio.wait_all_tasks_blocked()
        assert (await peer.ask("sessions.list", {}))["payload"]["sessions"] == []
        assert (await peer.ask("chat.history", {"sessionKey": "main"}))["payload"]["messages"] == []


async def test_a_run_of_a_session_that_was_forgotten_is_stopped_and_leaves_no_trace(tmp_path: Path) -> None:
    key = "agent:main:main"
    async with running_gateway(tmp_path, forever) as it, it.member() as peer:
        await peer.ask("sessions.subscribe")
        await peer.ask("chat.send", {"sessionKey": key, "message": "go", "idempotencyKey": "r1"})
        await peer.until(lambda frame: "so far" in str(frame))
        await it.journal.forget(SessionScope(key))
        await it.conversations.load()
        await it.hub.methods.forget([key])
        assert await it.runs.outcome("r1") == "aborted"
        assert (await peer.until(lambda frame: frame.get("payload", {}).get("reason") == "delete"))["event"]
        assert await it.conversations.history(key) == []
        assert [row for row in await it.journal.read(0) if row.event.session == key] == []


async def test_that_something_was_erased_is_a_gap_that_is_seen_at_once(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as peer:
        for erased in (1, 2):
            it.hub.publish_erased()
            answer = await peer.until(lambda frame: frame.get("event") == "tick")
            assert answer["seq"] == 2 * erased, "one number is missing"


async def test_a_run_is_reported_to_every_reader_and_is_in_the_history(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as writer, it.member(scopes=["operator.read"]) as reader:
        send = {"sessionKey": "main", "message": "hello", "idempotencyKey": "r1"}
        assert (await writer.ask("chat.send", send))["payload"] == {"runId": "r1", "status": "started"}
        end = await reader.until(is_end)
        assert end["payload"]["message"]["content"] == [{"type": "text", "text": "you said hello"}]
        assert (await writer.ask("chat.send", {**send, "message": "other"}))["payload"]["status"] == "ok"
        answer = (await reader.ask("chat.history", {"sessionKey": "main"}))["payload"]["messages"]
        assert [(row["role"], row["content"][0]["text"]) for row in answer] == [
            ("user", "hello"),
            ("assistant", "you said hello"),
        ]
        assert (await writer.ask("agent.wait", {"runId": "r1", "timeoutMs": 1000}))["payload"]["status"] == "ok"


async def test_a_client_that_joins_during_a_run_gets_its_text_and_calls_so_far(tmp_path: Path) -> None:
    async def half(_: AgentRequest, run_output: RunOutput) -> None:
        run_output.say("I look. ")
        run_output.begin_tool("one", "look", title="Looking at 1", input={"at": 1})
        run_output.end_tool("one", "seen")
        run_output.begin_tool("two", "wait")
        run_output.say("Half")
        await anyio.sleep_forever()

    async with running_gateway(tmp_path, half) as it, it.member() as writer:
        await writer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": "r1"})
        await writer.until(lambda frame: "Half" in str(frame))
        answer = (await writer.ask("chat.history", {"sessionKey": "main"}))["payload"]
        assert answer["messages"][0]["__openclaw"]["by"]
        run = answer["inFlightRun"]
        assert (run["runId"], run["text"]) == ("r1", "I look. \n\nHalf")
        phases = [(it["data"]["toolCallId"], it["data"]["phase"]) for it in run["events"]]
        assert phases == [("one", "start"), ("one", "result"), ("two", "start")]
        assert [it["data"]["title"] for it in run["events"]] == ["Looking at 1", "Looking at 1", "wait"]
        await writer.ask("chat.abort", {"sessionKey": "main"})
        await writer.until(is_end)
        ended = (await writer.ask("chat.history", {"sessionKey": "main"}))["payload"]
        assert "inFlightRun" not in ended
        assert [row["role"] for row in ended["messages"]] == ["user", "assistant", "toolResult", "toolResult"]


async def test_what_tools_printed_counts_among_the_characters_of_a_history(tmp_path: Path) -> None:
    async def prints(_: AgentRequest, run_output: RunOutput) -> None:
        for number in range(3):
            run_output.begin_tool(f"call-{number}", "print")
            run_output.end_tool(f"call-{number}", "x" * 800)

    async with running_gateway(tmp_path, prints) as it, it.member() as peer:
        for run in ("r1", "r2"):
            await peer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": run})
            await it.runs.outcome(run)
        answer = (await peer.ask("chat.history", {"sessionKey": "main", "maxChars": 1000}))["payload"]["messages"]
        texts = [len(row["content"][0]["text"]) for row in answer if row["role"] == "toolResult"]
        assert texts == [800, 200, 0]


async def test_a_run_that_ends_while_the_history_is_read_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = anyio.Event()

    async def slow(_: AgentRequest, run_output: RunOutput) -> None:
        run_output.say("the answer")
        await goes_on.wait()

    async with running_gateway(tmp_path, slow) as it, it.member() as peer:
        await peer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": "r1"})
        await peer.until(lambda frame: "the answer" in str(frame))
        plain = it.conversations.history

        async def outrun(key: str, *, limit: int) -> Any:
            rows = await plain(key, limit=limit)
            goes_on.set()
            await it.runs.outcome("r1")
            return rows

        monkeypatch.setattr(it.conversations, "history", outrun)
        answer = (await peer.ask("chat.history", {"sessionKey": "main"}))["payload"]
        assert "inFlightRun" not in answer
        assert [row["role"] for row in answer["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize("protocol", [3, 4])
async def test_a_run_that_failed_without_a_word_is_in_the_history_with_its_error(tmp_path: Path, protocol: int) -> None:
    async def fails(_: AgentRequest, __: RunOutput) -> None:
        raise DragomanError("no_model", localize("{text}", text="it refused"))

    offered = {"minProtocol": 3, "maxProtocol": protocol}
    async with running_gateway(tmp_path, fails) as it, it.member(**offered) as peer:
        await peer.ask("chat.send", {"sessionKey": "main", "message": "go", "idempotencyKey": "r1"})
        assert (await peer.until(is_end))["payload"]["errorMessage"] == "it refused"
        row = (await peer.ask("chat.history", {"sessionKey": "main"}))["payload"]["messages"][-1]
        shown = [row[name] for name in ("role", "content", "stopReason", "errorMessage")]
        assert shown == ["assistant", [], "error", "it refused"]


async def test_a_client_without_read_scope_gets_nothing_but_the_ticks(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as writer, it.member(scopes=[]) as deaf:
        await writer.ask("chat.send", {"sessionKey": "main", "message": "secret", "idempotencyKey": "r1"})
        await writer.until(is_end)
        it.hub.end()
        assert (await deaf.next())["event"] == "shutdown"


async def test_a_run_is_stopped_at_once_and_only_through_its_own_session(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, forever) as it, it.member() as peer:
        await peer.ask("chat.send", {"sessionKey": "a", "message": "x", "idempotencyKey": "r1"})
        wrong = await peer.ask("chat.abort", {"sessionKey": "b", "runId": "r1"})
        assert wrong["error"]["message"] == "runId does not match sessionKey"
        stopped = (await peer.ask("chat.abort", {"sessionKey": "a"}))["payload"]
        assert stopped == {"ok": True, "aborted": True, "runIds": ["r1"]}
        assert (await peer.ask("chat.abort", {"sessionKey": "a"}))["payload"]["aborted"] is False


async def test_frames_are_numbered_without_gaps_and_tool_frames_go_to_their_subscribers(tmp_path: Path) -> None:
    async def script(asked: AgentRequest, run_output: RunOutput) -> None:
        run_output.begin_tool("t1", "look", title="Looking", input={})
        run_output.end_tool("t1", "seen")

    async with (
        running_gateway(tmp_path, script) as it,
        it.member(caps=["tool-events"]) as with_tools,
        it.member() as without,
    ):
        await without.ask("chat.send", {"sessionKey": "main", "message": "x", "idempotencyKey": "r1"})
        for peer, streams in ((with_tools, {"tool"}), (without, set[str]())):
            frames = [frame async for frame in _frames(peer)]
            assert [frame["seq"] for frame in frames] == list(range(frames[0]["seq"], frames[0]["seq"] + len(frames)))
            assert {frame["payload"].get("stream") for frame in frames} & {"tool"} == streams
            starts = [frame["payload"]["data"] for frame in frames if frame["payload"].get("stream") == "tool"][:1]
            assert [start["title"] for start in starts] == ["Looking"] * len(streams)


async def _frames(peer: Any) -> Any:
    while True:
        frame = await peer.next()
        if "seq" in frame:
            yield frame
        if is_end(frame):
            return


async def test_an_injected_note_is_reported_and_kept(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as peer:
        note = {"sessionKey": "main", "message": "note from the host", "label": "host"}
        assert (await peer.ask("chat.inject", note))["ok"]
        (row,) = (await peer.ask("chat.history", {"sessionKey": "main"}))["payload"]["messages"]
        assert row["content"][0]["text"] == "note from the host"
        for label in ("you", "The page", "dragoman"):
            await peer.ask("chat.inject", {"sessionKey": "main", "message": "as if", "label": label})
        answer = await it.conversations.history("main", limit=10)
        assert [one.by for one in answer] == ["host", "client you", "client The page", "client dragoman"]


async def test_an_approval_is_seen_by_all_readers_and_answered_by_a_person_once(tmp_path: Path) -> None:
    allowed: list[bool] = []
    async with (
        running_gateway(tmp_path) as it,
        it.open_client(is_person=True) as peer,
        it.member() as agent,
        it.member(scopes=["operator.read"]) as reader,
        anyio.create_task_group() as group,
    ):
        assert (await peer.connect(""))["ok"]

        async def ask() -> None:
            allowed.append(await it.approvals.ask("agent:main:main", "r1", "run_in_terminal", "make test"))

        group.start_soon(ask)
        wanted = (await peer.until(lambda frame: frame.get("event") == "dragoman.approval.requested"))["payload"]
        assert wanted["subject"] == "make test"
        answer = {"id": wanted["id"], "decision": "allow"}
        refused = await agent.ask("dragoman.approval.resolve", answer)
        assert "Only a person" in refused["error"]["message"]
        assert not (await reader.ask("dragoman.approval.resolve", answer))["ok"]
        assert (await reader.ask("dragoman.approvals"))["payload"]["approvals"] == [wanted]
        assert allowed == []
        assert (await peer.ask("dragoman.approval.resolve", answer))["payload"]["counted"]
        settled = await peer.until(lambda frame: frame.get("event") == "dragoman.approval.resolved")
        assert settled["payload"] == answer
        assert not (await peer.ask("dragoman.approval.resolve", {**answer, "decision": "deny"}))["payload"]["counted"]
        seen = await reader.until(lambda frame: frame.get("event") == "dragoman.approval.resolved")
        assert seen["payload"] == answer
    assert allowed == [True]


@pytest.mark.parametrize("frame", ["not json", "[" * 100_000, '{"type": "req", "id": "x", "method": "chat.send"}'])
async def test_what_is_not_a_handshake_ends_the_connection_and_nobody_elses(tmp_path: Path, frame: str) -> None:
    async with running_gateway(tmp_path) as it, it.member() as other, it.open_client() as peer:
        await peer.next()
        await peer.send(frame)
        assert await peer.closed() in (1002, 1007, 1008, 1009)
        assert (await other.ask("health"))["ok"]


async def test_a_peer_without_a_handshake_in_time_is_disconnected_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HANDSHAKE_WITHIN_S", 0.3)
    async with running_gateway(tmp_path) as it, it.member() as member, it.open_client() as silent:
        assert await silent.closed() == 1008
        assert silent.socket.close_reason == "handshake timeout"
        assert (await member.ask("health"))["ok"]


@pytest.mark.parametrize(("bound", "joins"), [("UNAUTHENTICATED_AT_MOST", False), ("CONNECTIONS_AT_MOST", True)])
async def test_more_than_the_gateway_has_room_for_are_sent_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, *, joins: bool
) -> None:
    async with running_gateway(tmp_path) as it:
        monkeypatch.setattr(server, bound, 1)
        async with it.open_client() as first:
            if joins:
                assert (await first.connect(it.token))["ok"]
            else:
                await first.next()
            async with it.open_client() as second:
                assert await second.closed() == 1013


async def test_a_reader_that_reads_nothing_misses_pieces_and_is_then_disconnected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.servers.gateway.connection.STILL_S", 0.2)
    monkeypatch.setattr("dragoman.servers.gateway.connection.ROOM_BYTES", 1 << 18)

    async def flood(asked: AgentRequest, run_output: RunOutput) -> None:
        for _ in range(10):
            run_output.say("x" * 50_000)
            await anyio.lowlevel.checkpoint()

    async with running_gateway(tmp_path, flood) as it, it.member() as quick, it.member() as slow:
        slow.socket.transport.pause_reading()
        numbers = itertools.count()
        with anyio.fail_after(20 * PATIENCE):
            while len(it.hub.presence()) > 2:
                send = {"sessionKey": "main", "message": "x", "idempotencyKey": f"r{next(numbers)}"}
                await quick.ask("chat.send", send)
                assert (await quick.until(is_end))["payload"]["state"] == "final"
        assert [row["host"] for row in it.hub.presence()] == ["dragoman", "cli"]
        assert (await quick.ask("health"))["ok"]


def test_what_we_ask_of_other_gateways_ours_would_grant() -> None:
    assert set(SCOPES) <= set(EVERYTHING)
