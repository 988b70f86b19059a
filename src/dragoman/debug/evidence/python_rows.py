"""Several Python expressions in one question, each with its own error; also as the text of a logpoint.

Breakpoints are evaluated by pydevd in the frame itself, where nothing can be caught by an expression. So the question
first makes a module that can, once a process: it evaluates, shows what it gets within bounds, and counts.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

from dragoman.debug.evidence.sheet import CELL_CHARACTERS, Cell

_MODULE = "_dragoman_evidence"
_ITEMS = 40
_DEPTH = 5

_SOURCE = f"""
import json, sys, threading, types
MOST, ITEMS, DEPTH = {CELL_CHARACTERS}, {_ITEMS}, {_DEPTH}
codes, seen = dict(), dict()
BRACKETS = dict(list=("[", "]"), tuple=("(", ")"), set=("{{", "}}"), frozenset=("frozenset({{", "}})"))
def show(value, depth=0):
    kind = type(value)
    if kind is str or kind is bytes or kind is bytearray:
        whole = len(value)
        return repr(value) if whole <= MOST else repr(value[:MOST]) + "\\u2026 (%d long)" % whole
    if kind is int and value.bit_length() > 1200:
        bits = value.bit_length()
        return "%s0x%x\\u2026 (%d bits)" % ("-" * (value < 0), abs(value) >> (bits - 128), bits)
    if kind is dict:
        return joined(["%s: %s" % (show(k, depth + 1), show(v, depth + 1)) for k, v in first(value.items())]
            if depth < DEPTH else ["\\u2026"], value, "{{", "}}")
    if kind.__name__ in BRACKETS and kind in (list, tuple, set, frozenset):
        shown = [show(v, depth + 1) for v in first(value)] if depth < DEPTH else ["\\u2026"]
        opened, closed = BRACKETS[kind.__name__] if value or kind in (list, tuple) else (kind.__name__ + "(", ")")
        return joined(shown, value, opened, "," + closed if kind is tuple and len(value) == 1 else closed)
    return repr(value)
def first(values):
    for at, value in enumerate(values):
        if at == ITEMS:
            return
        yield value
def joined(shown, value, opened, closed):
    more = [] if len(value) <= len(shown) or shown == ["\\u2026"] else ["\\u2026 (%d in all)" % len(value)]
    return opened + ", ".join(shown + more) + closed
def cut(text):
    return text if len(text) <= 2 * MOST else text[:MOST] + "\\u2026 (%d long)" % len(text)
def cell(text, scope):
    try:
        code = codes.get(text) or codes.setdefault(text, compile(text.strip(), "<evidence>", "eval"))
        return [0, cut(show(eval(code, scope)))]
    except Exception as error:
        return [1, cut("%s: %s" % (type(error).__name__, error))]
def cells(texts, g, l):
    scope = dict(g)
    scope.update(l)
    return [cell(text, scope) for text in texts]
def asked(texts, g, l):
    return json.dumps(cells(texts, g, l))
def logged(mark, most, point, texts, g, l):
    count = seen[mark] = seen.get(mark, 0) + 1
    if count > most + 1:
        return ""
    found = cells(texts, g, l) if count <= most else []
    return mark + json.dumps([point, threading.get_ident(), found])
module = types.ModuleType({_MODULE!r})
module.asked, module.logged = asked, logged
sys.modules[{_MODULE!r}] = module
"""


def asked(expressions: Sequence[str]) -> str:
    return f"{_HELPER}.asked({_literal(list(expressions))}, {_SCOPE})"


def answered(shown: str) -> list[Cell]:
    """From how the debugger shows the answer, a string."""
    return _cells(json.loads(ast.literal_eval(shown)))


def logged(mark: str, most: int, point: int, expressions: Sequence[str]) -> str:
    """The message of a logpoint that says a row behind the mark; one row more than `most` says that there are more."""
    return f"{{{_HELPER}.logged({mark!r}, {most}, {point}, {_literal(list(expressions))}, {_SCOPE})}}"


def heard(text: str) -> tuple[int, int, list[Cell]]:
    """The point, the thread and the cells of what came behind the mark."""
    point, thread, cells = json.loads(text)
    return int(point), int(thread), _cells(cells)


def _cells(told: list[tuple[int, str]]) -> list[Cell]:
    return [Cell(text, failed=bool(failed)) for failed, text in told]


def _literal(value: object) -> str:
    """Without braces: those of a logpoint's text are its own."""
    return ascii(value).replace("{", r"\x7b").replace("}", r"\x7d")


_MODULES = "__import__('sys').modules"
_MADE = f"(__import__('builtins').exec({_literal(_SOURCE)}, dict()), {_MODULES}[{_MODULE!r}])[1]"
_HELPER = f"({_MODULES}.get({_MODULE!r}) or {_MADE})"
_SCOPE = "__import__('builtins').globals(), __import__('builtins').locals()"
