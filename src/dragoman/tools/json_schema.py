"""JSON schemas of parameters and results, as short as possible: an agent pays for every character of the tool list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic.json_schema import GenerateJsonSchema, SkipJsonSchema

_T = TypeVar("_T")
# A client may send null for an omitted parameter; the schema does not spend characters on that, and Gemini's subset of
# JSON Schema has no union with null. Bounds belong inside (`Maybe[Number]`): beside the union, pydantic publishes `ge`.
Maybe = Annotated[_T | SkipJsonSchema[None], "null means: not given"]
# The same for an empty string instead of a choice: Gemini refuses an enum with an empty value.
OrEmpty = Annotated[_T | SkipJsonSchema[Literal[""]], "empty means: not given"]
# "Greater than zero" as an inclusive bound: Gemini's subset has no exclusive ones.
MIN_SECONDS = 0.001

# Bounds above this are never reached by an honest call: they are checked but left out of the schema.
_BOUNDS = {"maximum": 10_000, "maxLength": 100, "maxItems": 100, "maxProperties": 100}


class TerseJsonSchema(GenerateJsonSchema):
    """Leaves out titles that repeat a name, uninformative defaults, and definitions that are used once."""

    def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
        terse = _without_noise(super().generate(schema, mode))
        for described in (terse, *terse.get("$defs", {}).values()):
            described.pop("description", None)  # a class docstring, which is for readers of the source
        return _inlined(terse)


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Inline definitions that are used once: a reference is longer."""
    named = schema.pop("$defs", {})
    uses = Counter(_references([schema, named]))
    kept = {name: _resolved(body, named, uses) for name, body in named.items() if uses[name] > 1}
    return {**({"$defs": kept} if kept else {}), **_resolved(schema, named, uses)}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield _definition_name(value)
        yield from (name for inner in value.values() for name in _references(inner))
    elif isinstance(value, list):
        yield from (name for inner in value for name in _references(inner))


def _resolved(value: Any, named: Mapping[str, Any], uses: Mapping[str, int]) -> Any:
    if isinstance(value, list):
        return [_resolved(inner, named, uses) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value and uses[_definition_name(value)] == 1:
        beside = {key: inner for key, inner in value.items() if key != "$ref"}
        return {**_resolved(named[_definition_name(value)], named, uses), **beside}
    return {key: _resolved(inner, named, uses) for key, inner in value.items()}


def _definition_name(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"]).removeprefix("#/$defs/")


def _without_noise(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: _shortened(key, value) for key, value in schema.items() if not _is_noise(key, value)}


def _is_noise(key: str, value: Any) -> bool:
    if key in _BOUNDS:
        return isinstance(value, int | float) and value >= _BOUNDS[key]
    return (
        key == "title"
        or (key == "default" and value in (None, ""))
        or (key == "additionalProperties" and value is True)
    )


def _compact_type(schema: dict[str, Any]) -> dict[str, Any]:
    match schema:
        case {"anyOf": [{"type": str(kind)} as only, {"type": "null"}]} if len(only) == 1:
            return {**{key: value for key, value in schema.items() if key != "anyOf"}, "type": [kind, "null"]}
        case {"const": _, "type": _}:
            return {key: value for key, value in schema.items() if key != "type"}
    return schema


def _shortened(key: str, value: Any) -> Any:
    """Shorten a schema. `properties` and `$defs` map names to schemas, and a parameter may be called `title`."""
    if isinstance(value, dict):
        value = _compact_type(value)
        named = key in {"properties", "$defs"}
        return {name: _shortened("", item) for name, item in value.items()} if named else _without_noise(value)
    return [_shortened("", item) for item in value] if isinstance(value, list) else value


# Explained once for all tools in the server's instructions.
LIVE_SESSION = "Default: the only live session, or the last used."
STOPPED_THREAD = "Default: the stopped thread."
TOP_FRAME = "From call_stack. Default: the top frame."
RELATIVE_PATH = "Absolute or workspace-relative."


def brief(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of parameters without what prevents no wrong call.

    Unknown parameters are still refused, with the known ones in the error; and some are taken for those that were
    meant (`argument_aliases`), which a client that checks calls itself would not let through.
    """
    implied = {**_IMPLIED, **(_IMPLIED_WITH_DEFAULT if "default" in schema else {})}
    return {key: _brief(key, value) for key, value in schema.items() if value not in implied.get(key, ())}


# No model sends a negative number of seconds, line 0 or an empty expression; a number as the value of an environment
# variable is accepted.
_IMPLIED: Mapping[str, tuple[object, ...]] = {
    "additionalProperties": (False, {"type": "string"}),
    "minimum": (0, 1, MIN_SECONDS),
    "minLength": (1,),
    "minItems": (1,),
    "description": (LIVE_SESSION, STOPPED_THREAD, TOP_FRAME, RELATIVE_PATH),
}
_IMPLIED_WITH_DEFAULT: Mapping[str, tuple[object, ...]] = {"default": (False,)}


def _brief(key: str, value: Any) -> Any:
    if key in {"properties", "$defs"}:
        return {name: brief(inner) for name, inner in value.items()}
    if isinstance(value, dict):
        return brief(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return [_brief("", inner) for inner in value] if isinstance(value, list) else value
