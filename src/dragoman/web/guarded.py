"""The guard in front of every route and upgrade, the cap on every body, and the headers of every answer."""

from __future__ import annotations

import anyio
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.access.guard import HOLDER, OwnNames, Presented, Refusal, Room, bearer_of, judge
from dragoman.access.tokens import Purpose, Tokens
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.web.errors import language_of, refusal_response
from dragoman.web.routes import Gate, RouteTable

BODY_CAP = 1 << 20
BODY_WITHIN_S = 10.0

_ANSWER_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_KEPT_BY_BROWSERS = {"Cache-Control": "public, max-age=31536000, immutable"}


class Guarded:
    def __init__(self, app: ASGIApp, table: RouteTable, names: OwnNames, tokens: Tokens) -> None:
        self._app = app
        self.table = table
        self._names = names
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        gate = self.table.gate_of(scope)
        presented = _presented(connection)
        wanted: tuple[Purpose | None, Room] = (gate.purpose, gate.room) if gate else (None, "lobby")
        refusal = judge(presented, self._names, self._tokens, *wanted)
        if refusal is None and gate is None:
            refusal = Refusal(404, "not_found")
        bearer = bearer_of(presented)
        if gate is not None and gate.purpose is not None and bearer is not None:
            scope[HOLDER] = self._tokens.holder(gate.purpose, bearer)
        if refusal is not None:
            await _refuse(refusal, connection, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._answer(gate, scope, receive, send)

    async def _answer(self, gate: Gate | None, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                keeps = gate is not None and gate.is_immutable and message["status"] == 200
                MutableHeaders(scope=message).update(_ANSWER_HEADERS | (_KEPT_BY_BROWSERS if keeps else {}))
            await send(message)

        await self._app(scope, _capped(receive), send_marked)


def _presented(connection: HTTPConnection) -> Presented:
    headers = connection.headers
    return Presented(
        hosts=headers.getlist("host"),
        origins=headers.getlist("origin"),
        authorizations=headers.getlist("authorization"),
    )


async def _refuse(refusal: Refusal, connection: HTTPConnection, receive: Receive, send: Send) -> None:
    """Before the upgrade: a refused WebSocket gets an HTTP answer, never a 101."""
    response = refusal_response(refusal, language_of(connection))
    response.headers.update(_ANSWER_HEADERS)
    response.headers["Connection"] = "close"
    await response(connection.scope, receive, send)


def _capped(receive: Receive) -> Receive:
    """A body is at most a mebibyte and arrives within ten seconds."""
    received = 0

    async def receive_capped() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > BODY_CAP:
            raise DragomanError("body_too_large", say("The body is larger than {limit} bytes.", limit=BODY_CAP))
        return message

    return receive_capped


async def read_body(request: Request) -> bytes:
    """The whole body of a request, or a clear error."""
    try:
        with anyio.fail_after(BODY_WITHIN_S):
            return await request.body()
    except TimeoutError as error:
        raise DragomanError(
            "body_too_slow", say("The body did not arrive within {limit} seconds.", limit=BODY_WITHIN_S)
        ) from error
    except ClientDisconnect as error:
        raise DragomanError("bad_request", say("The body was cut short.")) from error
