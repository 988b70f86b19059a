"""Functions, found in their source: whether one is there, and its first line where a debugger knows none by name."""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

from dragoman.debug import suffixes

# js-debug has no function breakpoints.
_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})
_NEAREST = 3
_DEFINED = (
    r"\bfunction\s*\*?\s*{name}\s*[(<]",
    r"\b{name}\s*[:=]\s*(?:async\s*)?(?:function\b|\(|[\w$]+\s*=>)",
    r"^\s*(?:(?:public|private|protected|static|async|get|set)\s+|\*\s*)*#?{name}\s*(?:<[^>]*>)?\([^;]*$",
)


def is_searched(path: str) -> bool:
    return Path(path).suffix in _SUFFIXES


def first_line_of(function: str, lines: Sequence[str]) -> int | None:
    """Of its body; of several that are called so, of the first; of a class's, of the one in it."""
    owner, _, last = function.rpartition(".")
    start, end = _class(owner.rpartition(".")[2], lines) or (0, len(lines))
    name = re.escape(last)
    for pattern in _DEFINED:
        for at in range(start, end):
            if re.search(pattern.format(name=name), lines[at]):
                return _body(at, lines)
    return None


def _class(name: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """Where it begins and ends, by its indentation."""
    pattern = re.compile(rf"^(\s*)(?:export\s+|default\s+|abstract\s+|const\s+\w+\s*=\s*)*class\s+{re.escape(name)}\b")
    for at, line in enumerate(lines if name else ()):
        found = pattern.match(line)
        if found:
            ends = (it for it in range(at + 1, len(lines)) if re.match(rf"{found[1]}\S", lines[it]))
            return at, next(ends, len(lines))
    return None


def is_python(path: str) -> bool:
    return Path(path).suffix in suffixes.PYTHON


class PythonNames:
    """The functions and classes of some files of Python."""

    def __init__(self) -> None:
        self.functions: set[str] = set()
        self._classes: set[str] = set()
        self.is_whole = True
        """Whether every file could be read as Python."""

    def add(self, path: Path, text: str) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            self.is_whole = False
            return
        self._take(tree, f"{path.stem}.")

    def _take(self, node: ast.AST, within: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = within
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                (self._classes if isinstance(child, ast.ClassDef) else self.functions).add(within + child.name)
                inner = f"{within}{child.name}."
            self._take(child, inner)

    def has(self, function: str) -> bool:
        """By its name, with the class or the module before it; also one that a class inherits."""
        if any(f".{it}".endswith(f".{function}") for it in self.functions):
            return True
        owner, _, last = function.rpartition(".")
        is_class = bool(owner) and any(f".{it}".endswith(f".{owner}") for it in self._classes)
        return is_class and any(it.endswith(f".{last}") for it in self.functions)

    def nearest(self, function: str) -> list[str]:
        known = sorted({it.partition(".")[2] for it in self.functions})
        return difflib.get_close_matches(function, known, n=_NEAREST, cutoff=0.5)


def _body(at: int, lines: Sequence[str]) -> int:
    """The first line with something in it behind the one that opens the body; the same, where all is in one."""
    opening = next((it for it in range(at, len(lines)) if re.search(r"\{\s*$|=>\s*$", lines[it])), None)
    if opening is None or re.search(r"\{.*\}|=>\s*[^\s{]", lines[at]):
        return at + 1
    inside = (it for it in range(opening + 1, len(lines)) if lines[it].strip() and not _is_comment(lines[it]))
    return next(inside, at) + 1


def _is_comment(line: str) -> bool:
    return line.strip().startswith(("//", "/*", "*"))
