"""A surface: the result of applying its messages in order, as a pure function. Nothing is changed in place.

Every update is checked: no component may contain itself, nor be nested deeper than the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from dragoman.protocols.a2ui import pointer
from dragoman.protocols.a2ui.catalogue import Reference, malformed_reference, references
from dragoman.protocols.a2ui.messages import (
    DEFAULT_LIMITS,
    DELETE,
    NO_ORIGIN,
    ROOT,
    A2uiError,
    A2uiLimits,
    AgentMessage,
    Component,
    CreateSurface,
    DeleteSurface,
    FunctionMessage,
    Incoming,
    MessageOrigin,
    UpdateComponents,
    UpdateDataModel,
)
from dragoman.protocols.a2ui.values import depth_of, size_of

_OPEN = -1

# The components that each component contains. One that was not sent yet contains none.
_Below = Mapping[str, list[str]]


class GraphError(ValueError):
    """`components` are those involved, the most useful for an error message first."""

    def __init__(self, code: str, components: list[str], message: str) -> None:
        super().__init__(message)
        self.code = code
        self.components = components


def check_graph(components: Mapping[str, Component], changed: Iterable[str], limits: A2uiLimits) -> None:
    """Check the whole graph, since a tall part may be attached below a deep one.

    Leaves, which most updates are, change neither cycles nor heights.
    """
    changed = list(changed)
    if not any(_below(components[name]) for name in changed):
        return
    below = {name: _below(component) for name, component in components.items()}
    if sum(map(len, below.values())) > limits.children:
        largest = sorted(changed, key=lambda name: len(below[name]), reverse=True)
        raise GraphError("too_many_children", largest, f"A surface names at most {limits.children} children.")
    heights: dict[str, int] = {}
    for start in (*changed, *components):
        if start not in heights:
            _measure(start, below, heights, limits.tree_depth)


def _measure(start: str, below: _Below, heights: dict[str, int], tree_depth: int) -> None:
    """Depth first without recursion: a component is open while the ones below it are measured."""
    way = [(start, list(below.get(start, ())))]
    heights[start] = _OPEN
    while way:
        current, rest = way[-1]
        if rest:
            child = rest.pop()
            if child not in heights:
                heights[child] = _OPEN
                way.append((child, list(below.get(child, ()))))
            elif heights[child] == _OPEN:
                raise _cycle_error([name for name, _ in way], child)
            continue
        way.pop()
        heights[current] = 1 + max((heights[child] for child in below.get(current, ())), default=0)
        if heights[current] > tree_depth:
            longest = _longest_path(current, below, heights)
            raise GraphError("too_deep", longest, f"Components are nested at most {tree_depth} deep.")


def _longest_path(start: str, below: _Below, heights: dict[str, int]) -> list[str]:
    way = [start]
    while children := below.get(way[-1]):
        way.append(max(children, key=lambda child: heights[child]))
    return way


def _cycle_error(way: list[str], closing: str) -> GraphError:
    circle = [*way[way.index(closing) :], closing]
    shown = " → ".join(circle if len(circle) <= 8 else [*circle[:6], "…", circle[-1]])
    return GraphError("circular_reference", circle[-2::-1], f"A component contains itself: {shown}")


def _below(component: Component) -> list[str]:
    return [reference.component_id for reference in references(component) if not descends(reference)]


def descends(reference: Reference) -> bool:
    """Whether a template iterates over a list inside its own item.

    Each step then goes one level down the data, and the data ends: one component that names itself may draw a tree of
    folders. An absolute path would recurse forever.
    """
    path = reference.template_path
    return path is not None and path not in ("", ".") and not path.startswith("/")


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """`root` is empty until `beginRendering` of 0.8 names one: such a surface is filled but not shown."""

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
    surfaces: Surfaces, message: AgentMessage, origin: MessageOrigin = NO_ORIGIN, limits: A2uiLimits = DEFAULT_LIMITS
) -> Surfaces:
    """The surfaces after the message; an A2uiError leaves them as they were."""
    if isinstance(message, FunctionMessage):
        return surfaces  # passed to the code that runs functions; it changes no surface
    if isinstance(message, DeleteSurface):
        _existing(surfaces, message.surface_id, origin)
        return {name: surface for name, surface in surfaces.items() if name != message.surface_id}
    surface = _APPLY[type(message)](surfaces, message, origin, limits)
    return {**surfaces, surface.id: surface}


def apply_all(surfaces: Surfaces, messages: list[Incoming], limits: A2uiLimits = DEFAULT_LIMITS) -> Surfaces:
    """Apply all messages of one document, or none."""
    for incoming in messages:
        surfaces = apply(surfaces, incoming.message, incoming.origin, limits)
    return surfaces


def snapshot(surface: Surface) -> tuple[AgentMessage, ...]:
    """The messages that create this surface from nothing, for a late joiner."""
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
    """The message for a viewer that has seen `before` and follows the rules of 0.9: nothing is created implicitly, and
    no surface is created twice. Apply the message first; this expects that it was accepted."""
    existing = before.get(getattr(message, "surface_id", ""))
    if isinstance(message, CreateSurface) and existing is not None:
        return _created_again(existing, message)
    if isinstance(message, (UpdateComponents, UpdateDataModel)) and message.implicit:
        explicit = msgspec.structs.replace(message, implicit=False)
        return (explicit,) if existing else (CreateSurface(surface_id=message.surface_id, root=""), explicit)
    return (message,)


def _created_again(existing: Surface, message: CreateSurface) -> tuple[AgentMessage, ...]:
    """0.9 cannot change the properties that a surface was created with, so it is created again if one differs."""
    afterwards = _create({existing.id: existing}, message, NO_ORIGIN, DEFAULT_LIMITS)
    named = afterwards.root == ROOT and existing.root == ""
    if afterwards == (msgspec.structs.replace(existing, root=ROOT) if named else existing):
        return ()
    return DeleteSurface(surface_id=existing.id), *snapshot(afterwards)


def _existing(surfaces: Surfaces, surface_id: str, origin: MessageOrigin) -> Surface:
    if surface_id not in surfaces:
        message = f"There is no surface {surface_id!r}; createSurface comes first."
        raise A2uiError("unknown_surface", origin.surface, message)
    return surfaces[surface_id]


def _new(surfaces: Surfaces, surface_id: str, origin: MessageOrigin, limits: A2uiLimits) -> Surface:
    if surface_id not in surfaces and len(surfaces) >= limits.surfaces:
        message = f"There are at most {limits.surfaces} surfaces; delete one first."
        raise A2uiError("too_many_surfaces", origin.surface, message)
    return Surface(id=surface_id)


def _target(
    surfaces: Surfaces, message: UpdateComponents | UpdateDataModel, origin: MessageOrigin, limits: A2uiLimits
) -> Surface:
    if message.implicit and message.surface_id not in surfaces:
        return _new(surfaces, message.surface_id, origin, limits)
    return _existing(surfaces, message.surface_id, origin)


def _create(surfaces: Surfaces, message: CreateSurface, origin: MessageOrigin, limits: A2uiLimits) -> Surface:
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


def _update_components(
    surfaces: Surfaces, message: UpdateComponents, origin: MessageOrigin, limits: A2uiLimits
) -> Surface:
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


def _places(components: tuple[Component, ...], origin: MessageOrigin) -> dict[str, str]:
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
    origin: MessageOrigin,
    limits: A2uiLimits,
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


def _component_bytes(surface: Surface, message: UpdateComponents, origin: MessageOrigin, limits: A2uiLimits) -> int:
    total = 0 if message.replace else surface.component_bytes
    for index, component in enumerate(message.components):
        replaced = None if message.replace else surface.components.get(component.id)
        total += size_of(component) - (size_of(replaced) if replaced else 0)
        if total > limits.component_bytes:
            text = f"The components of a surface have at most {limits.component_bytes} bytes."
            raise A2uiError("surface_too_large", origin.component(index), text)
    return total


def _update_data_model(
    surfaces: Surfaces, message: UpdateDataModel, origin: MessageOrigin, limits: A2uiLimits
) -> Surface:
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


def _check_depth(tokens: pointer.Tokens, value: Any, origin: MessageOrigin, limits: A2uiLimits) -> None:
    if len(tokens) > limits.json_depth:
        raise A2uiError("too_deep", origin.path, f"A pointer goes at most {limits.json_depth} steps down.")
    if len(tokens) + depth_of(value) > limits.json_depth:
        raise A2uiError("too_deep", origin.value, f"A data model is nested at most {limits.json_depth} deep.")


_APPLY: dict[type, Callable[[Surfaces, Any, MessageOrigin, A2uiLimits], Surface]] = {
    CreateSurface: _create,
    UpdateComponents: _update_components,
    UpdateDataModel: _update_data_model,
}
