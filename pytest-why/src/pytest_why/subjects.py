"""Which functions to trace: those whose results stand in the failed assertion, or the one that raised."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from typing import Any

from .call_target import is_own

MOST_FUNCTIONS = 2
_MISSING = object()


def subjects_of(traceback: types.TracebackType, test: Any) -> tuple[list[types.CodeType], str]:
    """The code to trace, and which of its calls."""
    frames = [it for it in _frames(traceback) if is_own(it.tb_frame.f_code.co_filename)]
    if not frames:
        return [], "last"
    last = frames[-1]
    own_test = inspect.unwrap(test) if callable(test) else test
    code = getattr(own_test, "__code__", None)
    if last.tb_frame.f_code is not code:
        return [last.tb_frame.f_code], "failing"
    return _called_in_assertion(last.tb_frame, last.tb_lineno), "last"


def _frames(traceback: types.TracebackType | None) -> list[types.TracebackType]:
    found = []
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def _called_in_assertion(frame: types.FrameType, line: int) -> list[types.CodeType]:
    function = _function_tree(frame.f_code)
    if function is None:
        return []
    shift = frame.f_code.co_firstlineno - 1
    failed = [it for it in ast.walk(function) if isinstance(it, ast.stmt) and _stands_at(it, line - shift)]
    if not failed:
        return []
    statement = max(failed, key=lambda it: it.lineno)
    calls = [it for it in ast.walk(statement) if isinstance(it, ast.Call)]
    names = {it.id for it in ast.walk(statement) if isinstance(it, ast.Name)}
    calls += _assigned_calls(function, names, statement.lineno)
    found: list[types.CodeType] = []
    for call in calls:
        code = _code_of(_value_of(call.func, frame))
        if code is not None and is_own(code.co_filename) and not any(code is it for it in found):
            found.append(code)
    return found[:MOST_FUNCTIONS]


def _stands_at(statement: ast.stmt, line: int) -> bool:
    is_leaf = not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    return is_leaf and statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _assigned_calls(function: ast.AST, names: set[str], before: int) -> list[ast.Call]:
    """`result = total(cart)` above `assert result == 3`: the nearest assignment of each name."""
    nearest: dict[str, ast.AST] = {}
    for it in ast.walk(function):
        if isinstance(it, ast.Assign) and it.lineno < before:
            for target in it.targets:
                bound = {name.id for name in ast.walk(target) if isinstance(name, ast.Name)}
                nearest.update((name, it.value) for name in bound & names)
    return [call for value in nearest.values() for call in ast.walk(value) if isinstance(call, ast.Call)]


def _function_tree(code: types.CodeType) -> ast.AST | None:
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        return ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
    except (SyntaxError, ValueError, IndexError):
        return None


def _value_of(node: ast.AST, frame: types.FrameType) -> Any:
    """What a name stands for, without calling anything of the program."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, _MISSING))
    if isinstance(node, ast.Attribute):
        owner = _value_of(node.value, frame)
        if isinstance(node.value, ast.Call):
            owner = _value_of(node.value.func, frame)
        return _MISSING if owner is _MISSING else inspect.getattr_static(owner, node.attr, _MISSING)
    return _MISSING


def _code_of(value: Any) -> types.CodeType | None:
    if isinstance(value, (staticmethod, classmethod, types.MethodType)):
        value = value.__func__
    if isinstance(value, type):
        value = inspect.getattr_static(value, "__init__", None)
    if isinstance(value, types.FunctionType):
        return inspect.unwrap(value).__code__ if isinstance(inspect.unwrap(value), types.FunctionType) else None
    return None
