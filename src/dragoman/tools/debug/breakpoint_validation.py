"""Checks on a requested breakpoint: the parameters its kind takes, and whether its Python function exists.

debugpy accepts any function name, and a breakpoint on a misspelt one would never be hit. The workspace's files are
searched as text, and only a function that is certainly missing is refused: one in a library, for example, is left to
the run.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug import source_files
from dragoman.debug.source_files import is_library
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug.parameters import SetBreakpointParameters
from dragoman.workspace.breakpoints import Breakpoint, BreakpointKind

_MAX_BYTES = 8 << 20
_MAX_FILES = 20_000
_NEAREST = 3

_ALWAYS = frozenset({"kind", "enabled"})


@dataclass(frozen=True, slots=True)
class _KindParameters:
    needs: str
    may: frozenset[str] = frozenset()


# DAP has no log messages for functions and data, and no hit conditions for exceptions.
_PARAMETERS_BY_KIND: Mapping[BreakpointKind, _KindParameters] = {
    "line": _KindParameters(
        "file_path",
        frozenset({"line_number", "line_text", "column_number", "condition", "hit_condition", "log_message"}),
    ),
    "function": _KindParameters("function_name", frozenset({"condition", "hit_condition"})),
    "exception": _KindParameters("exception", frozenset({"condition"})),
    "data": _KindParameters(
        "variable", frozenset({"variables_reference", "access", "session_id", "condition", "hit_condition"})
    ),
}


def require_parameters_of_kind(wanted: SetBreakpointParameters) -> None:
    """Refuse parameters that the kind would ignore, because the program would stop where it should not."""
    given = _given(wanted)
    takes = _PARAMETERS_BY_KIND[wanted.kind]
    unexpected = given - _ALWAYS - takes.may - {takes.needs}
    if takes.needs not in given or unexpected:
        raise DragomanError(
            "bad_arguments",
            localize("`kind` {kind} needs `{needs}`.", kind=wanted.kind, needs=takes.needs)
            if takes.needs not in given
            else localize("`kind` {kind} does not accept {names}.", kind=wanted.kind, names=_quoted_names(unexpected)),
            hint=localize("Accepted: {names}.", names=_quoted_names({takes.needs, *takes.may, "enabled"})),
        )


def is_toggle(wanted: SetBreakpointParameters) -> bool:
    """Whether the call only enables or disables an existing breakpoint."""
    if wanted.breakpoint_id is None:
        return False
    if _given(wanted) != {"breakpoint_id", "enabled"}:
        raise DragomanError(
            "bad_arguments",
            localize("With `breakpoint_id`, pass only `enabled`."),
            hint=localize("Setting the same place again updates its conditions; remove_breakpoint removes it."),
        )
    return True


def watched_name(breakpoint: Breakpoint) -> str:
    """The name of the function, exception or variable, for a breakpoint that is not on a line."""
    return breakpoint.function or breakpoint.filter or breakpoint.variable


def _given(wanted: SetBreakpointParameters) -> set[str]:
    return {name for name in wanted.model_fields_set if getattr(wanted, name) not in {None, ""}}


def _quoted_names(names: set[str] | frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


_NOT_OURS = frozenset({"node_modules", "__pycache__", "site-packages"})
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_FUNCTION = re.compile(r"\bdef[ \t]+(\w+)")
_CLASS = re.compile(r"\bclass[ \t]+(\w+)([^:]{0,2000})")
FUNCTION_NOT_FOUND = localize("No function in the workspace has this name.")
_SHEBANG = re.compile(rb"#!.*\bpython")


@dataclass(slots=True)
class PythonNames:
    """The functions and classes in Python files, and whether there may be others."""

    is_whole: bool = True
    has_other_languages: bool = False
    _functions: set[str] = field(default_factory=set)
    _bases: dict[str, set[str]] = field(default_factory=dict)
    _modules: dict[str, set[str]] = field(default_factory=dict)
    _texts: list[str] = field(default_factory=list)

    def add(self, module: str, text: str) -> None:
        found = set(_FUNCTION.findall(text))
        self._functions |= found
        self._modules.setdefault(module, set()).update(found)
        for name, bases in _CLASS.findall(text):
            self._bases.setdefault(name, set()).update(re.findall(r"\w+", bases))
        self._texts.append(text)

    @property
    def is_of_python(self) -> bool:
        return bool(self._texts) and not self.has_other_languages

    def knows(self, function: str) -> bool | None:
        """Whether the function exists, by its name with an optional class or module; None if that is unknown."""
        owner, _, name = function.rpartition(".")
        inner = owner.rpartition(".")[2]
        is_defined = name in self._functions
        if is_defined and (not owner or inner in self._bases or inner in self._functions):
            return True  # perhaps in another class, and inherited
        modules = [it for known, it in self._modules.items() if owner and f".{known}".endswith(f".{owner}")]
        if any(name in it for it in modules):
            return True
        is_certain = self.is_whole and bool(self._texts)
        return False if is_certain and self._is_ours(owner, inner, name, is_module=bool(modules)) else None

    def _is_ours(self, owner: str, inner: str, name: str, *, is_module: bool) -> bool:
        """Whether only the files that were read can define it."""
        if not owner:
            return not any(re.search(rf"\b{name}\b", text) for text in self._texts)
        if inner in self._bases:
            return self._is_closed(inner, set())
        return inner in self._functions or (is_module and owner.partition(".")[0] not in sys.stdlib_module_names)

    def _is_closed(self, name: str, seen: set[str]) -> bool:
        """Whether a class inherits only from classes in the files that were read."""
        bases = self._bases.get(name)
        if bases is None:
            return name == "object"
        return all(self._is_closed(it, seen | {name}) for it in bases - seen - {name})

    def nearest(self, function: str) -> list[str]:
        return difflib.get_close_matches(function.rpartition(".")[2], sorted(self._functions), n=_NEAREST, cutoff=0.5)


async def require_function(
    function: str, workspace: Path, *, is_python: bool | None, besides: Mapping[str, str | None]
) -> bool:
    """Return whether the function was found; raise if it certainly does not exist.

    `is_python` is None if the language is unknown. `besides` are files of the program in any folder, with their text if
    it was read.
    """
    if is_python is False or not _NAME.fullmatch(function):
        return True
    names = await anyio.to_thread.run_sync(_read_workspace, workspace, besides)
    if is_python is None and not names.is_of_python:
        return True
    knows = names.knows(function)
    if knows is False:
        raise DragomanError(
            "no_such_function",
            FUNCTION_NOT_FOUND,
            hint=localize("See `nearest` for similar names. For a library function, include its class or module."),
            nearest=[one_line(it) for it in names.nearest(function)],
        )
    return knows is True


def _read_workspace(workspace: Path, besides: Mapping[str, str | None]) -> PythonNames:
    names = PythonNames()
    for named, known in besides.items():
        if known is not None:
            names.add(Path(named).stem, known)
        is_elsewhere = Path(named).suffix in source_files.PYTHON and not Path(named).is_relative_to(workspace)
        names.is_whole = names.is_whole and (is_library(named) or not is_elsewhere)
    left_bytes, left_files = _MAX_BYTES, _MAX_FILES
    for path in _files(workspace, names):
        left_files -= 1
        names.has_other_languages |= source_files.is_source_file(path.name) and path.suffix not in source_files.PYTHON
        text = _text(path, left_bytes, names) if left_files >= 0 else None
        if text is not None:
            left_bytes -= len(text)
            names.add(_module(path.relative_to(workspace)), text)
        if left_bytes < 0 or left_files < 0:
            names.is_whole = False
            break
    return names


def _files(workspace: Path, names: PythonNames) -> Iterator[Path]:
    """The files of the workspace, without virtual environments and links, which may lead anywhere."""
    for folder, folders, files in os.walk(workspace):
        if "pyvenv.cfg" in files:
            names.is_whole = names.is_whole and Path(folder) != workspace
            folders.clear()
            continue
        folders[:] = sorted(it for it in folders if not it.startswith(".") and it not in _NOT_OURS)
        names.is_whole = names.is_whole and not any(Path(folder, it).is_symlink() for it in folders)
        yield from (Path(folder, it) for it in sorted(files))


def _text(path: Path, most: int, names: PythonNames) -> str | None:
    """The text of a Python file, recognised by its name or its first line."""
    if path.suffix and path.suffix not in source_files.PYTHON:
        return None
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            first = file.readline(200)
            if not path.suffix and not _SHEBANG.match(first):
                return None
            found = (first + file.read(most + 1)).decode("utf-8", "replace")
    except OSError:
        names.is_whole = False
        return None
    names.is_whole = names.is_whole and path.suffix != ".pyx"  # Cython also has other kinds of functions
    return found


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
