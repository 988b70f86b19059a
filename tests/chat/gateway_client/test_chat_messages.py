"""One message and its answer: as it comes, over a lost connection, and when the end itself was missed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
import pytest

from dragoman.chat import errors as chat_errors
from dragoman.chat.gateway_client import connection_status, remote_run
from dragoman.chat.gateway_client.event_router import GatewayEventRouter
from dragoman.chat.gateway_client.remote_run import RemoteRun
from dragoman.core.errors import DragomanError
from dragoman.protocols.gateway import SequenceGap
from dragoman.protocols.gateway.chat_events import A2ui, ChatDiff, ChatEvent, ChatTextDelta, Done
from tests.chat.gateway_client.scripted_connection import until
from tests.chat.gateway_client.test_router import frame

pytestmark = pytest.mark.anyio


async def nowhere(_: A2ui | ChatDiff) -> None:
    raise AssertionError("nothing of the kind is sent here")


@dataclass
class Scripted:
    """Requests that a test answers in their order: a payload, or an error."""

    answers: list[Any]
    asked: list[tuple[str, Any]] = field(default_factory=list)

    async def request(self, method: str, params: Any) -> msgspec.Raw:
        self.asked.append((method, params))
        answer = self.answers.pop(0)
        if isinstance(answer, DragomanError):
            raise answer
        return msgspec.Raw(msgspec.json.encode(answer))


@dataclass
class Conversation:
    client: Scripted
    router: GatewayEventRouter
    talk: RemoteRun
    on_event: list[ChatEvent] = field(default_factory=list)
    error: DragomanError | None = None

    def say(self, state: str, text: str) -> None:
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        payload = {"runId": self.talk.run_id, "sessionKey": "main", "state": state, "message": message}
        self.router.on_event(frame(payload, "chat"))

    async def follow(self) -> None:
        try:
            async for event in self.talk.events():
                self.on_event.append(event)
        except DragomanError as error:
            self.error = error

    @property
    def text(self) -> str:
        entries = [it for it in self.on_event if isinstance(it, ChatTextDelta)]
        last = max((number for number, it in enumerate(entries) if it.replace), default=0)
        return "".join(it.content for it in entries[last:])


@asynccontextmanager
async def conversation(*answers: Any) -> AsyncIterator[Conversation]:
    client, router = Scripted(list(answers)), GatewayEventRouter(nowhere, nowhere)
    it = Conversation(client, router, RemoteRun(client, router, "main", "hello"))
    async with anyio.create_task_group() as group:
        group.start_soon(it.follow)
        await until(lambda: bool(client.asked))
        yield it
        group.cancel_scope.cancel()


def is_over(it: Conversation) -> bool:
    return bool(it.on_event) and isinstance(it.on_event[-1], Done)


@pytest.mark.requirement("chat:client:send-path")
async def test_the_answer_is_delivered_as_it_comes_and_other_runs_are_not() -> None:
    async with conversation({"status": "started"}) as it:
        it.router.on_event(frame({"runId": "another", "sessionKey": "main", "kind": "text_delta", "content": "no"}))
        it.say("delta", "so")
        it.say("final", "so it is")
        await until(lambda: is_over(it))
        assert it.text == "so it is"
        assert it.client.asked[0][1]["idempotencyKey"] == it.talk.run_id


async def test_a_run_survives_a_lost_connection() -> None:
    async with conversation(chat_errors.connection_lost(method="chat.send"), {"status": "in_flight"}) as it:
        it.router.on_event(SequenceGap(expected=0, received=0))
        await until(lambda: len(it.client.asked) == 2)
        assert it.client.asked[0] == it.client.asked[1], "the same key: nothing runs twice"
        it.say("final", "here it is")
        await until(lambda: is_over(it))
        assert it.text == "here it is"


async def test_an_end_that_was_missed_is_read_from_the_history() -> None:
    rows = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": [{"type": "text", "text": "all"}]}]
    async with conversation({"status": "started"}, {"status": "ok"}, {"messages": rows}) as it:
        it.say("delta", "a")
        it.router.on_event(SequenceGap(expected=0, received=0))
        await until(lambda: is_over(it))
        assert it.text == "all"


@pytest.mark.parametrize("answer", [{"messages": 5}, {"messages": [{"content": {"no": "text"}}]}])
async def test_an_answer_of_another_shape_is_reported(answer: Any) -> None:
    async with conversation({"status": "ok"}, answer) as it:
        await until(lambda: it.error is not None)
        assert it.error is not None
        assert it.error.code == "gateway_unreadable"


async def test_a_caller_that_waits_learns_when_nobody_will_answer() -> None:
    async with conversation({"status": "started"}) as it:
        it.router.lost(chat_errors.not_connected(connection_status.gave_up(10)))
        await until(lambda: it.error is not None)
        assert it.error is not None
        assert it.error.code == "gateway_not_connected"


@pytest.mark.parametrize(
    "now",
    [
        connection_status.DISCONNECTED,
        connection_status.protocol_violated("no"),
        connection_status.gave_up(10),
        connection_status.CONNECTING,
    ],
)
async def test_a_missing_connection_fails_at_once_with_its_reason(now: connection_status.GatewayStatus) -> None:
    async with conversation(chat_errors.not_connected(now)) as it:
        await until(lambda: it.error is not None, within_s=2)
        assert it.error is not None
        assert str(now.reason) in str(it.error.message)
        assert it.error.hint == now.hint


async def test_a_gateway_that_stays_away_in_the_middle_of_an_answer_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote_run, "POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(remote_run, "MAX_OUTAGE_S", 0.1)
    away = chat_errors.not_connected(connection_status.connection_lost(1006, "", 1.0))
    async with conversation({"status": "started"}, *[away] * 50) as it:
        it.say("delta", "so far")
        await until(lambda: it.error is not None)
        assert it.error is not None
        assert (it.error.code, it.text) == ("gateway_stayed_away", "so far")


async def test_a_connection_that_comes_and_goes_keeps_no_one_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_run, "SILENT_AT_MOST_S", 0.0)
    async with conversation({"status": "started"}, {"status": "in_flight"}) as it:
        it.router.on_event(SequenceGap(expected=0, received=0))
        await until(lambda: it.error is not None)
        assert it.error is not None
        assert (it.error.code, len(it.client.asked)) == ("gateway_silent", 1), "a gap is no sign of the run"


async def test_a_refusal_is_the_answer() -> None:
    async with conversation(DragomanError("gateway_refused", chat_errors.unreadable_answer().message)) as it:
        await until(lambda: it.error is not None)
        assert len(it.client.asked) == 1


@pytest.mark.parametrize(
    ("row", "outcome", "reason"),
    [
        ({"content": "all", "stopReason": "stop"}, "final", "end_turn"),
        ({"content": [], "stopReason": "error", "errorMessage": "400 no"}, "error", "400 no"),
        ({"content": "it refused", "stopReason": "error"}, "error", "it refused"),
        ({"content": "so far", "stopReason": "aborted"}, "aborted", "aborted"),
    ],
)
async def test_a_run_that_is_silent_is_asked_about_and_its_end_read_from_the_history(
    monkeypatch: pytest.MonkeyPatch, row: Any, outcome: str, reason: str
) -> None:
    """Real gateways call a run `in_flight` for seconds after they have told its end."""
    monkeypatch.setattr(remote_run, "POLL_INTERVAL_S", 0.01)
    history = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", **row}]}
    answers = [{"status": "in_flight"}, {"status": "timeout"}, {"status": "ok"}, {"status": "ok"}, history]
    async with conversation(*answers) as it:
        await until(lambda: is_over(it))
        asked = [method for method, _ in it.client.asked]
        assert asked == ["chat.send", "agent.wait", "agent.wait", "agent.wait", "chat.history"]
        end = it.on_event[-1]
        assert isinstance(end, Done)
        assert (end.outcome, end.stop_reason) == (outcome, reason)


async def test_frames_that_come_with_the_end_are_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine everything comes late and at once."""
    monkeypatch.setattr(remote_run, "POLL_INTERVAL_S", 0.05)
    async with conversation({"status": "started"}, {"status": "ok"}, {"status": "ok"}) as it:
        await until(lambda: len(it.client.asked) == 2)
        it.say("final", "late, and whole")
        await until(lambda: is_over(it))
        assert it.text == "late, and whole"
        assert len(it.client.asked) == 2


async def test_an_answer_in_several_rows_is_read_whole() -> None:
    rows = [
        {"role": "assistant", "content": "of before"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, {"type": "toolCall"}]},
        {"role": "toolResult", "content": "seen"},
        {"role": "assistant", "content": "It is 3."},
    ]
    async with conversation({"status": "ok"}, {"messages": rows}) as it:
        await until(lambda: is_over(it))
        assert it.text == "Let me look.\n\nIt is 3."


async def test_a_run_that_stays_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_run, "POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(remote_run, "SILENT_AT_MOST_S", 0.03)
    async with conversation({"status": "started"}, *[{"status": "timeout"}] * 9) as it:
        await until(lambda: it.error is not None)
        assert it.error is not None
        assert it.error.code == "gateway_silent"
