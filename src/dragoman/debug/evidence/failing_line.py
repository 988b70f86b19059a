"""What a line computes with: the parts of it that can be evaluated again and change nothing."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from dragoman.debug import suffixes

_MOST = 8
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?://|#|--).*")
_MEMBERS = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?:(?:\.|->)[A-Za-z_$][\w$]*(?![\w(])|\[[\w.]+\])+")
_LINK = re.compile(r"(?:\.|->)?[A-Za-z_$][\w$]*|\[[\w.]+\]")
# To evaluate these again would do something again.
_ACTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.comprehension, ast.JoinedStr)
_SAYS_NOTHING = (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.Slice)


def parts_of(lines: Sequence[str], line: int, path: str) -> tuple[str, ...]:
    """Of the statement that stands at a line, from 1; the whole before its parts."""
    if not 0 < line <= len(lines):
        return ()
    suffix = PurePath(path).suffix
    found = _of_python(lines, line) if suffix in suffixes.PYTHON else _by_their_looks(lines[line - 1])
    is_calling = suffix in suffixes.RUBY  # there a member is a call
    return tuple(it for it in dict.fromkeys(found) if not (is_calling and "." in it))[:_MOST]


def _by_their_looks(text: str) -> Iterator[str]:
    """Members and elements, and what they are of: what stands in a variable alone is shown with the variables."""
    for found in _MEMBERS.findall(_STRINGS.sub("", text)):
        ends = [it.end() for it in _LINK.finditer(found)][:0:-1]
        yield from (found[:end] for end in ends)
        yield from re.findall(r"\[([A-Za-z_][\w.]*\.[\w.]+)\]", found)


def _of_python(lines: Sequence[str], line: int) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for part in _heads(_statement(tree, line)):
        yield from (ast.unparse(it) for it in ast.walk(part) if _is_worth_showing(it))


def _statement(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost at that line."""
    at = [it for it in ast.walk(tree) if isinstance(it, ast.stmt) and it.lineno <= line <= (it.end_lineno or 0)]
    return max(at, key=lambda it: (it.lineno, it.col_offset), default=None)


def _heads(statement: ast.stmt | None) -> Iterator[ast.expr]:
    """The expressions of it, without the statements that it holds."""
    for child in ast.iter_child_nodes(statement) if statement is not None else ():
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


def _is_worth_showing(node: ast.AST) -> bool:
    if not isinstance(node, ast.expr) or isinstance(node, _SAYS_NOTHING):
        return False
    inside = list(ast.walk(node))
    return not any(isinstance(it, _ACTS) for it in inside) and any(isinstance(it, ast.Name) for it in inside)
