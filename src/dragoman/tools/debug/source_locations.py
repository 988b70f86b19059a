"""Resolves the file and line that an agent names, or suggests similar ones."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import localize
from dragoman.tools.agent_text import one_line
from dragoman.workspace.file_access import MAX_FILE_BYTES, MAX_PATH_CHARACTERS, FileAccessError, FileAccessPolicy

_MAX_NAMES = 5000
_NEAREST = 3
_LINES_LISTED = 10
_LINE_SHOWN = 120
_PATH_SHOWN = 400


class SourceReader(Protocol):
    async def read(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str]:
        """All lines of the file. Raises `RefusedError` with the reason if it cannot be read."""
        ...

    async def lines(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str] | None:
        """The same, or None if it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class SourceFiles:
    rule: FileAccessPolicy = field(default_factory=FileAccessPolicy)

    async def read(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str]:
        data = await anyio.to_thread.run_sync(self.rule.read, path, workspace, named)
        return _lines(data.decode("utf-8", "replace"))

    async def lines(self, path: str, workspace: Path, named: Collection[str] = ()) -> list[str] | None:
        try:
            return await self.read(path, workspace, named)
        except FileAccessError:
            return None


def _lines(text: str) -> list[str]:
    """Split into lines as debuggers count them: not at form feeds or Unicode separators."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


_NOT_SOURCE = frozenset({"node_modules", "__pycache__", "target", "dist", "build", "venv"})


def absolute_path(file_path: str, workspace: Path) -> str:
    """The path without `..`, but with its links: an adapter knows a file by the path it was started with."""
    return os.path.normpath(workspace / file_path)


@dataclass(frozen=True, slots=True)
class SourceLocations:
    """Resolves the files and lines that agents name."""

    sources: SourceReader

    async def resolve_line(
        self, file_path: str, workspace: Path, named: Collection[str], line: int | None, text: str
    ) -> tuple[str, int]:
        """The file and line of a new breakpoint. Raises if there is no such line."""
        if (line is None) == (not text):
            raise _line_or_text_needed()
        path, lines = await self.read(file_path, workspace, named)
        if line is not None:
            require_line(line, lines)
            return path, line
        return path, _line_with_text(text, require_text(lines))

    async def read(self, file_path: str, workspace: Path, named: Collection[str]) -> tuple[str, list[str] | None]:
        """The file and its lines; None instead of lines if the file exists but cannot be shown."""
        path = absolute_path(file_path, workspace)
        try:
            return path, await self.sources.read(path, workspace, named)
        except FileAccessError as refused:
            if refused.why in _CANNOT_BE_SHOWN:
                return path, None
            if refused.why == "missing":
                raise await anyio.to_thread.run_sync(_no_file, path, workspace) from refused
            shown = one_line(path, _PATH_SHOWN)
            raise _REFUSALS[refused.why](limit=MAX_PATH_CHARACTERS, details={"path": shown}) from refused


def require_text(lines: list[str] | None) -> list[str]:
    if lines is None:
        raise DragomanError(
            "unreadable_file",
            localize("Cannot show the file: it is too large or not readable."),
            hint=localize("Pass `line_number`; files up to {limit} bytes can be shown.", limit=MAX_FILE_BYTES),
        )
    return lines


def require_line(line: int, lines: list[str] | None) -> None:
    if lines is not None and line > len(lines):
        raise DragomanError(
            "line_past_end",
            localize("Line {line} is past the end: the file has {count} lines.", line=line, count=len(lines)),
            hint=localize("Choose a line in the file, or pass `line_text`."),
            line_count=len(lines),
        )


def _line_with_text(text: str, lines: list[str]) -> int:
    found = [number for number, line in enumerate(lines, 1) if text in line]
    if len(found) == 1:
        return found[0]
    listed = [{"line": number, "text": one_line(lines[number - 1].strip(), _LINE_SHOWN)} for number in found]
    if found:
        raise DragomanError(
            "ambiguous_line",
            localize("{count} lines contain this text.", count=len(found)),
            hint=localize("Pass more of the line, or its `line_number`."),
            lines=listed[:_LINES_LISTED],
        )
    raise DragomanError(
        "no_such_line",
        localize("No line in the file contains this text."),
        hint=localize("Spaces count; pass a part of the line that you are sure of."),
    )


def _nearest(path: Path, workspace: Path) -> list[str]:
    """Similar paths: by file name first, anywhere in the workspace, then by the whole path."""
    known = list(islice(_files(workspace), _MAX_NAMES))
    same = [other for other in known if Path(other).name == path.name]
    relative = os.path.relpath(path, workspace)
    return (same or difflib.get_close_matches(relative, known, n=_NEAREST))[:_NEAREST]


def _files(workspace: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_SOURCE)
        yield from (os.path.relpath(Path(folder, name), workspace) for name in sorted(files))


_line_or_text_needed = ErrorSpec("bad_arguments", "Pass exactly one of `line_number` and `line_text`.")


_outside = ErrorSpec(
    "outside_workspace",
    "Invalid file path: it is outside the workspace.",
    "Other files can be used while they are on a session's call stack (step into one first), or if their folder is in "
    "the setting allowed_folders.",
)


_bad_path = ErrorSpec(
    "bad_path",
    "Invalid file path: the file name is not allowed.",
    "Pass an absolute path, or one relative to the workspace folder, of at most {limit} characters.",
)


_private = ErrorSpec(
    "private_file",
    "Invalid file path: it belongs to Dragoman or the system.",
    "Agents cannot read such files in any workspace.",
)


_not_a_file = ErrorSpec(
    "not_a_file", "Invalid file path: it is a folder or a device, not a file.", "Pass the path of a source file."
)


def _no_file(path: str, workspace: Path) -> DragomanError:
    nearest = _nearest(Path(path), workspace)
    return DragomanError(
        "file_not_found",
        localize("Invalid file path: no such file."),
        hint=localize("See `nearest` for similar names.") if nearest else None,
        path=one_line(path, _PATH_SHOWN),
        nearest=[one_line(name) for name in nearest],
    )


# A file that exists but cannot be shown can still have breakpoints: its debugger may be able to read it.
_CANNOT_BE_SHOWN = frozenset({"too_large", "unreadable"})
_REFUSALS: Mapping[str, ErrorSpec] = {
    "outside": _outside,
    "bad_path": _bad_path,
    "private": _private,
    "not_a_file": _not_a_file,
}
