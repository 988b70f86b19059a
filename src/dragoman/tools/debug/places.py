"""From what an agent calls a place to a file and a line that exist, or to what it probably meant."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import anyio.to_thread

from dragoman.phrases import say
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.sources import SourceReader
from dragoman.tools.showing import one_line
from dragoman.workspace.paths import MOST_BYTES, MOST_CHARACTERS, RefusedError

_MOST_NAMES = 5000
_NEAREST = 3
_LINES_LISTED = 10
_LINE_SHOWN = 120
_PATH_SHOWN = 400
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
        try:
            return path, await self.sources.read(path, workspace, named)
        except RefusedError as refused:
            if refused.why in _CANNOT_BE_SHOWN:
                return path, None
            if refused.why == "missing":
                raise await anyio.to_thread.run_sync(_no_file, path, workspace) from refused
            raise _REFUSALS[refused.why](path) from refused


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
        hint=say(
            "Files elsewhere can be used while a session's call stack names them (step into one first), or when "
            "their folder is in the setting allowed_folders."
        ),
        path=one_line(path, _PATH_SHOWN),
    )


def _bad_path(path: str) -> ToolError:
    return ToolError(
        "bad_path",
        say("The file path is not valid: no file can have such a name."),
        hint=say(
            "Give an absolute path, or one from the workspace's folder, of at most {limit} characters.",
            limit=MOST_CHARACTERS,
        ),
        path=one_line(path, _PATH_SHOWN),
    )


def _private(path: str) -> ToolError:
    return ToolError(
        "private_file",
        say("The file path is not valid: it belongs to Dragoman itself or to the system."),
        hint=say("Such files are shown to no agent, wherever the workspace is."),
        path=one_line(path, _PATH_SHOWN),
    )


def _not_a_file(path: str) -> ToolError:
    return ToolError(
        "not_a_file",
        say("The file path is not valid: it is a folder or a device, not a file."),
        hint=say("Give the path of a source file."),
        path=one_line(path, _PATH_SHOWN),
    )


def _no_file(path: str, workspace: Path) -> ToolError:
    nearest = _nearest(Path(path), workspace)
    return ToolError(
        "file_not_found",
        say("The file path is not valid: there is no such file."),
        hint=say("See `nearest` for what may be meant.") if nearest else None,
        path=one_line(path, _PATH_SHOWN),
        nearest=[one_line(name) for name in nearest],
    )


# A breakpoint can stand in a file that is there but cannot be shown; its debugger may know more of it than we do.
_CANNOT_BE_SHOWN = frozenset({"too_large", "unreadable"})
_REFUSALS: Mapping[str, Callable[[str], ToolError]] = {
    "outside": _outside,
    "bad_path": _bad_path,
    "private": _private,
    "not_a_file": _not_a_file,
}
