"""A client that knows the protocol by its document alone, at our own gateway: every frame, every flow."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest

from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from tests.servers.gateway.document_client import RequestError, document_client, translated
from tests.servers.gateway.gateway_fixture import running_gateway
from tests.servers.gateway.test_connections import forever, is_end

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


async def works(asked: AgentRequest, run_output: RunOutput) -> None:
    """A run with everything that the document has an event for."""
    run_output.status("starting_model")
    run_output.say("Let me ")
    run_output.say("look. ")
    call = run_output.begin_tool("tool-call-1", "readFile", title="Reading src/main.ts", input={"path": "src/main.ts"})
    run_output.update_tool(call, "half")
    run_output.end_tool(call, "the file")
    run_output.diff("src/main.ts", "old", "new", tool_id=call)
    run_output.diff("src/made.ts", None, "made")
    failed = run_output.begin_tool("tool-call-2", "run", input=None)
    run_output.end_tool(failed, "", error="not allowed")
    run_output.say("Done.")
    run_output.used(3, 4)


async def fails(_: AgentRequest, run_output: RunOutput) -> None:
    run_output.say("so far")
    raise DragomanError("broken", localize("The model broke off."))


@pytest.mark.requirement(
    "gateway:challenge:event",
    "gateway:connect:answers-challenge",
    "gateway:connect:id",
    "gateway:connect:method",
    "gateway:connect:min-protocol",
    "gateway:connect:client-id",
    "gateway:connect:client-version",
    "gateway:connect:client-platform",
    "gateway:connect:client-mode",
    "gateway:connect:role",
    "gateway:connect:scopes",
    "gateway:connect:caps",
    "gateway:connect:commands",
    "gateway:connect:permissions",
    "gateway:connect:auth-token",
    "gateway:hello:response",
    "gateway:hello:type",
    "gateway:hello:protocol",
    "gateway:hello:completes-handshake",
)
async def test_its_handshake_is_taken_and_it_may_read_and_write(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, document_client(it.url, it.token) as client:
        challenge, answer = client.frames[:2]
        assert (challenge["type"], challenge["event"]) == ("event", "connect.challenge")
        assert (answer["type"], answer["id"], answer["ok"]) == ("res", "connect", True)
        assert (client.state, client.hello["type"], client.hello["protocol"]) == ("connected", "hello-ok", 3)
        assert (await client.chat_send("acp:a", "hello", "run-1"))["runId"] == "run-1"
        assert (await client.until_done())["stopReason"] == "end_turn"
        assert client.router.text == "you said hello"


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
async def test_a_message_is_sent_once_whatever_is_repeated_and_is_in_the_history(tmp_path: Path) -> None:
    key = str(uuid4())
    async with (
        running_gateway(tmp_path) as it,
        document_client(it.url, it.token) as client,
        document_client(it.url, it.token) as silent,
    ):
        assert (await client.chat_send("acp:uuid", "hello", key))["runId"] == key
        await silent.until_done()
        assert (await client.chat_send("acp:uuid", "hello", key))["runId"] == key
        messages = await client.chat_history("acp:uuid")
        assert [row["content"][0]["text"] for row in messages] == ["hello", "you said hello"]
        assert (silent.router.text, len(silent.router.of("done"))) == ("you said hello", 1)


@pytest.mark.parametrize("missing", ["operator.write", "operator.read"])
async def test_without_the_administrators_scope_it_may_not(tmp_path: Path, missing: str) -> None:
    """What makes the difference above is that scope, and nothing else."""
    method, params = {
        "operator.write": ("chat.send", {"sessionKey": "acp:a", "message": "x", "idempotencyKey": "r"}),
        "operator.read": ("session.list", {}),
    }[missing]
    async with running_gateway(tmp_path) as it, it.open_client() as peer:
        scopes = ["operator.approvals", "operator.pairing"]
        assert (await peer.connect(it.token, maxProtocol=3, scopes=scopes, caps=[]))["ok"]
        refused = await peer.ask(method, params)
        assert refused["error"] == f"missing scope: {missing}"


@pytest.mark.requirement("gateway:response:error")
@pytest.mark.parametrize(
    ("token", "result"),
    [("", "unauthorized: gateway token missing (`dragoman token show gateway` prints it)"),
     ("nope", "unauthorized: gateway token mismatch")],
)  # fmt: skip
async def test_it_is_refused_in_a_text_without_the_token(tmp_path: Path, token: str, result: str) -> None:
    async with running_gateway(tmp_path) as it, document_client(it.url, token) as client:
        assert (client.hello, client.state) == ({"refused": result}, "error")


@pytest.mark.requirement(
    "gateway:tool-start:kind",
    "gateway:tool-start:tool",
    "gateway:tool-start:id",
    "gateway:tool-start:title",
    "gateway:tool-start:input",
    "gateway:tool-result:kind",
    "gateway:tool-result:id",
    "gateway:tool-result:output",
    "gateway:tool-result:error",
    "gateway:diff:kind",
    "gateway:diff:path",
    "gateway:diff:original",
    "gateway:diff:original-null",
    "gateway:diff:modified",
    "gateway:kind:event-name",
    "gateway:stream:agent-event",
    "gateway:stream:agent-delta",
    "gateway:stream:chat-event",
    "gateway:stream:chat-state-delta",
    "gateway:stream:chat-state-final",
    "chat:translate:kind-passes",
    "chat:translate:no-double-text",
)
async def test_a_run_reaches_it_in_the_documents_form_and_in_its_order_once(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, works) as it, document_client(it.url, it.token) as client:
        await client.chat_send("acp:a", "go")
        await client.until_done()
        await client.session_list()  # whatever else was on its way has come by now
        assert client.router.chat == [
            {"kind": "text_delta", "content": "Let me "},
            {"kind": "text_delta", "content": "look. "},
            {"kind": "tool_start", "tool": "readFile", "id": "tool-call-1", "title": "Reading src/main.ts",
             "input": {"path": "src/main.ts"}},
            {"kind": "tool_result", "id": "tool-call-1", "output": "the file", "error": None},
            {"kind": "diff", "path": "src/main.ts", "original": "old", "modified": "new"},
            {"kind": "diff", "path": "src/made.ts", "original": None, "modified": "made"},
            {"kind": "tool_start", "tool": "run", "id": "tool-call-2", "title": "run", "input": {}},
            {"kind": "tool_result", "id": "tool-call-2", "output": "", "error": "not allowed"},
            {"kind": "text_delta", "content": "Done."},
            {"kind": "done", "stopReason": "end_turn"},
        ]  # fmt: skip
        raw = [it["payload"] for it in client.frames if it.get("event") in ("agent", "chat")]
        pieces = [it["data"]["delta"] for it in raw if it.get("stream") == "assistant"]
        assert pieces == ["Let me ", "look. ", "Done."]
        assert {it["state"] for it in raw if "state" in it} >= {"delta", "final"}
        assert [change["path"] for change in client.router.bridge] == ["src/main.ts", "src/made.ts"]
        kinds = [frame for frame in client.frames if "kind" in frame.get("payload", {})]
        assert {frame["event"] for frame in kinds} == {"agent"}
        numbers = [frame["seq"] for frame in client.frames if frame.get("seq")]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert client.router.dropped == 0


@pytest.mark.parametrize(
    ("caps", "protocol", "kinds"),
    [([], 3, True), (["tool-events"], 3, False), ([], 4, False), (["tool-events"], 4, False)],
)
async def test_only_clients_of_protocol_3_without_tool_events_are_sent_kinds(
    tmp_path: Path, caps: list[str], protocol: int, kinds: bool
) -> None:
    async with running_gateway(tmp_path, works) as it, it.member(caps=caps, maxProtocol=protocol) as peer:
        await peer.ask("chat.send", {"sessionKey": "acp:a", "message": "go", "idempotencyKey": "r1"})
        seen: list[Json] = []
        while not seen or not is_end(seen[-1]):
            seen.append(await peer.next())
        assert any("kind" in frame["payload"] for frame in seen) is kinds


@pytest.mark.requirement(
    "gateway:chat-abort:method",
    "gateway:chat-abort:session-key",
    "gateway:chat-abort:run-id",
    "gateway:stream:chat-state-error",
    "gateway:stream:chat-state-aborted",
)
@pytest.mark.parametrize(("script", "reason"), [(fails, "The model broke off."), (forever, "aborted")])
async def test_a_run_that_failed_or_was_stopped_ends_once_with_why(tmp_path: Path, script: Any, reason: str) -> None:
    async with running_gateway(tmp_path, script) as it, document_client(it.url, it.token) as client:
        run = (await client.chat_send("acp:a", "go"))["runId"]
        await client.until(lambda: client.router.text == "so far")
        if script is forever:
            await client.chat_abort("acp:a", run)
        assert (await client.until_done())["stopReason"] == reason
        await client.session_list()
        assert [it["kind"] for it in client.router.chat] == ["text_delta", "done"]


@pytest.mark.requirement(
    "gateway:session-create:method",
    "gateway:session-create:key",
    "gateway:session-create:agent",
    "gateway:session-list:method",
    "gateway:session-list:params",
    "gateway:session-list:sessions",
    "gateway:chat-history:messages",
)
async def test_its_sessions_keep_the_keys_that_it_chose(tmp_path: Path) -> None:
    key = f"acp:{uuid4()}"
    async with running_gateway(tmp_path) as it, document_client(it.url, it.token) as client, it.member() as real:
        assert (await client.session_create(key))["key"] == key
        assert [row["key"] for row in await client.session_list()] == [key]
        await client.chat_send(key, "hello")
        await client.until_done()
        assert [row["content"][0]["text"] for row in await client.chat_history(key)] == ["hello", "you said hello"]
        listed = (await real.ask("session.list", {}))["payload"]["sessions"]
        assert [row["key"] for row in listed] == [f"agent:main:{key}"], "and others see the one that events name"


async def test_its_failed_requests_are_answered_with_a_text_and_others_with_an_object(tmp_path: Path) -> None:
    async with (
        running_gateway(tmp_path) as it,
        document_client(it.url, it.token) as client,
        it.member(maxProtocol=3) as real,
    ):
        with pytest.raises(RequestError, match=r"^unknown method: session\.rename$"):
            await client.command("session.rename", {})
        with pytest.raises(RequestError, match="must have required property 'sessionKey'"):
            await client.command("chat.history", {})
        assert (await real.ask("chat.history", {}))["error"]["code"] == "INVALID_REQUEST"


async def test_a_frame_that_is_not_a_request_is_answered_with_a_text(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.open_client() as peer:
        await peer.connect(it.token, maxProtocol=3, scopes=["operator.admin"], caps=[])
        await peer.send({"type": "req", "id": 5, "method": "health"})
        assert (await peer.until(lambda frame: frame.get("id") == 5))["error"].startswith("invalid request frame")


async def test_it_comes_back_after_a_lost_connection_and_keeps_listening(tmp_path: Path) -> None:
    waited: list[float] = []

    async def at_once(seconds: float) -> None:
        waited.append(seconds)

    async with running_gateway(tmp_path) as it, document_client(it.url, it.token, sleep=at_once) as client:
        await client.chat_send("acp:a", "once")
        await client.until_done()
        await client.drop()
        await client.until(lambda: client.states.count("connected") == 2)
        assert waited == [1.0]
        await client.chat_send("acp:a", "again")
        await client.until_done(2)
        assert client.router.text == "you said onceyou said again"
        assert client.router.dropped == 0, "its router goes on counting where the last connection ended"


@pytest.mark.requirement("gateway:event:seq", "chat:router:drops-old-seq")
async def test_an_event_that_came_before_is_dropped_by_its_router(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, document_client(it.url, it.token) as client:
        await client.chat_send("acp:a", "hello")
        await client.until_done()
        entries, before = client.router.chat.copy(), client.router.dropped
        repeated = [event for frame in client.frames if "event" in frame for event in translated(frame)]
        for event in repeated:
            client.router.route(event)
        assert client.router.chat == entries
        assert client.router.dropped - before == len(repeated) > 1


async def test_what_it_reads_late_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no way to repair a gap: what others may miss, since it is told again whole, it is sent all the same."""
    monkeypatch.setattr("dragoman.servers.gateway.connection.ROOM_BYTES", 20_000)
    begun, goes_on = anyio.Event(), anyio.Event()

    async def much(asked: AgentRequest, run_output: RunOutput) -> None:
        begun.set()
        await goes_on.wait()
        for _ in range(100):
            run_output.say("x" * 1_000)

    async with running_gateway(tmp_path, much) as it, document_client(it.url, it.token) as client:
        await client.chat_send("acp:a", "go")
        await begun.wait()
        goes_on.set()
        await client.until_done()
        assert len(client.router.text) == 100_000
