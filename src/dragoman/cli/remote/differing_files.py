"""Names a file that differs between the two sides, at the first stop in it, with the first differing line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.cli.output import render
from dragoman.core.localization import localize
from dragoman.core.safe_text import printable
from dragoman.workspace.file_comparison import FileComparison, read_lines
from dragoman.workspace.path_map import PathMap

_MAX_FILES = 1000
_MAX_NAME = 300
_PLACE = re.compile(r"^at: (?P<path>[^\n]{1,4096}?):\d+(?: |$)", re.MULTILINE)


class DifferingFiles:
    """One comparison at a time. A file is compared once per session and local version, and only inside the map."""

    def __init__(self, target: str, paths: PathMap) -> None:
        self._target = target
        self._paths = paths
        self._compared: set[tuple[str, str, int, int]] = set()
        self._named: set[tuple[str, int]] = set()
        self._local = ""
        self.comparison: FileComparison | None = None

    def begin(self, role: str, message: Any) -> bool:
        """Whether a message of the far side is a stop in a file that is now to be compared."""
        there, session = _stopped_in(role, message)
        there = self._absolute(there)
        try:
            local = self._local_file(there)
            if local is None or len(self._compared) >= _MAX_FILES:
                return False
            status = local.stat()
        except (OSError, ValueError):  # no path of this system, such as one with a lone surrogate
            return False
        version = (there, session, status.st_mtime_ns, status.st_size)
        if version in self._compared:
            return False
        self._compared.add(version)
        lines = read_lines(local)
        if lines is None:
            return False
        self._local = str(local)
        self.comparison = FileComparison(there, lines)
        return True

    def handle_reply(self, reply: Mapping[str, Any]) -> str:
        """The note, if the comparison is over and there is one to make."""
        comparison = self.comparison
        if comparison is None or not comparison.handle_reply(reply):
            return ""
        self.comparison = None
        line = comparison.first_difference
        if line is None or (self._local, line) in self._named:
            return ""
        self._named.add((self._local, line))
        return render(
            localize(
                "note: {file} differs here and on {target}, first at line {line}",
                file=printable(self._short(self._local))[:_MAX_NAME],
                target=self._target,
                line=line,
            )
        )

    def _absolute(self, there: str) -> str:
        """A text names files below the workspace's folder, which is one of those that are mapped."""
        if not there or there.startswith("/"):
            return there
        return next((f"{it.far}/{there}" for it in self._paths.pairs if Path(it.local, there).is_file()), "")

    def _local_file(self, there: str) -> Path | None:
        """The file here, if it really is in a mapped folder: a link may lead out of it."""
        path = self._paths.path_to_near(there)
        if path is None:
            return None
        real = os.path.realpath(path)
        folders = (os.path.realpath(it.local) for it in self._paths.pairs)
        return Path(path) if any(real.startswith(folder + "/") for folder in folders) else None

    def _short(self, path: str) -> str:
        folders = [it.local for it in self._paths.pairs if path.startswith(it.local + "/")]
        return os.path.relpath(path, max(folders, key=len)) if folders else path


def add_note(role: str, message: Any, note: str) -> list[Any]:
    """Put the note into the answer. Returns messages to send before it."""
    if role == "dap":
        body = {"category": "important", "output": f"{note}\n"}
        return [{"seq": message.get("seq", 0), "type": "event", "event": "output", "body": body}]
    result = message["result"]
    data = result.get("structuredContent" if role == "mcp" else "data")
    if isinstance(data, dict):
        notes = data.get("notes")
        data["notes"] = [*(notes if isinstance(notes, list) else []), {"message": note, "about": ""}]
    if role == "tools" and isinstance(result.get("lines"), list):
        result["lines"].append(note)
    if role == "mcp" and isinstance(result.get("content"), list):
        result["content"].append({"type": "text", "text": note})
    return []


def _stopped_in(role: str, message: Any) -> tuple[str, str]:
    """The file of a stop there, and its session."""
    if role == "dap":
        frames = _at(message, "body", "stackFrames") if _at(message, "command") == "stackTrace" else None
        top = frames[0] if isinstance(frames, list) and frames else None
        return _text(_at(top, "source", "path")), ""
    stop = _at(message, "result", "structuredContent" if role == "mcp" else "data", "stop_event_data")
    if role == "mcp" and stop is None:
        return _place_in_text(_at(message, "result", "content")), ""
    return _text(_at(stop, "source", "path")), _text(_at(stop, "session_id"))


def _place_in_text(content: Any) -> str:
    """For a client that gets text alone: as the text of a stop names its place, below the workspace's folder."""
    texts = [_text(_at(it, "text")) for it in content] if isinstance(content, list) else []
    found = next((match for it in texts if (match := _PLACE.search(it))), None)
    return found["path"] if found else ""


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
