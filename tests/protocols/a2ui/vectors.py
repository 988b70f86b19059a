"""The vectors of tests/vectors/a2ui, and the small helpers that every test of A2UI uses."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dragoman.protocols.a2ui import (
    A2uiError,
    A2uiLimits,
    AgentMessage,
    Component,
    Incoming,
    Surface,
    Surfaces,
    apply,
    apply_all,
    read,
)

FOLDER = Path(__file__).parents[2] / "vectors" / "a2ui"
SURFACES = ("analysis", "button", "form", "show")

DIALECTS = [
    (name, dialect) for name in SURFACES for dialect in json.loads((FOLDER / f"{name}.json").read_text())["dialects"]
]


def vector(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def refusals() -> list[tuple[str, object, str, str]]:
    return [tuple(row) for row in json.loads((FOLDER / "refusals.json").read_text())]


def expected_surface(name: str) -> Surface:
    shape = vector(name)["surface"]
    (surface_id,) = {_surface_id(message) for message in vector(name)["dialects"]["0.9"]}
    return Surface(
        id=surface_id,
        catalog_id=shape["catalogId"],
        theme=shape["theme"],
        root=shape["root"],
        components={entry[0]: Component(*entry) for entry in shape["components"]},
        data_model=shape["dataModel"],
    )


def _surface_id(message: dict[str, Any]) -> str:
    (body,) = (body for key, body in message.items() if key != "version")
    found: str = body["surfaceId"]
    return found


def same(surface: Surface, expected: Surface) -> bool:
    """Equal in all but the count of bytes, which is derived from the rest."""
    return _seen(surface) == _seen(expected)


def _seen(surface: Surface) -> tuple[object, ...]:
    return (
        *(surface.id, surface.catalog_id, surface.theme, surface.root),
        *(surface.send_data_model, surface.components, surface.data_model),
    )


def played(document: object, surfaces: Surfaces | None = None, limits: A2uiLimits | None = None) -> Surfaces:
    limits = limits or A2uiLimits()
    return apply_all(surfaces or {}, read(document, limits), limits)


def after(messages: Iterable[AgentMessage]) -> Surfaces:
    """The surfaces after these messages, of which the refused ones change nothing."""
    surfaces: Surfaces = {}
    for message in messages:
        with contextlib.suppress(A2uiError):
            surfaces = apply(surfaces, message)
    return surfaces


def one(document: object, limits: A2uiLimits | None = None) -> Surface:
    """The only surface after these messages."""
    (surface,) = played(document, limits=limits).values()
    return surface


def single(document: object) -> Incoming:
    (incoming,) = read(document)
    return incoming


def v09(key: str, **body: object) -> dict[str, Any]:
    return {"version": "v0.9", key: body}


def v10(key: str, **body: object) -> dict[str, Any]:
    return {"version": "v1.0", key: body}


def text(name: str, value: object = "x") -> dict[str, Any]:
    return {"id": name, "component": "Text", "text": value}


def surface_of(*components: dict[str, Any], data: object = None, limits: A2uiLimits | None = None) -> Surface:
    """A 0.9 surface with these flat components."""
    messages = [
        v09("createSurface", surfaceId="s"),
        v09("updateDataModel", surfaceId="s", value={} if data is None else data),
    ]
    if components:
        messages.append(v09("updateComponents", surfaceId="s", components=list(components)))
    return one(messages, limits)
