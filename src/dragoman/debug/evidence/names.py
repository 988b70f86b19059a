"""What a claim is about: the values in it, to be shown where it breaks."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

_MOST = 6
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_NAMES = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?:(?:\.|->)[A-Za-z_$][\w$]*|\[\w+\])*(?![\w(])")
_WORDS = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "true", "false", "null", "nil", "undefined", "typeof", "instanceof"}
    | {"None", "True", "False", "NULL", "sizeof", "new", "this", "len", "cap"}
)


def names_in(claim: str) -> tuple[str, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(claim.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        found = [it for it in _NAMES.findall(_STRINGS.sub("''", claim)) if it not in _WORDS]
    else:
        found = [ast.unparse(node) for node in _values(tree) if ast.unparse(node) not in _WORDS]
    return tuple(dict.fromkeys(it for it in found if it != claim.strip()))[:_MOST]


def _values(node: ast.AST) -> Iterator[ast.AST]:
    """Names, members and elements, the outermost of each; and what is computed by a call, where nothing is bound."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield node
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.Lambda():
            return  # what it binds means nothing outside of it
        case ast.Call(func=ast.Name()):
            yield from (found for it in node.args for found in _values(it))
        case ast.Call(func=ast.Attribute(value=value)):
            yield from (found for it in (value, *node.args) for found in _values(it))
        case _:
            yield from (found for it in ast.iter_child_nodes(node) for found in _values(it))
