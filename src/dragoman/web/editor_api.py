"""The socket of an editor: it says who it is, then both sides ask and answer as JSON messages.

`{id, method, params}` asks, `{id, result}` or `{id, error}` answers, `{method, params}` tells. Its key is one
of the purpose's own: what a page holds lets nobody answer for a person.
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

from dragoman.editor import Editor, Editors, read_about
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.web.sockets import CLOSE_BAD_MESSAGE, close

log = logging.getLogger(__name__)

HELLO_WITHIN_S = 5.0
CALLS_AT_ONCE = 64
CLOSE_NO_ROOM = 1013


class _Said(msgspec.Struct):
    id: int | None = None
    method: str = ""
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    result: Any = None
    error: dict[str, Any] | None = None


class _BrokenError(Exception):
    """What came is no message of an editor's."""


@dataclass(frozen=True, slots=True)
class EditorApi:
    editors: Editors

    async def serve(self, socket: WebSocket) -> None:
        try:
            await self._welcome(socket)
        except WebSocketDisconnect:
            pass
        except _BrokenError:
            await close(socket, CLOSE_BAD_MESSAGE, "not a message of an editor's")
        except DragomanError as error:
            await close(socket, CLOSE_NO_ROOM, error.code)

    async def _welcome(self, socket: WebSocket) -> None:
        try:
            with anyio.fail_after(HELLO_WITHIN_S):
                hello = await _heard(socket)
        except TimeoutError as error:
            raise _BrokenError from error
        about = read_about(hello.params) if hello.method == "hello" else None
        if about is None:
            raise _BrokenError
        with self.editors.connected(about) as editor:
            editor.tell("welcome", {"id": editor.id})
            await _Talk(self.editors, editor, socket).run()


class _Talk:
    def __init__(self, editors: Editors, editor: Editor, socket: WebSocket) -> None:
        self._editors = editors
        self._editor = editor
        self._socket = socket
        self._calls = anyio.Semaphore(CALLS_AT_ONCE)

    async def run(self) -> None:
        broken: list[_BrokenError] = []
        async with anyio.create_task_group() as group:
            group.start_soon(self._send, group.cancel_scope)
            try:
                while True:
                    await self._take(await _heard(self._socket), group)
            except WebSocketDisconnect:
                pass
            except _BrokenError as error:
                broken.append(error)
            group.cancel_scope.cancel("the editor has left")
        if broken:
            raise broken[0]

    async def _send(self, scope: anyio.CancelScope) -> None:
        """Ends where the editor was let go since it took nothing; the transport closes one that stopped reading."""
        try:
            async for message in self._editor.outgoing:
                await self._socket.send_text(msgspec.json.encode(message).decode())
            await close(self._socket, CLOSE_NO_ROOM, "too slow")
        except WebSocketDisconnect:
            pass
        scope.cancel("nothing more can be said")

    async def _take(self, said: _Said, group: TaskGroup) -> None:
        if not said.method:
            if said.id is not None:
                self._editor.answered(said.id, said.result, said.error)
        elif said.id is None:
            await self._called(said)  # what is told keeps its order
            await anyio.lowlevel.checkpoint()  # one that tells without a pause leaves the others their turn
        else:
            await self._calls.acquire()
            group.start_soon(self._answer, said, said.id)
            await anyio.lowlevel.checkpoint()  # it has begun before what the editor tells next is heard

    async def _answer(self, said: _Said, number: int) -> None:
        try:
            result = await self._called(said)
            error = result if isinstance(result, DragomanError) else None
            told = None if error is None else {"code": error.code, "message": str(error)}
            self._editor.reply(number, None if error else result, told)
        finally:
            self._calls.release()

    async def _called(self, said: _Said) -> Any:
        """What an editor does wrong is its own affair: never the end of others'."""
        try:
            return await self._editors.call(self._editor, said.method, said.params)
        except DragomanError as error:
            log.info("an editor's %s failed: %s", ascii(said.method[:60]), error)
            return error
        except Exception:
            log.exception("an editor's %s failed by a fault of ours", ascii(said.method[:60]))
            return DragomanError("internal_error", say("Something went wrong in the daemon."))


async def _heard(socket: WebSocket) -> _Said:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    try:
        return msgspec.json.decode(message.get("text") or "", type=_Said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _BrokenError from error
