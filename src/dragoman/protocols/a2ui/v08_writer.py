"""The model, written as 0.8 for the nodes of OpenClaw. What 0.8 cannot say gives way by these rules:

- function calls: an empty literal of the property's type; a call as an action: an event named after the function, so
  that the click is not lost; icons that 0.8 does not know, drawn ones too: `help`;
- `checks`, `accessibility`, unknown properties of known components, a borderless button, a picker's label: left out;
- components of our own: Text in markdown (`as_text`); those of other catalogues are sent as they are;
- the catalogue: named only where it is somebody's own, since an 0.8 client knows the standard one by no other id;
- theme: `font` and `primaryColor` alone; deleting: an empty string; null: left out; a list: a string of JSON, which the
  reference renderer reads as a list; a data model that is not an object: an empty one;
- `replace`: an update (what the root no longer reaches is not shown); functions' messages: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from dragoman.protocols.a2ui.catalogue import BASIC, TO_V08_TYPE, Kind, is_template
from dragoman.protocols.a2ui.markdown_fallback import to_markdown
from dragoman.protocols.a2ui.messages import (
    DELETE,
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
from dragoman.protocols.a2ui.v09 import Json, action_body, error_body
from dragoman.protocols.a2ui.values import to_text

_STYLES = ("font", "primaryColor")
# The ids of the standard catalogue in every version, and Dragoman's own, which extends it.
_STANDARD = ("https://a2ui.org/specification/", "dragoman:")
_UNKNOWN_ICON = "help"
_ICON_NAMES = """
accountCircle add arrowBack arrowForward attachFile calendarToday call camera check close delete download edit
event error favorite favoriteOff folder help home info locationOn lock lockOpen mail menu moreVert moreHoriz
notificationsOff notifications payment person phone photo print refresh search send settings share
shoppingCart star starHalf starOff upload visibility visibilityOff warning
"""
ICONS = frozenset(_ICON_NAMES.split())
_SCALE_DOWN = {"scaleDown": "scale-down"}
_PRIMARY = {"primary": True, "default": False}


def to_v08(messages: Iterable[AgentMessage | ClientMessage]) -> list[Json]:
    """`beginRendering` comes before the other messages of its surface: the protocol's own library creates the surface
    there, and refuses messages about unknown surfaces. Renderers accept it at any place."""
    slots: list[list[Json]] = []
    begun: dict[str, list[Json]] = {}
    for message in messages:
        for body in _WRITERS[type(message)](message):
            ((kind, inner),) = body.items()
            surface_id = inner.get("surfaceId", "")
            if surface_id not in begun:
                slots.append(begun.setdefault(surface_id, []))
            if kind == "beginRendering":
                begun[surface_id][:] = [_merged(begun[surface_id], inner)]
                continue
            slots.append([body])
            if kind == "deleteSurface":
                del begun[surface_id]
    return [body for slot in slots for body in slot]


def _merged(before: list[Json], begin: Json) -> Json:
    """Once per surface: a new root leaves its catalogue and its styles as they were."""
    return {"beginRendering": {**(before[0]["beginRendering"] if before else {}), **begin}}


def _create(message: CreateSurface) -> list[Json]:
    if not message.root:
        return []  # nothing is shown yet, and 0.8 needs no message for that
    return [_begin(message.surface_id, message.root, message.catalog_id, message.theme)]


def _begin(surface_id: str, root: str, catalog_id: str = "", theme: Json | None = None) -> Json:
    body: Json = {"surfaceId": surface_id, "root": root}
    if catalog_id and not catalog_id.startswith(_STANDARD):
        body["catalogId"] = catalog_id
    styles = {name: value for name, value in (theme or {}).items() if name in _STYLES}
    return {"beginRendering": {**body, "styles": styles} if styles else body}


def _update_components(message: UpdateComponents) -> list[Json]:
    components = [_component(component) for component in message.components]
    update: list[Json] = []
    if components:  # an empty list is not allowed, and would have no effect
        update = [{"surfaceUpdate": {"surfaceId": message.surface_id, "components": components}}]
    return [*update, _begin(message.surface_id, message.root)] if message.root else update


def _component(component: Component) -> Json:
    component = to_markdown(component)
    write = _known_properties if component.type in BASIC else _other_properties
    name = TO_V08_TYPE.get(component.type, component.type)
    body: Json = {"id": component.id, "component": {name: dict(write(component))}}
    weight = component.properties.get("weight")
    return {**body, "weight": weight} if _is_number(weight) else body


def _known_properties(component: Component) -> Iterator[tuple[str, Any]]:
    for name, spec in BASIC[component.type].items():
        if spec.v08 is None or name not in component.properties:
            continue
        value = component.properties[name]
        special = _SPECIAL.get((component.type, name))
        written = special(value) if special else _KINDS[spec.kind](value)
        if written is not None:
            yield spec.v08, written


def _other_properties(component: Component) -> Iterator[tuple[str, Any]]:
    """A component of another catalogue: literals stay plain, since it is unknown which properties are bound there."""
    for name, value in component.properties.items():
        if name == "children":
            yield name, _children(value)
        elif name == "action":
            yield name, _action(value)
        elif name != "weight":
            yield name, value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_path(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"path"}


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and "call" in value


def _dynamic(literal: str, plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A bound value: `{path}`, or a literal of the property's own type, whatever was given."""

    def write(value: Any) -> Json:
        if _is_path(value):
            return {"path": value["path"]}
        return {literal: plain(None if isinstance(value, dict) else value)}

    return write


def _strings(value: Any) -> list[str]:
    return [to_text(item) for item in value] if isinstance(value, list) else []


_string = _dynamic("literalString", to_text)


def _children(value: Any) -> Any:
    if is_template(value):
        return {"template": {"componentId": value["componentId"], "dataBinding": value["path"]}}
    return {"explicitList": value} if isinstance(value, list) else value


def _labelled(label: str) -> Callable[[Any], Any]:
    """Tabs and options: objects of which one property is bound."""

    def write(items: Any) -> Any:
        found = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        return [{**item, label: _string(item.get(label))} for item in found]

    return write


def _action(value: Any) -> Any:
    action = value if isinstance(value, dict) else {}
    event, call = action.get("event"), action.get("functionCall")
    if isinstance(event, dict):
        return _named(event.get("name"), event.get("context"))
    if isinstance(call, dict):
        return _named(call.get("call"), call.get("args"))
    return value


def _named(name: Any, context: Any) -> Json:
    body: Json = {"name": to_text(name)}
    if isinstance(context, dict):
        entries = ((key, _context_value(value)) for key, value in context.items())
        body["context"] = [{"key": key, "value": value} for key, value in entries if value is not None]
    return body


def _context_value(value: Any) -> Json | None:
    if value is None:
        return None
    if _is_path(value):
        return {"path": value["path"]}
    if isinstance(value, bool):
        return {"literalBoolean": value}
    if isinstance(value, (int, float)):
        return {"literalNumber": value}
    return {"literalString": "" if _is_call(value) else to_text(value)}


def _icon(value: Any) -> Json:
    if _is_path(value):
        return {"path": value["path"]}
    return {"literalString": value if isinstance(value, str) and value in ICONS else _UNKNOWN_ICON}


_KINDS: dict[Kind, Callable[[Any], Any]] = {
    "string": _string,
    "number": _dynamic("literalNumber", lambda value: value if _is_number(value) else 0),
    "boolean": _dynamic("literalBoolean", lambda value: value is True),
    "strings": _dynamic("literalArray", _strings),
    "static": lambda value: value,
    "child": lambda value: value,
    "children": _children,
    "tabs": _labelled("title"),
    "options": _labelled("label"),
    "action": _action,
}

_SPECIAL: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("Icon", "name"): _icon,
    ("Image", "fit"): lambda value: _SCALE_DOWN.get(value, value) if isinstance(value, str) else None,
    ("Button", "variant"): lambda value: _PRIMARY.get(value) if isinstance(value, str) else None,
    ("ChoicePicker", "variant"): lambda value: None if value == "multipleSelection" else 1,
}


def _update_data_model(message: UpdateDataModel) -> list[Json]:
    value = None if message.value is DELETE else message.value
    whole = message.path in ("", "/")
    if isinstance(value, dict):
        contents = list(_entries(value))
    elif whole:
        contents = []
    else:
        contents = [{"key": ".", **_typed("" if value is None else value)}]
    body = {"surfaceId": message.surface_id, "contents": contents}
    return [{"dataModelUpdate": body if whole else {**body, "path": message.path}}]


def _entries(values: Json) -> Iterator[Json]:
    for key, value in values.items():
        if value is not None:
            yield {"key": key, **_typed(value)}


def _typed(value: Any) -> Json:
    if isinstance(value, dict):
        return {"valueMap": list(_entries(value))}
    if isinstance(value, bool):
        return {"valueBoolean": value}
    if isinstance(value, (int, float)):
        return {"valueNumber": value}
    if isinstance(value, list):
        return {"valueString": msgspec.json.encode(value).decode()}
    return {"valueString": value}


def _delete(message: DeleteSurface) -> list[Json]:
    return [{"deleteSurface": {"surfaceId": message.surface_id}}]


def _user_action(message: Action) -> list[Json]:
    return [{"userAction": action_body(message)}]


def _error(message: ClientError) -> list[Json]:
    return [{"error": error_body(message)}]


def _nothing(_: FunctionMessage) -> list[Json]:
    return []


_WRITERS: dict[type, Callable[[Any], list[Json]]] = {
    CreateSurface: _create,
    UpdateComponents: _update_components,
    UpdateDataModel: _update_data_model,
    DeleteSurface: _delete,
    FunctionMessage: _nothing,
    Action: _user_action,
    ClientError: _error,
}
