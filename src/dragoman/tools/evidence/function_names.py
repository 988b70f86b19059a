"""Which function a text names, in the forms that models and people write, and whether there is such a function.

A tracer in the program finds a function only if it is called. What is misspelt is never called, so it is looked for in
the sources before anything runs.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug import source_files
from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.source_functions import SourceFunction
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug.breakpoint_validation import FUNCTION_NOT_FOUND, require_function
from dragoman.tools.debug.source_locations import SourceLocations
from dragoman.workspace.caller import Caller

_TRACEBACK_LINE = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d{1,7})\b.*')
_LINE = re.compile(r"(?P<file>[^\s:][^\n]*\.\w+):(?P<line>\d{1,7})(?::\d{1,7})?")
_IN_FILE = re.compile(r"(?P<file>[^\s:][^\n]*?\.\w+)::?(?P<name>[^\s:/\\][^\n/\\]*)")
_KEYWORDS = re.compile(r"(?:(?:export|public|private|static|async|def|function|func|fn|local)\s+)+")
_ARGUMENTS = re.compile(r"\s*\(.*\)?\s*(?:->.*)?:?\s*\{?$", re.DOTALL)
_NEAREST = 5


@dataclass(frozen=True, slots=True)
class FunctionName:
    name: str = ""
    file: str = ""
    line: int = 0

    @property
    def last(self) -> str:
        return re.split(r"::|[.:#]", self.name)[-1]


def read_function_name(text: str) -> FunctionName:
    """`total`, `total()`, `Cart.total`, `def total(items):`, `shop/cart.py::Cart::total`, `cart.py:total`,
    `cart.py:12`, a line of a traceback.
    """
    text = text.strip().strip("`").strip()
    place = _TRACEBACK_LINE.fullmatch(text) or _LINE.fullmatch(text)
    if place:
        return FunctionName("", place["file"], int(place["line"]))
    found = _IN_FILE.fullmatch(text)
    if found and source_files.is_source_file(found["file"]):
        return FunctionName(_plain(found["name"]).replace("::", "."), found["file"])
    return FunctionName(_plain(text))


def _plain(text: str) -> str:
    name = _ARGUMENTS.sub("", _KEYWORDS.sub("", text.strip(), count=1)).strip()
    return name or text


@dataclass(frozen=True, slots=True)
class FunctionNames:
    """Looks functions up in the sources of a caller's workspace."""

    locations: SourceLocations

    async def python(self, caller: Caller, wanted: FunctionName, named: Collection[str], program: str) -> FunctionName:
        """As it stands in the sources; an error with the nearest names if there is certainly none."""
        known = {**dict.fromkeys(named), **await self._text_of(caller, program, named)}
        if not wanted.file:
            await require_function(wanted.name, caller.workspace, is_python=True, besides=known)
            return wanted
        path, lines = await self._file(caller, wanted.file, named)
        functions = list(_functions("\n".join(lines))) if lines is not None else []
        if not functions:  # nothing can be said without its text
            return replace(wanted, file=path)
        if wanted.line:
            if not any(first <= wanted.line <= last for _, first, last in functions):
                raise _no_function(localize("This line is in no function."), [it for it, _, _ in functions])
            return replace(wanted, file=path)
        names = [it for it, _, _ in functions]
        if any(it == wanted.name or it.endswith(f".{wanted.name}") for it in names):
            return replace(wanted, file=path)
        owner = wanted.name.rpartition(".")[0]
        if owner and re.search(rf"\bclass\s+{re.escape(owner.rpartition('.')[2])}\b", "\n".join(lines or ())):
            await require_function(wanted.name, caller.workspace, is_python=True, besides=known)
            return FunctionName(wanted.name)  # inherited from a class in another file
        raise _no_function(localize("No function in the file has this name."), _nearest(wanted.last, names))

    async def stepped(
        self, wanted: FunctionName, search: FunctionSearch, suffixes: frozenset[str]
    ) -> list[SourceFunction]:
        """In languages without a tracer. Empty if none is found."""
        found = await search.named(wanted.name, suffixes)
        if not wanted.file:
            return found
        ending = PurePath(wanted.file).as_posix().lstrip("./")
        return [it for it in found if it.path == wanted.file or Path(it.path).as_posix().endswith(f"/{ending}")]

    async def missing(self, wanted: FunctionName, search: FunctionSearch, suffixes: frozenset[str]) -> DragomanError:
        if wanted.line:
            return _no_function(localize("This line is in no function."), ())
        names = await search.names(suffixes)
        return _no_function(FUNCTION_NOT_FOUND, _nearest(wanted.last, names))

    async def _text_of(self, caller: Caller, program: str, named: Collection[str]) -> dict[str, str]:
        if PurePath(program).suffix not in source_files.PYTHON:
            return {}
        try:
            path, lines = await self.locations.read(program, caller.workspace, named)
        except DragomanError:
            return {}
        return {path: "\n".join(lines)} if lines is not None else {}

    async def _file(self, caller: Caller, file: str, named: Collection[str]) -> tuple[str, list[str] | None]:
        """`cart.py` is found in its folder too, if there is only one."""
        try:
            return await self.locations.read(file, caller.workspace, named)
        except DragomanError as error:
            nearest = [it for it in error.details.get("nearest", ()) if f"/{it}".endswith(f"/{file}")]
            if error.code == "file_not_found" and len(nearest) == 1:
                return await self.locations.read(nearest[0], caller.workspace, named)
            raise


def _functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Each with its qualified name, its first line and its last."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, owner = waiting.pop()
        inner = owner
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{owner}.{node.name}".lstrip(".")
            if not isinstance(node, ast.ClassDef):
                first = min([node.lineno, *(it.lineno for it in node.decorator_list)])
                yield inner, first, node.end_lineno or first
        elif isinstance(node, ast.Lambda):
            yield f"{owner}.<lambda>".lstrip("."), node.lineno, node.end_lineno or node.lineno
        waiting += [(it, inner) for it in ast.iter_child_nodes(node)]


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    """Qualified ones, by their last part."""
    last = {re.split(r"::|[.:#]", it)[-1]: it for it in reversed(names)}
    return [last[it] for it in difflib.get_close_matches(name, sorted(last), n=_NEAREST, cutoff=0.5)]


def _no_function(message: LocalizedText, nearest: Sequence[str]) -> DragomanError:
    return DragomanError(
        "no_such_function",
        message,
        hint=localize("See `nearest` for similar names.")
        if nearest
        else localize("Name it by a line of its file, such as cart.go:12."),
        nearest=[one_line(it) for it in nearest[:_NEAREST]],
    )
