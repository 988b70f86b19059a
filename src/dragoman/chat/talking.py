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
from dragoman.wire.gateway.vocabulary import ChatEvent, Done, Gap, Outcome, TextDelta

SILENT_AT_MOST_S = 600.0
LOOKS_EVERY_S = 5.0
"""When a run is silent: its end may have been in frames that were lost, and real gateways call a run that has told its
end `in_flight` for seconds."""
AWAY_AT_MOST_S = 60.0
"""Without a connection in the middle of a run: who waits is told, however long we go on trying to come back."""
_HISTORY = 20
_ENDED = frozenset({"ok", "error", "aborted"})


class Requests(Protocol):
    async def request(self, method: str, params: Any) -> Raw | UnsetType: ...


_Read = TypeVar("_Read", bound=msgspec.Struct)


class _Taken(msgspec.Struct):
    status: str = ""


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
    """Its key makes sending it again harmless: the gateway says what became of the first time."""

    def __init__(self, client: Requests, router: Router, session_key: str, text: str) -> None:
        self.run_id = str(uuid4())
        self._client = client
        self._router = router
        self._session_key = session_key
        self._text = text
        self._heard_at_s = self._there_at_s = 0.0

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
                    is_over = await self._send(borne=faults.LOST)
                else:
                    yield event
                    if isinstance(event, Done):
                        return
        async for event in self._reloaded():
            yield event

    async def _send(self, *, borne: frozenset[str]) -> bool:
        """Whether the run has ended already. A connection that is lost now comes back as a gap; one that never was
        there does not, and the first time says so."""
        params = {"sessionKey": self._session_key, "message": self._text, "idempotencyKey": self.run_id}
        try:
            answer = await self._client.request("chat.send", params)
        except DragomanError as error:
            if error.code not in borne:
                raise
            return False
        return not isinstance(answer, UnsetType) and _decoded(answer, _Taken).status == "ok"

    async def _next(self, heard: Listening) -> ChatEvent | None:
        """The next of this run, or a gap; None: it has been silent for a while."""
        event = await _of_run(heard, self.run_id)
        if event is not None and not isinstance(event, Gap):
            self._heard_at_s = self._there_at_s = anyio.current_time()
        elif anyio.current_time() - self._heard_at_s >= SILENT_AT_MOST_S:
            raise faults.no_answer("chat.send", SILENT_AT_MOST_S)
        return event

    async def _has_ended(self) -> bool:
        """Asked in a way that cannot begin anything. A gateway that does not know the question says nothing by that."""
        try:
            answer = await self._client.request("agent.wait", {"runId": self.run_id, "timeoutMs": 1})
        except DragomanError as error:
            self._bear(error)
            return False
        self._there_at_s = anyio.current_time()
        return not isinstance(answer, UnsetType) and _decoded(answer, _Taken).status in _ENDED

    def _bear(self, error: DragomanError) -> None:
        now_s = anyio.current_time()
        if error.code not in faults.LOST:
            self._there_at_s = now_s
        elif now_s - self._there_at_s >= AWAY_AT_MOST_S:
            raise faults.stayed_away(AWAY_AT_MOST_S) from error

    async def _reloaded(self) -> AsyncIterator[ChatEvent]:
        """The end was missed: what was said stands in the history."""
        answer = await self._client.request("chat.history", {"sessionKey": self._session_key, "limit": _HISTORY})
        rows = [] if isinstance(answer, UnsetType) else _decoded(answer, _History).messages
        text, last = _answer(rows)
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
