"""The page's red button: stop everything that agents do, and let them go on."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.servers.web.bodies import RequestBody, json_response, read_request

_PERSON = "the page"


class StopsEverything(Protocol):
    async def stop_all(self, person: str) -> dict[str, Any]: ...

    async def lift(self, person: str) -> dict[str, Any]: ...


class _Nothing(RequestBody):
    """The body of a request that needs none."""


class StopApi(msgspec.Struct, frozen=True):
    stop: StopsEverything

    async def stop_all(self, request: Request) -> Response:
        await read_request(request, _Nothing)
        return json_response(await self.stop.stop_all(_PERSON))

    async def lift(self, request: Request) -> Response:
        await read_request(request, _Nothing)
        return json_response(await self.stop.lift(_PERSON))
