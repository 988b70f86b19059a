"""What a model guesses instead of a tool's parameters, and what it stands for.

Schemas publish one form of each parameter. Other forms that models send are taken for that one, so that a guess costs
no second call. A guess with two meanings is refused with the exact correction. Nothing here is published.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from urllib.parse import unquote

from pydantic import BaseModel

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug import source_files
from dragoman.debug.evidence.tracepoints import RETURN_NAME
from dragoman.tools.agent_text import one_line
from dragoman.tools.name_aliases import (
    FILE_NAMES,
    FILES_OF_TESTS,
    FUNCTION_NAMES,
    LINE_NAMES,
    NAMES,
    OWNER_NAMES,
    PLACES,
    RETURN_VALUES,
    TEST_RUNNERS,
    VALUES,
    WRAPPERS,
)

_LINE_PLACE = re.compile(r"(?P<file>[^\n]+?):(?P<line>[1-9]\d{0,8})(?::\d{1,8})?")
_FUNCTION_PLACE = re.compile(r"(?P<file>[^\n:]+\.\w+)::?(?P<function>[^\W\d][\w.]*)(?:\(\))?")
_FUNCTION = re.compile(r"(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\(\))?")
# `orders.py:14: price, rate`: a place and what to show there.
_PLACE_AND_EXPRESSIONS = re.compile(r"(?P<place>[^\s:|][^\n|]*?)\s*(?:(?<!:):(?=\s)|\||->|=>)\s*(?P<shown>\S[^\n]*)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FILE_URI = re.compile(r"file://(?=/)")
_LINE_WORD = re.compile(r"(?:line|L|#)?\s*(\d{1,9})", re.IGNORECASE)
_RETURN = re.compile(r"(?:__return(?:s|_value)?__|__retval__|\$return|\$ret)(?!\w)")
_SINGLE = frozenset({"expression", "claim", "line_number", "function", "test", "program"})
_MAX_COMMAND = 10_000


def accept(model: type[BaseModel], given: Mapping[str, Any], workspace: Path) -> dict[str, Any]:
    """The arguments in the published form; a DragomanError for a guess with two meanings."""
    fields = model.model_fields
    given = _unwrapped(model, given)
    if "test" in fields and "file_path" not in fields:
        given = _with_file_of_test(fields, given)
    accepted = _accepted(model, given)
    if "command" in fields and "program" not in fields:
        _take_program_as_command(accepted)
    elif "program" in fields and "args" in fields:
        _split_program(accepted, workspace)
    if "test" in fields and "command" in fields:
        _take_test_as_command(accepted)
    if "call" in fields and "function" in fields:
        _take_place_as_function(accepted)
    return accepted


def _unwrapped(model: type[BaseModel], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call within a call: `{"arguments": {…}}`."""
    for name in WRAPPERS:
        inner = _parsed(given.get(name)) if name not in model.model_fields else None
        if len(given) == 1 and isinstance(inner, Mapping):
            return inner
    return given


def _with_file_of_test(fields: Collection[str], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A test and its file apart, for a tool that takes an id: `{"file": "test_a.py", "test": "test_it"}`."""
    named = {it: _snake(it) for it in given if it not in fields}
    file = next((it for it, name in named.items() if name in FILES_OF_TESTS and isinstance(given[it], str)), None)
    if file is None or given.get("command") or given.get("program"):
        return given
    rest = {name: value for name, value in given.items() if name != file}
    test = next((it for it in rest if it == "test" or "test" in NAMES.get(named.get(it, ""), ())), None)
    if test is None:
        return {**rest, "test": given[file]}
    if not isinstance(rest[test], str) or given[file] in rest[test]:
        return rest
    return {**rest, test: f"{given[file]}::{rest[test].replace('.', '::')}"}


def _accepted(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    fields = model.model_fields
    if "returns" in fields:
        given = _with_returns(given)
    accepted = {name: value for name, value in given.items() if name in fields}
    for name, value in given.items():
        if name not in fields:
            _rename(model, accepted, name, value)
    if "file_path" in fields:
        _take_file_as_place(model, accepted)
        _split_place(model, accepted)
    for name, value in accepted.items():
        accepted[name] = _in_form(name, fields[name].annotation, value) if name in fields else value
    if "returns" in fields:
        _take_return(accepted)
    _refuse_return_value(fields, accepted)
    return accepted


def _rename(model: type[BaseModel], accepted: dict[str, Any], given_name: str, value: Any) -> None:
    fields, name = model.model_fields, _snake(given_name)
    if name in fields:
        accepted.setdefault(name, value)
        return
    if name in PLACES and isinstance(value, str) and _has_place(model) and not _is_placed(accepted):
        accepted |= _place(model, value)
        return
    if name in {"timeout_ms", "timeout_millis"} and "timeout_s" in fields and isinstance(value, int | float):
        accepted.setdefault("timeout_s", value / 1000)
        return
    is_commit = name == "commit" or "commit" in NAMES.get(name, ())
    if is_commit and "against" in fields and "against" not in accepted:
        accepted["against"] = {"commit": value}
        return
    known = [it for it in NAMES.get(name, ()) if it in fields]
    meant = next((it for it in known if it not in accepted), known[0] if known else None)
    if meant is None:
        accepted[given_name] = value  # refused by the model, with the names that there are
    elif accepted.setdefault(meant, value) != value:
        raise _ambiguous(localize("`{name}` and `{meant}` differ.", name=name, meant=meant), {meant: accepted[meant]})


def _snake(name: str) -> str:
    return _CAMEL.sub("_", name).replace("-", "_").lower()


def _has_place(model: type[BaseModel]) -> bool:
    return {"file_path", "line_number"} <= model.model_fields.keys()


def _is_placed(accepted: Mapping[str, Any]) -> bool:
    return any(accepted.get(it) for it in ("file_path", "line_number", "line_text", "function", "function_name"))


def _take_file_as_place(model: type[BaseModel], accepted: dict[str, Any]) -> None:
    """`file` is what `${file}` stands for, which only configurations have."""
    has_other_use = accepted.get("configuration") or accepted.get("configuration_name") or accepted.get("file_path")
    if "file" in model.model_fields and accepted.get("file") and not has_other_use:
        accepted["file_path"] = accepted.pop("file")


def _split_place(model: type[BaseModel], accepted: dict[str, Any]) -> None:
    """`file_path: "orders.py:14"`."""
    path = accepted.get("file_path")
    if isinstance(path, str) and _FILE_URI.match(path):
        path = accepted["file_path"] = unquote(_FILE_URI.sub("", path))
    found = _LINE_PLACE.fullmatch(path) if isinstance(path, str) and _has_place(model) else None
    if found is None:
        return
    line = int(found["line"])
    if accepted.get("line_number", line) not in (line, str(line), None):
        fixed = {"file_path": found["file"], "line_number": accepted["line_number"]}
        raise _ambiguous(localize("`file_path` and `line_number` name two lines."), fixed)
    accepted |= {"file_path": found["file"], "line_number": line}


def _place(model: type[BaseModel], text: str) -> dict[str, Any]:
    """A place as one text, as an object of this model."""
    text = text.strip()
    if "expressions" in model.model_fields and (both := _PLACE_AND_EXPRESSIONS.fullmatch(text)):
        return {**_place(model, both["place"]), "expressions": _listed(both["shown"])}
    if found := _LINE_PLACE.fullmatch(text):
        return {"file_path": found["file"], "line_number": int(found["line"])}
    named = next((it for it in ("function", "function_name") if it in model.model_fields), None)
    if named is not None:
        kind = {"kind": "function"} if "kind" in model.model_fields else {}
        if found := _FUNCTION_PLACE.fullmatch(text):
            # A breakpoint on a function has no file: the debugger finds it by its name.
            file = {} if kind else {"file_path": found["file"]}
            return {**kind, **file, named: found["function"]}
        if not source_files.is_source_file(text) and (found := _FUNCTION.fullmatch(text)):
            return {**kind, named: found["function"]}
    raise _ambiguous(
        localize("{text} is not a place.", text=ascii(one_line(text, 200))), {"file_path": "FILE", "line_number": 14}
    )


def _in_form(name: str, annotation: Any, value: Any) -> Any:
    """A value in the form of its parameter: one item as a list, a text as a place, JSON as what it says."""
    if isinstance(value, str) and value in VALUES.get(name, {}):
        return VALUES[name][value]
    container, model = _container_of(annotation), _model_of(annotation)
    if container in {list, dict} or model is not None:
        value = _parsed(value)
    if container is list:
        return _list(name, model, value)
    if model is not None:
        return _object(model, value)
    if container is dict:
        return _variables(value) if name == "env" else value
    return _single(name, value)


def _list(name: str, model: type[BaseModel] | None, value: Any) -> Any:
    if name == "args":
        return _arguments(value)
    if name == "expressions":
        return _expressions(value)
    if model is None:
        return [value] if isinstance(value, str) else value
    if _has_place(model) and isinstance(value, Mapping) and _is_by_place(model, value):
        return [{**_place(model, place), "expressions": _expressions(shown)} for place, shown in value.items()]
    items = [value] if isinstance(value, str | Mapping) else value
    return [_object(model, it) for it in items] if isinstance(items, list) else items


def _arguments(value: Any) -> Any:
    if isinstance(value, str):
        return _words(value) or [value]
    return [str(it) if type(it) in {int, float} else it for it in value] if isinstance(value, list) else value


def _single(name: str, value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1 and name in _SINGLE:
        value = value[0]
    if name == "line_number" and isinstance(value, str) and (found := _LINE_WORD.fullmatch(value.strip())):
        return int(found[1])
    if name == "call" and type(value) is int:
        return str(value)
    return shlex.join(map(str, value)) if name == "command" and isinstance(value, list) else value


def _is_by_place(model: type[BaseModel], value: Mapping[str, Any]) -> bool:
    """`{"orders.py:14": ["price"]}`: what to show by the place."""
    known = model.model_fields.keys() | NAMES.keys() | set(PLACES)
    return bool(value) and not any(_snake(it) in known for it in value)


def _expressions(value: Any) -> Any:
    """`"price, rate"` as two, and each without the object that a model may wrap it in."""
    if isinstance(value, str):
        return _listed(value)
    if not isinstance(value, list):
        return value
    wrapped = [next(iter(it.values())) if isinstance(it, Mapping) and len(it) == 1 else it for it in value]
    return wrapped if all(isinstance(it, str) for it in wrapped) else value


def _listed(text: str) -> list[str]:
    """The expressions between commas that stand in no brackets or quotes."""
    if "lambda" in text:
        return [text]
    items, depth, quote, start = list[str](), 0, "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "\"'`":
            quote = char
        elif char in ",;" and not depth:
            items.append(text[start:at])
            start = at + 1
        else:
            depth += (char in "([{") - (char in ")]}")
    return [it.strip() for it in (*items, text[start:]) if it.strip()]


def _variables(value: Any) -> Any:
    """`["A=1"]`, `"A=1 B=2"` and `[{"name": "A", "value": "1"}]` as an object; numbers as text."""
    if isinstance(value, str):
        value = _words(value) or value
    if isinstance(value, list) and value and all(isinstance(it, str) and "=" in it for it in value):
        return dict(it.split("=", 1) for it in value)
    if (
        isinstance(value, list)
        and value
        and all(isinstance(it, Mapping) and {*it} == {"name", "value"} for it in value)
    ):
        return {str(it["name"]): it["value"] for it in value}
    if isinstance(value, Mapping):
        return {it: str(one) if type(one) in {int, float} else one for it, one in value.items()}
    return value


def _object(model: type[BaseModel], value: Any) -> Any:
    if isinstance(value, str) and _has_place(model):
        value = _place(model, value)
    if isinstance(value, str) and "commit" in model.model_fields:
        value = {"commit": value}
    return _accepted(model, value) if isinstance(value, Mapping) else value


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return _parsed_literal(value)
    return value


def _parsed_literal(text: str) -> Any:
    """As Python writes it, with single quotes."""
    try:
        return ast.literal_eval(text) if len(text) <= _MAX_COMMAND else text
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _container_of(annotation: Any) -> type | None:
    origin = get_origin(annotation)
    if origin in {list, dict}:
        return list if origin is list else dict
    return next(filter(None, map(_container_of, _members(annotation))), None)


def _model_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = get_args(annotation)[:1] if get_origin(annotation) is list else _members(annotation)
    return next(filter(None, map(_model_of, inner)), None)


def _members(annotation: Any) -> tuple[Any, ...]:
    """Of a union, and the type within `Annotated`."""
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[:1]
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ()


def _words(command: Any) -> list[str]:
    """Of a command line; none where it is not one."""
    if not isinstance(command, str) or len(command) > _MAX_COMMAND:
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _split_program(accepted: dict[str, Any], workspace: Path) -> None:
    """`program: "pytest -q tests"`, unless a file is called so."""
    program = accepted.get("program")
    words = [str(it) for it in program] if isinstance(program, list) else _words(program)
    if len(words) > 1 and not accepted.get("args") and not _is_file(workspace, str(program)):
        accepted |= {"program": words[0], "args": words[1:]}


def _is_file(workspace: Path, program: str) -> bool:
    try:
        return (workspace / program).is_file()
    except (OSError, ValueError):
        return False


def _take_program_as_command(accepted: dict[str, Any]) -> None:
    program, args = accepted.get("program"), accepted.get("args")
    if not isinstance(program, str) or accepted.get("command"):
        return
    rest = args if isinstance(args, list) else _words(args)
    accepted["command"] = shlex.join([program, *map(str, rest)]) if rest else program
    accepted.pop("program")
    accepted.pop("args", None)


def _take_test_as_command(accepted: dict[str, Any]) -> None:
    test = accepted.get("test")
    words = _words(test)
    if accepted.get("command"):
        return
    if len(words) > 1 and words[0] in TEST_RUNNERS:
        accepted["command"] = accepted.pop("test")
    elif isinstance(test, list) and len(test) > 1 and all(isinstance(it, str) and ".py" in it for it in test):
        accepted["command"] = shlex.join(["pytest", *accepted.pop("test")])


def _take_place_as_function(accepted: dict[str, Any]) -> None:
    """For a tool that takes `orders.py:14` or `orders.py::total` as its function."""
    function = _parsed(accepted.get("function"))
    if isinstance(function, Mapping):
        _take_object_as_function(accepted, {_snake(it): value for it, value in function.items()})
    named = {_snake(it): it for it in accepted}
    if accepted.get("configuration") or accepted.get("configuration_name"):
        named.pop("file", None)
    path = next((accepted.pop(named[it]) for it in ("file_path", *FILE_NAMES) if it in named), None)
    line = next((accepted.pop(named[it]) for it in ("line_number", *LINE_NAMES) if it in named), None)
    if not isinstance(path, str):
        return
    name = accepted.get("function")
    if line is not None:
        accepted["function"] = f"{path}:{line}"
    elif isinstance(name, str) and ":" not in name:
        accepted["function"] = f"{path}::{name}"


def _take_object_as_function(accepted: dict[str, Any], function: Mapping[str, Any]) -> None:
    """`{"name": "total", "class": "Order", "file": "orders.py"}`."""
    parts = [
        next((value for it in known if isinstance(value := function.get(it), str)), "")
        for known in (OWNER_NAMES, FUNCTION_NAMES)
    ]
    accepted.pop("function")
    rest = {it: value for it, value in function.items() if it not in {*FUNCTION_NAMES, *OWNER_NAMES}}
    accepted |= {**rest, **accepted, **({"function": ".".join(filter(None, parts))} if parts[1] else {})}


_EXPRESSIONS = ("expressions", "expression", "claim", "condition")
_RETURN_WORDS = frozenset({"return", "returns", "on_return", "exit"})
_AT_RETURN = re.compile(r"(?P<function>.*\S)\s*:{1,2}\s*returns?", re.DOTALL)


def _with_returns(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """`{"function": "total", "at": "return"}`."""
    place = next((it for it in PLACES if given.get(it) in _RETURN_WORDS), None) if "function" in given else None
    if place is None:
        return given
    return {("returns" if name == "function" else name): value for name, value in given.items() if name != place}


def _take_return(accepted: dict[str, Any]) -> None:
    """`total:return`, or what a function returns asked for by any of its names: each return of the function."""
    function = accepted.get("function")
    if isinstance(function, str) and function and accepted.get("line_number") is None:
        found = _AT_RETURN.fullmatch(function.strip())
        texts = [it for name in _EXPRESSIONS for it in _texts(accepted.get(name))]
        if found or any(map(_names_of_return, texts)):
            accepted.pop("function")
            accepted["returns"] = found["function"] if found else function
    if accepted.get("returns"):
        for name in _EXPRESSIONS:
            value = accepted.get(name)
            if isinstance(value, list):
                accepted[name] = [_with_return_name(it) if isinstance(it, str) else it for it in value]
            elif isinstance(value, str):
                accepted[name] = _with_return_name(value)


def _texts(value: Any) -> list[str]:
    return [it for it in (value if isinstance(value, list) else [value]) if isinstance(it, str)]


def _names_of_return(text: str) -> list[str]:
    return [it for it in RETURN_VALUES if it == text.strip() or it in _RETURN.findall(text)]


def _with_return_name(text: str) -> str:
    return RETURN_NAME if text.strip() in RETURN_VALUES else _RETURN.sub(RETURN_NAME, text)


def _refuse_return_value(fields: Collection[str], accepted: Mapping[str, Any]) -> None:
    if accepted.get("returns"):
        return
    named = [it for name in _EXPRESSIONS for text in _texts(accepted.get(name)) for it in _names_of_return(text)]
    if named:
        raise DragomanError(
            "bad_arguments",
            localize("`{name}` is not a variable of the program.", name=named[0]),
            hint=localize("Pass {correction}.", correction='"returns": "FUNCTION"')
            if "returns" in fields
            else localize("Use the line of the `return` statement and the expression that it returns."),
        )


def _ambiguous(message: LocalizedText, correction: Mapping[str, Any]) -> DragomanError:
    shown = one_line(json.dumps(correction, ensure_ascii=False, default=str), 500)
    return DragomanError("bad_arguments", message, hint=localize("Pass {correction}.", correction=shown))


def nested_fields(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[str, ...]:
    """The parameters of the object in which a fault is, such as a point of `trace`; none outside such an object."""
    fields: tuple[str, ...] = ()
    for part in location[:-1] if len(location) > 1 else location:
        if isinstance(part, str) and part in model.model_fields:
            inner = _model_of(model.model_fields[part].annotation)
            if inner is None:
                break
            model, fields = inner, tuple(inner.model_fields)
    return fields
