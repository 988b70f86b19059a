"""Read and write A2UI 0.9, 0.9.1 and the 1.0 candidate. They differ in three places, all marked "1.0" below.

Three things of the model have no equal in 0.9. A root that is not called `root` gets a Column of that name around it,
because 0.9 knows the root by its id alone. A component called `root` that is not the root is hidden by that Column,
and viewers refuse one that contains it. `replace` becomes an update: what the root no longer reaches is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec

from dragoman.protocols.a2ui.messages import (
    DELETE,
    ROOT,
    A2uiError,
    AgentMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    Dialect,
    FunctionMessage,
    Incoming,
    MessageOrigin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.protocols.a2ui.values import convert

# The bodies are closed in the schemas. They are closed here too: a misspelt `value` would otherwise delete data.
_RESERVED = ("id", "component")
FUNCTION_KEYS = ("callRendererFunction", "agentFunctionResponse", "callFunction", "actionResponse")
VERSION = "v0.9"
BASIC_CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class _V09Body(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    surface_id: Id


class _Create(_V09Body, frozen=True, kw_only=True):
    catalog_id: str = ""
    theme: dict[str, Any] = {}
    send_data_model: bool = False
    components: list[Any] = []
    data_model: Any = msgspec.UNSET
    metadata: dict[str, Any] = {}


class _Components(_V09Body, frozen=True, kw_only=True):
    components: list[Any]


class _DataModel(_V09Body, frozen=True, kw_only=True):
    path: str = ""
    value: Any = msgspec.UNSET


class _Delete(_V09Body, frozen=True):
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
    # 1.0 marks bindings and calls with an @; the model has one spelling.
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


def _read_create(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    create = convert(body, _Create, at)
    surface = MessageOrigin(surface=f"{at}/surfaceId")
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
        messages.append(_read_surface_components(create.surface_id, create.components, at, dialect))
    return messages


def _read_surface_components(surface_id: str, raw: list[Any], at: str, dialect: Dialect) -> Incoming:
    components, places = read_components(raw, f"{at}/components", dialect)
    return Incoming(
        message=UpdateComponents(surface_id=surface_id, components=components),
        dialect=dialect,
        origin=MessageOrigin(surface=f"{at}/surfaceId", components=places),
    )


def _data_origin(at: str, value: str) -> MessageOrigin:
    return MessageOrigin(surface=f"{at}/surfaceId", path=f"{at}/path", value=f"{at}/{value}")


def _read_update_components(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    update = convert(body, _Components, at)
    return [_read_surface_components(update.surface_id, update.components, at, dialect)]


def _read_update_data_model(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    update = convert(body, _DataModel, at)
    # 1.0 deletes with an explicit null, 0.9 by leaving the value out; a null of 0.9 is a value.
    value = DELETE if dialect == "1.0" and update.value is None else update.value
    message = UpdateDataModel(surface_id=update.surface_id, path=update.path, value=value)
    return [Incoming(message=message, dialect=dialect, origin=_data_origin(at, "value"))]


def _read_delete(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    message = DeleteSurface(surface_id=convert(body, _Delete, at).surface_id)
    return [Incoming(message=message, dialect=dialect, origin=MessageOrigin(surface=f"{at}/surfaceId"))]


def read_function(key: str, body: object, at: str) -> FunctionMessage:
    """The names and fields of functions still change between candidates, so only their frame is read."""
    if not isinstance(body, dict):
        raise A2uiError("invalid_message", at, f"The body of `{key}` is an object.")
    call_id = body.get("functionCallId", body.get("callId", ""))
    return FunctionMessage(key=key, call_id=call_id if isinstance(call_id, str) else "", body=body)


def _function_reader(key: str) -> Callable[[object, str, Dialect], list[Incoming]]:
    return lambda body, at, dialect: [Incoming(message=read_function(key, body, at), dialect=dialect)]


READERS: dict[str, Callable[[object, str, Dialect], list[Incoming]]] = {
    "createSurface": _read_create,
    "updateComponents": _read_update_components,
    "updateDataModel": _read_update_data_model,
    "deleteSurface": _read_delete,
    **{key: _function_reader(key) for key in FUNCTION_KEYS},
}


Json = dict[str, Any]


def to_v09(messages: Iterable[AgentMessage]) -> list[Json]:
    return [{"version": VERSION, **body} for message in messages for body in _WRITERS[type(message)](message)]


def _write_create(message: CreateSurface) -> list[Json]:
    body: Json = {"surfaceId": message.surface_id, "catalogId": message.catalog_id or BASIC_CATALOG}
    if message.theme:
        body["theme"] = message.theme
    if message.send_data_model:
        body["sendDataModel"] = True
    return [{"createSurface": body}, *_root_alias(message.surface_id, message.root)]


def _root_alias(surface_id: str, root: str) -> list[Json]:
    if root in ("", ROOT):
        return []
    alias = Component(ROOT, "Column", {"children": [root]})
    return [_write_components(surface_id, [alias])]


def _write_update_components(message: UpdateComponents) -> list[Json]:
    return [*_root_alias(message.surface_id, message.root), _write_components(message.surface_id, message.components)]


def _write_components(surface_id: str, components: Iterable[Component]) -> Json:
    flat = [{"id": each.id, "component": each.type, **each.properties} for each in components]
    return {"updateComponents": {"surfaceId": surface_id, "components": flat}}


def _write_update_data_model(message: UpdateDataModel) -> list[Json]:
    body: Json = {"surfaceId": message.surface_id}
    if message.path:
        body["path"] = message.path
    if message.value is not DELETE:
        body["value"] = message.value
    return [{"updateDataModel": body}]


def _write_delete(message: DeleteSurface) -> list[Json]:
    return [{"deleteSurface": {"surfaceId": message.surface_id}}]


def _write_function(message: FunctionMessage) -> list[Json]:
    return [{message.key: message.body}]


_WRITERS: dict[type, Callable[[Any], list[Json]]] = {
    CreateSurface: _write_create,
    UpdateComponents: _write_update_components,
    UpdateDataModel: _write_update_data_model,
    DeleteSurface: _write_delete,
    FunctionMessage: _write_function,
}
