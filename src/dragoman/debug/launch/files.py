"""The files of a workspace that say how to launch: read with bounds, each at most once, and never run."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from dragoman import jsonc
from dragoman.debug.launch.faults import LaunchError
from dragoman.debug.launch.nodes import Node, Origin, require_usable
from dragoman.phrases import Phrase, say
from dragoman.workspace.paths import PathRule, RefusedError

MOST_BYTES = 1 << 20
MOST_ENTRIES = 1000


class UnreadableError(Exception):
    def __init__(self, reason: Phrase) -> None:
        super().__init__(reason)
        self.reason = reason


def read_bounded(path: Path, limit: int = MOST_BYTES) -> bytes:
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise UnreadableError(say("it is longer than {limit} bytes", limit=limit))
    return data


def read_start(path: Path, length: int) -> bytes:
    """A regular file's first bytes. Opened without waiting: a pipe or a device must not hold or fill us."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(path) from error
    except OSError as error:
        raise UnreadableError(say("it could not be read: {reason}", reason=error.strerror)) from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise UnreadableError(say("it is a folder or a device, not a file"))
        with os.fdopen(fd, "rb", closefd=False) as stream:
            return stream.read(length)
    finally:
        os.close(fd)


def kind_of(path: Path) -> Literal["file", "folder", "other", "nothing"]:
    """What stands there. A name too long, or behind a closed folder, is nothing to us rather than a fault."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return "nothing"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"


def read_document(path: Path, code: str, folder: Path, rule: PathRule) -> Node | None:
    """The whole document; None where there is no such file, an empty object where it says nothing.

    By the rule for files that an agent is shown: a link in their place must not show it what lies elsewhere.
    """
    try:
        data = rule.read(str(path), folder, most=MOST_BYTES)
    except RefusedError as refused:
        if refused.why == "missing":
            return None
        raise _unusable(path, code, _REASONS[refused.why]) from refused
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unusable(path, code, say("line {line} is not UTF-8", line=line)) from error
    return _parsed(Origin(str(path), code, jsonc.read(text)))


_REASONS: Mapping[str, Phrase] = {
    "too_large": say("it is longer than {limit} bytes", limit=MOST_BYTES),
    "not_a_file": say("it is a folder or a device, not a file"),
    "unreadable": say("it may not be read"),
    "outside": say("it is a link that leads out of the workspace"),
    "private": say("it is a link to what is shown to no agent"),
    "bad_path": say("its path is too long"),
}


def _parsed(origin: Origin) -> Node:
    document = origin.document
    assert document is not None
    try:
        value = {} if document.is_blank else document.value()
    except jsonc.JsoncError as error:
        raise origin.misformed(error.line, error.column, error.problem) from error
    node = Node(value, (), origin)
    node.object()
    return require_usable(node)


def _unusable(path: Path, code: str, reason: Phrase) -> LaunchError:
    return LaunchError(code, say("{file} cannot be used: {reason}.", file=path, reason=reason), file=str(path))


@dataclass
class WorkspaceFiles:
    """`.vscode` of one folder."""

    folder: Path
    rule: PathRule = field(default_factory=PathRule)

    @property
    def launch_file(self) -> Path:
        return self.folder / ".vscode" / "launch.json"

    @cached_property
    def launch(self) -> Node:
        node = self._read(self.launch_file, "bad_launch_json")
        if node is None:
            raise LaunchError(
                "no_launch_json",
                say("launch.json cannot be found or read: {file}.", file=self.launch_file),
                hint=say("Start with `program`, or with an inline `configuration`, or write that file."),
                file=str(self.launch_file),
            )
        return node

    @cached_property
    def tasks(self) -> Node | None:
        return self._read(self.folder / ".vscode" / "tasks.json", "bad_tasks_json")

    @cached_property
    def settings(self) -> Node | None:
        return self._read(self.folder / ".vscode" / "settings.json", "bad_settings_json")

    def _read(self, path: Path, code: str) -> Node | None:
        return read_document(path, code, self.folder, self.rule)


def require_workspace(folder: Path) -> None:
    if not folder.is_absolute() or kind_of(folder) != "folder":
        raise LaunchError(
            "bad_workspace",
            say("The workspace's path is invalid: {folder}.", folder=folder),
            hint=say("It must be the absolute path of a folder that exists."),
            folder=str(folder),
        )


def entries(node: Node, key: str) -> list[Node]:
    """The list under a key of the document, bounded; a missing one is empty."""
    member = node.get(key)
    if member is None:
        return []
    found = list(member.items())
    if len(found) > MOST_ENTRIES:
        raise member.fault(say("there are more than {limit} of them", limit=MOST_ENTRIES))
    return found
