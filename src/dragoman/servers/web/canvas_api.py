"""The canvas over HTTP: every surface as the page draws it, and the person's actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.canvas.catalogue import action_names
from dragoman.canvas.model import DrawnSurface
from dragoman.canvas.service import CanvasService
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.protocols.a2ui import A2uiError, resolve, snapshot, to_v09
from dragoman.protocols.a2ui.messages import DEFAULT_LIMITS
from dragoman.servers.web.bodies import RequestBody, json_response, read_request

BY = "the page"
ANSWER_BYTES = 32 << 20


class _Act(RequestBody):
    drawer: str
    surface_id: str
    component_id: str
    scope: str = ""
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    changes: list[tuple[str, Any]] = msgspec.field(default_factory=list)


class _Remove(RequestBody):
    drawer: str
    surface_id: str


@dataclass(frozen=True, slots=True)
class CanvasApi:
    canvas: CanvasService

    async def show(self, _: Request) -> Response:
        """Every surface, complete.

        A page continues with the feed: an event with a version that it has changes nothing.
        """
        pieces = await anyio.to_thread.run_sync(_encode_surfaces, self.canvas.surfaces())
        return Response(b'{"surfaces":[%b]}' % b",".join(pieces), media_type="application/json")

    async def outline(self, _: Request) -> Response:
        """The surfaces and open questions without the content, for a page that shows something else."""
        return json_response({"surfaces": [_surface_summary(drawn) for drawn in self.canvas.surfaces()]})

    async def act(self, request: Request) -> Response:
        wanted = await read_request(request, _Act)
        try:
            taken = await self.canvas.act(
                wanted.drawer,
                wanted.surface_id,
                wanted.component_id,
                scope=wanted.scope,
                details=wanted.details,
                changes=wanted.changes,
                by=BY,
            )
        except A2uiError as error:
            raise DragomanError(
                "bad_request", localize("The surface does not accept this: {reason}", reason=error)
            ) from error
        return json_response({"id": taken.id, "name": taken.name, "context": taken.context})

    async def remove(self, request: Request) -> Response:
        wanted = await read_request(request, _Remove)
        await self.canvas.remove(wanted.drawer, wanted.surface_id, by=BY)
        return json_response({"removed": True})


def _encode_surfaces(surfaces: Sequence[DrawnSurface]) -> list[bytes]:
    """Encode the newest surfaces first, within one limit for all: agents may draw more than a page can take at once.

    A surface beyond the limit has only its place and its title, and its tree is marked as cut.
    """
    pieces: list[bytes] = []
    left = ANSWER_BYTES
    for drawn in surfaces:
        pieces.append(msgspec.json.encode(_surface_body(drawn, max(0, left))))
        left -= len(pieces[-1])
    return pieces


def _surface_body(drawn: DrawnSurface, left: int) -> dict[str, Any]:
    surface = drawn.surface
    limits = msgspec.structs.replace(DEFAULT_LIMITS, tree_bytes=min(left, DEFAULT_LIMITS.tree_bytes))
    return {
        **_surface_summary(drawn),
        "workspace": drawn.workspace,
        "version": drawn.version,
        "changed_ms": drawn.changed_ns // 1_000_000,
        "messages": to_v09(snapshot(surface)) if left else [],
        "tree": resolve(surface, limits),
        "data": surface.data_model if left else {},
        "actions": action_names(surface) if left else {},
    }


def _surface_summary(drawn: DrawnSurface) -> dict[str, Any]:
    surface = drawn.surface
    return {"drawer": drawn.drawer, "surface_id": surface.id, "title": surface.title, "asking": drawn.asking}
