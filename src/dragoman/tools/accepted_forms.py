"""What a model guesses instead of a tool's parameters, and what it stands for.

Schemas publish one form of each parameter. Other forms that models send are taken for that one, so that a guess costs
no second call. A guess with two meanings is refused with the exact correction. Nothing here is published.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug import source_files
from dragoman.tools.agent_text import one_line

# A name that is not a parameter, and the parameters that it stands for: the first that the tool has.
NAMES: Mapping[str, tuple[str, ...]] = {
    "file": ("file_path",),
    "path": ("file_path",),
    "filename": ("file_path",),
    "filepath": ("file_path",),
    "line": ("line_number",),
    "lineno": ("line_number",),
    "column": ("column_number",),
    "function": ("function_name",),
    "function_name": ("function",),
    "method": ("function", "function_name"),
    "expr": ("expression", "expressions"),
    "expression": ("expressions",),
    "expressions": ("expression",),
    "session": ("session_id",),
    "thread": ("thread_id",),
    "frame": ("frame_id",),
    "timeout": ("timeout_s",),
    "step": ("step_type",),
    "type": ("step_type",),
    "id": ("breakpoint_id",),
    "point": ("points",),
    "name": ("configuration_name",),
    "arguments": ("args",),
    "argv": ("args",),
    "working_directory": ("cwd",),
    "environment": ("env",),
    "input": ("stdin",),
    "cmd": ("command", "program"),
    "command": ("program",),
    "test_name": ("test",),
    "test_id": ("test",),
}
# Words for a parameter's values.
VALUES: Mapping[str, Mapping[str, str]] = {
    "step_type": {
        **dict.fromkeys(("next", "step_over", "stepOver"), "over"),
        **dict.fromkeys(("in", "step_in", "step_into", "stepIn"), "into"),
        **dict.fromkeys(("finish", "return", "step_out", "stepOut"), "out"),
    },
}
# Names for a whole place, as one text: `orders.py:14`, `orders.py:total`, `Order.total`.
PLACES = ("place", "location", "where", "at")
# A test that begins with one of these is a command.
TEST_RUNNERS = frozenset(
    {"pytest", "python", "python3", "npm", "npx", "yarn", "pnpm", "node", "go", "cargo", "uv", "make", "jest", "vitest"}
)
_LINE_PLACE = re.compile(r"(?P<file>[^\n]+?):(?P<line>[1-9]\d{0,8})(?::\d{1,8})?")
_FUNCTION_PLACE = re.compile(r"(?P<file>[^\n:]+\.\w+)::?(?P<function>[^\W\d][\w.]*)(?:\(\))?")
_FUNCTION = re.compile(r"(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\(\))?")
# Only Python has such names for tests; other bare names are another runner's.
_BARE_TEST = re.compile(r"test_\w{1,200}")
_RETURN_VALUE = "__return__"
_MAX_COMMAND = 10_000


def accept(model: type[BaseModel], given: Mapping[str, Any], workspace: Path) -> dict[str, Any]:
    """The arguments in the published form; a DragomanError for a guess with two meanings."""
    accepted = _accepted(model, given)
    fields = model.model_fields
    if "command" in fields and "program" not in fields:
        _take_program_as_command(accepted)
    elif "program" in fields and "args" in fields:
        _split_program(accepted, workspace)
    if "test" in fields and "command" in fields:
        _take_test_as_command(accepted)
    return accepted


def _accepted(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    fields = model.model_fields
    accepted = {name: value for name, value in given.items() if name in fields}
    for name, value in given.items():
        if name not in fields:
            _rename(model, accepted, name, value)
    if "file_path" in fields:
        _split_place(model, accepted)
    for name, value in accepted.items():
        accepted[name] = _in_form(name, fields[name].annotation, value) if name in fields else value
    _refuse_return_value(accepted)
    return accepted


def _rename(model: type[BaseModel], accepted: dict[str, Any], name: str, value: Any) -> None:
    fields = model.model_fields
    if name in PLACES and isinstance(value, str) and _has_place(model) and not _is_placed(accepted):
        accepted |= _place(model, value)
        return
    meant = next((it for it in NAMES.get(name, ()) if it in fields), None)
    if meant is None:
        accepted[name] = value  # refused by the model, with the names that there are
    elif accepted.setdefault(meant, value) != value:
        raise _ambiguous(localize("`{name}` and `{meant}` differ.", name=name, meant=meant), {meant: accepted[meant]})


def _has_place(model: type[BaseModel]) -> bool:
    return {"file_path", "line_number"} <= model.model_fields.keys()


def _is_placed(accepted: Mapping[str, Any]) -> bool:
    return any(accepted.get(it) for it in ("file_path", "line_number", "line_text", "function", "function_name"))


def _split_place(model: type[BaseModel], accepted: dict[str, Any]) -> None:
    """`file_path: "orders.py:14"`."""
    path = accepted.get("file_path")
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
        if isinstance(value, str) and name == "args":
            return _words(value) or [value]
        is_item = isinstance(value, str) or (model is not None and isinstance(value, Mapping))
        items = [value] if is_item else value
        return [_object(model, it) for it in items] if model is not None and isinstance(items, list) else items
    if model is not None:
        return _object(model, value)
    if container is not dict and isinstance(value, list) and len(value) == 1 and name == "expression":
        return value[0]
    return value


def _object(model: type[BaseModel], value: Any) -> Any:
    if isinstance(value, str) and _has_place(model):
        value = _place(model, value)
    return _accepted(model, value) if isinstance(value, Mapping) else value


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


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
    words = _words(program)
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
    elif isinstance(test, str) and _BARE_TEST.fullmatch(test):
        accepted["command"] = f"pytest -k {accepted.pop('test')}"


def _refuse_return_value(accepted: Mapping[str, Any]) -> None:
    asked = accepted.get("expressions"), accepted.get("expression"), accepted.get("claim"), accepted.get("condition")
    texts = [text for it in asked for text in (it if isinstance(it, list) else [it]) if isinstance(text, str)]
    if any(_RETURN_VALUE in text for text in texts):
        raise DragomanError(
            "bad_arguments",
            localize("`{name}` is not a variable of the program.", name=_RETURN_VALUE),
            hint=localize("Ask at the line of the `return` statement for the expression that it returns."),
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
