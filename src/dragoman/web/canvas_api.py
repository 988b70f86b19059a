"""The canvas over HTTP: every surface as a page draws it, and what a person does on one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.canvas.catalogue import action_names
from dragoman.canvas.model import Drawn
from dragoman.canvas.service import CanvasService
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.web.bodies import Body, as_json, read_as
from dragoman.wire.a2ui import A2uiError, resolve, snapshot, to_v09
from dragoman.wire.a2ui.limits import DEFAULT_LIMITS

BY = "the page"
ANSWER_BYTES = 32 << 20


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
        pieces = await anyio.to_thread.run_sync(_shown, self.canvas.surfaces())
        return Response(b'{"surfaces":[%b]}' % b",".join(pieces), media_type="application/json")

    async def outline(self, _: Request) -> Response:
        """What is there and who asks, without what is drawn: for who looks at something else."""
        return as_json({"surfaces": [_named(drawn) for drawn in self.canvas.surfaces()]})

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


def _shown(surfaces: Sequence[Drawn]) -> list[bytes]:
    """The newest first, within one bound for all: agents may draw far more than a page can be given at once. What is
    left out has its place and its title, and its tree says that it was cut."""
    pieces: list[bytes] = []
    left = ANSWER_BYTES
    for drawn in surfaces:
        pieces.append(msgspec.json.encode(_told(drawn, max(0, left))))
        left -= len(pieces[-1])
    return pieces


def _told(drawn: Drawn, left: int) -> dict[str, Any]:
    surface = drawn.surface
    limits = msgspec.structs.replace(DEFAULT_LIMITS, tree_bytes=min(left, DEFAULT_LIMITS.tree_bytes))
    return {
        **_named(drawn),
        "workspace": drawn.workspace,
        "version": drawn.version,
        "changed_ms": drawn.changed_ns // 1_000_000,
        "messages": to_v09(snapshot(surface)) if left else [],
        "tree": resolve(surface, limits),
        "data": surface.data_model if left else {},
        "actions": action_names(surface) if left else {},
    }


def _named(drawn: Drawn) -> dict[str, Any]:
    surface = drawn.surface
    return {"drawer": drawn.drawer, "surface_id": surface.id, "title": surface.title, "asking": drawn.asking}
