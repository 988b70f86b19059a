"""Read the dialect of the protocol document, a flat list of components, into the model.

The dialect has no tree: components are shown one below the other, so the reader adds a root that lists them. A Button
has a `label` instead of a child, and a click on it sends `onClick`. Both become what 0.9 has, so that the rest of the
code knows one form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from dragoman.protocols.a2ui.catalogue import references
from dragoman.protocols.a2ui.messages import (
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
