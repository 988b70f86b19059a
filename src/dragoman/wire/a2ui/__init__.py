"""A2UI: user interfaces that an agent describes. Four dialects in, one model inside, two dialects out.

read(anything)            -> messages of the model, each with the place it came from
apply_all(surfaces, them) -> the surfaces afterwards, or an A2uiError with a pointer and nothing changed
resolve(surface)          -> the tree to draw
to_v08(them), to_v09(them), to_seed
"""

from __future__ import annotations

from dragoman.wire.a2ui import to_seed
from dragoman.wire.a2ui.client import read_client, refusal
from dragoman.wire.a2ui.connection import Connection, Refused, encode_jsonl
from dragoman.wire.a2ui.errors import A2uiError
from dragoman.wire.a2ui.limits import DEFAULT_LIMITS, Limits
from dragoman.wire.a2ui.messages import (
    DELETE,
    VALIDATION_FAILED,
    Action,
    AgentMessage,
    ClientError,
    ClientMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    Incoming,
    Origin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.wire.a2ui.reading import read
from dragoman.wire.a2ui.resolve import Node, action_of, resolve
from dragoman.wire.a2ui.surface import Surface, Surfaces, apply, apply_all, for_viewer, snapshot
from dragoman.wire.a2ui.to_v08 import to_v08
from dragoman.wire.a2ui.to_v09 import to_v09

__all__ = [
    "DEFAULT_LIMITS",
    "DELETE",
    "VALIDATION_FAILED",
    "A2uiError",
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
    "Limits",
    "Node",
    "Origin",
    "Refused",
    "Surface",
    "Surfaces",
    "UpdateComponents",
    "UpdateDataModel",
    "action_of",
    "apply",
    "apply_all",
    "encode_jsonl",
    "for_viewer",
    "read",
    "read_client",
    "refusal",
    "resolve",
    "snapshot",
    "to_seed",
    "to_v08",
    "to_v09",
]
