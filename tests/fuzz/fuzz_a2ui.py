"""A2UI: any bytes are read, applied, drawn and written again, or refused; refusals point into the input."""

from __future__ import annotations

import json

from dragoman.protocols.a2ui import (
    A2uiError,
    A2uiLimits,
    Surfaces,
    apply_all,
    read,
    resolve,
    snapshot,
    to_v09,
)
from dragoman.protocols.a2ui.pointer import parse
from tests.protocols.a2ui.vectors import DIALECTS, vector

# Small enough for every bound to be met by damaged seeds.
LIMITS = A2uiLimits(
    message_bytes=1 << 14,
    document_bytes=1 << 15,
    messages=50,
    json_depth=24,
    surfaces=4,
    components=40,
    component_bytes=1 << 14,
    data_model_bytes=1 << 13,
    tree_depth=12,
    nodes=200,
    pointer_length=200,
    array_index=500,
)

_LISTS = [vector(name)["dialects"][dialect] for name, dialect in DIALECTS]
SEEDS: list[bytes] = [
    *(json.dumps(messages).encode() for messages in _LISTS),
    *("\n".join(map(json.dumps, messages)).encode() for messages in _LISTS),
]


def one_input(data: bytes) -> None:
    try:
        surfaces = apply_all({}, read(data, LIMITS), LIMITS)
    except A2uiError as error:
        parse(error.pointer, A2uiLimits(pointer_length=1 << 20))
        return
    _drawn_and_written(surfaces)


def _drawn_and_written(surfaces: Surfaces) -> None:
    for surface in surfaces.values():
        resolve(surface, LIMITS)
        again = apply_all({}, read(to_v09(snapshot(surface))))
        assert surface.root not in ("", "root") or again[surface.id].components == surface.components
