"""The guard in front of every route: Host, Origin and token, the body limit, and the response headers.

Each route states who it is for and which token it needs. A route without a token is still guarded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import anyio
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.access.request_guard import (
    HOLDER,
    AllowedNames,
    Audience,
    GuardRefusal,
    PresentedHeaders,
    bearer_token,
    judge,
)
from dragoman.access.tokens import Purpose, Tokens
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.servers.web.errors import refusal_response, request_language

BODY_CAP = 1 << 20
BODY_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class GuardedRoute:
    route: BaseRoute
    purpose: Purpose | None
    audience: Audience = "programs"
    is_immutable: bool = False
    """A file with such a name never changes: the name is a digest of the content."""


class RouteTable:
    """Every route of the server, in one place that a test can walk."""

    def __init__(self, guarded_routes: Sequence[GuardedRoute]) -> None:
        self._guarded_routes = tuple(guarded_routes)

    def __iter__(self) -> Iterator[GuardedRoute]:
        return iter(self._guarded_routes)

    @property
    def routes(self) -> list[BaseRoute]:
        return [gate.route for gate in self._guarded_routes]

    def find_route(self, scope: Scope) -> GuardedRoute | None:
        """Find a route, even for a method that it does not serve: its existence is not revealed without its token."""
        return next((gate for gate in self._guarded_routes if gate.route.matches(scope)[0] is not Match.NONE), None)


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
_IMMUTABLE_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable"}


class GuardMiddleware:
    """The guard as ASGI middleware. It refuses before the upgrade: a refused WebSocket gets an HTTP response."""

    def __init__(self, app: ASGIApp, table: RouteTable, names: AllowedNames, tokens: Tokens) -> None:
        self._app = app
        self.table = table
        self._names = names
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        gate = self.table.find_route(scope)
        presented = _presented(connection)
        wanted: tuple[Purpose | None, Audience] = (gate.purpose, gate.audience) if gate else (None, "lobby")
        refusal = judge(presented, self._names, self._tokens, *wanted)
        if refusal is None and gate is None:
            refusal = GuardRefusal(404, "not_found")
        bearer = bearer_token(presented)
        if gate is not None and gate.purpose is not None and bearer is not None:
            scope[HOLDER] = self._tokens.holder(gate.purpose, bearer)
        if refusal is not None:
            await _refuse(refusal, connection, receive, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._answer(gate, scope, receive, send)

    async def _answer(self, gate: GuardedRoute | None, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                keeps = gate is not None and gate.is_immutable and message["status"] == 200
                MutableHeaders(scope=message).update(_ANSWER_HEADERS | (_IMMUTABLE_HEADERS if keeps else {}))
            await send(message)

        await self._app(scope, _capped(receive), send_marked)


def _presented(connection: HTTPConnection) -> PresentedHeaders:
    headers = connection.headers
    return PresentedHeaders(
        hosts=headers.getlist("host"),
        origins=headers.getlist("origin"),
        authorizations=headers.getlist("authorization"),
    )


async def _refuse(refusal: GuardRefusal, connection: HTTPConnection, receive: Receive, send: Send) -> None:
    """Refuse before the upgrade: a refused WebSocket gets an HTTP response, never a 101."""
    response = refusal_response(refusal, request_language(connection))
    response.headers.update(_ANSWER_HEADERS)
    response.headers["Connection"] = "close"
    await response(connection.scope, receive, send)


def _capped(receive: Receive) -> Receive:
    """Limit a body to one mebibyte and ten seconds."""
    received = 0

    async def receive_capped() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > BODY_CAP:
            raise DragomanError(
                "body_too_large", localize("The request body is larger than {limit} bytes.", limit=BODY_CAP)
            )
        return message

    return receive_capped


async def read_body(request: Request) -> bytes:
    """The whole body of a request, or a clear error."""
    try:
        with anyio.fail_after(BODY_WITHIN_S):
            return await request.body()
    except TimeoutError as error:
        raise DragomanError(
            "body_too_slow", localize("The request body did not arrive within {limit} seconds.", limit=BODY_WITHIN_S)
        ) from error
    except ClientDisconnect as error:
        raise DragomanError("bad_request", localize("The request body is incomplete.")) from error
