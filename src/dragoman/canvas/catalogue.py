"""Every component that can be drawn, and whether what an agent sends fits one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import msgspec

from dragoman.canvas.components import OWN_COMPONENTS
from dragoman.protocols.a2ui import A2uiError, Component, Incoming, Surface, UpdateComponents
from dragoman.protocols.a2ui.catalogue import BASIC
from dragoman.protocols.a2ui.pointer import escape
from dragoman.protocols.a2ui.values import convert

CATALOG_ID = "dragoman:dev/1"


COMPONENT_NAMES = (*BASIC, *(name for name in OWN_COMPONENTS if name not in BASIC))


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of one of Dragoman's own components, with its references inlined."""
    return msgspec.json.schema(OWN_COMPONENTS[name].shape)


def check_components(messages: list[Incoming]) -> None:
    """Check components for agents that can repair what they send: an A2uiError points at the property, before anything
    is drawn."""
    for incoming in messages:
        if isinstance(incoming.message, UpdateComponents):
            for index, component in enumerate(incoming.message.components):
                _check(component, incoming.origin.component(index))


def _check(component: Component, at: str) -> None:
    if component.type in OWN_COMPONENTS:
        convert(component.properties, OWN_COMPONENTS[component.type].shape, at)
    elif component.type in BASIC:
        _check_basic(component, at)


def action_names(surface: Surface) -> dict[str, str]:
    """The name of a person's action on each component: the drawer's, or the catalogue's default."""
    return {id: name for id, component in surface.components.items() if (name := _action_name(component))}


def _action_name(component: Component) -> str:
    if "action" not in component.properties and component.type in OWN_COMPONENTS:
        return OWN_COMPONENTS[component.type].event
    action = component.properties.get("action")
    event = action.get("event") if isinstance(action, dict) else None
    name = event.get("name") if isinstance(event, dict) else None
    return name if isinstance(name, str) else ""


def not_drawable(surface: Surface) -> Iterator[tuple[Component, str]]:
    """Components of a type that is in no catalogue, with the type that was probably meant.

    The page shows a notice in their place.
    """
    for component in surface.components.values():
        if component.type not in COMPONENT_NAMES:
            near = difflib.get_close_matches(component.type, COMPONENT_NAMES, n=1)
            yield component, near[0] if near else ""


_SHARED = frozenset({"weight", "accessibility"})


def _check_basic(component: Component, at: str) -> None:
    known = BASIC[component.type].keys() | _SHARED
    for name in component.properties:
        if name not in known:
            text = f"{component.type} has no property {name[:60]!r}; it has: {', '.join(sorted(known - _SHARED))}."
            raise A2uiError("unknown_property", f"{at}/{escape(name)}", text)
