"""One message to an agent behind a gateway, and its answer as it comes; over lost frames and lost connections."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import anyio
import msgspec
from msgspec import Raw, UnsetType

from dragoman.chat import faults
from dragoman.chat.listening import Listening
from dragoman.chat.router import Router
from dragoman.errors import DragomanError
from dragoman.wire.gateway.payloads import read
from dragoman.wire.gateway.vocabulary import ChatEvent, Done, Gap, Outcome, TextDelta

SILENT_AT_MOST_S = 600.0
UNCONFIRMED_AT_MOST_S = 120.0
"""Where the gateway cannot be asked whether a silent run still goes on."""
LOOKS_EVERY_S = 5.0
"""When a run is silent: its end may have been in frames that were lost, and real gateways call a run that has told its
end `in_flight` for seconds."""
AWAY_AT_MOST_S = 60.0
"""Without a connection in the middle of a run: who waits is told, however long we go on trying to come back."""
_ENDED = frozenset({"ok", "error", "aborted"})


class Requests(Protocol):
    async def request(self, method: str, params: Any) -> Raw | UnsetType: ...


_Read = TypeVar("_Read", bound=msgspec.Struct)


class _Taken(msgspec.Struct, rename="camel"):
    status: str | None = None
    run_id: str | None = None


_TAKEN = msgspec.json.Decoder(_Taken)


class _Part(msgspec.Struct):
    type: str = "text"
    text: str = ""


class _Row(msgspec.Struct, rename="camel"):
    role: str = ""
    content: str | list[_Part] = ""
    stop_reason: str | None = None
    error_message: str | None = None

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)

    @property
    def outcome(self) -> Outcome:
        """A run that failed has its error in the place of an answer."""
        if self.error_message or self.stop_reason == "error":
            return "error"
        return "aborted" if self.stop_reason == "aborted" else "final"


class _History(msgspec.Struct):
    messages: list[_Row] = msgspec.field(default_factory=list)


class Talk:
    """Its key makes sending it again harmless: the gateway says what became of the first time, and names the run."""

    def __init__(self, client: Requests, router: Router, session_key: str, text: str) -> None:
        self._key = self.run_id = str(uuid4())
        self._client = client
        self._router = router
        self._session_key = session_key
        self._text = text
        self._heard_at_s = self._there_at_s = 0.0
        self._can_ask = True
        self._last_answer = ""

    async def events(self) -> AsyncGenerator[ChatEvent, None]:
        """The run's own, the last is a `Done`."""
        with self._router.listen() as heard:
            self._heard_at_s = self._there_at_s = anyio.current_time()
            is_over, said_ended = await self._send(borne=faults.BROKEN_OFF), False
            while not is_over:
                event = await self._next(heard)
                if event is None:
                    # Its last frames may have come with that answer: only when there still are none, there are none.
                    is_over, said_ended = said_ended, await self._has_ended()
                elif isinstance(event, Gap):
                    # Within a connection the end is never among what was left out, and later text corrects the earlier.
                    is_over = event.expected == 0 and await self._send(borne=faults.LOST)
                else:
                    yield event
                    if isinstance(event, Done):
                        return
        async for event in self._reloaded():
            yield event

    async def _send(self, *, borne: frozenset[str]) -> bool:
        """Whether the run has ended already. A connection that is lost now comes back as a gap; one that never was
        there does not, and the first time says so."""
        params = {"sessionKey": self._session_key, "message": self._text, "idempotencyKey": self._key}
        try:
            answer = await self._client.request("chat.send", params)
        except DragomanError as error:
            if error.code not in borne:
                raise
            return False
        taken = read(answer, _TAKEN) or _Taken()
        self.run_id = taken.run_id or self.run_id
        return taken.status == "ok"

    async def _next(self, heard: Listening) -> ChatEvent | None:
        """The next of this run, or a gap; None: it has been silent for a while."""
        event = await _of_run(heard, self.run_id)
        if event is not None and not isinstance(event, Gap):
            self._heard_at_s = self._there_at_s = anyio.current_time()
            return event
        most_s = SILENT_AT_MOST_S if self._can_ask else UNCONFIRMED_AT_MOST_S
        if anyio.current_time() - self._heard_at_s >= most_s:
            raise faults.no_end(most_s)
        return event

    async def _has_ended(self) -> bool:
        """Asked in a way that cannot begin anything. The protocol document has no such question: where it is not
        known, an answer in the history that does not change any more is the end."""
        try:
            is_over = await self._is_said_to_be_over() if self._can_ask else await self._is_answered()
        except DragomanError as error:
            self._bear(error)
            return False
        self._there_at_s = anyio.current_time()
        return is_over

    async def _is_said_to_be_over(self) -> bool:
        try:
            answer = await self._client.request("agent.wait", {"runId": self.run_id, "timeoutMs": 1})
        except faults.RequestFailedError:
            self._can_ask = False
            return await self._is_answered()
        return (read(answer, _TAKEN) or _Taken()).status in _ENDED

    async def _is_answered(self) -> bool:
        rows = await self._history()
        asked = next((row.text for row in reversed(rows) if row.role == "user"), "")
        before, (self._last_answer, _) = self._last_answer, _answer(rows)
        is_stable = before in ("", self._last_answer)
        return asked.strip() == self._text.strip() and bool(self._last_answer) and is_stable

    async def _history(self) -> list[_Row]:
        answer = await self._client.request("chat.history", {"sessionKey": self._session_key})
        return [] if isinstance(answer, UnsetType) else _decoded(answer, _History).messages

    def _bear(self, error: DragomanError) -> None:
        now_s = anyio.current_time()
        if error.code not in faults.LOST:
            self._there_at_s = now_s
        elif now_s - self._there_at_s >= AWAY_AT_MOST_S:
            raise faults.stayed_away(AWAY_AT_MOST_S) from error

    async def _reloaded(self) -> AsyncIterator[ChatEvent]:
        """The end was missed: what was said stands in the history."""
        text, last = _answer(await self._history())
        yield TextDelta(run_id=self.run_id, session_key=self._session_key, content=text, replace=True)
        reasons = {"final": "end_turn", "error": last.error_message or last.text or "error"}
        reason = reasons.get(last.outcome, last.outcome)
        yield Done(run_id=self.run_id, session_key=self._session_key, stop_reason=reason, outcome=last.outcome)


async def _of_run(heard: Listening, run_id: str) -> ChatEvent | None:
    with anyio.move_on_after(LOOKS_EVERY_S):
        while True:
            event = await heard.next()
            if isinstance(event, Gap) or event.run_id == run_id:
                return event
    return None


def _answer(rows: list[_Row]) -> tuple[str, _Row]:
    """Everything since the person spoke: what was said before a tool call is a row of its own."""
    asked = max((number for number, row in enumerate(rows) if row.role == "user"), default=-1)
    said = [row for row in rows[asked + 1 :] if row.role == "assistant"]
    return "\n\n".join(row.text for row in said if row.text), said[-1] if said else _Row()


def _decoded(answer: Raw, kind: type[_Read]) -> _Read:
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.DecodeError:
        raise faults.unreadable() from None
