"""Files that Dragoman wrote into projects and as skills of agents, recorded so that it can remove them again."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.paths import Paths
from dragoman.io.files.private_files import ensure_private_folder, read_private, replace_private


@dataclass(frozen=True, slots=True)
class WrittenFile:
    path: str
    client: str = ""
    """The id of the MCP client that the entry is for; empty for a copy of the Lua runtime or a file of a skill."""
    digest: str = ""
    """Of a file of a skill: SHA-256 of what was written, which tells whether somebody changed it since."""


def record_written_file(paths: Paths, written: WrittenFile) -> None:
    """Record the file before it is written, so that every written file is recorded."""
    known = written_files(paths)
    if written not in known:
        ensure_private_folder(paths.state)
        replace_private(paths.written_file, json.dumps([*map(asdict, known), asdict(written)]).encode())


def written_files(paths: Paths) -> list[WrittenFile]:
    """The recorded files that still exist; none if the list is missing or unreadable."""
    with contextlib.suppress(OSError, ValueError, TypeError, DragomanError):
        known = [WrittenFile(**it) for it in json.loads(read_private(paths.written_file))]
        return [it for it in known if Path(it.path).is_file()]
    return []
