"""Every component that can be drawn, and whether what an agent sends fits one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import msgspec

from dragoman.canvas.components import OWN
from dragoman.wire.a2ui import A2uiError, Component, Incoming, Surface, UpdateComponents
from dragoman.wire.a2ui.catalogue import BASIC
from dragoman.wire.a2ui.pointer import escape
from dragoman.wire.a2ui.values import convert

CATALOG_ID = "dragoman:dev/1"


NAMES = (*BASIC, *(name for name in OWN if name not in BASIC))


def schema_of(name: str) -> dict[str, Any]:
    """Of one of ours: JSON Schema, with what it refers to inside."""
    return msgspec.json.schema(OWN[name].shape)


def check_components(messages: list[Incoming]) -> None:
    """For agents that can repair what they send: an A2uiError points at the property, before anything is drawn."""
    for incoming in messages:
        if isinstance(incoming.message, UpdateComponents):
            for index, component in enumerate(incoming.message.components):
                _check(component, incoming.origin.component(index))


def _check(component: Component, at: str) -> None:
    if component.type in OWN:
        convert(component.properties, OWN[component.type].shape, at)
    elif component.type in BASIC:
        _check_basic(component, at)


def action_names(surface: Surface) -> dict[str, str]:
    """What a person's action on each component is called: as its drawer names it, or as the catalogue does."""
    return {id: name for id, component in surface.components.items() if (name := _action_name(component))}


def _action_name(component: Component) -> str:
    if "action" not in component.properties and component.type in OWN:
        return OWN[component.type].event
    action = component.properties.get("action")
    event = action.get("event") if isinstance(action, dict) else None
    name = event.get("name") if isinstance(event, dict) else None
    return name if isinstance(name, str) else ""


def not_drawable(surface: Surface) -> Iterator[tuple[Component, str]]:
    """Those of a kind that no catalogue of ours has: the page says so in their place. With the kind likely meant."""
    for component in surface.components.values():
        if component.type not in NAMES:
            near = difflib.get_close_matches(component.type, NAMES, n=1)
            yield component, near[0] if near else ""


_ANYWHERE = frozenset({"weight", "accessibility"})


def _check_basic(component: Component, at: str) -> None:
    known = BASIC[component.type].keys() | _ANYWHERE
    for name in component.properties:
        if name not in known:
            text = f"{component.type} has no property {name[:60]!r}; it has: {', '.join(sorted(known - _ANYWHERE))}."
            raise A2uiError("unknown_property", f"{at}/{escape(name)}", text)
