"""0.9, 0.9.1 and the 1.0 candidate, read into the model. They differ in three places, all marked "1.0" below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from dragoman.wire.a2ui.errors import A2uiError
from dragoman.wire.a2ui.messages import (
    DELETE,
    Component,
    CreateSurface,
    DeleteSurface,
    Dialect,
    FunctionMessage,
    Incoming,
    Origin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.wire.a2ui.values import convert

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]

# The bodies are closed in the schemas. Kept so, because a misspelt `value` would otherwise delete what is there.
_RESERVED = ("id", "component")


class _Body(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    surface_id: Id


class _Create(_Body, frozen=True, kw_only=True):
    catalog_id: str = ""
    theme: dict[str, Any] = {}
    send_data_model: bool = False
    components: list[Any] = []
    data_model: Any = msgspec.UNSET
    metadata: dict[str, Any] = {}


class _Components(_Body, frozen=True, kw_only=True):
    components: list[Any]


class _DataModel(_Body, frozen=True, kw_only=True):
    path: str = ""
    value: Any = msgspec.UNSET


class _Delete(_Body, frozen=True):
    pass


def read_component(raw: object, at: str, dialect: Dialect) -> Component:
    """A flat component: `{id, component, ...properties}`."""
    if not isinstance(raw, dict):
        raise A2uiError("invalid_component", at, "A component is an object with `id` and `component`.")
    for name in _RESERVED:
        if not isinstance(raw.get(name), str) or not 0 < len(raw[name]) <= 256:
            text = f"A component's `{name}` is a string of 1 to 256 characters."
            raise A2uiError("invalid_component", f"{at}/{name}", text)
    properties = {name: value for name, value in raw.items() if name not in _RESERVED}
    # 1.0 marks bindings and calls with an @; one model has one spelling.
    return Component(raw["id"], raw["component"], _unmarked(properties) if dialect == "1.0" else properties)


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    if isinstance(value, dict):
        return {_unmarked_key(key): _unmarked(item) for key, item in value.items()}
    return value


def _unmarked_key(key: str) -> str:
    """`@path` and `@call` are directives, `@@x` is the plain key `@x`."""
    return key[1:] if key in ("@path", "@call") or key.startswith("@@") else key


def read_components(raw: list[Any], at: str, dialect: Dialect) -> tuple[tuple[Component, ...], tuple[str, ...]]:
    places = tuple(f"{at}/{index}" for index in range(len(raw)))
    return tuple(read_component(item, place, dialect) for item, place in zip(raw, places, strict=True)), places


def _create(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    create = convert(body, _Create, at)
    surface = Origin(surface=f"{at}/surfaceId")
    messages = [
        Incoming(
            message=CreateSurface(
                surface_id=create.surface_id,
                catalog_id=create.catalog_id,
                theme=create.theme,
                send_data_model=create.send_data_model,
            ),
            dialect=dialect,
            origin=surface,
        )
    ]
    # 1.0: a surface may arrive with its data and components. Data first, so that nothing is drawn empty.
    if create.data_model is not msgspec.UNSET:
        data = UpdateDataModel(surface_id=create.surface_id, value=create.data_model)
        messages.append(Incoming(message=data, dialect=dialect, origin=_data_origin(at, "dataModel")))
    if create.components:
        messages.append(_components_of(create.surface_id, create.components, at, dialect))
    return messages


def _components_of(surface_id: str, raw: list[Any], at: str, dialect: Dialect) -> Incoming:
    components, places = read_components(raw, f"{at}/components", dialect)
    return Incoming(
        message=UpdateComponents(surface_id=surface_id, components=components),
        dialect=dialect,
        origin=Origin(surface=f"{at}/surfaceId", components=places),
    )


def _data_origin(at: str, value: str) -> Origin:
    return Origin(surface=f"{at}/surfaceId", path=f"{at}/path", value=f"{at}/{value}")


def _update_components(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    update = convert(body, _Components, at)
    return [_components_of(update.surface_id, update.components, at, dialect)]


def _update_data_model(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    update = convert(body, _DataModel, at)
    # 1.0 deletes with an explicit null, 0.9 by leaving the value out; a null of 0.9 is a value.
    value = DELETE if dialect == "1.0" and update.value is None else update.value
    message = UpdateDataModel(surface_id=update.surface_id, path=update.path, value=value)
    return [Incoming(message=message, dialect=dialect, origin=_data_origin(at, "value"))]


def _delete(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    message = DeleteSurface(surface_id=convert(body, _Delete, at).surface_id)
    return [Incoming(message=message, dialect=dialect, origin=Origin(surface=f"{at}/surfaceId"))]


def read_function(key: str, body: object, at: str) -> FunctionMessage:
    """The names and fields of these still move between candidates, so only their frame is read."""
    if not isinstance(body, dict):
        raise A2uiError("invalid_message", at, f"The body of `{key}` is an object.")
    call_id = body.get("functionCallId", body.get("callId", ""))
    return FunctionMessage(key=key, call_id=call_id if isinstance(call_id, str) else "", body=body)


def _function_reader(key: str) -> Callable[[object, str, Dialect], list[Incoming]]:
    return lambda body, at, dialect: [Incoming(message=read_function(key, body, at), dialect=dialect)]


FUNCTION_KEYS = ("callRendererFunction", "agentFunctionResponse", "callFunction", "actionResponse")

READERS: dict[str, Callable[[object, str, Dialect], list[Incoming]]] = {
    "createSurface": _create,
    "updateComponents": _update_components,
    "updateDataModel": _update_data_model,
    "deleteSurface": _delete,
    **{key: _function_reader(key) for key in FUNCTION_KEYS},
}
