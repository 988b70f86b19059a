"""Read request bodies as structs, and write JSON and streamed text."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, TypeVar

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.servers.web.guard import read_body


class RequestBody(msgspec.Struct, forbid_unknown_fields=True):
    pass


_Read = TypeVar("_Read", bound=RequestBody)


async def read_request(request: Request, takes: type[_Read]) -> _Read:
    try:
        return msgspec.json.decode(await read_body(request), type=takes)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        names = ", ".join(each.name for each in msgspec.structs.fields(takes))
        raise DragomanError(
            "bad_request",
            localize("The request body is invalid."),
            hint=localize("Send an object with these fields: {names}.", names=names),
        ) from error


def json_response(value: Any) -> Response:
    """Encode with msgspec: NaN and infinities become null instead of an error."""
    return Response(msgspec.json.encode(value), media_type="application/json")


class StreamedText(Response):
    media_type = "text/plain"

    def __init__(self, pieces: AsyncGenerator[str, None]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_on_disconnect, receive, group.cancel_scope)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with aclosing(self._pieces) as pieces:
                async for piece in pieces:
                    body = piece.encode(errors="replace")  # program output may not be valid text
                    await send({"type": "http.response.body", "body": body, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
            group.cancel_scope.cancel("the response is complete")


async def _cancel_on_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel("the caller left")
