"""What is wrong with an argument, as a phrase: the checker of parameters speaks English alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dragoman.phrases import Phrase, say

_Context = Mapping[str, Any]


def fault_of(kind: str, context: _Context, message: str) -> Phrase:
    """By its kind; one that is in no list of ours in the checker's own words."""
    told = _FAULTS.get(kind)
    return told(context) if told else say("{text}", text=message)


def _choices(context: _Context) -> str:
    return ", ".join(re.split(r", | or ", str(context.get("expected", ""))))


def _no_text(_: _Context) -> Phrase:
    return say("Input should be a valid string")


def _no_integer(_: _Context) -> Phrase:
    return say("Input should be a valid integer")


def _no_number(_: _Context) -> Phrase:
    return say("Input should be a valid number")


def _no_boolean(_: _Context) -> Phrase:
    return say("Input should be a valid boolean")


def _no_object(_: _Context) -> Phrase:
    return say("Input should be an object")


_FAULTS: Mapping[str, Callable[[_Context], Phrase]] = {
    "missing": lambda _: say("Field required"),
    "extra_forbidden": lambda _: say("Extra inputs are not permitted"),
    "string_type": _no_text,
    "int_type": _no_integer,
    "int_parsing": _no_integer,
    "int_parsing_size": _no_integer,
    "int_from_float": _no_integer,
    "float_type": _no_number,
    "float_parsing": _no_number,
    "finite_number": lambda _: say("Input should be a finite number"),
    "bool_type": _no_boolean,
    "bool_parsing": _no_boolean,
    "list_type": lambda _: say("Input should be a valid list"),
    "dict_type": _no_object,
    "model_type": _no_object,
    "model_attributes_type": _no_object,
    "literal_error": lambda context: say("Input should be one of {choices}", choices=_choices(context)),
    "greater_than": lambda context: say("Input should be greater than {least}", least=context.get("gt")),
    "greater_than_equal": lambda context: say(
        "Input should be greater than or equal to {least}", least=context.get("ge")
    ),
    "less_than": lambda context: say("Input should be less than {most}", most=context.get("lt")),
    "less_than_equal": lambda context: say("Input should be less than or equal to {most}", most=context.get("le")),
    "string_too_short": lambda context: say(
        "String should have at least {least} characters", least=context.get("min_length")
    ),
    "string_too_long": lambda context: say(
        "String should have at most {most} characters", most=context.get("max_length")
    ),
    "too_short": lambda context: say("It should have at least {least} items", least=context.get("min_length")),
    "too_long": lambda context: say("It should have at most {most} items", most=context.get("max_length")),
}
