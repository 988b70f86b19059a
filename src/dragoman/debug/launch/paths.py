"""A path that is not there, and the one that was probably meant."""

from __future__ import annotations

import os
from pathlib import Path

from dragoman.debug.launch.faults import LaunchError, nearest, quoted, quoted_path
from dragoman.debug.launch.files import kind_of
from dragoman.debug.launch.variables import likely_variable, split
from dragoman.phrases import Phrase, say

_MOST_NAMES = 5000


def no_program(path: Path) -> LaunchError:
    return _missing("no_such_program", say("The program does not exist: {path}.", path=quoted_path(path)), path)


def no_folder(path: Path) -> LaunchError:
    return _missing("no_such_folder", say("The folder to run in does not exist: {path}.", path=quoted_path(path)), path)


def _missing(code: str, message: Phrase, path: Path) -> LaunchError:
    likely = _likely(path)
    return LaunchError(code, message, hint=_hint(path, likely), path=str(path), nearest=likely)


def _likely(path: Path) -> str | None:
    """The file that was probably meant, in the nearest folder on the way that there is."""
    there = next(parent for parent in path.parents if kind_of(parent) == "folder")
    name = nearest(path.relative_to(there).parts[0], _names_in(there))
    return None if name is None else str(there / name)


def _hint(path: Path, likely: str | None) -> Phrase:
    for _, variable in split(str(path)):
        if variable is not None:
            meant = likely_variable(variable)
            shown = quoted(f"${{{variable}}}")
            return (
                say("{shown} is not a variable.", shown=shown)
                if meant is None
                else say("{shown} is not a variable; is {meant} meant?", shown=shown, meant=quoted(meant))
            )
    if likely is not None:
        return say("See `nearest` for what may be meant.")
    return say("Correct the path, or build the program first (a preLaunchTask does that each time).")


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [entry.name for entry, _ in zip(found, range(_MOST_NAMES), strict=False)]
    except OSError:
        return []
