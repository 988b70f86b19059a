"""A2UI: user interfaces that an agent describes. Four dialects in, one model inside, two dialects out.

read(anything)            -> messages of the model, each with the place it came from
apply_all(surfaces, them) -> the surfaces afterwards, or an A2uiError with a pointer and nothing changed
resolve(surface)          -> the tree to draw
to_v08(them), to_v09(them), to_seed
"""

from __future__ import annotations

from dragoman.protocols.a2ui import seed_writer
from dragoman.protocols.a2ui.connection import Connection, RefusedLine, encode_jsonl
from dragoman.protocols.a2ui.messages import (
    DEFAULT_LIMITS,
    DELETE,
    VALIDATION_FAILED,
    A2uiError,
    A2uiLimits,
    Action,
    AgentMessage,
    ClientError,
    ClientMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    Incoming,
    MessageOrigin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.protocols.a2ui.reader import error_message, read, read_client
from dragoman.protocols.a2ui.render_tree import RenderNode, action_of, resolve
from dragoman.protocols.a2ui.surface import Surface, Surfaces, apply, apply_all, for_viewer, snapshot
from dragoman.protocols.a2ui.v08_writer import to_v08
from dragoman.protocols.a2ui.v09 import to_v09

__all__ = [
    "DEFAULT_LIMITS",
    "DELETE",
    "VALIDATION_FAILED",
    "A2uiError",
    "A2uiLimits",
    "Action",
    "AgentMessage",
    "ClientError",
    "ClientMessage",
    "Component",
    "Connection",
    "CreateSurface",
    "DeleteSurface",
    "FunctionMessage",
    "Incoming",
    "MessageOrigin",
    "RefusedLine",
    "RenderNode",
    "Surface",
    "Surfaces",
    "UpdateComponents",
    "UpdateDataModel",
    "action_of",
    "apply",
    "apply_all",
    "encode_jsonl",
    "error_message",
    "for_viewer",
    "read",
    "read_client",
    "resolve",
    "seed_writer",
    "snapshot",
    "to_v08",
    "to_v09",
]
