"""Files that we wrote into a person's projects, remembered so that `dragoman uninstall` finds them again."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.places import Places
from dragoman.transport.private_files import ensure_private_folder, read_private, replace_private


@dataclass(frozen=True, slots=True)
class WrittenFile:
    path: str
    client: str = ""
    """The id of the MCP client whose entry was written into it; empty for a copy of the Lua runtime."""


def remember(places: Places, written: WrittenFile) -> None:
    """Before it is written: of what cannot be remembered there shall be nothing to forget."""
    known = written_files(places)
    if written not in known:
        ensure_private_folder(places.state)
        replace_private(places.written_file, json.dumps([*map(asdict, known), asdict(written)]).encode())


def written_files(places: Places) -> list[WrittenFile]:
    """Those that are still there; none where nothing was remembered, or what was cannot be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, DragomanError):
        known = [WrittenFile(**it) for it in json.loads(read_private(places.written_file))]
        return [it for it in known if Path(it.path).is_file()]
    return []
