"""Analyses expressions: the names in one, whether it may change the program, and the parts of a line that can be
evaluated again.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from dragoman.debug import source_files

_PURE_CALL_NAMES = """
abs all any ascii bin bool bytes chr complex dict divmod enumerate float format frozenset getattr hasattr hash
hex id int isinstance issubclass len list max min oct ord pow range repr reversed round set slice sorted str sum
tuple type vars zip cap real imag sizeof strlen String Number Boolean BigInt typeof
"""
_PURE_METHOD_NAMES = """
capitalize casefold copy count decode difference encode endswith find format get index intersection isalnum
isalpha isdecimal isdigit isdisjoint islower isnumeric isspace issubset issuperset istitle isupper items join
keys ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip
split splitlines startswith strip swapcase title union upper values zfill bit_length hex at charAt charCodeAt
codePointAt concat entries every filter flat has includes indexOf isArray isFinite isInteger isNaN lastIndexOf
map padEnd padStart reduce repeat slice some stringify substring test toFixed toISOString toLowerCase toString
toUpperCase trim trimEnd trimStart abs ceil floor max min round sqrt Len String
"""
_MOST_NAMES = 6
_MOST_PARTS = 8

_PURE_CALLS = frozenset(_PURE_CALL_NAMES.split())
_PURE_METHODS = frozenset(_PURE_METHOD_NAMES.split())
_CALL = re.compile(r"([\w$.\]]+)\s*\(")
_CHANGES = re.compile(r"\+\+|--|(?<![=!<>:])=(?![=>])|:=|\bdelete\b|\bawait\b|\byield\b")
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


def impure_expressions(expressions: Iterable[str]) -> list[str]:
    return [it for it in dict.fromkeys(expressions) if _is_impure(it)]


def _is_impure(expression: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _is_impure_text(expression)
    return any(map(_changes, ast.walk(tree)))


def _changes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name not in _PURE_CALLS
        case ast.Call(func=ast.Attribute(attr=name)):
            return name not in _PURE_METHODS
    return isinstance(node, ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)


def _is_impure_text(expression: str) -> bool:
    bare = _STRINGS.sub("''", expression)
    called = {name.rsplit(".", 1)[-1] for name in _CALL.findall(bare)}
    return bool(_CHANGES.search(bare)) or not called <= _PURE_CALLS | _PURE_METHODS


_NAMES = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?:(?:\.|->)[A-Za-z_$][\w$]*|\[\w+\])*(?![\w(])")
_KEYWORDS = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "true", "false", "null", "nil", "undefined", "typeof", "instanceof"}
    | {"None", "True", "False", "NULL", "sizeof", "new", "this", "len", "cap"}
)


def names_in(claim: str) -> tuple[str, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(claim.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        found = [it for it in _NAMES.findall(_STRINGS.sub("''", claim)) if it not in _KEYWORDS]
    else:
        found = [ast.unparse(node) for node in _values(tree) if ast.unparse(node) not in _KEYWORDS]
    return tuple(dict.fromkeys(it for it in found if it != claim.strip()))[:_MOST_NAMES]


def _values(node: ast.AST) -> Iterator[ast.AST]:
    """Names, members and elements, the outermost of each; and what is computed by a call, where nothing is bound."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield node
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.Lambda():
            return  # names that it binds are not defined outside of it
        case ast.Call(func=ast.Name()):
            yield from (found for it in node.args for found in _values(it))
        case ast.Call(func=ast.Attribute(value=value)):
            yield from (found for it in (value, *node.args) for found in _values(it))
        case _:
            yield from (found for it in ast.iter_child_nodes(node) for found in _values(it))


_STRINGS_AND_COMMENTS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?://|#|--).*")
_MEMBERS = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?:(?:\.|->)[A-Za-z_$][\w$]*(?![\w(])|\[[\w.]+\])+")
_LINK = re.compile(r"(?:\.|->)?[A-Za-z_$][\w$]*|\[[\w.]+\]")
# Evaluating these again would repeat their side effects.
_ACTING_NODES = (
    ast.Call,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
    ast.NamedExpr,
    ast.Lambda,
    ast.comprehension,
    ast.JoinedStr,
)
_PLAIN_NODES = (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.Slice)


def line_parts(lines: Sequence[str], line: int, path: str) -> tuple[str, ...]:
    """Of the statement that stands at a line, from 1; the whole before its parts."""
    if not 0 < line <= len(lines):
        return ()
    suffix = PurePath(path).suffix
    found = _python_parts(lines, line) if suffix in source_files.PYTHON else _parts_by_text(lines[line - 1])
    is_calling = suffix in source_files.RUBY  # in Ruby, a member access is a call
    return tuple(it for it in dict.fromkeys(found) if not (is_calling and "." in it))[:_MOST_PARTS]


def _parts_by_text(text: str) -> Iterator[str]:
    """Members and elements, and what they are of: what stands in a variable alone is shown with the variables."""
    for found in _MEMBERS.findall(_STRINGS_AND_COMMENTS.sub("", text)):
        ends = [it.end() for it in _LINK.finditer(found)][:0:-1]
        yield from (found[:end] for end in ends)
        yield from re.findall(r"\[([A-Za-z_][\w.]*\.[\w.]+)\]", found)


def _python_parts(lines: Sequence[str], line: int) -> Iterator[str]:
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
    if not isinstance(node, ast.expr) or isinstance(node, _PLAIN_NODES):
        return False
    inside = list(ast.walk(node))
    return not any(isinstance(it, _ACTING_NODES) for it in inside) and any(isinstance(it, ast.Name) for it in inside)
