"""Our client at a gateway that follows the protocol document and nothing else."""

from __future__ import annotations

import itertools
import math
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
import pytest
from msgspec import Raw

from dragoman.canvas.service import CanvasService
from dragoman.chat.gateway_client import remote_run
from dragoman.chat.gateway_client.remote_run import RemoteRun
from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.core.settings.schema import Settings
from dragoman.daemon.gateway_control import GatewayMethods
from dragoman.daemon.upstream_gateway import DRAWER, UpstreamGateway, open_upstream_gateway
from dragoman.protocols.gateway.chat_events import ChatDiff, ChatEvent, ChatTextDelta, Done, ToolResult, ToolStart
from tests.canvas.canvas_fixture import studio
from tests.chat.gateway_client.scripted_connection import until
from tests.document_gateway import SCOPES, DocumentGateway, Form, Manner, Run, Script, document_gateway, echo
from tests.servers.gateway.document_client import document_client
from tests.servers.gateway.gateway_fixture import GatewayUnderTest, running_gateway
from tests.servers.gateway.test_connections import is_end

pytestmark = pytest.mark.anyio

SURFACE = {
    "type": "createSurface",
    "surface": {"id": "s1", "title": "Result"},
    "components": [{"id": "c1", "type": "Button", "props": {"label": "Go"}}],
}


FORMS: tuple[Form, ...] = ("stream", "kind", "both")
MANNERS = [
    Manner(text=text, end=end, names_runs=names, events_first=first, is_numbered=not first)
    for text, end, names, first in itertools.product(FORMS, FORMS, (True, False), (True, False))
]


@asynccontextmanager
async def connected(
    folder: Path, script: Script = echo, manner: Manner | None = None, **settings: Any
) -> AsyncIterator[tuple[DocumentGateway, UpstreamGateway, CanvasService]]:
    async with document_gateway(script, manner) as gateway, studio(folder) as (canvas, journal):
        chosen = Settings(gateway_address=gateway.url, **settings)
        async with open_upstream_gateway(chosen, find_paths(), canvas, journal) as link:
            assert (await link.connect("")).state == "connected"
            yield gateway, link, canvas
            link.disconnect()


async def say(link: UpstreamGateway, text: str, session: str = "acp:one") -> list[ChatEvent]:
    with anyio.fail_after(20):
        async with aclosing(RemoteRun(link.client(), link.router, session, text).events()) as events:
            return [event async for event in events]


def text_of(events: list[ChatEvent]) -> str:
    return "".join(it.content for it in events if isinstance(it, ChatTextDelta))


async def everything(run: Run) -> None:
    await run.text("Let me look. ")
    await run.tool("t1", "readFile", "Reading src/main.ts", {"path": "src/main.ts"}, "the file")
    await run.diff("src/main.ts", "old", "new")
    await run.draw(SURFACE)
    await run.text("Done.")
    await run.end()


@pytest.mark.requirement(
    "gateway:connect:id",
    "gateway:connect:method",
    "gateway:connect:role",
    "gateway:connect:client-id",
    "gateway:connect:client-mode",
    "gateway:connect:scopes",
    "gateway:connect:caps",
    "gateway:connect:commands",
    "gateway:connect:permissions",
    "gateway:connect:auth-left-out",
    "gateway:hello:protocol",
)
async def test_the_connect_has_everything_that_the_document_shows(tmp_path: Path) -> None:
    async with connected(tmp_path) as (gateway, _, _):
        (connect,) = gateway.connects
        assert (connect["id"], connect["method"]) == ("connect", "connect")
        params = connect["params"]
        assert set(SCOPES) <= set(params["scopes"])
        assert (params["commands"], params["permissions"], type(params["caps"])) == ([], {}, list)
        assert (params["role"], params["client"]["id"], params["client"]["mode"]) == ("operator", "cli", "cli")
        assert "auth" not in params


async def test_a_gateway_that_takes_nothing_but_the_documents_frame_is_asked_with_it(tmp_path: Path) -> None:
    async with connected(tmp_path, manner=Manner(is_strict=True)) as (gateway, link, _):
        assert [set(it["params"]) > set(gateway.connects[1]["params"]) for it in gateway.connects] == [True, False]
        assert gateway.connects[1]["params"]["scopes"] == SCOPES
        assert text_of(await say(link, "hello")) == "you said hello"


async def test_a_refusal_in_plain_words_is_reported_and_not_tried_without_end(tmp_path: Path) -> None:
    async with document_gateway(manner=Manner(token="right")) as gateway, studio(tmp_path) as (canvas, journal):
        settings = Settings(gateway_address=gateway.url)
        async with open_upstream_gateway(settings, find_paths(), canvas, journal) as link:
            now = await link.connect("")
            assert (now.state, "wrong token" in str(now.reason)) == ("paused", True)
            assert len(gateway.connects) == 2


@pytest.mark.requirement(
    "chat:client:send-path",
    "gateway:chat-send:method",
    "gateway:chat-send:session-key",
    "gateway:chat-send:message",
    "gateway:chat-send:idempotency-key",
    "gateway:chat-send:run-id",
    "chat:translate:no-double-text",
    "chat:translate:kind-passes",
    "gateway:kind:seq-optional",
)
@pytest.mark.parametrize("manner", MANNERS, ids=str)
async def test_an_answer_and_its_end_are_reported_once_however_they_come(tmp_path: Path, manner: Manner) -> None:
    async with connected(tmp_path, everything, manner) as (gateway, link, _):
        for number in (1, 2):
            events = await say(link, "go")
            assert text_of(events) == "Let me look. Done."
            assert [type(it) for it in events if not isinstance(it, ChatTextDelta)] == [
                ToolStart,
                ToolResult,
                ChatDiff,
                Done,
            ]
            assert {it.run_id for it in events} == {f"run-{number}"}
            assert {it.session_key for it in events} == {"acp:one"}
            (start,) = (it for it in events if isinstance(it, ToolStart))
            assert (start.id, start.tool, start.title) == ("t1", "readFile", "Reading src/main.ts")
        sent = gateway.params("chat.send")
        assert [(it["sessionKey"], it["message"]) for it in sent] == [("acp:one", "go")] * 2
        assert len({UUID(it["idempotencyKey"]) for it in sent}) == 2


@pytest.mark.parametrize(("state", "outcome", "reason"), [("error", "error", "no model"), ("aborted",) * 3])
@pytest.mark.parametrize("form", ["stream", "kind", "both"])
async def test_a_run_that_fails_or_is_stopped_ends_with_the_reason(
    tmp_path: Path, state: str, outcome: str, reason: str, form: Any
) -> None:
    async def fails(run: Run) -> None:
        await run.end(state, "no model")

    async with connected(tmp_path, fails, Manner(end=form)) as (_, link, _):
        for _ in range(2):
            (done,) = await say(link, "go")
            assert isinstance(done, Done)
            assert (done.outcome, done.stop_reason) == (outcome, reason)


@pytest.mark.requirement("chat:router:drops-old-seq")
async def test_what_is_sent_again_with_its_number_counts_once(tmp_path: Path) -> None:
    async def repeats(run: Run) -> None:
        for _ in range(2):
            await run.text("once")
            run.gateway.seq -= 2
        run.gateway.seq += 2
        await run.end()

    async with connected(tmp_path, repeats) as (_, link, _):
        assert text_of(await say(link, "go")) == "once"


@pytest.mark.parametrize(
    "unknown",
    [
        "unknown method: {method}",
        "no such thing",
        {"code": "METHOD_NOT_FOUND", "message": "?"},
        {"code": "-32601"},
        "",
        "未知方法",
    ],
)
@pytest.mark.requirement("chat:session:list", "chat:session:create", "gateway:session-list:params")
async def test_sessions_are_listed_and_made_in_the_documents_spelling(tmp_path: Path, unknown: Any) -> None:
    async with connected(tmp_path, manner=Manner(unknown=unknown)) as (gateway, link, _):
        methods = GatewayMethods(link)
        await say(link, "hello", "acp:said")
        for _ in range(2):
            (listed,) = [it async for it in methods.table()["gateway_sessions"]({})]
            assert [it["key"] for it in listed["sessions"]] == ["acp:said"]
        asked = [method for method, _ in gateway.asked if method.startswith("session")]
        assert asked == ["sessions.list", "session.list", "session.list"], "what was found out is remembered"
        made = await link.relay("sessions.create", Raw(b"{}"))
        (params,) = gateway.params("session.create")
        assert params["agent"] == "main"
        assert f'"key":"{params["key"]}"' in bytes(made).decode()


async def test_actions_on_a_gateways_surface_go_to_the_session_of_the_run_that_drew_it(tmp_path: Path) -> None:
    async with connected(tmp_path, everything) as (gateway, link, canvas):
        await say(link, "go", "acp:drew")
        await until(lambda: len(canvas.surfaces()) == 1)
        await canvas.act(DRAWER, "s1", "c1", by="the page")
        await until(lambda: len(gateway.params("chat.send")) == 2)
        action = gateway.params("chat.send")[1]
        assert (action["sessionKey"], "action=onClick" in action["message"]) == ("acp:drew", True)


@pytest.mark.parametrize(("hello", "is_watched"), [({}, False), ({"policy": {"tickIntervalMs": 60_000}}, True)])
async def test_only_a_gateway_that_promised_ticks_is_left_without_them(
    tmp_path: Path, hello: Any, is_watched: bool
) -> None:
    async with connected(tmp_path, manner=Manner(hello=hello)) as (_, link, _):
        assert math.isfinite(link.client()._overdue_at_s()) is is_watched


async def test_a_run_continues_over_a_lost_connection(tmp_path: Path) -> None:
    again = anyio.Event()

    async def breaks_off(run: Run) -> None:
        await run.text("so ")
        await run.gateway.cut()
        await again.wait()
        await run.text("it is")
        await run.end()

    async with connected(tmp_path, breaks_off) as (gateway, link, _), anyio.create_task_group() as group:
        received: list[ChatEvent] = []

        async def follow() -> None:
            received.extend(await say(link, "go"))

        group.start_soon(follow)
        await until(lambda: len(gateway.params("chat.send")) == 2)
        first, second = gateway.params("chat.send")
        assert first == second, "the same key: nothing runs twice"
        again.set()
        await until(lambda: bool(received))
        assert (text_of(received), type(received[-1]), len(gateway.seen)) == ("so it is", Done, 1)


async def test_an_end_that_was_missed_is_found_in_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_run, "POLL_INTERVAL_S", 0.05)

    async def ends_unheard(run: Run) -> None:
        await run.text("all ")
        run.text_sent += "of it"
        run.gateway.remember(run)

    async with connected(tmp_path, ends_unheard) as (gateway, link, _):
        events = await say(link, "go")
        assert isinstance(events[-2], ChatTextDelta)
        assert (events[-2].content, events[-2].replace, type(events[-1])) == ("all of it", True, Done)
        assert len(gateway.params("agent.wait")) == 1, "who does not know the question is not asked again"


async def test_a_run_that_never_ends_keeps_nobody_and_not_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_run, "POLL_INTERVAL_S", 0.02)
    monkeypatch.setattr(remote_run, "UNCONFIRMED_AT_MOST_S", 0.1)

    async def hangs_once(run: Run) -> None:
        await (run.text("half") if run.id == "run-1" else echo(run))

    async with connected(tmp_path, hangs_once) as (_, link, _):
        chat = GatewayMethods(link).table()["gateway_chat"]
        with pytest.raises(DragomanError, match="No update on this answer"):
            [it async for it in chat({"text": "one", "session": "main"})]
        answer = [it async for it in chat({"text": "two", "session": "main"})]
        assert "".join(it.value["text"] for it in answer[:-1]) == "you said two"
        assert answer[-1]["outcome"] == "final"


async def test_what_speaks_no_handshake_is_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.chat.gateway_client.client._HANDSHAKE_WITHIN_S", 0.2)
    async with document_gateway(manner=Manner(challenges=False)) as gateway, studio(tmp_path) as (canvas, journal):
        settings = Settings(gateway_address=gateway.url)
        async with open_upstream_gateway(settings, find_paths(), canvas, journal) as link:
            now = await link.connect("")
            assert (now.state, now.code, now.retry_in_s) == ("connecting", "no_handshake", 1.0)


@asynccontextmanager
async def relaying(
    folder: Path, script: Script = echo, manner: Manner | None = None
) -> AsyncIterator[tuple[DocumentGateway, GatewayUnderTest]]:
    """Our gateway in front of one of the document."""
    async with (
        connected(folder / "link", script, manner) as (gateway, link, _),
        running_gateway(folder / "front", relay=link.relay) as front,
    ):
        link.listen(front.hub.relay_event, front.hub.publish)
        link._listen_to(link.client())
        yield gateway, front


@pytest.mark.parametrize(
    "manner", [Manner(), Manner(text="both", end="both"), Manner(text="kind", end="kind")], ids=str
)
async def test_behind_our_gateway_each_client_gets_a_run_once_in_its_own_protocol(
    tmp_path: Path, manner: Manner
) -> None:
    async with (
        relaying(tmp_path, everything, manner) as (gateway, front),
        front.member() as asker,
        front.member(caps=["tool-events"]) as real,
        document_client(front.url, front.token) as plain,
    ):
        answer = await asker.ask("chat.send", {"sessionKey": "acp:one", "message": "go", "idempotencyKey": "k"})
        run_id = answer["payload"]["runId"]
        assert run_id == gateway.seen["k"] == "run-1"
        frames = [await real.until(lambda it: it.get("event") in ("agent", "chat"))]
        while not is_end(frames[-1]):
            frames.append(await real.until(lambda it: it.get("event") in ("agent", "chat")))
        payloads = [it["payload"] for it in frames]
        assert {it["runId"] for it in payloads} == {run_id}
        deltas = [it["data"]["delta"] for it in payloads if it.get("stream") == "assistant"]
        assert "".join(deltas) == "Let me look. Done."
        tools = [it["data"]["phase"] for it in payloads if it.get("stream") == "tool"]
        assert tools == ["start", "result"]
        await until(lambda: len(plain.router.of("done")) == 1)
        assert plain.router.text == "Let me look. Done."
        assert [len(plain.router.of(it)) for it in ("tool_start", "tool_result", "diff")] == [1, 1, 1]


async def test_behind_our_gateway_sessions_are_those_of_the_other_in_both_spellings(tmp_path: Path) -> None:
    async with relaying(tmp_path) as (gateway, front), front.member() as peer:
        for method, params in (
            ("session.create", {"key": "acp:one", "agent": "main"}),
            ("sessions.create", {"key": "acp:two"}),
        ):
            assert (await peer.ask(method, params))["payload"]["key"] == params["key"]
        assert list(gateway.sessions) == ["acp:one", "acp:two"]
        for method in ("sessions.list", "session.list"):
            rows = (await peer.ask(method, {}))["payload"]["sessions"]
            assert [it["key"] for it in rows] == ["acp:one", "acp:two"]
        assert (await peer.ask("sessions.subscribe", {}))["ok"]
        refused = (await peer.ask("sessions.delete", {"key": "acp:one"}))["error"]
        assert refused["message"] == "unknown method: sessions.delete"
        assert front.conversations.all() == ()
