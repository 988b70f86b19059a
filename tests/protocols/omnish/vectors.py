"""The golden vectors, and a strategy for every message drawn from the tables themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dragoman.protocols.omnish import Schema, schema_named
from dragoman.protocols.omnish.layout import (
    ChoiceLayout,
    EnumLayout,
    Layout,
    MappingLayout,
    OptionLayout,
    PairLayout,
    RecordLayout,
    Scalar,
    SequenceLayout,
)

FOLDER = Path(__file__).parents[2] / "vectors" / "omnish"
SEED_FILE: dict[str, Any] = json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))
V25_FILE: dict[str, Any] = json.loads((FOLDER / "vectors_v25.json").read_text(encoding="utf-8"))
TRANSCRIPT: dict[str, Any] = json.loads((FOLDER / "client_transcript.json").read_text(encoding="utf-8"))

SCHEMAS = [schema_named("seed"), schema_named("v25")]
VALID: list[tuple[Schema, dict[str, Any]]] = [
    *((SCHEMAS[0], vector) for vector in SEED_FILE["valid"]),
    *((SCHEMAS[1], vector) for vector in V25_FILE["valid"]),
]
VALID_IDS = [f"{schema.name}-{vector['name']}" for schema, vector in VALID]
ODD: list[dict[str, Any]] = SEED_FILE["odd"]

SCALARS: dict[Scalar, st.SearchStrategy[Any]] = {
    Scalar.U32: st.integers(0, 2**32 - 1),
    Scalar.U64: st.integers(0, 2**64 - 1),
    Scalar.I32: st.integers(-(2**31), 2**31 - 1),
    Scalar.F32: st.floats(width=32, allow_nan=False),
    Scalar.BOOL: st.booleans(),
    Scalar.STR: st.text(max_size=20),
    Scalar.BYTES: st.binary(max_size=40),
}


def values_of(layout: Layout) -> st.SearchStrategy[Any]:
    match layout:
        case Scalar():
            return SCALARS[layout]
        case OptionLayout():
            return st.none() | values_of(layout.of)
        case SequenceLayout():
            return st.lists(values_of(layout.of), max_size=4)
        case MappingLayout():
            return st.dictionaries(values_of(layout.key), values_of(layout.value), max_size=4)
        case PairLayout():
            return st.tuples(values_of(layout.first), values_of(layout.second))
        case EnumLayout():
            return st.sampled_from(list(layout.of))
        case RecordLayout():
            return st.builds(layout.of, *map(values_of, layout.fields.values()))
        case ChoiceLayout():
            return st.one_of(*map(values_of, layout.variants))


def messages_of(schema: Schema) -> st.SearchStrategy[Any]:
    return st.one_of(*map(values_of, schema.variants))
