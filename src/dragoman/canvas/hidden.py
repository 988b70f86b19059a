"""What a person typed into a field for secrets: for who asked, and for no record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.wire.a2ui import Component

HIDDEN = "••••"


def recorded(component: Component, context: Mapping[str, Any]) -> dict[str, Any]:
    """The context of an action as it may be written down."""
    values, secrets = context.get("values"), _secrets(component)
    if not secrets or not isinstance(values, dict):
        return dict(context)
    return {**context, "values": {name: HIDDEN if name in secrets else value for name, value in values.items()}}


def _secrets(component: Component) -> set[str]:
    fields = component.properties.get("fields")
    found = fields if isinstance(fields, list) else []
    return {str(it.get("name")) for it in found if isinstance(it, dict) and it.get("kind") == "secret"}
