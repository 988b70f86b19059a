"""Python programs in an archive: they run, but debugpy binds no breakpoint in them, and says that it did."""

from __future__ import annotations

import os
import zipfile
from dataclasses import replace
from pathlib import Path

from dragoman.debug.launch.files import kind_of
from dragoman.debug.launch.notes import Note
from dragoman.debug.launch.resolving import Resolved
from dragoman.phrases import say

_PYTHON = frozenset({"python", "debugpy"})


def is_zipapp(path: Path) -> bool:
    if kind_of(path) != "file":
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "__main__.py" in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, RuntimeError):
        return False


def saying_what_cannot_bind(session: Resolved) -> Resolved:
    program = session.arguments.get("program")
    if session.type not in _PYTHON or session.request != "launch" or not isinstance(program, str) or not program:
        return session
    path = Path(os.path.normpath(session.folder / str(session.arguments.get("cwd") or "") / program))
    if path.suffix == ".py" or not is_zipapp(path):
        return session
    why = say(
        "Breakpoints do not bind in a zipapp: the debugger does not look into archives. Unpack it "
        "(`python -m zipfile -e FILE FOLDER`), and start the folder."
    )
    return replace(session, notes=(*session.notes, Note(why, str(path))))
