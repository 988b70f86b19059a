"""What a surface is after the messages so far: a pure function of them. Nothing is changed in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from dragoman.wire.a2ui import pointer
from dragoman.wire.a2ui.catalogue import malformed_reference
from dragoman.wire.a2ui.errors import A2uiError
from dragoman.wire.a2ui.graph import GraphError, check_graph
from dragoman.wire.a2ui.limits import DEFAULT_LIMITS, Limits
from dragoman.wire.a2ui.messages import (
    DELETE,
    NOWHERE,
    ROOT,
    AgentMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    Incoming,
    Origin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.wire.a2ui.values import depth_of, size_of


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """`root` is empty until 0.8's `beginRendering` has named one: such a surface is filled but not shown."""

    id: str
    catalog_id: str = ""
    theme: dict[str, Any] = {}
    send_data_model: bool = False
    root: str = ""
    components: dict[str, Component] = {}
    component_bytes: int = 0
    data_model: Any = msgspec.field(default_factory=dict)

    @property
    def title(self) -> str:
        title = self.theme.get("title", "")
        return title if isinstance(title, str) else ""


Surfaces = Mapping[str, Surface]


def apply(
    surfaces: Surfaces, message: AgentMessage, origin: Origin = NOWHERE, limits: Limits = DEFAULT_LIMITS
) -> Surfaces:
    """The surfaces after the message; an A2uiError leaves them as they were."""
    if isinstance(message, FunctionMessage):
        return surfaces  # carried to whoever runs functions; it changes no surface
    if isinstance(message, DeleteSurface):
        _existing(surfaces, message.surface_id, origin)
        return {name: surface for name, surface in surfaces.items() if name != message.surface_id}
    surface = _APPLY[type(message)](surfaces, message, origin, limits)
    return {**surfaces, surface.id: surface}


def apply_all(surfaces: Surfaces, messages: list[Incoming], limits: Limits = DEFAULT_LIMITS) -> Surfaces:
    """All of one push, or none of it."""
    for incoming in messages:
        surfaces = apply(surfaces, incoming.message, incoming.origin, limits)
    return surfaces


def snapshot(surface: Surface) -> tuple[AgentMessage, ...]:
    """Messages that make this surface out of nothing: what a late joiner is sent."""
    parts: list[AgentMessage] = [
        CreateSurface(
            surface_id=surface.id,
            catalog_id=surface.catalog_id,
            theme=surface.theme,
            send_data_model=surface.send_data_model,
            root=surface.root,
        )
    ]
    if surface.data_model != {}:
        parts.append(UpdateDataModel(surface_id=surface.id, value=surface.data_model))
    if surface.components:
        parts.append(UpdateComponents(surface_id=surface.id, components=tuple(surface.components.values())))
    return tuple(parts)


def for_viewer(before: Surfaces, message: AgentMessage) -> tuple[AgentMessage, ...]:
    """The message for one who has seen `before` and goes by the rules of 0.9: nothing comes into being by itself, and
    no surface is created twice. Apply the message first; this expects that it was accepted."""
    existing = before.get(getattr(message, "surface_id", ""))
    if isinstance(message, CreateSurface) and existing is not None:
        return _created_again(existing, message)
    if isinstance(message, (UpdateComponents, UpdateDataModel)) and message.implicit:
        explicit = msgspec.structs.replace(message, implicit=False)
        return (explicit,) if existing else (CreateSurface(surface_id=message.surface_id, root=""), explicit)
    return (message,)


def _created_again(existing: Surface, message: CreateSurface) -> tuple[AgentMessage, ...]:
    """0.9 cannot change what a surface was created with, so that it has to be made again, unless nothing differs."""
    afterwards = _create({existing.id: existing}, message, NOWHERE, DEFAULT_LIMITS)
    named = afterwards.root == ROOT and existing.root == ""
    if afterwards == (msgspec.structs.replace(existing, root=ROOT) if named else existing):
        return ()
    return DeleteSurface(surface_id=existing.id), *snapshot(afterwards)


def _existing(surfaces: Surfaces, surface_id: str, origin: Origin) -> Surface:
    if surface_id not in surfaces:
        message = f"There is no surface {surface_id!r}; createSurface comes first."
        raise A2uiError("unknown_surface", origin.surface, message)
    return surfaces[surface_id]


def _new(surfaces: Surfaces, surface_id: str, origin: Origin, limits: Limits) -> Surface:
    if surface_id not in surfaces and len(surfaces) >= limits.surfaces:
        message = f"There are at most {limits.surfaces} surfaces; delete one first."
        raise A2uiError("too_many_surfaces", origin.surface, message)
    return Surface(id=surface_id)


def _target(surfaces: Surfaces, message: UpdateComponents | UpdateDataModel, origin: Origin, limits: Limits) -> Surface:
    if message.implicit and message.surface_id not in surfaces:
        return _new(surfaces, message.surface_id, origin, limits)
    return _existing(surfaces, message.surface_id, origin)


def _create(surfaces: Surfaces, message: CreateSurface, origin: Origin, limits: Limits) -> Surface:
    existing = surfaces.get(message.surface_id)
    if existing is not None and message.existing == "refuse":
        text = f"Surface {message.surface_id!r} exists; delete it first, or update it."
        raise A2uiError("surface_exists", origin.surface, text)
    kept = existing if message.existing == "keep" else None
    return msgspec.structs.replace(
        kept or _new(surfaces, message.surface_id, origin, limits),
        catalog_id=message.catalog_id,
        theme=message.theme,
        send_data_model=message.send_data_model,
        root=message.root,
    )


def _update_components(surfaces: Surfaces, message: UpdateComponents, origin: Origin, limits: Limits) -> Surface:
    surface = _target(surfaces, message, origin, limits)
    places = _places(message.components, origin)
    kept = {} if message.replace else surface.components
    components = {**kept, **{component.id: component for component in message.components}}
    _check_components(message.components, components, places, origin, limits)
    return msgspec.structs.replace(
        surface,
        components=components,
        component_bytes=_component_bytes(surface, message, origin, limits),
        root=message.root or surface.root,
    )


def _places(components: tuple[Component, ...], origin: Origin) -> dict[str, str]:
    places: dict[str, str] = {}
    for index, component in enumerate(components):
        if component.id in places:
            text = f"Two components of one message are called {component.id!r}."
            raise A2uiError("duplicate_id", origin.component(index), text)
        places[component.id] = origin.component(index)
    return places


def _check_components(
    sent: tuple[Component, ...],
    components: dict[str, Component],
    places: dict[str, str],
    origin: Origin,
    limits: Limits,
) -> None:
    if len(components) > limits.components:
        text = f"A surface has at most {limits.components} components."
        raise A2uiError("too_many_components", origin.component(len(sent) - 1), text)
    for component in sent:
        name = malformed_reference(component)
        if name:
            text = f"`{name}` of {component.type} {component.id!r} does not name components by id."
            raise A2uiError("invalid_children", places[component.id], text)
    try:
        check_graph(components, places, limits)
    except GraphError as error:
        sent_ones = [places[name] for name in error.components if name in places]
        raise A2uiError(error.code, sent_ones[0] if sent_ones else origin.surface, str(error)) from None


def _component_bytes(surface: Surface, message: UpdateComponents, origin: Origin, limits: Limits) -> int:
    total = 0 if message.replace else surface.component_bytes
    for index, component in enumerate(message.components):
        replaced = None if message.replace else surface.components.get(component.id)
        total += size_of(component) - (size_of(replaced) if replaced else 0)
        if total > limits.component_bytes:
            text = f"The components of a surface have at most {limits.component_bytes} bytes."
            raise A2uiError("surface_too_large", origin.component(index), text)
    return total


def _update_data_model(surfaces: Surfaces, message: UpdateDataModel, origin: Origin, limits: Limits) -> Surface:
    surface = _target(surfaces, message, origin, limits)
    try:
        tokens = pointer.parse(message.path, limits)
        if message.value is DELETE:
            data_model = pointer.remove(surface.data_model, tokens)
        else:
            _check_depth(tokens, message.value, origin, limits)
            data_model = pointer.put(surface.data_model, tokens, message.value, limits)
    except pointer.PointerError as error:
        raise A2uiError(error.code, origin.path, str(error)) from None
    if size_of(data_model) > limits.data_model_bytes:
        text = f"The data model of a surface has at most {limits.data_model_bytes} bytes."
        raise A2uiError("data_model_too_large", origin.value, text)
    return msgspec.structs.replace(surface, data_model=data_model)


def _check_depth(tokens: pointer.Tokens, value: Any, origin: Origin, limits: Limits) -> None:
    if len(tokens) > limits.json_depth:
        raise A2uiError("too_deep", origin.path, f"A pointer goes at most {limits.json_depth} steps down.")
    if len(tokens) + depth_of(value) > limits.json_depth:
        raise A2uiError("too_deep", origin.value, f"A data model is nested at most {limits.json_depth} deep.")


_APPLY: dict[type, Callable[[Surfaces, Any, Origin, Limits], Surface]] = {
    CreateSurface: _create,
    UpdateComponents: _update_components,
    UpdateDataModel: _update_data_model,
}
