"""A2UI: user interfaces that an agent describes. Four dialects in, one model inside, two dialects out.

read(anything)            -> messages of the model, each with the place it came from
apply_all(surfaces, them) -> the surfaces afterwards, or an A2uiError with a pointer and nothing changed
resolve(surface)          -> the tree to draw
to_v09(them)              -> A2UI 0.9; flat_list writes the dialect of the protocol document
"""

from __future__ import annotations

from dragoman.protocols.a2ui import flat_list
from dragoman.protocols.a2ui.messages import (
    DEFAULT_LIMITS,
    DELETE,
    A2uiError,
    A2uiLimits,
    Action,
    AgentMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    Incoming,
    MessageOrigin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.protocols.a2ui.reader import read
from dragoman.protocols.a2ui.render_tree import RenderNode, action_of, resolve
from dragoman.protocols.a2ui.surface import Surface, Surfaces, apply, apply_all, for_viewer, snapshot
from dragoman.protocols.a2ui.v09 import to_v09

__all__ = [
    "DEFAULT_LIMITS",
    "DELETE",
    "A2uiError",
    "A2uiLimits",
    "Action",
    "AgentMessage",
    "Component",
    "CreateSurface",
    "DeleteSurface",
    "FunctionMessage",
    "Incoming",
    "MessageOrigin",
    "RenderNode",
    "Surface",
    "Surfaces",
    "UpdateComponents",
    "UpdateDataModel",
    "action_of",
    "apply",
    "apply_all",
    "flat_list",
    "for_viewer",
    "read",
    "resolve",
    "snapshot",
    "to_v09",
]
