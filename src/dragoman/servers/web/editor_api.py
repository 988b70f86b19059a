"""The WebSocket of an editor: both sides send requests and answers as JSON messages.

`{id, method, params}` is a request, `{id, result}` or `{id, error}` its answer, `{method, params}` a notification. An
editor needs a key of its own purpose: the page's key cannot answer for a person.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
from anyio.abc import TaskGroup
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.editors import Editor, EditorRegistry, read_editor_info
from dragoman.servers.web.sockets import CLOSE_BAD_MESSAGE, close

log = logging.getLogger(__name__)

HELLO_WITHIN_S = 5.0
CALLS_AT_ONCE = 64
CLOSE_NO_ROOM = 1013


class _EditorMessage(msgspec.Struct):
    id: int | None = None
    method: str = ""
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    result: Any = None
    error: dict[str, Any] | None = None


class _BadMessageError(Exception):
    """The message is invalid."""


@dataclass(frozen=True, slots=True)
class EditorApi:
    editors: EditorRegistry

    async def serve(self, socket: WebSocket) -> None:
        try:
            await self._handshake(socket)
        except WebSocketDisconnect:
            pass
        except _BadMessageError:
            await close(socket, CLOSE_BAD_MESSAGE, "not a message of an editor's")
        except DragomanError as error:
            await close(socket, CLOSE_NO_ROOM, error.code)

    async def _handshake(self, socket: WebSocket) -> None:
        try:
            with anyio.fail_after(HELLO_WITHIN_S):
                hello = await _receive(socket)
        except TimeoutError as error:
            raise _BadMessageError from error
        about = read_editor_info(hello.params) if hello.method == "hello" else None
        if about is None:
            raise _BadMessageError
        with self.editors.connected(about) as editor:
            editor.notify("welcome", {"id": editor.id})
            await _EditorSocket(self.editors, editor, socket).run()


class _EditorSocket:
    def __init__(self, editors: EditorRegistry, editor: Editor, socket: WebSocket) -> None:
        self._editors = editors
        self._editor = editor
        self._socket = socket
        self._calls = anyio.Semaphore(CALLS_AT_ONCE)

    async def run(self) -> None:
        broken: list[_BadMessageError] = []
        async with anyio.create_task_group() as group:
            group.start_soon(self._send, group.cancel_scope)
            try:
                while True:
                    await self._handle(await _receive(self._socket), group)
            except WebSocketDisconnect:
                pass
            except _BadMessageError as error:
                broken.append(error)
            group.cancel_scope.cancel("the editor has left")
        if broken:
            raise broken[0]

    async def _send(self, scope: anyio.CancelScope) -> None:
        """Send messages.

        Ends if the editor was dropped for not reading; the transport closes a connection that stopped reading.
        """
        try:
            async for message in self._editor.outgoing:
                await self._socket.send_text(msgspec.json.encode(message).decode())
            await close(self._socket, CLOSE_NO_ROOM, "too slow")
        except WebSocketDisconnect:
            pass
        scope.cancel("the editor has disconnected")

    async def _handle(self, request: _EditorMessage, group: TaskGroup) -> None:
        if not request.method:
            if request.id is not None:
                self._editor.handle_answer(request.id, request.result, request.error)
        elif request.id is None:
            await self._call(request)  # notifications keep their order
            await anyio.lowlevel.checkpoint()  # gives others a turn if an editor sends without a pause
        else:
            await self._calls.acquire()
            group.start_soon(self._answer, request, request.id)
            await anyio.lowlevel.checkpoint()  # the request has begun before the next notification is read

    async def _answer(self, request: _EditorMessage, number: int) -> None:
        try:
            result = await self._call(request)
            error = result if isinstance(result, DragomanError) else None
            error_body = None if error is None else {"code": error.code, "message": str(error)}
            self._editor.reply(number, None if error else result, error_body)
        finally:
            self._calls.release()

    async def _call(self, request: _EditorMessage) -> Any:
        """Handle one message. A fault of one editor must not affect others."""
        try:
            return await self._editors.call(self._editor, request.method, request.params)
        except DragomanError as error:
            log.info("an editor's %s failed: %s", ascii(request.method[:60]), error)
            return error
        except Exception:
            log.exception("an editor's %s failed by a fault of ours", ascii(request.method[:60]))
            return DragomanError("internal_error", localize("Internal error in the daemon."))


async def _receive(socket: WebSocket) -> _EditorMessage:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    try:
        return msgspec.json.decode(message.get("text") or "", type=_EditorMessage)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _BadMessageError from error
