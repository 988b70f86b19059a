"""Evaluates several Python expressions in one request, each with its own error, or in a condition that writes a row.

An expression cannot catch exceptions. So the request first creates a module that can, once per process: it evaluates,
formats results within bounds, and counts. As a condition it is false while all goes well, so the program does not
stop: the row is in a file before the program continues, and is there even if the next line ends it. The condition is
true, and the program stops, at more hits than asked for, at a false claim, and where it cannot write.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path

from dragoman.debug.evidence.tracepoints import CELL_CHARACTERS, MAX_COLUMNS, Cell, WrittenRecord

_MODULE = "_dragoman_evidence"
_ITEMS = 40
_DEPTH = 5

_SOURCE = f"""
import json, os, re, sys, threading, types
LIBRARY = re.compile("/(?:site|dist)-packages/|/lib/python3[.]")
MOST, ITEMS, DEPTH, OWN = {CELL_CHARACTERS}, {_ITEMS}, {_DEPTH}, {MAX_COLUMNS}
SKIPPED = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
codes, seen, failed = dict(), dict(), set()
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
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
    return fields(value, depth) if kind.__repr__ is object.__repr__ else repr(value)
def fields(value, depth):
    kind, held = type(value), getattr(value, "__dict__", None)
    if type(held) is not dict or not held:
        return repr(value)
    shown = ["%s=%s" % (name, show(held[name], depth + 1)) for name in first(held)] if depth < 2 else ["\u2026"]
    return "%s(%s)" % (kind.__name__, ", ".join(shown))
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
def own(l, texts):
    found = []
    for name in list(l):
        value = l[name]
        if not name.isidentifier() or name[:2] == "__" or name in texts or isinstance(value, SKIPPED):
            continue
        try:
            found.append([0, cut(show(value)), name])
        except Exception:
            found.append([0, "<%s>" % type(value).__name__, name])
        if len(found) == OWN:
            break
    return found
def wrote(file, kind, point, data):
    os.write(file, (json.dumps([kind, point, threading.get_ident(), data]) + "\\n").encode())
def user_frame():
    frame = sys._getframe()
    while frame and ("pydevd" in frame.f_code.co_filename or frame.f_code.co_filename.startswith("<")):
        frame = frame.f_back
    return frame
def is_inside(frame):
    outer = frame and frame.f_back
    return bool(outer) and frame.f_code.co_name in INNER and (
        frame.f_code.co_filename, frame.f_lineno) == (outer.f_code.co_filename, outer.f_lineno)
def stops(path, most, point, condition, claims, frame, texts, g, l):
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError:
        return not condition or bool(eval(condition, g, l))
    try:
        if is_inside(user_frame()):
            return False
        scope = dict(g)
        scope.update(l)
        if condition:
            try:
                if not eval(condition, scope):
                    return False
            except Exception as error:
                if point not in failed:
                    failed.add(point)
                    wrote(file, "condition", point, cut("%s: %s" % (type(error).__name__, error)))
                return False
        count = seen[path] = seen.get(path, 0) + 1
        if count > most:
            return True
        wrote(file, "begun", point, None)
        found = [cell(text, scope) for text in texts]
        wrote(file, "row", point, found + (own(l, texts) if frame else []))
        return claims and found[0] != [0, "True"]
    finally:
        os.close(file)
def standing(points):
    frame = user_frame()
    if is_inside(frame):
        return json.dumps(None)
    for at, (path, line, texts) in enumerate(points if frame else ()):
        if frame.f_lineno == line and os.path.realpath(frame.f_code.co_filename) == os.path.realpath(path):
            return json.dumps([at, threading.get_ident(), cells(texts, frame.f_globals, frame.f_locals)])
    return json.dumps(None)
def described(error):
    try:
        text = str(error)
    except Exception as failed:
        text = type(failed).__name__
    at, trace = None, error.__traceback__
    while trace:
        name = trace.tb_frame.f_code.co_filename
        at = trace if not (name.startswith("<") or LIBRARY.search(name)) else at
        trace = trace.tb_next
    frame, values = at and at.tb_frame, dict()
    for name in list(frame.f_locals)[:20] if frame and frame.f_locals is not frame.f_globals else ():
        try:
            values[str(name)] = cut(show(frame.f_locals[name]))[:MOST]
        except Exception:
            continue
    text = text if len(text) <= 4000 else text[:400] + "\u2026" + text[-3600:]
    place = [frame.f_code.co_filename, at.tb_lineno, frame.f_code.co_name] if frame else None
    return [type(error).__name__, text, place, values]
def causes(error, most):
    known, found, left = [error], [], [error]
    while left and len(found) < most:
        one = left.pop(0)
        before = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        inner = getattr(one, "exceptions", ()) if type(one).__name__.endswith("Group") else ()
        new = [it for it in [*inner, before] if it is not None and not any(it is k for k in known)][:most]
        known, found, left = known + new, found + [described(it) for it in new], new + left
    return json.dumps(found[:most])
module = types.ModuleType({_MODULE!r})
module.asked, module.stops, module.standing, module.causes = asked, stops, standing, causes
sys.modules[{_MODULE!r}] = module
"""


def build_query(expressions: Sequence[str]) -> str:
    return f"{_HELPER}.asked({list(expressions)!a}, {_SCOPE})"


def parse_result(shown: str) -> list[Cell]:
    """From how the debugger shows the answer, a string."""
    return _cells(json.loads(ast.literal_eval(shown)))


def build_location_query(points: Sequence[tuple[str, int, Sequence[str]]]) -> str:
    """In any frame of the thread: it looks itself at which of the points the thread stands, and there for the values.

    So the stack need not be asked for before. It was asked in another way once, so the module is there."""
    return f"{_MODULES}[{_MODULE!r}].standing({[(path, line, list(texts)) for path, line, texts in points]!a})"


def parse_location_result(shown: str) -> tuple[int, int, list[Cell]] | None:
    """The point, the thread's own number, and the cells."""
    place = json.loads(ast.literal_eval(shown))
    return (int(place[0]), int(place[1]), _cells(place[2])) if place else None


def build_row_condition(
    file: Path,
    most: int,
    point: int,
    expressions: Sequence[str],
    *,
    claims: bool = False,
    only_if: str = "",
    shows_frame: bool = False,
) -> str:
    """Writes a row into the file at each hit where `only_if` holds. `claims`: the first expression is to be true.

    `shows_frame`: the frame's own values follow, each with its name.
    """
    arguments = f"{str(file)!a}, {most}, {point}, {only_if!a}, {claims}, {shows_frame}, {list(expressions)!a}"
    return f"{_HELPER}.stops({arguments}, {_SCOPE})"


def build_helper() -> str:
    """The module that evaluates and writes rows, created if it is not there yet."""
    return _HELPER


def parse_row(line: str) -> WrittenRecord:
    kind, point, thread, cells = json.loads(line)
    if kind != "row":
        return WrittenRecord(str(kind), int(point), int(thread), [], str(cells or ""))
    asked, own = [it for it in cells if len(it) == 2], [it for it in cells if len(it) == 3]
    frame = tuple((str(name), Cell(text, failed=bool(failed))) for failed, text, name in own)
    return WrittenRecord("row", int(point), int(thread), _cells(asked), frame=frame)


def build_causes_query(most: int) -> str:
    """Of the exception that the program stands at: what led to it and what it holds, the nearest first."""
    return f"{_HELPER}.causes(__exception__[1], {most})"


def parse_causes(shown: str) -> list[tuple[str, str, tuple[str, int, str] | None, dict[str, str]]]:
    """Type, text, the place and the variables of the innermost frame that is the user's."""
    found = json.loads(ast.literal_eval(shown))
    return [(type, text, tuple(place) if place else None, values) for type, text, place, values in found]


def _cells(pairs: list[tuple[int, str]]) -> list[Cell]:
    return [Cell(text, failed=bool(failed)) for failed, text in pairs]


_MODULES = "__import__('sys').modules"
_CREATE_MODULE = f"(__import__('builtins').exec({_SOURCE!a}, dict()), {_MODULES}[{_MODULE!r}])[1]"
_HELPER = f"({_MODULES}.get({_MODULE!r}) or {_CREATE_MODULE})"
_SCOPE = "__import__('builtins').globals(), __import__('builtins').locals()"
