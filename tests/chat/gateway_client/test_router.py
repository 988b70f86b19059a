"""From frames to where they belong: the chat, the canvas, the bridge; once each, and bounded for who is slow."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from dragoman.chat.gateway_client.event_router import (
    UNREAD_AT_MOST,
    WAITING_AT_MOST,
    EventSubscription,
    GatewayEventRouter,
)
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.protocols.gateway import EventFrame, SequenceGap, decode_frame
from dragoman.protocols.gateway.chat_events import A2ui, ChatDiff, ChatGap, ChatTextDelta, Done, ToolResult, ToolStart
from tests.chat.gateway_client.scripted_connection import until
from tests.protocols.gateway.transcripts import event_frames

pytestmark = pytest.mark.anyio


def frame(payload: dict[str, Any], event: str = "agent") -> EventFrame:
    decoded = decode_frame(json.dumps({"type": "event", "event": event, "payload": payload}).encode())
    assert isinstance(decoded, EventFrame)
    return decoded


def drawing(number: int = 0) -> EventFrame:
    surface = {"type": "createSurface", "surface": {"id": f"s{number}", "title": "T"}, "components": []}
    return frame({"runId": "r", "sessionKey": "main", "kind": "a2ui", "payload": surface})


@dataclass
class Places:
    router: GatewayEventRouter
    drawn: list[A2ui] = field(default_factory=list)
    changed: list[ChatDiff] = field(default_factory=list)


@asynccontextmanager
async def routed() -> AsyncIterator[Places]:
    async def draw(event: A2ui) -> None:
        if b"broken" in bytes(event.payload):
            raise DragomanError("not_drawn", localize("{text}", text="broken"))
        places.drawn.append(event)

    async def bridge(event: ChatDiff) -> None:
        places.changed.append(event)

    places = Places(GatewayEventRouter(draw, bridge))
    async with anyio.create_task_group() as group:
        group.start_soon(places.router.run)
        yield places
        group.cancel_scope.cancel()


async def next_events(listening: EventSubscription, count: int) -> list[Any]:
    with anyio.fail_after(5):
        return [await listening.next() for _ in range(count)]


@pytest.mark.requirement("chat:client:event-path", "chat:client:subscribe-events")
@pytest.mark.parametrize("name", ["v3-11a-tool-run-sender-tool-events", "v4-21-chat"])
async def test_a_recorded_run_is_reported_once_however_often_it_came(name: str) -> None:
    async with routed() as places:
        with places.router.subscribe() as once, places.router.subscribe() as other:
            for it in [*event_frames(name), *event_frames(name)]:
                places.router.on_event(it)
            events = list(once._unread)
            assert events == list(other._unread)
        starts = [it.id for it in events if isinstance(it, ToolStart)]
        ends = [it.run_id for it in events if isinstance(it, Done)]
        assert (len(starts), len(ends)) == (len(set(starts)), len(set(ends)))
        assert {it.id for it in events if isinstance(it, ToolResult)} <= set(starts)
        assert any(isinstance(it, ChatTextDelta) for it in events)


@pytest.mark.requirement(
    "chat:router:by-kind",
    "chat:router:text-delta-to-chat",
    "chat:router:tool-start-to-chat",
    "chat:router:tool-result-to-chat",
    "chat:router:done-to-chat",
)
@pytest.mark.parametrize(
    ("reported_as", "kind"),
    [
        ({"kind": "text_delta", "content": "x"}, ChatTextDelta),
        ({"kind": "tool_start", "id": "t", "tool": "read", "title": "Read", "input": {}}, ToolStart),
        ({"kind": "tool_result", "id": "t", "output": "x", "error": None}, ToolResult),
        ({"kind": "done", "stopReason": "end_turn"}, Done),
    ],
)
async def test_the_documents_kinds_go_to_the_chat(reported_as: dict[str, Any], kind: type) -> None:
    async with routed() as places:
        with places.router.subscribe() as on_event:
            places.router.on_event(frame({"runId": "r", "sessionKey": "main", **reported_as}))
            assert kind in {type(it) for it in on_event._unread}
        assert (places.drawn, places.changed) == ([], [])


@pytest.mark.requirement("chat:router:a2ui-to-canvas", "chat:router:diff-to-chat")
async def test_surfaces_go_to_the_canvas_and_changes_of_files_to_the_bridge_too() -> None:
    async with routed() as places:
        with places.router.subscribe() as on_event:
            places.router.on_event(drawing())
            diff = {"kind": "diff", "path": "a.py", "original": "1", "modified": "2"}
            places.router.on_event(frame({"runId": "r", "sessionKey": "main", **diff}))
            (shown,) = await next_events(on_event, 1)
        await until(lambda: bool(places.drawn and places.changed))
        assert json.loads(bytes(places.drawn[0].payload))["surface"]["id"] == "s0"
        assert shown == places.changed[0]


async def test_what_cannot_be_drawn_ends_nothing() -> None:
    async with routed() as places:
        places.router.on_event(frame({"runId": "r", "kind": "a2ui", "payload": {"type": "broken"}}))
        places.router.on_event(drawing())
        await until(lambda: len(places.drawn) == 1)


async def test_for_a_canvas_that_does_not_keep_up_a_bounded_number_waits() -> None:
    async with routed() as places:
        for number in range(WAITING_AT_MOST + 10):
            places.router.on_event(drawing(number))
        assert places.router.left_out == 10
        await until(lambda: len(places.drawn) == WAITING_AT_MOST)


async def test_lost_frames_and_a_new_connection_are_gaps() -> None:
    async with routed() as places:
        with places.router.subscribe() as on_event:
            places.router.on_event(SequenceGap(expected=3, received=5))
            places.router.on_event(SequenceGap(expected=0, received=0))
            assert [type(it) for it in await next_events(on_event, 2)] == [ChatGap, ChatGap]


async def test_a_reader_that_is_too_slow_gets_a_gap_and_continues() -> None:
    async with routed() as places:
        with places.router.subscribe() as slow:
            for number in range(UNREAD_AT_MOST + 2):
                places.router.on_event(
                    frame({"runId": f"r{number}", "sessionKey": "main", "kind": "text_delta", "content": "x"})
                )
            first, second = await next_events(slow, 2)
            assert isinstance(first, ChatGap)
            assert second.run_id == f"r{UNREAD_AT_MOST + 1}"


async def test_listeners_learn_when_there_will_be_nothing_more() -> None:
    async with routed() as places:
        with places.router.subscribe() as on_event:
            places.router.on_event(frame({"runId": "r", "kind": "text_delta", "content": "last"}))
            places.router.lost(DragomanError("gone", localize("{text}", text="gone")))
            assert isinstance((await next_events(on_event, 1))[0], ChatTextDelta)
            with pytest.raises(DragomanError, match="gone"):
                await on_event.next()
