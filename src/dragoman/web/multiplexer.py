"""Requests of the page over one proved WebSocket: between two plain requests the port could change hands.

`{"id", "method", "path", "language", "body"}` asks. Pieces answer: `{"id", "status", "text", "more"}`, the status in
the first one only. `{"id", "cancel": true}` is what a closed connection is for a plain request.
"""

from __future__ import annotations

import codecs
import logging
from collections.abc import AsyncIterator, Iterator

import anyio
import msgspec
from starlette.types import ASGIApp, Message, Scope
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.web.sockets import CLOSE_BAD_MESSAGE, close

log = logging.getLogger(__name__)

OPEN_AT_MOST = 64
PIECE_BYTES = 256 << 10
_ENDS_WITHIN_S = 5.0
_TOO_MANY = (
    '{"error":{"code":"too_many_calls","message":"The page asks more at once than the daemon takes.","hint":""}}'
)


class _Asked(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    method: str = "GET"
    path: str = "/"
    language: str = ""
    body: msgspec.Raw = msgspec.Raw(b"")
    cancel: bool = False


class Multiplexer:
    """Serves an app's routes over a socket. Who may call them was decided when the socket was proved."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def serve(self, socket: WebSocket) -> None:
        """What is open when the page leaves hears of it, and has a moment to end by itself."""
        open_: dict[int, _Exchange] = {}
        async with anyio.create_task_group() as group:
            async for asked in _asked(socket):
                if asked.cancel:
                    if asked.id in open_:
                        open_[asked.id].left.set()
                elif asked.id in open_:
                    await close(socket, CLOSE_BAD_MESSAGE, "an id that is open already")
                    break
                elif len(open_) >= OPEN_AT_MOST:
                    await _Exchange(socket, asked).refuse(429, _TOO_MANY)
                else:
                    open_[asked.id] = exchange = _Exchange(socket, asked)
                    group.start_soon(self._answer, exchange, open_)
            for exchange in open_.values():
                exchange.left.set()
            group.cancel_scope.deadline = anyio.current_time() + _ENDS_WITHIN_S

    async def _answer(self, exchange: _Exchange, open_: dict[int, _Exchange]) -> None:
        try:
            await self._app(exchange.scope(), exchange.receive, exchange.send)
        except WebSocketDisconnect:
            exchange.left.set()
        except Exception:
            log.exception("a request of the page failed by a fault of ours")
        finally:
            del open_[exchange.id]


class _Exchange:
    """One request and its answer, as ASGI sees them."""

    def __init__(self, socket: WebSocket, asked: _Asked) -> None:
        self.id = asked.id
        self.left = anyio.Event()
        self._socket = socket
        self._asked = asked
        self._is_read = False
        self._status: int | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def scope(self) -> Scope:
        path, _, query = self._asked.path.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self._asked.method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"accept-language", self._asked.language.encode())],
            "client": None,
            "server": None,
        }

    async def receive(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": bytes(self._asked.body), "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            return
        more = message.get("more_body", False)
        for data, is_last in _cut(message.get("body", b"")):
            await self._say(self._decoder.decode(data, final=is_last and not more), more=more or not is_last)

    async def refuse(self, status: int, text: str) -> None:
        self._status = status
        await self._say(text, more=False)

    async def _say(self, text: str, *, more: bool) -> None:
        piece: dict[str, object] = {"id": self.id, "text": text, "more": more}
        if self._status is not None:
            piece["status"], self._status = self._status, None
        if not self.left.is_set():
            await self._socket.send_text(msgspec.json.encode(piece).decode())


def _cut(body: bytes) -> Iterator[tuple[bytes, bool]]:
    """At least one piece, and whether it is the last."""
    for at in range(0, max(1, len(body)), PIECE_BYTES):
        yield body[at : at + PIECE_BYTES], at + PIECE_BYTES >= len(body)


async def _asked(socket: WebSocket) -> AsyncIterator[_Asked]:
    """Until the page leaves, or says what it may not."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        try:
            yield msgspec.json.decode(message.get("text") or "", type=_Asked)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            await close(socket, CLOSE_BAD_MESSAGE, "not a request")
            return
