"""A2UI: any bytes are read, applied, drawn and written again, or refused; refusals point into the input."""

from __future__ import annotations

import contextlib
import json

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.a2ui import (
    A2uiError,
    A2uiLimits,
    Connection,
    Incoming,
    RefusedLine,
    Surfaces,
    apply,
    apply_all,
    encode_jsonl,
    read,
    read_client,
    resolve,
    snapshot,
    to_v08,
    to_v09,
)
from dragoman.protocols.a2ui.pointer import parse
from tests.wire.a2ui.vectors import DIALECTS, vector

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
_CLIENT = [
    {"userAction": {"name": "n", "surfaceId": "s", "sourceComponentId": "c", "timestamp": "", "context": {"a": 1}}},
    {"version": "v0.9", "error": {"code": "VALIDATION_FAILED", "surfaceId": "s", "path": "/a~1b", "message": "m"}},
    {"type": "userAction", "action": "onClick", "context": {"componentId": "run"}},
]
SEEDS: list[bytes] = [
    *(json.dumps(messages).encode() for messages in _LISTS),
    *(encode_jsonl(messages) for messages in _LISTS),
    *(json.dumps(message).encode() for message in _CLIENT),
]


def one_input(data: bytes) -> None:
    _document(data)
    _stream(data)
    try:
        read_client(data, LIMITS)
    except A2uiError as error:
        parse(error.pointer, A2uiLimits(pointer_length=1 << 20))


def _document(data: bytes) -> None:
    try:
        surfaces = apply_all({}, read(data, LIMITS), LIMITS)
    except A2uiError as error:
        parse(error.pointer, A2uiLimits(pointer_length=1 << 20))
        return
    _drawn_and_written(surfaces)


def _stream(data: bytes) -> None:
    """In pieces, and going on behind every line that is refused."""
    connection = Connection(limits=LIMITS)
    surfaces: Surfaces = {}
    with contextlib.suppress(RemoteProtocolError):  # a line above the cap: what came before it stays
        for start in range(0, len(data), 97):
            connection.receive_data(data[start : start + 97])
            for event in connection.events():
                surfaces = _after(event, surfaces)
    _drawn_and_written(surfaces)


def _after(event: Incoming | RefusedLine, surfaces: Surfaces) -> Surfaces:
    if isinstance(event, RefusedLine):
        return surfaces
    try:
        return apply(surfaces, event.message, event.origin, LIMITS)
    except A2uiError:
        return surfaces


def _drawn_and_written(surfaces: Surfaces) -> None:
    for surface in surfaces.values():
        resolve(surface, LIMITS)
        again = apply_all({}, read(to_v09(snapshot(surface))))
        assert surface.root not in ("", "root") or again[surface.id].components == surface.components
        # 0.8 has no word for a surface that is neither shown nor filled.
        old = to_v08(snapshot(surface))
        assert apply_all({}, read(old)).keys() == ({surface.id} if old else set())
