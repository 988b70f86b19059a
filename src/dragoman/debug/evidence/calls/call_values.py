"""Copies values of a running program into plain tuples, without running any of its code, and shows them.

A value is read through the slots of its real type: the `__dict__` and `__slots__` of objects, and the built-in methods
of containers. `__repr__`, properties, `__eq__`, `__hash__`, `__len__`, `__iter__`, `__class__` and metaclasses of the
program are never called: they may query a database, or lie. `isinstance` is avoided, because it reads `__class__`.

A copy is one of: an exact int, str or None; ("t", text); ("?", text) where the budget ended; ("s", length, head);
("l", kind, length, items); ("d", name, length, pairs); ("o", name, fields, more). What is too long for a copy leaves a
hash behind the rest. Copies hold exact built-in types alone, so `==` on them is safe.
"""

from __future__ import annotations

import itertools
import operator
import os
import re
import sys
import types
from collections import deque
from typing import Any

from .call_target import is_own

MAX_ITEMS = 1000
"""Of a container, compared whole up to here; of a longer one, its ends and a hash of its plain values."""
MAX_HASHED = 10_000
_HASHED_BYTES = 65_536
MAX_FIELDS = 40
MAX_DEPTH = 4
MAX_STRING = 1000
_END_ITEMS = 100
END_PAIRS = 4
_BITS = 1200
_LEAVES = 16
"""How many numbers or strings cost as much of a budget as one container or object."""
_FEW_FIELDS = 4
_KEY_ROOM = 200  # whole: redaction of a value goes by the name of its key
_MOST_TYPES = 2000

_type_name: Any = type.__dict__["__name__"].__get__
_type_mro: Any = type.__dict__["__mro__"].__get__
_type_dict: Any = type.__dict__["__dict__"].__get__
_type_flags: Any = type.__dict__["__flags__"].__get__
_exception_args: Any = BaseException.__dict__["args"].__get__
_module_dict: Any = vars(types.ModuleType)["__dict__"].__get__
_function_name: Any = types.FunctionType.__dict__["__qualname__"].__get__
_BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}"), "frozenset": ("frozenset({", "})")}
ELLIPSIS = ("?", "\u2026")
_NONE = type(None)
# Half of a key or a token would be shown in spite of redaction, which knows only whole ones; and so would the password
# of an address without the `@` that ends it.
_CUT_WORD = re.compile(r"(?<=://)[^/\s@'\"]*$|[^\s'\"(){}\[\],=:]{8,}$")
# By id, because to hash a type would ask its metaclass. Their `__hash__` is C.
_PLAIN_TYPES = frozenset(map(id, (int, str, float, bool, bytes, complex, type(None))))
_MATCHED = 10_000
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement
# Their `__repr__` is C or the standard library's own, and holds nothing of the program.
_SHOWN_TYPES = {
    "datetime": ("date", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID",),
    "pathlib": ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"),
}


_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def is_of_program(error: BaseException) -> bool:
    """Whether the program raised it while the tracer worked, as the handler of a signal does: it must go on.

    The tracer calls itself and the standard library alone, so every other code in the traceback is the program's.
    """
    if _ENDS_AT_OVERFLOW and type(error) is RecursionError:
        return True
    at = error.__traceback__
    while at is not None:
        name = at.tb_frame.f_code.co_filename
        is_library = name.startswith((_STANDARD, "<frozen ")) and "-packages" not in name
        if not is_library and name not in _OWN_FILES:
            return True
        at = at.tb_next
    return False


# Before Python 3.9, whoever goes on after an overflow of the stack ends the whole process some frames later.
_ENDS_AT_OVERFLOW = sys.version_info < (3, 9)
_NAMES = (
    "call_values",
    "call_changes",
    "call_target",
    "call_recording",
    "call_monitor",
    "call_settrace",
    "call_tracer",
)
_THIS_FILE = is_of_program.__code__.co_filename
_OWN_FILES = frozenset(_THIS_FILE.replace("call_values", it) for it in _NAMES)


class ValueCopier:
    """Copies values. It remembers how the fields of each type are read."""

    def __init__(self) -> None:
        self.budget = 0
        self.spent = 0
        """In all, until its reader sets it back: how much work the copies were."""
        self._types: dict[int, tuple[Any, ...]] = {}  # by id: to hash a type would ask its metaclass

    def copy(self, value: Any, budget: int = 200) -> Any:
        self.budget = budget * _LEAVES
        try:
            return self._copy(value, 0, ())
        except Exception as error:  # changed by another thread meanwhile, or too deep: not worth the program
            if is_of_program(error):
                raise
            return ("?", "<%s>" % _type_name(type(value)))
        finally:
            self.spent += budget * _LEAVES - self.budget

    def _copy(self, value: Any, depth: int, outer: tuple[int, ...]) -> Any:
        kind = type(value)
        self.budget -= 1
        if kind is int:
            return value if value.bit_length() <= _BITS else ("t", "<int of %d bits>" % value.bit_length())
        if kind is str:
            return value if len(value) <= MAX_STRING else _long(value)
        if kind is _NONE:
            return None
        if kind is bool or kind is float or kind is complex or kind is range:
            return ("t", repr(value))
        self.budget -= _LEAVES - 1
        if self.budget < 0:
            return ("?", "<%s>" % _type_name(kind))
        if id(value) in outer:
            return ("t", "<itself>")
        if depth >= MAX_DEPTH:
            return ("t", "%s(\u2026)" % _type_name(kind))
        return self._structure(value, kind, depth, (*outer, id(value)))

    def _structure(self, value: Any, kind: type, depth: int, outer: tuple[int, ...]) -> Any:
        if kind is list or kind is tuple:
            return self._items(value, kind.__name__, depth, outer)
        if kind is dict:
            return self._pairs(value, "", depth, outer)
        name, base, fields, names = self._type(kind)
        if base is None:
            return self._object(value, name, fields, depth, outer)
        if base == "shown":
            return ("t", repr(value))
        if base == "namedtuple":
            found = tuple((it, self._copy(v, depth + 1, outer)) for it, v in zip(names, tuple.__iter__(value)))
            return ("o", name, found, 0)
        if base == "dict":
            return self._pairs(value, name, depth, outer)
        if base in ("list", "tuple", "set", "frozenset", "deque"):
            return self._items(value, base if name == base else name, depth, outer)
        if base == "match":
            return self._match(value, name, depth, outer)
        return self._plain(value, kind, base, name)

    def _plain(self, value: Any, kind: type, base: str, name: str) -> Any:
        if base == "enum":
            found = next((dict.get(read(value), "_name_") for read in self._type(kind)[2][0]), None)
            return ("t", "%s.%s" % (name, found if type(found) is str else "?"))
        if base == "str":
            text = str.__str__(value)
            return _long(text) if len(text) > MAX_STRING else ("t", "%s(%r)" % (name, text))
        if base in ("bytes", "bytearray"):
            exact: Any = bytes if base == "bytes" else bytearray
            size = exact.__len__(value)
            held = bytes(exact.__getitem__(value, slice(_HASHED_BYTES)))
            self.budget -= len(held) // 1000
            return ("t", repr(held[:16]) + ("\u2026 (%d bytes)" % size if size > 16 else ""), hash(held))
        if base == "number":
            method = int.__repr__ if issubclass(kind, int) else float.__repr__
            return ("t", "%s(%s)" % (name, method(value)))
        if base == "error":
            return ("t", error_text(value))
        if base == "array":
            return self._array(value, kind, name)
        if base == "numbers":
            return self._numbers(value)
        if base == "datetime":
            return self._datetime(value, name)
        if base == "function":
            return ("t", "<function %s>" % _function_name(value))
        return ("t", "<class %s>" % _type_name(value) if base == "class" else "<%s>" % name)

    def _match(self, value: Any, name: str, depth: int, outer: tuple[int, ...]) -> Any:
        """Of `re`: what matched, rather than the text in which it was looked for."""
        begin, end = value.span()
        if end - begin > _MATCHED:
            return ("t", "%s(span=(%d, %d))" % (name, begin, end))
        return ("o", name, (("match", self._copy(value.group(), depth + 1, outer)),), 0)

    def _datetime(self, value: Any, name: str) -> Any:
        zone, known = value.tzinfo, sys.modules["datetime"].timezone
        if zone is None or type(zone) is known:
            return ("t", "%s(%s)" % (name, value.isoformat()))
        return ("t", "%s(%s \u2026)" % (name, value.replace(tzinfo=None).isoformat()))

    def _array(self, value: Any, kind: type, name: str) -> Any:
        """Of numpy: its shape, and a few numbers. Both are read by C code."""
        shape, kind_code = value.shape, value.dtype.kind
        size = value.size
        shown = value.tolist() if size <= 20 and kind_code in "biuf" else "\u2026"
        text = "%s(%s, shape=%s)" % (name, shown, shape)
        if kind_code not in "biufc" or value.nbytes > _HASHED_BYTES:
            return ("t", text)
        self.budget -= value.nbytes // 1000
        return ("t", text, hash(value.tobytes()))

    def _numbers(self, value: Any) -> Any:
        """Of the standard library's `array`."""
        held = value[: _HASHED_BYTES // value.itemsize].tobytes()
        self.budget -= len(held) // 1000
        more = "\u2026 (%d in all)" % len(value) if len(value) > 16 else ""
        return ("t", repr(value[:16]) + more, hash(held))

    def _items(self, value: Any, name: str, depth: int, outer: tuple[int, ...]) -> Any:
        kind = type(value)
        if issubclass(kind, (list, tuple)):
            base: Any = list if issubclass(kind, list) else tuple
        else:
            base = next(it for it in (set, frozenset, deque) if issubclass(kind, it))
        size = base.__len__(value)
        if size <= MAX_HASHED:
            items = list(base.__iter__(value))
        elif base is list or base is tuple:
            read = base.__getitem__
            items = [*read(value, slice(_END_ITEMS)), *read(value, slice(-_END_ITEMS, None))]
        else:
            items = list(itertools.islice(base.__iter__(value), MAX_ITEMS))
        if len(items) <= MAX_ITEMS or _is_uniform(items):
            return ("l", name, size, self._copies(items, depth, outer))
        ends = [*items[:_END_ITEMS], *items[-_END_ITEMS:]]
        return ("l", name, size, self._copies(ends, depth, outer), self._hash(items))

    def _hash(self, items: list[Any]) -> int | None:
        """Of what is not copied: whether it changed. None if there is more in it than plain values."""
        self.budget -= len(items) // _LEAVES
        return hash(tuple(items)) if _PLAIN_TYPES.issuperset(map(id, map(type, items))) else None

    def _copies(self, items: list[Any], depth: int, outer: tuple[int, ...]) -> tuple[Any, ...]:
        if not items:
            return ()
        if _is_uniform(items):
            self.budget -= len(items) // _LEAVES  # without a copy of each
            return tuple(items)
        found = []
        for it in items:
            if self.budget <= 0:
                found.append(ELLIPSIS)
                break
            found.append(self._copy(it, depth + 1, outer))
        return tuple(found)

    def _pairs(self, value: Any, name: str, depth: int, outer: tuple[int, ...]) -> Any:
        size = dict.__len__(value)
        pairs = list(itertools.islice(dict.items(value), MAX_ITEMS))
        found = []
        for pair in pairs:
            if self.budget <= 0:
                break
            found.append(self._pair(pair, depth, outer))
        if len(found) == size:
            return ("d", name, size, tuple(found))
        # A new key is at the end. Keys are not looked up: that would ask them.
        last = list(itertools.islice(reversed(dict.items(value)), min(END_PAIRS, size - len(found))))
        found += [self._pair(it, depth, outer) for it in reversed(last)]
        hashed = self._hash(list(dict.values(value))) if size <= MAX_HASHED else None
        return ("d", name, size, tuple(found), hashed)

    def _pair(self, pair: tuple[Any, Any], depth: int, outer: tuple[int, ...]) -> tuple[Any, Any]:
        key, held = pair
        self.budget -= 1
        return (key if type(key) is str else self._copy(key, depth + 1, outer), self._copy(held, depth + 1, outer))

    def _object(self, value: Any, name: str, fields: Any, depth: int, outer: tuple[int, ...]) -> Any:
        dicts, slots, hidden = fields
        found: list[tuple[Any, Any]] = []
        more = 0
        for read in dicts:
            held = read(value)
            if type(held) is not dict:
                continue
            for key, it in list(held.items()):
                if type(key) is not str or key.startswith(hidden):
                    continue
                if len(found) >= MAX_FIELDS or self.budget < 0:
                    more += 1
                    continue
                found.append((key, self._copy(it, depth + 1, outer)))
        for key, read in slots:
            try:
                it = read(value)
            except AttributeError:
                continue
            if len(found) >= MAX_FIELDS or self.budget < 0:
                more += 1
                continue
            found.append((key, self._copy(it, depth + 1, outer)))
        return ("o", name, tuple(found), more)

    def _type(self, kind: type) -> tuple[Any, ...]:
        known = self._types.get(id(kind))
        if known is not None:
            return known[1:]
        if len(self._types) >= _MOST_TYPES:
            self._types.clear()
        found = (_type_name(kind), _base_of(kind), _fields_of(kind), _names_of(kind))
        self._types[id(kind)] = (kind, *found)
        return found


def _is_uniform(items: list[Any]) -> bool:
    """Whether all are numbers or all are strings, of exactly these types: they need no copies."""
    first = type(items[0])
    return (first is int or first is str) and all(map(operator.is_, map(type, items), itertools.repeat(first)))


def _long(text: str) -> Any:
    return ("s", len(text), text[:MAX_STRING], hash(text))  # a string keeps its hash, once it was computed


def _is_library(kind: type) -> bool:
    """Whether the class is of the standard library or installed. Its private fields say nothing about the program."""
    module = _type_dict(kind).get("__module__")
    loaded = sys.modules.get(module) if type(module) is str else None
    file = loaded.__dict__.get("__file__") if type(loaded) is types.ModuleType else None
    return type(file) is str and not is_own(file)


def _fields_of(kind: type) -> tuple[list[Any], list[tuple[str, Any]], str]:
    """How to read its `__dict__` and its slots: by the descriptors that Python made, not by what covers them. And how
    the names of fields begin that are left out.
    """
    hidden = "_" if _is_library(kind) else "__"
    dicts: list[Any] = []
    slots: list[tuple[str, Any]] = []
    for base in reversed(_type_mro(kind)):
        held = _type_dict(base)
        found = held.get("__dict__")
        if type(found) is types.GetSetDescriptorType and not dicts:
            dicts.append(found.__get__)
        if base is not object:
            members = ((it, at) for it, at in held.items() if type(at) is types.MemberDescriptorType)
            slots += [(it, at.__get__) for it, at in members if type(it) is str and not it.startswith(hidden)]
    return dicts, slots, hidden


def _names_of(kind: type) -> tuple[str, ...]:
    found = next((_type_dict(it)["_fields"] for it in _type_mro(kind) if "_fields" in _type_dict(it)), ())
    return found if type(found) is tuple and all(type(it) is str for it in found) else ()


def _base_of(kind: type) -> str | None:
    """What it is read as; None: an object with fields."""
    if issubclass(kind, type):
        return "class"
    enum = _held_by("enum", "Enum")
    if enum is not None and issubclass(kind, enum):
        return "enum"
    for base in (str, bytes, bytearray, dict, list, set, frozenset, deque):
        if issubclass(kind, base):
            return base.__name__
    if issubclass(kind, tuple):
        return "namedtuple" if _names_of(kind) else "tuple"
    if issubclass(kind, (int, float)):
        return "number"
    if issubclass(kind, BaseException):
        return "error"
    if kind is types.FunctionType:
        return "function"
    return _library_base_of(kind)


def _library_base_of(kind: type) -> str | None:
    for module, names in _SHOWN_TYPES.items():
        if any(_held_by(module, it) is kind for it in names):
            return "shown"
    if _held_by("datetime", "datetime") is kind or _held_by("datetime", "time") is kind:
        return "datetime"
    if _held_by("re", "Match") is kind:
        return "match"
    if _held_by("numpy", "ndarray") is kind:
        return "array"
    if _held_by("array", "array") is kind:
        return "numbers"
    return "builtin" if kind is types.ModuleType or not _type_flags(kind) & _HEAP_TYPE else None


def _held_by(module: str, name: str) -> Any:
    """Without an attribute of the module, which may load at its first access, or be another object in its place."""
    loaded = sys.modules.get(module)
    return _module_dict(loaded).get(name) if issubclass(type(loaded), types.ModuleType) else None


def error_text(error: BaseException) -> str:
    """Type and message of an exception, without its `__str__`."""
    args = _exception_args(error)
    shown = [render(ValueCopier().copy(it, 20), 160) for it in tuple.__iter__(args)][:3]
    if len(shown) == 1 and type(args[0]) is str and not issubclass(type(error), KeyError):
        shown = [args[0] if len(args[0]) <= 300 else _head(args[0], 300)]
    return str(_type_name(type(error))) + (": " + ", ".join(shown) if shown else "")


# Showing a copy.


def render(node: Any, limit: int = 120) -> str:
    text = _text(node, limit)
    return text if len(text) <= limit else _CUT_WORD.sub("", text[: limit - 1]) + "\u2026"


def _head(text: str, room: int) -> str:
    """The beginning of a long text, up to a whole word; of a text that is one long word, a few characters."""
    return _CUT_WORD.sub(lambda found: "" if found.start() else found.group()[:4], text[: max(8, room - 16)])


def _text(node: Any, room: int) -> str:
    if type(node) is str:
        return repr(node) if len(node) <= room else "%r\u2026 (%d long)" % (_head(node, room), len(node))
    if type(node) is int and node.bit_length() > _BITS:
        return "<int of %d bits>" % node.bit_length()
    if type(node) is not tuple:
        return repr(node)
    tag = node[0]
    if tag in ("t", "?"):
        return str(node[1])
    if tag == "s":
        return "%r\u2026 (%d long)" % (_head(node[2], room), node[1])
    inner = max(24, room - 24)
    if tag == "l":
        opened, closed = _BRACKETS.get(node[1], (node[1] + "([", "])"))
        if node[2] == 0 and node[1] == "set":
            return "set()"
        closed = "," + closed if node[1] == "tuple" and node[2] == 1 else closed
        return str(opened) + _joined((_text(it, inner) for it in node[3]), node[2], room) + str(closed)
    if tag == "d":
        pairs = ("%s: %s" % (key_text(key), _text(it, inner)) for key, it in node[3])
        return str(node[1]) + "{" + _joined(pairs, node[2], room) + "}"
    held = node[2] if len(node[2]) <= _FEW_FIELDS else [it for it in node[2] if not _is_empty(it[1])]
    fields = ("%s=%s" % (key, _text(it, inner)) for key, it in held)
    return str(node[1]) + "(" + _joined(fields, len(node[2]) + node[3], room) + ")"


def key_text(key: Any) -> str:
    return _text(key, _KEY_ROOM)


def _is_empty(node: Any) -> bool:
    """Of many fields, those that hold nothing are not listed; a field that becomes empty is a change of its own."""
    if type(node) is not tuple:
        return node is None or node == ""
    return node[0] in ("l", "d") and node[2] == 0


def _joined(texts: Any, size: int, room: int) -> str:
    shown: list[str] = []
    used = 0
    for it in texts:
        if used + len(it) > room - 24 and shown:
            break
        shown.append(it)
        used += len(it) + 2
    more = ["\u2026 (%d in all)" % size] if size > len(shown) else []
    return ", ".join(shown + more)
