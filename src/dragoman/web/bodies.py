"""What a page sends, as the struct that its address takes, and what it is answered."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.web.guarded import read_body


class Body(msgspec.Struct, forbid_unknown_fields=True):
    pass


_Read = TypeVar("_Read", bound=Body)


async def read_as(request: Request, takes: type[_Read]) -> _Read:
    try:
        return msgspec.json.decode(await read_body(request), type=takes)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        names = ", ".join(each.name for each in msgspec.structs.fields(takes))
        raise DragomanError(
            "bad_request",
            say("The body is not what this address takes."),
            hint=say("Send an object with: {names}.", names=names),
        ) from error


def as_json(value: Any) -> Response:
    """msgspec: numbers that are none (NaN) become null instead of an error."""
    return Response(msgspec.json.encode(value), media_type="application/json")
