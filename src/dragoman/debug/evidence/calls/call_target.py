"""Which code is the function to trace, and which code is the user's own."""

from __future__ import annotations

import _thread
import json
import os
import re
import sys
import time
import types
from typing import Any

_LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3|[/\\]pydevd|[/\\]debugpy[/\\]|^<")
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_FUNCTION = 0x1  # CO_OPTIMIZED: not a module and not the body of a class
_HOPS = 40

_MOST_FILES = 5000

_own: dict[str, bool] = {}
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def is_own(filename: str) -> bool:
    """Whether a file is the user's: not of the standard library, nor installed."""
    known = _own.get(filename)
    if known is None:
        if len(_own) > 20_000:
            _own.clear()
        library = _LIBRARY.search(filename) or filename.startswith(_STANDARD)
        known = _own[filename] = not library and not filename.startswith(_HERE)
    return known


_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep if "__file__" in globals() else "\0"


class UnpatchedFunctions:
    """Functions as they were when the tracer came: a program may mock them, and counts how often a mock is called.

    They stand in a class because tools that freeze the clock exchange the globals of every module.
    """

    monotonic: Any = time.monotonic
    getpid: Any = os.getpid
    open: Any = os.open
    write: Any = os.write
    close: Any = os.close
    dumps: Any = json.dumps
    get_ident: Any = _thread.get_ident
    realpath: Any = os.path.realpath


def own_name(code: Any) -> str:
    return str(getattr(code, "co_qualname", code.co_name)).replace("<locals>.", "")


def nearest_own(frame: Any) -> Any:
    """The frame of the user's code that a call comes from; a comprehension is part of its function."""
    for _ in range(_HOPS):
        if frame is None:
            return None
        code = frame.f_code
        if is_own(code.co_filename) and code.co_name not in _INNER:
            return frame
        frame = frame.f_back
    return None


class CallTarget:
    """A function by its name, with or without its class or module, or by a line of its file, or by both."""

    def __init__(self, function: str = "", file: str = "", line: int = 0, codes: tuple[Any, ...] = ()) -> None:
        self.qualifier, _, self.name = function.rpartition(".")
        self.file = file
        self.line = line
        self.codes = codes
        """Code objects themselves, where they are known."""
        self._same: dict[str, bool] = {}

    def may_match(self, code: Any) -> bool:
        if self.codes:
            return any(code is it for it in self.codes)
        if not code.co_flags & _FUNCTION:
            return False
        if self.line:
            return self.name in ("", code.co_name) and self._has_line(code)
        if code.co_name != self.name:
            return False
        filename = code.co_filename
        return is_own(filename) or (filename.startswith("<") and not filename.startswith("<frozen"))

    def matches(self, code: Any, frame: Any) -> bool:
        if not self.may_match(code):
            return False
        if not self.qualifier or self.codes or self.line:
            return self._is_in_file(code)
        return self._is_in_file(code) and (
            _ends_with(own_name(code).rpartition(".")[0], self.qualifier)
            or _ends_with(_module_of(frame), self.qualifier)
            or _ends_with("%s.%s" % (_module_of(frame), own_name(code).rpartition(".")[0]), self.qualifier)
            or self._is_method(code, frame)
        )

    def _is_in_file(self, code: Any) -> bool:
        return not self.file or self._is_same_file(code.co_filename)

    def _is_same_file(self, filename: str) -> bool:
        known = self._same.get(filename)
        if known is None:
            if len(self._same) >= _MOST_FILES:
                self._same.clear()
            wanted = self.file.replace("\\", "/")
            found = filename.replace("\\", "/")
            is_named = found == wanted or found.endswith("/" + wanted.lstrip("./"))
            known = self._same[filename] = is_named or UnpatchedFunctions.realpath(filename) == wanted
        return known

    def _has_line(self, code: Any) -> bool:
        if not self._is_same_file(code.co_filename) or code.co_name in _INNER or self.line < code.co_firstlineno:
            return False
        # A comprehension is part of its function, whose line is its own.
        inner = [it for it in code.co_consts if type(it) is type(code) and it.co_name not in _INNER]
        if any(self.line == it.co_firstlineno or self._has_line(it) for it in inner if it.co_flags & _FUNCTION):
            return False
        return self.line <= last_line_of(code)

    def _is_method(self, code: Any, frame: Any) -> bool:
        """Of a class that inherits it, or, before Python 3.11, of any class. Not one that overrides it."""
        if not code.co_argcount:
            return False
        held = frame.f_locals.get(code.co_varnames[0])
        kind = held if issubclass(type(held), type) else type(held)
        wanted = self.qualifier.rpartition(".")[2]
        found = next((it for it in _type_mro(kind) if type.__dict__["__name__"].__get__(it) == wanted), None)
        if found is None:
            return False
        owner = next((it for it in _type_mro(found) if self.name in _type_dict(it)), None)
        return owner is None or _is_of_class(code, owner, self.name)


_type_mro: Any = type.__dict__["__mro__"].__get__
_type_dict: Any = type.__dict__["__dict__"].__get__


def _is_of_class(code: Any, owner: type, name: str) -> bool:
    """Whether the class has this code under the name. Behind a decorator that cannot be looked into, by the name of the
    code, which has its class from Python 3.11.
    """
    codes = _codes_of(_type_dict(owner)[name])
    if any(it.co_name == name for it in codes):
        return any(it is code for it in codes)
    known = own_name(code).rpartition(".")[0]
    return not known or known == type.__dict__["__qualname__"].__get__(owner).replace("<locals>.", "")


def _codes_of(held: Any) -> list[Any]:
    """Of a method as it stands in its class, and of what its decorators wrap."""
    kind = type(held)
    if kind is staticmethod or kind is classmethod:
        held = held.__func__
    found = []
    for function in (held.fget, held.fset, held.fdel) if kind is property else (held,):
        wrapped = function
        for _ in range(_HOPS):
            if type(wrapped) is not types.FunctionType:
                break
            found.append(wrapped.__code__)
            wrapped = wrapped.__dict__.get("__wrapped__")
    return found


def _ends_with(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith("." + wanted)


def _module_of(frame: Any) -> str:
    found = frame.f_globals.get("__name__")
    return found if type(found) is str else ""


def last_line_of(code: Any) -> int:
    if sys.version_info >= (3, 10):
        lines = [it[2] for it in code.co_lines() if it[2]]
    else:
        import dis

        lines = [it[1] for it in dis.findlinestarts(code)]
    inner = [last_line_of(it) for it in code.co_consts if type(it) is type(code)]
    return int(max([code.co_firstlineno, *lines, *inner]))
