"""The page's requests over one authenticated WebSocket: between two plain requests another process could take over
the port.

`{"id", "method", "path", "language", "body"}` is a request. Pieces answer it: `{"id", "status", "text", "more"}`, the
status in the first one only. `{"id", "cancel": true}` is what a closed connection is for a plain request.
"""

from __future__ import annotations

import codecs
import logging
from collections.abc import AsyncIterator, Iterator

import anyio
import msgspec
from starlette.types import ASGIApp, Message, Scope
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.servers.web.sockets import CLOSE_BAD_MESSAGE, close

log = logging.getLogger(__name__)

OPEN_AT_MOST = 64
PIECE_BYTES = 256 << 10
_ENDS_WITHIN_S = 5.0
_TOO_MANY = (
    '{"error":{"code":"too_many_calls","message":"The page asks more at once than the daemon takes.","hint":""}}'
)


class _MultiplexedRequest(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    method: str = "GET"
    path: str = "/"
    language: str = ""
    body: msgspec.Raw = msgspec.Raw(b"")
    cancel: bool = False


class Multiplexer:
    """Serves an app's routes over a WebSocket. Who may call them was decided when the socket was authenticated."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def serve(self, socket: WebSocket) -> None:
        """Serve until the page disconnects. Open requests are notified and have a moment to end by themselves."""
        open_: dict[int, _Exchange] = {}
        async with anyio.create_task_group() as group:
            async for request in _read_requests(socket):
                if request.cancel:
                    if request.id in open_:
                        open_[request.id].disconnected.set()
                elif request.id in open_:
                    await close(socket, CLOSE_BAD_MESSAGE, "an id that is open already")
                    break
                elif len(open_) >= OPEN_AT_MOST:
                    await _Exchange(socket, request).refuse(429, _TOO_MANY)
                else:
                    open_[request.id] = exchange = _Exchange(socket, request)
                    group.start_soon(self._answer, exchange, open_)
            for exchange in open_.values():
                exchange.disconnected.set()
            group.cancel_scope.deadline = anyio.current_time() + _ENDS_WITHIN_S

    async def _answer(self, exchange: _Exchange, open_: dict[int, _Exchange]) -> None:
        try:
            await self._app(exchange.scope(), exchange.receive, exchange.send)
        except WebSocketDisconnect:
            exchange.disconnected.set()
        except Exception:
            log.exception("a request of the page failed by a fault of ours")
        finally:
            del open_[exchange.id]


class _Exchange:
    """One request and its answer, as ASGI sees them."""

    def __init__(self, socket: WebSocket, request: _MultiplexedRequest) -> None:
        self.id = request.id
        self.disconnected = anyio.Event()
        self._socket = socket
        self._request = request
        self._is_read = False
        self._status: int | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def scope(self) -> Scope:
        path, _, query = self._request.path.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self._request.method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"accept-language", self._request.language.encode())],
            "client": None,
            "server": None,
        }

    async def receive(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": bytes(self._request.body), "more_body": False}
        await self.disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            return
        more = message.get("more_body", False)
        for data, is_last in _split_body(message.get("body", b"")):
            await self._send_piece(self._decoder.decode(data, final=is_last and not more), more=more or not is_last)

    async def refuse(self, status: int, text: str) -> None:
        self._status = status
        await self._send_piece(text, more=False)

    async def _send_piece(self, text: str, *, more: bool) -> None:
        piece: dict[str, object] = {"id": self.id, "text": text, "more": more}
        if self._status is not None:
            piece["status"], self._status = self._status, None
        if not self.disconnected.is_set():
            await self._socket.send_text(msgspec.json.encode(piece).decode())


def _split_body(body: bytes) -> Iterator[tuple[bytes, bool]]:
    """Split into at least one piece; each with whether it is the last."""
    for at in range(0, max(1, len(body)), PIECE_BYTES):
        yield body[at : at + PIECE_BYTES], at + PIECE_BYTES >= len(body)


async def _read_requests(socket: WebSocket) -> AsyncIterator[_MultiplexedRequest]:
    """Read requests until the page disconnects or violates the protocol."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        try:
            yield msgspec.json.decode(message.get("text") or "", type=_MultiplexedRequest)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            await close(socket, CLOSE_BAD_MESSAGE, "not a request")
            return
