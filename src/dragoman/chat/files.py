"""Files of a conversation's folder, as a person begins to type their names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

LOOKED_AT = 2_000
"""Names of one folder; who has more types on."""


def files_like(folder: str, begun: str, most: int) -> list[str]:
    """In the folder or below it, in order. A folder ends with a slash; what is hidden is for who asks for it. A name
    that cannot be shown, or is no text at all, cannot be typed either."""
    within, name = begun.rpartition("/")[::2]
    if not folder or begun.startswith("/") or ".." in PurePosixPath(begun).parts:
        return []
    names = [it for it in _names(Path(folder, within)) if it.startswith(name) and (name or not it.startswith("."))]
    return [f"{within}/{it}" if within else it for it in sorted(names)[:most]]


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(LOOKED_AT), strict=False):
                if entry.name.isprintable():
                    yield f"{entry.name}/" if entry.is_dir() else entry.name
    except (OSError, ValueError):  # a zero byte is in no name
        return
