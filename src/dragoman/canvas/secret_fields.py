"""What a person typed into a secret field: delivered to the agent that asked, and never recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from dragoman.protocols.a2ui import Component, RenderNode, Surface, pointer, resolve

HIDDEN = "••••"


def recordable_context(surface: Surface, component: Component, context: Mapping[str, Any]) -> dict[str, Any]:
    """The context of an action as it may be recorded."""
    masked: dict[str, Any] = mask_secrets(dict(context), secrets_in(surface))
    values, secrets = masked.get("values"), _secret_fields(component)
    if not secrets or not isinstance(values, dict):
        return masked
    return {**masked, "values": {name: HIDDEN if name in secrets else value for name, value in values.items()}}


def secrets_in(surface: Surface) -> frozenset[str]:
    """The values in the data that secret fields are bound to."""
    found = (pointer.get(surface.data_model, place) for place in _secret_places(surface))
    return frozenset(it for it in found if isinstance(it, str) and it)


def mask_secrets(value: Any, secrets: frozenset[str]) -> Any:
    """Mask every value that equals a secret, at any depth."""
    if not secrets:
        return value
    if isinstance(value, str):
        return HIDDEN if value in secrets else value
    if isinstance(value, list):
        return [mask_secrets(item, secrets) for item in value]
    return {name: mask_secrets(item, secrets) for name, item in value.items()} if isinstance(value, dict) else value


def without_secrets(surface: Surface) -> Surface:
    """The surface as it is stored: secret fields are empty after a restart, because no secret is written to disk."""
    data = surface.data_model
    for place in _secret_places(surface):
        if pointer.get(data, place):
            data = pointer.put(data, place, "")
    return msgspec.structs.replace(surface, data_model=data)


def _secret_places(surface: Surface) -> list[pointer.Tokens]:
    if not any(it.properties.get("variant") == "obscured" for it in surface.components.values()):
        return []
    root = resolve(surface)
    bound = (node.bindings.get("value") for node in (_walk(root) if root else ()) if _is_obscured(node))
    return [pointer.parse(place) for place in bound if place]


def _walk(node: RenderNode) -> Iterator[RenderNode]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _is_obscured(node: RenderNode) -> bool:
    return node.type == "TextField" and node.properties.get("variant") == "obscured"


def _secret_fields(component: Component) -> set[str]:
    fields = component.properties.get("fields")
    found = fields if isinstance(fields, list) else []
    return {str(it.get("name")) for it in found if isinstance(it, dict) and it.get("kind") == "secret"}
