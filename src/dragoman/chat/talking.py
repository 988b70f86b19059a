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
from dragoman.wire.gateway.vocabulary import ChatEvent, Done, Gap, TextDelta

SILENT_AT_MOST_S = 600.0
_HISTORY = 20


class Requests(Protocol):
    async def request(self, method: str, params: Any) -> Raw | UnsetType: ...


_Read = TypeVar("_Read", bound=msgspec.Struct)


class _Taken(msgspec.Struct):
    status: str = ""


class _Part(msgspec.Struct):
    type: str = "text"
    text: str = ""


class _Row(msgspec.Struct):
    role: str = ""
    content: str | list[_Part] = ""

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


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

    async def events(self) -> AsyncGenerator[ChatEvent, None]:
        """The run's own, the last is a `Done`."""
        with self._router.listen() as heard:
            is_over = await self._send()
            while not is_over:
                event = await _next(heard)
                if isinstance(event, Gap):
                    is_over = await self._send()
                elif event.run_id == self.run_id:
                    yield event
                    if isinstance(event, Done):
                        return
        async for event in self._reloaded():
            yield event

    async def _send(self) -> bool:
        """Whether the run has ended already. A connection that is lost now comes back as a gap."""
        params = {"sessionKey": self._session_key, "message": self._text, "idempotencyKey": self.run_id}
        try:
            answer = await self._client.request("chat.send", params)
        except DragomanError as error:
            if error.code not in faults.LOST:
                raise
            return False
        return not isinstance(answer, UnsetType) and _decoded(answer, _Taken).status == "ok"

    async def _reloaded(self) -> AsyncIterator[ChatEvent]:
        """The end was missed: what was said stands in the history."""
        answer = await self._client.request("chat.history", {"sessionKey": self._session_key, "limit": _HISTORY})
        rows = [] if isinstance(answer, UnsetType) else _decoded(answer, _History).messages
        said = next((row.text for row in reversed(rows) if row.role == "assistant"), "")
        yield TextDelta(run_id=self.run_id, session_key=self._session_key, content=said, replace=True)
        yield Done(run_id=self.run_id, session_key=self._session_key, stop_reason="end_turn")


async def _next(heard: Listening) -> ChatEvent:
    with anyio.move_on_after(SILENT_AT_MOST_S):
        return await heard.next()
    raise faults.no_answer("chat.send", SILENT_AT_MOST_S)


def _decoded(answer: Raw, kind: type[_Read]) -> _Read:
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.DecodeError:
        raise faults.unreadable() from None
