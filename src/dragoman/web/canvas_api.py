"""The canvas over HTTP: every surface as a page draws it, and what a person does on one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.canvas.model import Drawn
from dragoman.canvas.service import CanvasService
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.web.bodies import Body, as_json, read_as
from dragoman.wire.a2ui import A2uiError, resolve, snapshot, to_v09

BY = "the page"


class _Act(Body):
    drawer: str
    surface_id: str
    component_id: str
    scope: str = ""
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    changes: list[tuple[str, Any]] = msgspec.field(default_factory=list)


class _Remove(Body):
    drawer: str
    surface_id: str


@dataclass(frozen=True, slots=True)
class CanvasApi:
    canvas: CanvasService

    async def show(self, _: Request) -> Response:
        """Whole. A page goes on from here by the feed: what has a version it knows already changes nothing."""
        return as_json({"surfaces": [_told(drawn) for drawn in self.canvas.surfaces()]})

    async def act(self, request: Request) -> Response:
        wanted = await read_as(request, _Act)
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
            raise DragomanError("bad_request", say("The surface does not take this: {reason}", reason=error)) from error
        return as_json({"id": taken.id, "name": taken.name, "context": taken.context})

    async def remove(self, request: Request) -> Response:
        wanted = await read_as(request, _Remove)
        await self.canvas.remove(wanted.drawer, wanted.surface_id, by=BY)
        return as_json({"removed": True})


def _told(drawn: Drawn) -> dict[str, Any]:
    return {
        "drawer": drawn.drawer,
        "workspace": drawn.workspace,
        "surface_id": drawn.surface.id,
        "title": drawn.surface.title,
        "version": drawn.version,
        "changed_ms": drawn.changed_ns // 1_000_000,
        "messages": to_v09(snapshot(drawn.surface)),
        "tree": resolve(drawn.surface),
        "data": drawn.surface.data_model,
    }
