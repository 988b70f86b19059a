"""The schemas of all tools keep the rules of those who read them: ajv in strict mode, OpenAI, Gemini."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple, cast

import pytest
from pydantic import Field

from dragoman.tools.canvas import TOOLS as CANVAS_TOOLS
from dragoman.tools.canvas.schema import CanvasFailure
from dragoman.tools.debug import TOOLS as DEBUG_TOOLS
from dragoman.tools.debug.results import DebugFailure
from dragoman.tools.editor import TOOLS as EDITOR_TOOLS
from dragoman.tools.editor.requests import EDITOR_ERRORS
from dragoman.tools.evidence import TOOLS as EVIDENCE_TOOLS
from dragoman.tools.json_schema import Maybe, OrEmpty, TerseJsonSchema
from dragoman.tools.status_and_journal import TOOLS as GENERAL_TOOLS
from dragoman.tools.terminal import TOOLS as TERMINAL_TOOLS
from dragoman.tools.tool import ErrorFormat, Parameters, Tool
from tests.servers.mcp.tool_names import EVERYTHING

Schema = Mapping[str, Any]

_NOTHING = cast("Any", None)  # the declarations alone: nothing is called
_DEBUG_ERRORS = ErrorFormat(DebugFailure, _NOTHING)
_TABLES: tuple[tuple[tuple[Tool, ...], ErrorFormat | None], ...] = (
    (GENERAL_TOOLS, None),
    (DEBUG_TOOLS, _DEBUG_ERRORS),
    (EVIDENCE_TOOLS, _DEBUG_ERRORS),
    (TERMINAL_TOOLS, None),
    (CANVAS_TOOLS, ErrorFormat(CanvasFailure, _NOTHING)),
    (EDITOR_TOOLS, EDITOR_ERRORS),
)
TOOLS_BY_NAME: dict[str, Tool] = {
    it.name: replace(it, error_format=errors) for tools, errors in _TABLES for it in tools
}

# Which keywords ajv's strict mode knows, by the type that each one needs beside it (strictTypes); "" needs none.
AJV = {
    "": ["$ref", "$defs", "type", "enum", "const", "anyOf", "oneOf", "description", "default"],
    "object": ["properties", "required", "additionalProperties", "minProperties", "maxProperties"],
    "array": ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"],
    "string": ["minLength", "maxLength", "pattern"],
    "number": ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
}
AJV_TYPE_OF = {keyword: kind for kind, keywords in AJV.items() for keyword in keywords}
# The fields of `Schema` in Gemini's API. `additionalProperties` is not one of them: it belongs to the JSON Schema form
# (`parametersJsonSchema`), and clients that send the older form leave it out.
GEMINI = {
    *("type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties"),
    *("required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf"),
    *("propertyOrdering", "default", "minimum", "maximum", "additionalProperties"),
}
OPENAI_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
GEMINI_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
GEMINI_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class At(NamedTuple):
    where: str
    schema: Schema


def parts(schema: Schema, where: str = "") -> Iterator[At]:
    """The schema and every schema within it; members of `properties` and `$defs` are names, not keywords."""
    yield At(where, schema)
    for key, value in schema.items():
        match key, value:
            case (("properties" | "$defs"), dict()):
                for name, inner in value.items():
                    yield from parts(inner, f"{where}/{name}")
            case (("items" | "additionalProperties"), dict()):
                yield from parts(value, f"{where}/{key}")
            case (("anyOf" | "oneOf" | "prefixItems"), list()):
                for number, inner in enumerate(value):
                    yield from parts(inner, f"{where}/{key}/{number}")


def ajv_faults(schema: Schema) -> Iterator[str]:
    for where, part in parts(schema):
        types = part.get("type", [])
        kinds = {types} if isinstance(types, str) else set(types)
        if len(kinds - {"null"}) > 1:
            yield f"{where}: a union of types"
        for keyword in part:
            if keyword not in AJV_TYPE_OF:
                yield f"{where}: {keyword} is unknown"
            elif AJV_TYPE_OF[keyword] and not kinds & {AJV_TYPE_OF[keyword], *_integers(keyword)}:
                yield f"{where}: {keyword} needs a type beside it"


def _integers(keyword: str) -> set[str]:
    return {"integer"} if AJV_TYPE_OF[keyword] == "number" else set()


def openai_faults(schema: Schema) -> Iterator[str]:
    if schema.get("type") != "object" or "properties" not in schema:
        yield "the parameters are not an object with properties"
    yield from (f"{it} at the top" for it in ("anyOf", "oneOf", "allOf", "enum", "not") if it in schema)
    yield from (f"{where}: an array without items" for where, it in parts(schema) if _is_bare_array(it))


def gemini_faults(schema: Schema) -> Iterator[str]:
    for where, part in parts(schema):
        yield from (f"{where}: {keyword} is unknown" for keyword in part if keyword not in GEMINI)
        named = part.get("properties", {})
        yield from (f"{where}: {name} is not a name" for name in named if not GEMINI_PARAMETER.fullmatch(name))
        yield from (f"{where}: {name} is not there" for name in part.get("required", ()) if name not in named)
        if "anyOf" in part:
            if set(part) - {"anyOf"}:
                yield f"{where}: fields beside anyOf"
        elif not isinstance(part.get("type"), str) or part["type"] == "null":
            yield f"{where}: not of one type"
        if any(not isinstance(value, str) or not value for value in part.get("enum", ())):
            yield f"{where}: a value that is not a text, or an empty one"
        if _is_bare_array(part):
            yield f"{where}: an array without items"


def _is_bare_array(part: Schema) -> bool:
    return part.get("type") == "array" and not part.get("items")


def test_every_tool_is_looked_at() -> None:
    assert set(TOOLS_BY_NAME) == set(EVERYTHING)
    assert len(TOOLS_BY_NAME) <= 128  # as many as OpenAI takes


@pytest.mark.parametrize("name", TOOLS_BY_NAME)
def test_a_tools_schemas_keep_the_rules_of_every_reader(name: str) -> None:
    tool = TOOLS_BY_NAME[name]
    assert list(ajv_faults(tool.input_schema)) == []
    assert list(ajv_faults(tool.output_schema)) == []
    assert list(openai_faults(tool.input_schema)) == []
    assert list(gemini_faults(tool.input_schema)) == []
    assert OPENAI_NAME.fullmatch(name)
    assert GEMINI_NAME.fullmatch(name)
    assert len(tool.description) <= 1024


class _BoundBesideTheUnion(Parameters):
    given: Annotated[Maybe[int], Field(ge=0)] = None


class _Exclusive(Parameters):
    given: Annotated[float, Field(gt=0)]


class _OrNull(Parameters):
    given: int | None


class _DescribedUnion(Parameters):
    given: Annotated[int | str, Field(description="Either.")]


class _EmptyWord(Parameters):
    given: Literal["", "one"]


class _OneWord(Parameters):
    given: Literal["one"]


class _AnyList(Parameters):
    given: list[Any]


@pytest.mark.parametrize(
    ("faults", "parameters"),
    [
        (ajv_faults, _BoundBesideTheUnion),
        (openai_faults, _AnyList),
        *((gemini_faults, it) for it in (_Exclusive, _OrNull, _DescribedUnion, _EmptyWord, _OneWord, _AnyList)),
    ],
)
def test_the_rules_find_what_breaks_them(
    faults: Callable[[Schema], Iterator[str]], parameters: type[Parameters]
) -> None:
    assert list(faults(parameters.model_json_schema(schema_generator=TerseJsonSchema)))


class _Optional(Parameters):
    number: Maybe[Annotated[int, Field(ge=0, le=9)]] = None
    word: OrEmpty[Literal["one", "two"]] = ""


def test_what_may_be_left_out_is_published_with_its_bounds_and_without_its_empty_form() -> None:
    assert _Optional.model_json_schema(schema_generator=TerseJsonSchema)["properties"] == {
        "number": {"type": "integer", "minimum": 0, "maximum": 9},
        "word": {"type": "string", "enum": ["one", "two"]},
    }
    assert _Optional.model_validate({"number": None, "word": ""}) == _Optional()
