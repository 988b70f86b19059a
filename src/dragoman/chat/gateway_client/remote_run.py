"""One message to an agent behind a gateway, and its answer as it arrives. It survives lost frames and lost
connections.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import anyio
import msgspec
from msgspec import Raw, UnsetType

from dragoman.chat import errors as chat_errors
from dragoman.chat.gateway_client.event_router import EventSubscription, GatewayEventRouter
from dragoman.core.errors import DragomanError
from dragoman.protocols.gateway.chat_events import ChatEvent, ChatGap, ChatTextDelta, Done, Outcome
from dragoman.protocols.gateway.payloads import read

SILENT_AT_MOST_S = 600.0
UNCONFIRMED_AT_MOST_S = 120.0
"""The limit if the gateway cannot report whether a silent run continues."""
POLL_INTERVAL_S = 5.0
"""The interval of checks while a run is silent.

Its end may have been in lost frames, and real gateways report an ended run as `in_flight` for some seconds.
"""
MAX_OUTAGE_S = 60.0
"""The limit without a connection during a run. The caller gets an error then, however long the reconnects continue."""
_ENDED = frozenset({"ok", "error", "aborted"})


class ChatRequester(Protocol):
    async def request(self, method: str, params: Any) -> Raw | UnsetType: ...


_Read = TypeVar("_Read", bound=msgspec.Struct)


class _SendAnswer(msgspec.Struct, rename="camel"):
    status: str | None = None
    run_id: str | None = None


_SEND_ANSWER = msgspec.json.Decoder(_SendAnswer)


class _ContentPart(msgspec.Struct):
    type: str = "text"
    text: str = ""


class _HistoryRow(msgspec.Struct, rename="camel"):
    role: str = ""
    content: str | list[_ContentPart] = ""
    stop_reason: str | None = None
    error_message: str | None = None

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)

    @property
    def outcome(self) -> Outcome:
        """A failed run has its error in place of an answer."""
        if self.error_message or self.stop_reason == "error":
            return "error"
        return "aborted" if self.stop_reason == "aborted" else "final"


class _History(msgspec.Struct):
    messages: list[_HistoryRow] = msgspec.field(default_factory=list)


class RemoteRun:
    """One message and its answer. Its key makes it safe to send again: the gateway reports what became of the first
    one.
    """

    def __init__(self, client: ChatRequester, router: GatewayEventRouter, session_key: str, text: str) -> None:
        self._key = self.run_id = str(uuid4())
        self._client = client
        self._router = router
        self._session_key = session_key
        self._text = text
        self._event_at_s = self._connected_at_s = 0.0
        self._can_query = True
        self._last_answer = ""

    async def events(self) -> AsyncGenerator[ChatEvent, None]:
        """The events of the run; the last is a `Done`."""
        with self._router.subscribe() as subscription:
            self._event_at_s = self._connected_at_s = anyio.current_time()
            is_over, was_ended = await self._send(tolerated=chat_errors.CONNECTION_LOST_CODES), False
            while not is_over:
                event = await self._next(subscription)
                if event is None:
                    # The last frames may have come together with that response: check once more before giving up.
                    is_over, was_ended = was_ended, await self._has_ended()
                elif isinstance(event, ChatGap):
                    # Within a connection the end is never dropped, and later text corrects the earlier.
                    is_over = event.expected == 0 and await self._send(tolerated=chat_errors.RECOVERABLE_CODES)
                else:
                    yield event
                    if isinstance(event, Done):
                        return
        async for event in self._reloaded():
            yield event

    async def _send(self, *, tolerated: frozenset[str]) -> bool:
        """Send the message.

        Returns whether the run has ended already. A connection that is lost now comes back as a gap; if there was none
        from the start, the first attempt raises.
        """
        params = {"sessionKey": self._session_key, "message": self._text, "idempotencyKey": self._key}
        try:
            answer = await self._client.request("chat.send", params)
        except DragomanError as error:
            if error.code not in tolerated:
                raise
            return False
        taken = read(answer, _SEND_ANSWER) or _SendAnswer()
        self.run_id = taken.run_id or self.run_id
        return taken.status == "ok"

    async def _next(self, subscription: EventSubscription) -> ChatEvent | None:
        """The next event of this run, or a gap; None if it has been silent for a while."""
        event = await _next_of_run(subscription, self.run_id)
        if event is not None and not isinstance(event, ChatGap):
            self._event_at_s = self._connected_at_s = anyio.current_time()
            return event
        most_s = SILENT_AT_MOST_S if self._can_query else UNCONFIRMED_AT_MOST_S
        if anyio.current_time() - self._event_at_s >= most_s:
            raise chat_errors.run_silent(seconds=most_s)
        return event

    async def _has_ended(self) -> bool:
        """Check for the end with requests that cannot start anything.

        The protocol document has no such request: there, an answer in the history that no longer changes is the end.
        """
        try:
            is_over = await self._is_reported_ended() if self._can_query else await self._is_answered()
        except DragomanError as error:
            self._require_brief_outage(error)
            return False
        self._connected_at_s = anyio.current_time()
        return is_over

    async def _is_reported_ended(self) -> bool:
        try:
            answer = await self._client.request("agent.wait", {"runId": self.run_id, "timeoutMs": 1})
        except chat_errors.GatewayRequestError:
            self._can_query = False
            return await self._is_answered()
        return (read(answer, _SEND_ANSWER) or _SendAnswer()).status in _ENDED

    async def _is_answered(self) -> bool:
        rows = await self._history()
        question = next((row.text for row in reversed(rows) if row.role == "user"), "")
        before, (self._last_answer, _) = self._last_answer, _answer_in(rows)
        is_stable = before in ("", self._last_answer)
        return question.strip() == self._text.strip() and bool(self._last_answer) and is_stable

    async def _history(self) -> list[_HistoryRow]:
        answer = await self._client.request("chat.history", {"sessionKey": self._session_key})
        return [] if isinstance(answer, UnsetType) else _decoded(answer, _History).messages

    def _require_brief_outage(self, error: DragomanError) -> None:
        now_s = anyio.current_time()
        if error.code not in chat_errors.RECOVERABLE_CODES:
            self._connected_at_s = now_s
        elif now_s - self._connected_at_s >= MAX_OUTAGE_S:
            raise chat_errors.gateway_stayed_away(seconds=MAX_OUTAGE_S) from error

    async def _reloaded(self) -> AsyncIterator[ChatEvent]:
        """The end was missed: read the answer from the history."""
        text, last = _answer_in(await self._history())
        yield ChatTextDelta(run_id=self.run_id, session_key=self._session_key, content=text, replace=True)
        reasons = {"final": "end_turn", "error": last.error_message or last.text or "error"}
        reason = reasons.get(last.outcome, last.outcome)
        yield Done(run_id=self.run_id, session_key=self._session_key, stop_reason=reason, outcome=last.outcome)


async def _next_of_run(subscription: EventSubscription, run_id: str) -> ChatEvent | None:
    with anyio.move_on_after(POLL_INTERVAL_S):
        while True:
            event = await subscription.next()
            if isinstance(event, ChatGap) or event.run_id == run_id:
                return event
    return None


def _answer_in(rows: list[_HistoryRow]) -> tuple[str, _HistoryRow]:
    """Everything since the person's message: text before a tool call is a row of its own."""
    last_question = max((number for number, row in enumerate(rows) if row.role == "user"), default=-1)
    answers = [row for row in rows[last_question + 1 :] if row.role == "assistant"]
    return "\n\n".join(row.text for row in answers if row.text), answers[-1] if answers else _HistoryRow()


def _decoded(answer: Raw, kind: type[_Read]) -> _Read:
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.DecodeError:
        raise chat_errors.unreadable_answer() from None
