"""From what an agent calls a place to a file and a line that exist, or to what it probably meant."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import anyio.to_thread

from dragoman.phrases import say
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.sources import MOST_BYTES, SourceReader
from dragoman.tools.showing import one_line

_MOST_NAMES = 5000
_NEAREST = 3
_LINES_LISTED = 10
_LINE_SHOWN = 120
_NOT_SOURCE = frozenset({"node_modules", "__pycache__", "target", "dist", "build", "venv"})


def absolute(file_path: str, workspace: Path) -> str:
    """As written, without `..`: an adapter knows a file by the path it was started with, not by where a link leads."""
    return os.path.normpath(workspace / file_path)


@dataclass(frozen=True, slots=True)
class Places:
    sources: SourceReader

    async def line_of(
        self, file_path: str, workspace: Path, named: Collection[str], line: int | None, text: str
    ) -> tuple[str, int]:
        """The file and the line of a breakpoint to be; raises where there is no such place."""
        if (line is None) == (not text):
            raise _one_of_the_two()
        path, lines = await self.read(file_path, workspace, named)
        if line is not None:
            require_line(line, lines)
            return path, line
        return path, _only_line_with(text, require_text(lines))

    async def read(self, file_path: str, workspace: Path, named: Collection[str]) -> tuple[str, list[str] | None]:
        """The file and its lines; None for lines that cannot be shown, though the file is there."""
        path = absolute(file_path, workspace)
        if not await anyio.to_thread.run_sync(self.sources.may_read, path, workspace, named):
            raise _outside(path)
        lines = await self.sources.lines(path, workspace, named)
        if lines is None:
            await anyio.to_thread.run_sync(_require_file, Path(path), workspace)
        return path, lines


def require_text(lines: list[str] | None) -> list[str]:
    if lines is None:
        raise ToolError(
            "unreadable_file",
            say("The file cannot be shown: it is too large, or may not be read."),
            hint=say("Give a `line_number`; up to {limit} bytes can be shown.", limit=MOST_BYTES),
        )
    return lines


def require_line(line: int, lines: list[str] | None) -> None:
    if lines is not None and line > len(lines):
        raise ToolError(
            "line_past_end",
            say("Line {line} is past the end: the file has {count} lines.", line=line, count=len(lines)),
            hint=say("Give a line of the file, or `line_text`."),
            line_count=len(lines),
        )


def _only_line_with(text: str, lines: list[str]) -> int:
    found = [number for number, line in enumerate(lines, 1) if text in line]
    if len(found) == 1:
        return found[0]
    listed = [{"line": number, "text": one_line(lines[number - 1].strip(), _LINE_SHOWN)} for number in found]
    if found:
        raise ToolError(
            "ambiguous_line",
            say("{count} lines contain this text.", count=len(found)),
            hint=say("Give more of the line, or its `line_number`."),
            lines=listed[:_LINES_LISTED],
        )
    raise ToolError(
        "no_such_line",
        say("No line of the file contains this text."),
        hint=say("Spaces count; give a part of the line that is certain."),
    )


def _require_file(path: Path, workspace: Path) -> None:
    if not path.is_file():
        raise _no_file(str(path), _nearest(path, workspace))


def _nearest(path: Path, workspace: Path) -> list[str]:
    """By the file's own name first, wherever it is in the workspace; then by its whole path."""
    known = list(islice(_files(workspace), _MOST_NAMES))
    same = [other for other in known if Path(other).name == path.name]
    relative = os.path.relpath(path, workspace)
    return (same or difflib.get_close_matches(relative, known, n=_NEAREST))[:_NEAREST]


def _files(workspace: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_SOURCE)
        yield from (os.path.relpath(Path(folder, name), workspace) for name in sorted(files))


def _one_of_the_two() -> ToolError:
    return ToolError(
        "bad_arguments",
        say("Give exactly one of `line_number` and `line_text`."),
    )


def _outside(path: str) -> ToolError:
    return ToolError(
        "outside_workspace",
        say("The file path is not valid: it leads out of the workspace."),
        hint=say("Files elsewhere can be used while a session's call stack names them: step into one first."),
        path=one_line(path),
    )


def _no_file(path: str, nearest: list[str]) -> ToolError:
    return ToolError(
        "file_not_found",
        say("The file path is not valid: there is no such file."),
        hint=say("See `nearest` for what may be meant.") if nearest else None,
        path=one_line(path),
        nearest=[one_line(name) for name in nearest],
    )
