"""Makes pydevd stop in library code, which it otherwise skips. Runs inside the program.

debugpy evaluates the source of this file before breakpoints are set in a library, so it must work on every
interpreter that debugpy supports (3.8 and later), also where debugpy was loaded before Dragoman attached.
"""
# ruff: noqa: SLF001, PTH120, PTH122, FURB188  pydevd's own; no pathlib in the program; Python 3.8

from __future__ import annotations

import _imp
import glob
import importlib.machinery
import os
import sys

_STANDARD = os.path.dirname(os.path.realpath(os.__file__))


def include_file(path: str) -> str:
    """Empty, or a code for why the debugger cannot stop in this file."""
    if _is_frozen(os.path.realpath(path)):
        return "dragoman:frozen"
    for name in {path, os.path.realpath(path)}:
        _include(glob.escape(name), is_path=True)
    return ""


def include_module_of(name: str) -> str:
    """By its module: before the program has imported it, nobody knows where the function is defined."""
    module = name.partition(".")[0]
    if _is_of_a_library(module):
        _include(module, is_path=False)
    return ""


def _is_frozen(path: str) -> bool:
    """The interpreter contains the code of a frozen module, without its file and lines."""
    inside, ending = os.path.splitext(os.path.relpath(path, _STANDARD))
    name = inside.replace(os.sep, ".")
    package = name[: -len(".__init__")] if name.endswith(".__init__") else name
    return ending == ".py" and bool(_imp.is_frozen(package))


def _is_of_a_library(module: str) -> bool:
    if module in getattr(sys, "stdlib_module_names", ()):
        return True
    spec = importlib.machinery.PathFinder.find_spec(module)
    return spec is not None and "-packages" + os.sep in str(spec.origin)


def _include(name: str, *, is_path: bool) -> None:
    """Adds a rule before all others. A pydevd of another version may not have rules: then its report of the breakpoint
    shows that it is not bound."""
    try:
        debugger = sys.modules["pydevd"].get_global_debugger()
        rule = sys.modules["_pydevd_bundle.pydevd_filtering"].ExcludeFilter(name, False, is_path)
        rules = list(debugger._files_filtering._exclude_filters)
        if rule not in rules:
            debugger.set_exclude_filters([rule, *rules])
    except (KeyError, AttributeError, TypeError):
        return
