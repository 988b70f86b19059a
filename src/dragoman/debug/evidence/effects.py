"""Expressions that may change the program they are asked of. A guess by their text: who asks is told, not refused."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable

_CALLS_KNOWN = """
abs all any ascii bin bool bytes chr complex dict divmod enumerate float format frozenset getattr hasattr hash
hex id int isinstance issubclass len list max min oct ord pow range repr reversed round set slice sorted str sum
tuple type vars zip cap real imag sizeof strlen String Number Boolean BigInt typeof
"""
_PURE_CALLS = frozenset(_CALLS_KNOWN.split())
_METHODS_KNOWN = """
capitalize casefold copy count decode difference encode endswith find format get index intersection isalnum
isalpha isdecimal isdigit isdisjoint islower isnumeric isspace issubset issuperset istitle isupper items join
keys ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip
split splitlines startswith strip swapcase title union upper values zfill bit_length hex at charAt charCodeAt
codePointAt concat entries every filter flat has includes indexOf isArray isFinite isInteger isNaN lastIndexOf
map padEnd padStart reduce repeat slice some stringify substring test toFixed toISOString toLowerCase toString
toUpperCase trim trimEnd trimStart abs ceil floor max min round sqrt Len String
"""
_PURE_METHODS = frozenset(_METHODS_KNOWN.split())
_CALL = re.compile(r"([\w$.\]]+)\s*\(")
_CHANGES = re.compile(r"\+\+|--|(?<![=!<>:])=(?![=>])|:=|\bdelete\b|\bawait\b|\byield\b")
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


def suspicious(expressions: Iterable[str]) -> list[str]:
    return [it for it in dict.fromkeys(expressions) if _is_suspicious(it)]


def _is_suspicious(expression: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _by_its_text(expression)
    return any(map(_changes, ast.walk(tree)))


def _changes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name not in _PURE_CALLS
        case ast.Call(func=ast.Attribute(attr=name)):
            return name not in _PURE_METHODS
    return isinstance(node, ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)


def _by_its_text(expression: str) -> bool:
    bare = _STRINGS.sub("''", expression)
    called = {name.rsplit(".", 1)[-1] for name in _CALL.findall(bare)}
    return bool(_CHANGES.search(bare)) or not called <= _PURE_CALLS | _PURE_METHODS
