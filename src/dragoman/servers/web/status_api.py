"""Health, status and events of the journal over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dragoman.core.errors import DragomanError
from dragoman.core.events import RecordedEvent
from dragoman.core.localization import localize
from dragoman.servers.web.bodies import json_response

MOST_EVENTS = 1000
MOST_NAMES = 200
MOST_KINDS = 50
ANSWER_BYTES = 1 << 20


def encode_pieces(rows: Sequence[msgspec.Struct], room: int) -> list[bytes]:
    """Encode the first that fit, at least one if there is any."""
    pieces: list[bytes] = []
    for row in rows:
        piece = msgspec.json.encode(row)
        if pieces and len(piece) > room:
            break
        room -= len(piece)
        pieces.append(piece)
    return pieces


class JournalEvents(Protocol):
    """What the page reads of the journal."""

    last_sequence: int

    async def read(
        self, after: int, *, limit: int, session: str | None = None, kinds: Sequence[str] = ()
    ) -> Sequence[RecordedEvent]: ...

    async def search(self, query: str, /, *, limit: int, kinds: Sequence[str]) -> Sequence[RecordedEvent]: ...

    async def wait_past(self, sequence: int) -> None: ...


class AgentUsage(Protocol):
    """What an agent has used so far. The characters are those of the results that it was sent."""

    @property
    def calls(self) -> int: ...

    @property
    def characters(self) -> int: ...


class LagMonitor(Protocol):
    def latest_ms(self) -> float: ...

    def worst_ms(self) -> float: ...


@dataclass(frozen=True, slots=True)
class StatusApi:
    record: JournalEvents
    lag: LagMonitor
    version: str
    status: Callable[[], dict[str, Any]]
    usage: Mapping[str, AgentUsage]
    """Of the agents that are connected, by id."""

    async def health(self, _: Request) -> Response:
        """Public, so it says only what a watchdog needs."""
        return JSONResponse(
            {
                "status": "ok",
                "version": self.version,
                "lag_ms": self.lag.latest_ms(),
                "worst_lag_ms": self.lag.worst_ms(),
            }
        )

    async def show_status(self, _: Request) -> Response:
        return JSONResponse(self.status())

    async def events(self, request: Request) -> Response:
        """As many events as fit, oldest first, of one session if it is named; `more` says that others follow."""
        after = query_number(request, "after", default=0)
        limit = max(1, min(query_number(request, "limit", default=100), MOST_EVENTS))
        kinds = [kind for kind in request.query_params.get("kinds", "").split(",") if kind]
        session = request.query_params.get("session") or None
        rows = await self.record.read(after, limit=limit, session=session, kinds=kinds[:MOST_KINDS])
        pieces = encode_pieces(rows, ANSWER_BYTES)
        more = b"true" if len(pieces) < len(rows) or len(rows) == limit else b"false"
        body = b'{"events":[%b],"more":%b,"last_sequence":%d}' % (b",".join(pieces), more, self.record.last_sequence)
        return Response(body, media_type="application/json")

    async def names(self, _: Request) -> Response:
        """The names of the agents that connected last, by id."""
        met = await self.record.search("mcp connected", limit=MOST_NAMES, kinds=("mcp.connected",))
        return json_response({"names": {it.event.session: it.event.body.get("client", "") for it in reversed(met)}})

    async def agents(self, _: Request) -> Response:
        """The agents that connected last, the newest first: since when, until when, and what they used."""
        met = await self.record.search("mcp connected", limit=MOST_NAMES, kinds=("mcp.connected",))
        left = await self.record.search("mcp disconnected", limit=MOST_NAMES, kinds=("mcp.disconnected",))
        ended = {it.event.session: it for it in left}
        return json_response({"agents": [self._agent(it, ended.get(it.event.session)) for it in met]})

    def _agent(self, met: RecordedEvent, ended: RecordedEvent | None) -> dict[str, Any]:
        live, body = self.usage.get(met.event.session), ended.event.body if ended else {}
        return {
            "id": met.event.session,
            "client": met.event.body.get("client", ""),
            "workspace": met.event.workspace,
            "connected_ns": met.at_ns,
            "ended_ns": ended.at_ns if ended else None,
            "is_connected": live is not None,
            "calls": live.calls if live else body.get("calls", 0),
            "characters": live.characters if live else body.get("characters", 0),
        }


def query_number(request: Request, name: str, *, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise DragomanError(
            "bad_request",
            localize("`{name}` must be an integer, not {text}.", name=name, text=repr(text[:40])),
        )
    return int(text)
