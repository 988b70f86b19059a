"""Read and write the dialect of the protocol document: a flat list of components.

It has no tree: its readers show components one below the other. When Dragoman reads a list, it adds a root that
lists the components. A Button has a `label` instead of a child, and a click on it sends `onClick`; both become what 0.9
has, so that the rest of the code knows one form.

The dialect's readers also bind no data. When Dragoman writes a surface:

- components are listed in the order in which they are drawn, with the values that they are bound to; what only lays
  others out (Row, Column, Card …) is left out;
- a Button has the text of its child as its `label`; actions are left out: its readers answer with the component's id;
- Markdown is a Text, a Terminal a CodeBlock; what else the document does not have is sent as it is, and shown by its
  readers as a placeholder;
- there is no message that removes a surface: it is left without components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from dragoman.protocols.a2ui import pointer
from dragoman.protocols.a2ui.catalogue import references
from dragoman.protocols.a2ui.messages import (
    DEFAULT_LIMITS,
    DELETE,
    ROOT,
    A2uiError,
    Component,
    CreateSurface,
    DeleteSurface,
    Incoming,
    MessageOrigin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.protocols.a2ui.render_tree import RenderNode, resolve
from dragoman.protocols.a2ui.surface import Surface
from dragoman.protocols.a2ui.v09 import Id
from dragoman.protocols.a2ui.values import convert


class _SurfaceName(msgspec.Struct, frozen=True):
    id: Id
    title: str = ""


class _FlatListCreate(msgspec.Struct, frozen=True):
    surface: _SurfaceName
    components: list[Any] = []


class _FlatListComponents(msgspec.Struct, frozen=True, rename="camel"):
    surface_id: Id
    components: list[Any]


class _FlatListDataModel(msgspec.Struct, frozen=True, rename="camel"):
    surface_id: Id
    pointer: str = ""
    value: Any = DELETE


class _FlatListDelete(msgspec.Struct, frozen=True, rename="camel"):
    surface_id: Id


class _FlatListComponent(msgspec.Struct, frozen=True):
    id: Id
    type: Id
    props: dict[str, Any] = {}


def _create(message: dict[str, Any]) -> list[Incoming]:
    create = convert(message, _FlatListCreate, "")
    name = create.surface
    theme = {"title": name.title} if name.title else {}
    surface = CreateSurface(surface_id=name.id, theme=theme, existing="replace")
    components = _components(name.id, create.components, "/surface/id")
    return [Incoming(message=surface, dialect="flat-list", origin=MessageOrigin(surface="/surface/id")), components]


def _update_components(message: dict[str, Any]) -> list[Incoming]:
    update = convert(message, _FlatListComponents, "")
    return [_components(update.surface_id, update.components, "/surfaceId")]


def _components(surface_id: str, raw: list[Any], surface_at: str) -> Incoming:
    """The whole list: it replaces the surface's previous components."""
    found = [(_component(item, f"/components/{index}"), f"/components/{index}") for index, item in enumerate(raw)]
    taken = {component.id for component, _ in found}
    expanded = [(each, at) for component, at in found for each in _expanded(component, taken)]
    root, made = _root([component for component, _ in expanded], taken)
    placed = [*((component, "/components") for component in made), *expanded]
    return Incoming(
        message=UpdateComponents(
            surface_id=surface_id, components=tuple(component for component, _ in placed), replace=True, root=root
        ),
        dialect="flat-list",
        origin=MessageOrigin(surface=surface_at, components=tuple(at for _, at in placed)),
    )


def _component(raw: object, at: str) -> Component:
    component = convert(raw, _FlatListComponent, at)
    for reserved in ("id", "component"):
        if reserved in component.props:
            message = f"`{reserved}` cannot be the name of a property."
            raise A2uiError("reserved_name", f"{at}/props/{reserved}", message)
    return Component(component.id, component.type, component.props)


def _expanded(component: Component, taken: set[str]) -> Iterator[Component]:
    if component.type != "Button" or "child" in component.properties:
        yield component
        return
    label = component.properties.get("label", "")  # the document's own page shows a missing value as empty
    child = _free(f"{component.id[:200]}-label", taken)  # within the length of ids
    click = {"event": {"name": "onClick", "context": {"componentId": component.id}}}
    others = {name: value for name, value in component.properties.items() if name != "label"}
    yield Component(component.id, "Button", {"child": child, "action": click, **others})
    yield Component(child, "Text", {"text": label})


def _root(components: list[Component], taken: set[str]) -> tuple[str, list[Component]]:
    """The root's id, and the root itself unless it was sent: the component named `root` that no other contains."""
    named = {reference.component_id for component in components for reference in references(component)}
    top = [component.id for component in components if component.id not in named]
    if top == [ROOT]:
        return ROOT, []
    root = _free(ROOT, taken)
    return root, [Component(root, "Column", {"children": top})]


def _free(wanted: str, taken: set[str]) -> str:
    while wanted in taken:
        wanted += "-"
    taken.add(wanted)
    return wanted


def _update_data_model(message: dict[str, Any]) -> list[Incoming]:
    update = convert(message, _FlatListDataModel, "")
    origin = MessageOrigin(surface="/surfaceId", path="/pointer", value="/value")
    data = UpdateDataModel(surface_id=update.surface_id, path=update.pointer, value=update.value)
    return [Incoming(message=data, dialect="flat-list", origin=origin)]


def _delete(message: dict[str, Any]) -> list[Incoming]:
    delete = DeleteSurface(surface_id=convert(message, _FlatListDelete, "").surface_id)
    return [Incoming(message=delete, dialect="flat-list", origin=MessageOrigin(surface="/surfaceId"))]


READERS: dict[str, Callable[[dict[str, Any]], list[Incoming]]] = {
    "createSurface": _create,
    "updateComponents": _update_components,
    "updateDataModel": _update_data_model,
    "deleteSurface": _delete,
}


Json = dict[str, Any]

_LIMITS = msgspec.structs.replace(DEFAULT_LIMITS, nodes=1_000, tree_bytes=512 << 10)
"""The whole list is built and sent with every change, so its limits are lower than those of a page."""
_LAYOUT = frozenset({"Row", "Column", "List", "Card", "Tabs", "Modal"})
_INNER = frozenset({"action", "checks", "child", "children", "tabs", "trigger", "content", "weight", "accessibility"})
_DOCUMENT_TYPES = {"Markdown": ("Text", "text", "text"), "Terminal": ("CodeBlock", "text", "code")}
"""The type in the document, Dragoman's property, and its name in that type."""


def create_surface(name: str, surface: Surface, components: list[Json]) -> list[Json]:
    """A surface with its data, which the document's own create message does not carry."""
    created: Json = {
        "type": "createSurface",
        "surface": {"id": name, "title": surface.title},
        "components": components,
    }
    if surface.data_model == {}:
        return [created]
    return [created, _set_data(name, "", surface.data_model)]


def update_components(name: str, components: list[Json]) -> Json:
    return {"type": "updateComponents", "surfaceId": name, "components": components}


def update_data_model(name: str, message: UpdateDataModel) -> Json:
    """A deletion is sent as null: the document has no other form for it."""
    place = pointer.format_pointer(pointer.parse(message.path))
    return _set_data(name, place, None if message.value is DELETE else message.value)


def components_of(surface: Surface) -> list[Json]:
    root = resolve(surface, _LIMITS)
    return [_written(node) for node in _listed(root)] if root else []


def _set_data(name: str, place: str, value: Any) -> Json:
    return {"type": "updateDataModel", "surfaceId": name, "pointer": place, "value": value}


def _listed(node: RenderNode) -> Iterator[RenderNode]:
    if node.state != "ready":
        return
    if node.type not in _LAYOUT:
        yield node
    for child in node.children if node.type != "Button" else ():
        yield from _listed(child)


def _written(node: RenderNode) -> Json:
    written_type, own, name = _DOCUMENT_TYPES.get(node.type, (node.type, "", ""))
    props = {"label": _text_of(node)} if node.type == "Button" else {}
    props |= _props(node)
    return {"id": node.id, "type": written_type, "props": {name: props.get(own, "")} if own else props}


def _props(node: RenderNode) -> Json:
    return {name: _literal(value) for name, value in node.properties.items() if name not in _INNER}


def _literal(value: Any) -> Any:
    """The renderer runs a function of the catalogue, and the document's readers have none."""
    return "" if isinstance(value, dict) and isinstance(value.get("call"), str) else value


def _text_of(node: RenderNode) -> str:
    """The text of a button: the texts below it."""
    own = [str(_literal(node.properties[name])) for name in ("text", "name") if name in node.properties]
    return " ".join(filter(None, [*own, *map(_text_of, node.children)]))
