"""The nouns of the canvas: a surface as somebody drew it, and what a person did on one."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from dragoman.wire.a2ui import Surface, UpdateDataModel

Asking = Literal["no", "open", "closed"]


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """A surface with its drawer: names of surfaces are each drawer's own, so `main` of two agents are two surfaces."""

    drawer: str
    workspace: str
    surface: Surface
    version: int
    """Rises with every change, so that whoever draws it knows what it has."""
    changed_ns: int
    asking: Asking = "no"
    """Somebody waits for its answer; or nobody does any more, and it says so."""
    session_key: str = ""
    """The conversation whose run drew it, where one did."""

    @property
    def key(self) -> str:
        return key_of(self.drawer, self.surface.id)


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """An action that a person took, with its context read from the data as it was then."""

    id: str
    drawer: str
    workspace: str
    surface_id: str
    component_id: str
    name: str
    context: dict[str, Any]
    user_message: str = ""
    at_ns: int
    is_secret: bool = False
    """It holds what no disk may: it ends with the daemon."""
    session_key: str = ""
    """Of the run that drew the surface, where one did: the action is for that conversation."""


class SurfaceChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a surface, for those who show it elsewhere: without what was typed into fields for secrets."""

    drawer: str
    surface_id: str
    after: Surface | None
    """None: it is gone."""
    data: tuple[UpdateDataModel, ...] = ()
    """What was set in its data, in order."""
    is_new: bool = False
    """Made, or made anew."""


def key_of(drawer: str, surface_id: str) -> str:
    return f"{drawer}/{surface_id}"
