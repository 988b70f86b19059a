"""Lines, columns and paths as an editor counts and writes them. Here they are absolute paths, and counted from 1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Places:
    first_line: int = 1
    first_column: int = 1
    as_uri: bool = False

    def line(self, ours: int) -> int:
        return max(ours + self.first_line - 1, 0)

    def column(self, ours: int) -> int:
        return max(ours + self.first_column - 1, 0)

    def our_line(self, theirs: int) -> int:
        return theirs + 1 - self.first_line

    def our_column(self, theirs: int | None) -> int | None:
        return None if theirs is None else theirs + 1 - self.first_column

    def path(self, ours: str) -> str:
        return Path(ours).as_uri() if self.as_uri and ours.startswith("/") else ours

    def our_path(self, theirs: str) -> str:
        return unquote(urlsplit(theirs).path) if theirs.startswith("file://") else theirs
