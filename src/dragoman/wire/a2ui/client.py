"""What comes back from a renderer: actions and errors, in every dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from dragoman.wire.a2ui.errors import A2uiError
from dragoman.wire.a2ui.from_v09 import read_function
from dragoman.wire.a2ui.limits import DEFAULT_LIMITS, Limits
from dragoman.wire.a2ui.messages import VALIDATION_FAILED, Action, ClientError, ClientMessage
from dragoman.wire.a2ui.reading import dialect_of, one_key, read_document
from dragoman.wire.a2ui.values import convert

_FUNCTION_KEYS = ("callAgentFunction", "rendererFunctionResponse", "functionResponse")
_KEYS = ("action", "userAction", "error", *_FUNCTION_KEYS)


class _Action(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    surface_id: str
    source_component_id: str
    timestamp: str = ""
    context: dict[str, Any] = {}
    user_message: str = ""


class _SeedAction(msgspec.Struct, frozen=True):
    """The protocol document's: the surface is known to whoever showed it, the component is in the context."""

    action: str
    context: dict[str, Any] = {}


class _Error(msgspec.Struct, frozen=True, rename="camel"):
    """All of it optional: the body of 0.8 is free."""

    code: str = ""
    message: str = ""
    surface_id: str = ""
    path: str = ""


def read_client(document: object, limits: Limits = DEFAULT_LIMITS) -> list[ClientMessage]:
    """Actions and errors: one, a list, or JSON or JSONL text of them."""
    return read_document(document, _read_message, limits)


def refusal(error: A2uiError, surface_id: str = "") -> ClientError:
    """The error as the message that tells the agent what to repair."""
    return ClientError(code=VALIDATION_FAILED, message=error.message, surface_id=surface_id, path=error.pointer)


def _read_message(message: object, _: str) -> list[ClientMessage]:
    if not isinstance(message, dict):
        raise A2uiError("invalid_message", "", "A message is an object.")
    if message.get("type") == "userAction":
        return [_seed_action(message)]
    key = one_key(message, _KEYS, ("type", *_KEYS))
    dialect_of(message)
    if key in _FUNCTION_KEYS:
        return [read_function(key, message[key], f"/{key}")]
    return [_READERS[key](message[key], f"/{key}")]


def _seed_action(message: dict[str, Any]) -> Action:
    seed = convert(message, _SeedAction, "")
    named = {name: value for name, value in seed.context.items() if isinstance(value, str)}
    return Action(
        name=seed.action,
        surface_id=named.get("surfaceId", ""),
        source_component_id=named.get("componentId", ""),
        timestamp="",
        context=seed.context,
    )


def _action(body: object, at: str) -> Action:
    return Action(**msgspec.structs.asdict(convert(body, _Action, at)))


def _error(body: object, at: str) -> ClientError:
    return ClientError(**msgspec.structs.asdict(convert(body, _Error, at)))


_READERS: dict[str, Callable[[object, str], ClientMessage]] = {
    "action": _action,
    "userAction": _action,
    "error": _error,
}
