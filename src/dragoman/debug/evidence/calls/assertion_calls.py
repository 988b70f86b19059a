"""Which functions computed what an assertion compares, read from the source of the frame in which it failed.

The functions called in the failing statement come first; then those that gave its names their values, nearest first;
then the methods called before on the objects in it, since `cart.add(…)` decides what `cart.items` is, and the functions
that these objects were passed to. Functions are named by their last name, as `CallTarget` takes them: `cart.total` says
nothing about the class of `cart`.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

MAX_FUNCTIONS = 6
_DEPTH = 4
_CONSTRUCTOR = ".__init__"
_HELPERS = re.compile(r"assert|fail|raises$|warns$|approx$|subTest$|expect$", re.IGNORECASE)
_EXPECTS = re.compile(r"raises$|warns$|assert(?:Raises|Warns|Logs)|deprecated_call$")
_BUILTINS = frozenset(dir(builtins))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


def calls_behind(source: str, line: int, limit: int = MAX_FUNCTIONS) -> list[str]:
    """The functions behind the statement at this line, the likeliest first. Empty if the source cannot be read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    scope = _innermost(tree, line)
    statement = _statement(scope, line)
    if statement is None:
        return []
    found = dict.fromkeys(_AssertionSearch(scope, line).functions(statement))
    # A constructor mostly keeps what it is given: it comes after the functions that compute.
    return sorted(found, key=lambda it: it.endswith(_CONSTRUCTOR))[:limit]


def _innermost(tree: ast.AST, line: int) -> ast.AST:
    """The function or module whose code the line is."""
    found = tree
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and node.lineno <= line <= (node.end_lineno or line):
            found = node  # `walk` goes from the outside in
    return found


def _statement(scope: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement at the line. Of a compound one, its head: its body is other lines."""
    found = None
    for node in _own_nodes(scope):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            found = node
    return found


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope from the outside in, without those of functions and classes inside it."""
    level = list(ast.iter_child_nodes(scope))
    while level:
        yield from level
        level = [child for node in level if not isinstance(node, _SCOPES) for child in ast.iter_child_nodes(node)]


def _head(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement without the statements in its body."""
    level: list[ast.AST] = [statement]
    while level:
        node = level.pop(0)
        yield node
        level += [it for it in ast.iter_child_nodes(node) if not isinstance(it, (ast.stmt, ast.ExceptHandler))]


class _AssertionSearch:
    def __init__(self, scope: ast.AST, line: int) -> None:
        before = [it for it in _own_nodes(scope) if isinstance(it, ast.stmt) and it.lineno <= line]
        self._before = sorted(before, key=lambda it: it.lineno, reverse=True)
        self._parameters = _parameters(scope)

    def functions(self, statement: ast.stmt) -> Iterator[str]:
        yield from _called(statement)
        if isinstance(statement, (ast.With, ast.AsyncWith)) and _expects_an_exception(statement):
            for it in reversed(statement.body):  # nothing in it raised
                yield from _called(it)
        names = [*_read(statement)]
        seen = set(names)
        for _ in range(_DEPTH):
            sources = [it for name in names for it in self._assigned(name, statement)]
            for source in sources:
                yield from _called(source)
            names = [it for source in sources for it in _read(source) if it not in seen]
            seen.update(names)
        for it in self._before:
            if it is not statement:
                yield from _methods_of(it, seen)
        for it in self._before:
            if it is not statement:
                yield from self._given_to(it, seen)
        yield from (it for it in seen if it in self._parameters)  # a fixture is a function of the same name

    def _given_to(self, statement: ast.stmt, names: set[str]) -> Iterator[str]:
        """Functions that one of the objects is passed to, and functions passed with it: `Thread(target=fill, …)`."""
        for node in _head(statement):
            if not isinstance(node, ast.Call):
                continue
            given = [it for part in (*node.args, *node.keywords) for it in ast.walk(part) if isinstance(it, ast.Name)]
            if any(it.id in names for it in given):
                yield from _name_of(node.func)
                yield from (it.id for it in given if it.id not in names and not self._is_local(it.id))

    def _is_local(self, name: str) -> bool:
        return name in _BUILTINS or name in self._parameters or any(name in _bound(it) for it in self._before)

    def _assigned(self, name: str, statement: ast.stmt) -> list[ast.stmt]:
        """The nearest statement before that gave the name its value."""
        return [it for it in self._before if it is not statement and name in _bound(it)][:1]


def _parameters(scope: ast.AST) -> frozenset[str]:
    if not isinstance(scope, _FUNCTIONS):
        return frozenset()
    return frozenset(it.arg for it in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)) - {"self"}


def _called(statement: ast.stmt) -> Iterator[str]:
    """In the order in which they are written: the outer call of `f(g(x))` ends last and is named first."""
    calls = [node for node in _head(statement) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda it: (it.lineno, it.col_offset)):
        yield from _name_of(call.func)


def _expects_an_exception(statement: ast.With | ast.AsyncWith) -> bool:
    calls = [it.context_expr.func for it in statement.items if isinstance(it.context_expr, ast.Call)]
    return any(_EXPECTS.match(it.attr if isinstance(it, ast.Attribute) else getattr(it, "id", "")) for it in calls)


def _name_of(function: ast.expr) -> Iterator[str]:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    is_builtin = isinstance(function, ast.Name) and name in _BUILTINS
    if not name or is_builtin or _HELPERS.match(name):
        return
    if name[:1].isupper() and not name.isupper():
        yield f"{name}{_CONSTRUCTOR}"
    else:
        yield name


def _read(statement: ast.stmt) -> Iterator[str]:
    for node in _head(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in _BUILTINS:
            yield node.id


def _bound(statement: ast.stmt) -> set[str]:
    found = {it.id for it in _head(statement) if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)}
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        found.add(statement.target.id)
    return found


def _methods_of(statement: ast.stmt, names: set[str]) -> Iterator[str]:
    for node in _head(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root = node.func.value
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name) and root.id in names and root.id != "self":
                yield from _name_of(node.func)
