"""What the page replays of a debug session: its stops in order, and its output in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.debug.stops.history.replay import ANSWER_BYTES, STOPS_AT_ONCE
from dragoman.servers.web.bodies import json_response
from dragoman.servers.web.errors import request_language
from dragoman.servers.web.replay_file import replay_file
from dragoman.servers.web.status_api import encode_pieces, query_number


class RecordedSessions(Protocol):
    async def stops(self, session: str, after: int) -> Sequence[msgspec.Struct]: ...

    def output(self, session: str, after: int) -> msgspec.Struct: ...

    async def recording(self, session: str) -> msgspec.Struct: ...


@dataclass(frozen=True, slots=True)
class ReplayApi:
    replays: RecordedSessions

    async def stops(self, request: Request) -> Response:
        """As many stops as fit, the oldest first; `more` says that others follow."""
        after = query_number(request, "after", default=0)
        found = await self.replays.stops(request.query_params.get("session", ""), after)
        pieces = encode_pieces(found, ANSWER_BYTES)
        more = b"true" if len(pieces) < len(found) or len(found) == STOPS_AT_ONCE else b"false"
        return Response(b'{"stops":[%b],"more":%b}' % (b",".join(pieces), more), media_type="application/json")

    async def output(self, request: Request) -> Response:
        after = query_number(request, "after", default=0)
        return json_response(self.replays.output(request.query_params.get("session", ""), after))

    async def file(self, request: Request) -> Response:
        """The session as a file that replays itself, in the language of the page."""
        session = request.query_params.get("session", "")
        text = await replay_file(self.replays.recording, session, request_language(request))
        return Response(text, media_type="text/plain; charset=utf-8")
