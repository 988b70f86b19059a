"""What a person typed into a field for secrets: for who asked, and for no record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from dragoman.wire.a2ui import Component, Node, Surface, pointer, resolve

HIDDEN = "••••"


def recorded(surface: Surface, component: Component, context: Mapping[str, Any]) -> dict[str, Any]:
    """The context of an action as it may be written down."""
    told: dict[str, Any] = without(dict(context), secrets_in(surface))
    values, secrets = told.get("values"), _secret_fields(component)
    if not secrets or not isinstance(values, dict):
        return told
    return {**told, "values": {name: HIDDEN if name in secrets else value for name, value in values.items()}}


def secrets_in(surface: Surface) -> frozenset[str]:
    """What stands in the data where fields for secrets are bound."""
    found = (pointer.get(surface.data_model, place) for place in _secret_places(surface))
    return frozenset(it for it in found if isinstance(it, str) and it)


def without(value: Any, secrets: frozenset[str]) -> Any:
    """Wherever one of them stands by itself, at any depth."""
    if not secrets:
        return value
    if isinstance(value, str):
        return HIDDEN if value in secrets else value
    if isinstance(value, list):
        return [without(item, secrets) for item in value]
    return {name: without(item, secrets) for name, item in value.items()} if isinstance(value, dict) else value


def stored(surface: Surface) -> Surface:
    """As it is kept on disk: such a field is empty after a restart, which is better than a secret that lies about."""
    data = surface.data_model
    for place in _secret_places(surface):
        if pointer.get(data, place):
            data = pointer.put(data, place, "")
    return msgspec.structs.replace(surface, data_model=data)


def _secret_places(surface: Surface) -> list[pointer.Tokens]:
    if not any(it.properties.get("variant") == "obscured" for it in surface.components.values()):
        return []
    root = resolve(surface)
    bound = (node.bindings.get("value") for node in (_all(root) if root else ()) if _is_obscured(node))
    return [pointer.parse(place) for place in bound if place]


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _all(child)


def _is_obscured(node: Node) -> bool:
    return node.type == "TextField" and node.properties.get("variant") == "obscured"


def _secret_fields(component: Component) -> set[str]:
    fields = component.properties.get("fields")
    found = fields if isinstance(fields, list) else []
    return {str(it.get("name")) for it in found if isinstance(it, dict) and it.get("kind") == "secret"}
