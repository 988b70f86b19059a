"""DAP messages that a backend makes itself, and the plain fields of those it got."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from dragoman.errors import RemoteProtocolError
from dragoman.wire.dap import Event, Response


def made(event: str, **body: Any) -> Event:
    return Event(event=event, body=msgspec.Raw(msgspec.json.encode(body)))


def output(text: str, category: str) -> Event:
    return made("output", output=text, category=category)


def answer(command: str, body: Any) -> Response:
    return Response(request_seq=0, success=True, command=command, body=msgspec.Raw(msgspec.json.encode(body)))


def fields(event: Event) -> dict[str, Any]:
    try:
        return {} if event.body is UNSET else msgspec.json.decode(event.body, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise RemoteProtocolError("bad_body", f"The body of `{event.event}` is not an object: {error}") from error
