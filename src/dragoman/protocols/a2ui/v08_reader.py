"""Read A2UI 0.8 into the model: typed literals unwrapped, properties renamed, typed contents made plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from dragoman.protocols.a2ui.catalogue import BASIC, FROM_V08_TYPE
from dragoman.protocols.a2ui.messages import (
    A2uiError,
    AgentMessage,
    Component,
    CreateSurface,
    Dialect,
    Incoming,
    MessageOrigin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.protocols.a2ui.v09 import Id
from dragoman.protocols.a2ui.values import convert

_LITERALS = {"literalString", "literalNumber", "literalBoolean", "literalArray", "literal"}
_VALUE_TYPES: dict[str, type | tuple[type, ...]] = {
    "valueString": str,
    "valueNumber": (int, float),
    "valueBoolean": bool,
    "valueMap": list,
}
_RENAMED = {
    name: {spec.v08: ours for ours, spec in properties.items() if spec.v08 is not None}
    for name, properties in BASIC.items()
}

# Where the literal of `{path, literalString}` goes: 0.8 reads it as the first value at that path.
_Initial = list[tuple[str, Any]]


class _V08Body(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    surface_id: Id


class _Begin(_V08Body, frozen=True, kw_only=True):
    root: Id
    catalog_id: str = ""
    styles: dict[str, Any] = {}


class _Surface(_V08Body, frozen=True, kw_only=True):
    components: list[Any]


class _Data(_V08Body, frozen=True, kw_only=True):
    contents: list[Any]
    path: str = ""


class _V08Component(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Id
    component: dict[Id, dict[str, Any]]
    weight: float | int | None = None


def _begin(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    begin = convert(body, _Begin, at)
    message = CreateSurface(
        surface_id=begin.surface_id,
        catalog_id=begin.catalog_id,
        theme=begin.styles,
        root=begin.root,
        existing="keep",
    )
    return [Incoming(message=message, dialect=dialect, origin=MessageOrigin(surface=f"{at}/surfaceId"))]


def _surface_update(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    update = convert(body, _Surface, at)
    places = tuple(f"{at}/components/{index}" for index in range(len(update.components)))
    initial: _Initial = []
    components = tuple(_component(raw, place, initial) for raw, place in zip(update.components, places, strict=True))
    origin = MessageOrigin(
        surface=f"{at}/surfaceId", path=f"{at}/components", value=f"{at}/components", components=places
    )
    messages: list[AgentMessage] = [
        UpdateDataModel(surface_id=update.surface_id, path=path, value=value, implicit=True) for path, value in initial
    ]
    messages.append(UpdateComponents(surface_id=update.surface_id, components=components, implicit=True))
    return [Incoming(message=message, dialect=dialect, origin=origin) for message in messages]


def _component(raw: object, at: str, initial: _Initial) -> Component:
    component = convert(raw, _V08Component, at)
    if len(component.component) != 1:
        raise A2uiError("invalid_component", f"{at}/component", "`component` has one key, the component's type.")
    ((name, given),) = component.component.items()
    kind = FROM_V08_TYPE.get(name, name)
    renamed = _RENAMED.get(kind, {})
    properties = {renamed.get(key, key): _plain(key, value, initial) for key, value in given.items()}
    if kind in _SPECIAL:
        _SPECIAL[kind](properties)
    if component.weight is not None:
        properties["weight"] = component.weight
    for reserved in ("id", "component"):
        if reserved in properties:
            place = f"{at}/component/{name}/{reserved}"
            raise A2uiError("reserved_name", place, f"`{reserved}` cannot be the name of a property.")
    return Component(component.id, kind, properties)


def _plain(key: str, value: Any, initial: _Initial) -> Any:
    """A property without its 0.8 wrapping, at any depth."""
    if isinstance(value, list):
        return [_plain("", item, initial) for item in value]
    if not isinstance(value, dict):
        return value
    if key == "action" and "name" in value:
        return {"event": dict(_event(value, initial))}
    unwrapped = _unwrapped(value, initial)
    if unwrapped is not value:
        return unwrapped
    return {name: _plain(name, item, initial) for name, item in value.items()}


def _unwrapped(value: dict[str, Any], initial: _Initial) -> Any:
    keys = value.keys()
    if keys == {"explicitList"}:
        return value["explicitList"]
    if keys == {"template"} and isinstance(value["template"], dict):
        template = value["template"]
        return {"componentId": template.get("componentId"), "path": template.get("dataBinding")}
    literals = keys & _LITERALS
    if len(literals) != 1 or keys - literals - {"path"}:
        return value
    literal, path = value[literals.pop()], value.get("path")
    if not isinstance(path, str):
        return literal
    # Inside a template the path has no one place in the model, and the literal is only a default: left out.
    if path.startswith("/"):
        initial.append((path, literal))
    return {"path": path}


def _event(action: dict[str, Any], initial: _Initial) -> Iterator[tuple[str, Any]]:
    yield "name", action["name"]
    context = action.get("context")
    if isinstance(context, list):
        entries = [item for item in context if isinstance(item, dict) and isinstance(item.get("key"), str)]
        yield "context", {item["key"]: _plain("", item.get("value"), initial) for item in entries}


def _special_image(properties: dict[str, Any]) -> None:
    if properties.get("fit") == "scale-down":
        properties["fit"] = "scaleDown"


def _special_button(properties: dict[str, Any]) -> None:
    if isinstance(properties.get("variant"), bool):
        properties["variant"] = "primary" if properties["variant"] else "default"


def _special_choice(properties: dict[str, Any]) -> None:
    # 0.8 allows any number of choices by default; 0.9 allows one. 0.9 has no number for more than one.
    single = properties.pop("variant", None) == 1
    properties["variant"] = "mutuallyExclusive" if single else "multipleSelection"


_SPECIAL: dict[str, Callable[[dict[str, Any]], None]] = {
    "Image": _special_image,
    "Button": _special_button,
    "ChoicePicker": _special_choice,
}


def _data_update(body: object, at: str, dialect: Dialect) -> list[Incoming]:
    update = convert(body, _Data, at)
    # Agents and both reference readers read `user` as `/user` here.
    path = update.path if update.path[:1] in ("", "/") else f"/{update.path}"
    value = _contents(update.contents, f"{at}/contents")
    # The way to set one plain value in 0.8: a single entry called "."
    if value.keys() == {"."}:
        value = value["."]
    message = UpdateDataModel(surface_id=update.surface_id, path=path, value=value, implicit=True)
    origin = MessageOrigin(surface=f"{at}/surfaceId", path=f"{at}/path", value=f"{at}/contents")
    return [Incoming(message=message, dialect=dialect, origin=origin)]


def _contents(entries: list[Any], at: str) -> dict[str, Any]:
    """Typed entries as an object. The depth is bounded: the message has been checked."""
    return dict(_entry(entry, f"{at}/{index}") for index, entry in enumerate(entries))


def _entry(entry: object, at: str) -> tuple[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("key"), str):
        raise A2uiError("invalid_contents", at, "An entry is an object with a string `key`.")
    given = entry.keys() - {"key"}
    if len(given) != 1 or not given <= _VALUE_TYPES.keys():
        raise A2uiError("invalid_contents", at, f"Beside `key` an entry has one of {', '.join(_VALUE_TYPES)}.")
    kind = given.pop()
    value: Any = entry[kind]
    if not _has_type(value, kind):
        raise A2uiError("invalid_contents", f"{at}/{kind}", f"`{kind}` has a value of another type.")
    if kind == "valueMap":
        return entry["key"], _contents(value, f"{at}/{kind}")
    return entry["key"], _text_or_list(value) if kind == "valueString" else value


def _has_type(value: object, kind: str) -> bool:
    return isinstance(value, _VALUE_TYPES[kind]) and (kind == "valueBoolean" or not isinstance(value, bool))


def _text_or_list(text: str) -> Any:
    """0.8 has no lists. Its reference renderer parses a string that is a JSON list or object, so agents send those."""
    if not (text.startswith(("[", "{")) and text.endswith(("]", "}"))):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


READERS: dict[str, Callable[[object, str, Dialect], list[Incoming]]] = {
    "surfaceUpdate": _surface_update,
    "dataModelUpdate": _data_update,
    "beginRendering": _begin,
}
