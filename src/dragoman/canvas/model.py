"""Data types of the canvas: a surface as an agent drew it, and an action that a person took on one."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from dragoman.protocols.a2ui import Surface, UpdateDataModel

QuestionState = Literal["no", "open", "closed"]


class DrawnSurface(msgspec.Struct, frozen=True, kw_only=True):
    """A surface and the agent that drew it. Each agent names its own surfaces: `main` of two agents is two surfaces.

    The agent is called its drawer.
    """

    drawer: str
    workspace: str
    surface: Surface
    version: int
    """Rises with every change, so that a page knows which version it has."""
    changed_ns: int
    asking: QuestionState = "no"
    """Whether an agent waits for its answer, or has stopped waiting."""
    session_key: str = ""
    """The conversation whose run drew it, if any."""

    @property
    def key(self) -> str:
        return key_of(self.drawer, self.surface.id)


class SurfaceAction(msgspec.Struct, frozen=True, kw_only=True):
    """An action that a person took, with its context as the data was at that moment."""

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
    """It contains a secret that must not be written to disk: it ends with the daemon."""
    session_key: str = ""
    """The conversation whose run drew the surface, if any. It gets the action."""


class SurfaceChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a surface, for those who show it elsewhere. Secrets that were typed into fields are left out."""

    drawer: str
    surface_id: str
    after: Surface | None
    """None: it was removed."""
    data: tuple[UpdateDataModel, ...] = ()
    """What was set in its data, in order."""
    is_new: bool = False
    """Created, or created again."""


def key_of(drawer: str, surface_id: str) -> str:
    return f"{drawer}/{surface_id}"
