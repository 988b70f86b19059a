"""Checks on the arguments of a call: how large they may be, and what is wrong with one that does not validate.

The size is checked before anything else looks at the arguments, so that a hostile call costs no more than an honest
one. Validation faults are localized here because pydantic only writes English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize

# Tolerance for a few misspelt parameters beyond the known ones; with more, it is not a serious call.
_MAX_UNKNOWN_PARAMETERS = 8
MAX_PARTS = 10_000
MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 50
_NAMES_SHOWN = 5
_NAME_CHARACTERS = 60


def require_bounded_size(tool: str, known: Collection[str], arguments: Mapping[str, Any]) -> None:
    if len(arguments) > len(known) + _MAX_UNKNOWN_PARAMETERS:
        raise _too_many_parameters(tool, known, arguments)
    if not _is_bounded(arguments):
        raise _too_large(tool)


def _is_bounded(arguments: Mapping[str, Any]) -> bool:
    """Check the size level by level and stop at the first excess, so that a hostile call costs no more than an honest
    one.
    """
    parts, characters = 0, 0
    level: list[Any] = [arguments]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, Mapping | list | tuple):
                parts += len(value)
                if parts > MAX_PARTS:
                    return False
                inner += _children(value)
        if characters > MAX_CHARACTERS:
            return False
        if not inner:
            return True
        level = inner
    return False


def _children(value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> list[Any]:
    return [*value.keys(), *value.values()] if isinstance(value, Mapping) else list(value)


def _too_many_parameters(tool: str, known: Collection[str], arguments: Mapping[str, Any]) -> DragomanError:
    unknown = islice((name for name in arguments if name not in known), _NAMES_SHOWN)
    return DragomanError(
        "bad_arguments",
        localize(
            "{tool} does not accept {count} arguments; unknown: {names}.",
            tool=tool,
            count=len(arguments),
            names=", ".join(ascii(str(name)[:_NAME_CHARACTERS]) for name in unknown),
        ),
        hint=localize("Parameters: {names}.", names=", ".join(known) or "-"),
    )


def _too_large(tool: str) -> DragomanError:
    return DragomanError(
        "bad_arguments",
        localize("The arguments of {tool} are too large.", tool=tool),
        hint=localize(
            "Limits: {characters} characters, {parts} members and elements, {depth} levels.",
            characters=MAX_CHARACTERS,
            parts=MAX_PARTS,
            depth=MAX_DEPTH,
        ),
    )


_Context = Mapping[str, Any]


def describe_fault(kind: str, context: _Context, message: str) -> LocalizedText:
    """Localize a validation fault by its type; an unknown type keeps pydantic's own message."""
    told = _FAULTS.get(kind)
    return told(context) if told else localize("{text}", text=message)


def _choices(context: _Context) -> str:
    return ", ".join(re.split(r", | or ", str(context.get("expected", ""))))


def _not_a_string(_: _Context) -> LocalizedText:
    return localize("Input should be a valid string")


def _not_an_integer(_: _Context) -> LocalizedText:
    return localize("Input should be a valid integer")


def _not_a_number(_: _Context) -> LocalizedText:
    return localize("Input should be a valid number")


def _not_a_boolean(_: _Context) -> LocalizedText:
    return localize("Input should be a valid boolean")


def _not_an_object(_: _Context) -> LocalizedText:
    return localize("Input should be an object")


_FAULTS: Mapping[str, Callable[[_Context], LocalizedText]] = {
    "missing": lambda _: localize("Field required"),
    "extra_forbidden": lambda _: localize("Extra inputs are not permitted"),
    "string_type": _not_a_string,
    "int_type": _not_an_integer,
    "int_parsing": _not_an_integer,
    "int_parsing_size": _not_an_integer,
    "int_from_float": _not_an_integer,
    "float_type": _not_a_number,
    "float_parsing": _not_a_number,
    "finite_number": lambda _: localize("Input should be a finite number"),
    "bool_type": _not_a_boolean,
    "bool_parsing": _not_a_boolean,
    "list_type": lambda _: localize("Input should be a valid list"),
    "dict_type": _not_an_object,
    "model_type": _not_an_object,
    "model_attributes_type": _not_an_object,
    "literal_error": lambda context: localize("Input should be one of {choices}", choices=_choices(context)),
    "greater_than": lambda context: localize("Input should be greater than {least}", least=context.get("gt")),
    "greater_than_equal": lambda context: localize(
        "Input should be greater than or equal to {least}", least=context.get("ge")
    ),
    "less_than": lambda context: localize("Input should be less than {most}", most=context.get("lt")),
    "less_than_equal": lambda context: localize("Input should be less than or equal to {most}", most=context.get("le")),
    "string_too_short": lambda context: localize(
        "String should have at least {least} characters", least=context.get("min_length")
    ),
    "string_too_long": lambda context: localize(
        "String should have at most {most} characters", most=context.get("max_length")
    ),
    "too_short": lambda context: localize("It should have at least {least} items", least=context.get("min_length")),
    "too_long": lambda context: localize("It should have at most {most} items", most=context.get("max_length")),
}
