"""Which package of a Go module a folder stands for: its own program, the only one below it, or its tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.phrases import say

_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_NOT_OURS = frozenset({"vendor", "testdata", "node_modules"})
_MOST_FOLDERS = 2000
_HEAD = 8192
_NAMED = 10


def package_to_debug(folder: Path) -> tuple[Path, str]:
    """The package's folder, and the mode in which Delve takes it."""
    if is_program(folder):
        return folder, "debug"
    found = list(islice(_programs_below(folder), _NAMED + 1))
    if len(found) == 1:
        return found[0], "debug"
    if found:
        raise _several(folder, found)
    if any(folder.glob("*_test.go")):
        return folder, "test"
    raise _no_program(folder)


def is_program(folder: Path) -> bool:
    return "main" in {_package_of(file) for file in folder.glob("*.go") if not file.name.endswith("_test.go")}


def _package_of(file: Path) -> str:
    try:
        with file.open(errors="replace") as opened:
            found = _PACKAGE.search(opened.read(_HEAD))
    except OSError:
        return ""
    return found[1] if found else ""


def _programs_below(folder: Path) -> Iterator[Path]:
    """Not in other modules, nor where Go itself does not look."""
    for place, folders, names in islice(os.walk(folder), _MOST_FOLDERS):
        if Path(place) != folder and "go.mod" in names:
            folders.clear()
            continue
        folders[:] = sorted(it for it in folders if it not in _NOT_OURS and not it.startswith((".", "_")))
        if any(name.endswith(".go") for name in names) and is_program(Path(place)):
            yield Path(place)


def _several(folder: Path, found: list[Path]) -> DragomanError:
    names = ", ".join(str(it.relative_to(folder)) for it in found[:_NAMED])
    return DragomanError(
        "several_programs",
        say("{folder} has several Go programs: {names}.", folder=folder, names=names),
        hint=say("Give `program` the folder of one of them."),
    )


def _no_program(folder: Path) -> DragomanError:
    return DragomanError(
        "no_such_program",
        say("{folder} has no Go program: no package `main`, and no tests.", folder=folder),
        hint=say("Give `program` the folder or file of a package `main`, or of tests with `mode` test."),
    )
