"""Where HTTP clients enter, at `/mcp`. Like the pump's door it imports nothing of the SDK before somebody comes.

What is refused here is refused as JSON-RPC, because a client shows its user that and not the body of a status.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskGroup
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from dragoman.access.guard import OwnNames
from dragoman.errors import DragomanError
from dragoman.mcp.asked import Asked
from dragoman.mcp.door import Door
from dragoman.phrases import Language, say
from dragoman.tools import Toolbox
from dragoman.wire.jsonrpc import INVALID_REQUEST, PARSE_ERROR, TOO_MANY_PARTS, Id, has_too_many_parts

if TYPE_CHECKING:
    from dragoman.mcp.guests import Guests

_LOADED_WITHIN_S = 30.0
_INVALID_PARAMS = -32602
_UNAVAILABLE = -32000

# The status of the HTTP answer and the code of the JSON-RPC error in it.
_REFUSALS: dict[str, tuple[int, int]] = {
    "not_json": (400, PARSE_ERROR),
    TOO_MANY_PARTS: (400, INVALID_REQUEST),
    "not_a_message": (400, INVALID_REQUEST),
    "encoded_body": (415, INVALID_REQUEST),
    "id_in_use": (400, INVALID_REQUEST),
    "session_needed": (400, INVALID_REQUEST),
    "unknown_mcp_session": (404, INVALID_REQUEST),
    "wrong_method": (405, INVALID_REQUEST),
    "no_such_folder": (400, _INVALID_PARAMS),
    "workspace_too_wide": (400, _INVALID_PARAMS),
    "unknown_tool_set": (400, _INVALID_PARAMS),
    "too_many_calls": (503, _UNAVAILABLE),
}


class Params(msgspec.Struct):
    meta: dict[str, Any] = msgspec.field(name="_meta", default_factory=dict)


class Envelope(msgspec.Struct):
    """As much of a message as is needed to know whose it is; the SDK reads the rest."""

    id: Id | None = None
    method: str = ""
    params: Params = msgspec.field(default_factory=Params)


class HttpDoor:
    def __init__(self, door: Door, names: OwnNames, workspace: Path) -> None:
        """`workspace` is for clients that name none."""
        self._door = door
        self._names = names
        self._workspace = workspace
        self._knocked = anyio.Event()
        self._opened = anyio.Event()
        self._life = anyio.CancelScope()
        self._guests: Guests

    async def run(self) -> None:
        """For as long as the daemon serves: every session of HTTP clients is a task in here."""
        with self._life:
            await self._knocked.wait()
            make = await anyio.to_thread.run_sync(_load, self._door.toolbox)
            async with anyio.create_task_group() as group:
                self._guests = make(self._door, self._names, self._workspace, group)
                self._opened.set()
                await anyio.sleep_forever()

    def end(self) -> None:
        """Before the HTTP server is asked to end: it waits for open streams."""
        self._life.cancel("the daemon ends")

    async def __call__(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        asked = Asked.of(connection)
        envelope = Envelope()
        try:
            if scope["method"] == "POST":
                envelope = _envelope(connection, body)
            guests = await self._loaded()
            await guests.serve(asked, envelope, scope, _replayed(body, receive), send)
        except DragomanError as error:
            if error.code not in _REFUSALS:
                raise
            await _refusal(error, envelope.id, asked.language)(scope, receive, send)

    async def _loaded(self) -> Guests:
        self._knocked.set()
        with anyio.fail_after(_LOADED_WITHIN_S):
            await self._opened.wait()
        return self._guests


def _load(toolbox: Toolbox) -> Callable[[Door, OwnNames, Path, TaskGroup], Guests]:
    """In a worker thread: the event loop goes on meanwhile."""
    from dragoman.mcp.guests import Guests  # noqa: PLC0415

    toolbox.describe()
    logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells of every session's beginning and end, as we do
    return Guests


def _envelope(connection: HTTPConnection, body: bytes) -> Envelope:
    if connection.headers.get("content-encoding", "identity") != "identity":
        raise DragomanError("encoded_body", say("A compressed body is not taken."), hint=say("Send it as it is."))
    if has_too_many_parts(body):
        raise DragomanError(TOO_MANY_PARTS, say("The message has too many parts."), hint=say("Send less at once."))
    try:
        return msgspec.json.decode(body, type=Envelope)
    except msgspec.ValidationError as error:
        raise DragomanError(
            "not_a_message", say("The body is not one JSON-RPC 2.0 message."), hint=say("Send one message a request.")
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DragomanError("not_json", say("The body is not JSON.")) from error


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The SDK reads the body once more; after it comes what the server still has to say: that the client left."""
    told = False

    async def receive_again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _refusal(error: DragomanError, request_id: Id | None, language: Language) -> Response:
    status, code = _REFUSALS[error.code]
    said = {"code": code, "message": error.in_language(language), "data": {"code": error.code}}
    answer = msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": said})
    return Response(answer, status_code=status, media_type="application/json")
