"""The model, written as 0.9. All of it can be said but three things, and for those:

- a root that is not called `root` gets a Column of that name around it (0.9 knows the root by its id alone);
- a component called `root` that is not the root is hidden by that Column, and one that holds it is refused by viewers;
- `replace` becomes an update: what is no longer reached from the root is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dragoman.wire.a2ui.messages import (
    DELETE,
    ROOT,
    VALIDATION_FAILED,
    Action,
    AgentMessage,
    ClientError,
    ClientMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    UpdateComponents,
    UpdateDataModel,
)

Json = dict[str, Any]

VERSION = "v0.9"
BASIC_CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"


def to_v09(messages: Iterable[AgentMessage | ClientMessage]) -> list[Json]:
    return [{"version": VERSION, **body} for message in messages for body in _WRITERS[type(message)](message)]


def _create(message: CreateSurface) -> list[Json]:
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
    return [_components(surface_id, [alias])]


def _update_components(message: UpdateComponents) -> list[Json]:
    return [*_root_alias(message.surface_id, message.root), _components(message.surface_id, message.components)]


def _components(surface_id: str, components: Iterable[Component]) -> Json:
    flat = [{"id": each.id, "component": each.type, **each.properties} for each in components]
    return {"updateComponents": {"surfaceId": surface_id, "components": flat}}


def _update_data_model(message: UpdateDataModel) -> list[Json]:
    body: Json = {"surfaceId": message.surface_id}
    if message.path:
        body["path"] = message.path
    if message.value is not DELETE:
        body["value"] = message.value
    return [{"updateDataModel": body}]


def _delete(message: DeleteSurface) -> list[Json]:
    return [{"deleteSurface": {"surfaceId": message.surface_id}}]


def _function(message: FunctionMessage) -> list[Json]:
    return [{message.key: message.body}]


def action_body(message: Action) -> Json:
    return {
        "name": message.name,
        "surfaceId": message.surface_id,
        "sourceComponentId": message.source_component_id,
        "timestamp": message.timestamp,
        "context": message.context,
    }


def _action(message: Action) -> list[Json]:
    told = {"userMessage": message.user_message} if message.user_message else {}
    return [{"action": {**action_body(message), **told}}]


def error_body(message: ClientError) -> Json:
    body = {"code": message.code, "surfaceId": message.surface_id, "message": message.message}
    if message.path or message.code == VALIDATION_FAILED:
        body["path"] = message.path
    return body


def _error(message: ClientError) -> list[Json]:
    return [{"error": error_body(message)}]


_WRITERS: dict[type, Callable[[Any], list[Json]]] = {
    CreateSurface: _create,
    UpdateComponents: _update_components,
    UpdateDataModel: _update_data_model,
    DeleteSurface: _delete,
    FunctionMessage: _function,
    Action: _action,
    ClientError: _error,
}
