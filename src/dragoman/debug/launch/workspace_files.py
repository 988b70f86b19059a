"""Reads the `.vscode` files of a workspace, with bounds and at most once, and lists the configurations in
launch.json.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from dragoman.core import jsonc
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.launch.config_node import ConfigNode, ConfigOrigin, require_usable
from dragoman.debug.launch.errors import LaunchError
from dragoman.workspace.file_access import FileAccessError, FileAccessPolicy

MAX_BYTES = 1 << 20
MAX_ENTRIES = 1000
REQUESTS = ("launch", "attach")


class UnreadableError(Exception):
    def __init__(self, reason: LocalizedText) -> None:
        super().__init__(reason)
        self.reason = reason


def read_bounded(path: Path, limit: int = MAX_BYTES) -> bytes:
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise UnreadableError(localize("it is larger than {limit} bytes", limit=limit))
    return data


def read_start(path: Path, length: int) -> bytes:
    """A regular file's first bytes. Opened without waiting: a pipe or a device must not hold or fill us."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(path) from error
    except OSError as error:
        raise UnreadableError(localize("it cannot be read: {reason}", reason=error.strerror)) from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise UnreadableError(localize("it is a folder or a device, not a file"))
        with os.fdopen(fd, "rb", closefd=False) as stream:
            return stream.read(length)
    finally:
        os.close(fd)


def file_kind(path: Path) -> Literal["file", "folder", "other", "nothing"]:
    """The text of the file. A name that is too long, or a folder that cannot be entered, means that there is no
    file."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return "nothing"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"


def read_document(path: Path, code: str, folder: Path, rule: FileAccessPolicy) -> ConfigNode | None:
    """The whole document; None where there is no such file, an empty object where it says nothing.

    By the rule for files that an agent is shown: a link in their place must not show it what lies elsewhere.
    """
    try:
        data = rule.read(str(path), folder, most=MAX_BYTES)
    except FileAccessError as refused:
        if refused.why == "missing":
            return None
        raise _unusable(path, code, _REASONS[refused.why]) from refused
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unusable(path, code, localize("line {line} is not UTF-8", line=line)) from error
    return _parse_document(ConfigOrigin(str(path), code, jsonc.parse(text)))


_REASONS: Mapping[str, LocalizedText] = {
    "too_large": localize("it is larger than {limit} bytes", limit=MAX_BYTES),
    "not_a_file": localize("it is a folder or a device, not a file"),
    "unreadable": localize("permission denied"),
    "outside": localize("it links outside the workspace"),
    "private": localize("it links to a file hidden from agents"),
    "bad_path": localize("its path is too long"),
}


def _parse_document(origin: ConfigOrigin) -> ConfigNode:
    document = origin.document
    assert document is not None
    try:
        value = {} if document.is_blank else document.value()
    except jsonc.JsoncError as error:
        raise origin.malformed(error.line, error.column, error.problem) from error
    node = ConfigNode(value, (), origin)
    node.object()
    return require_usable(node)


def _unusable(path: Path, code: str, reason: LocalizedText) -> LaunchError:
    return LaunchError(code, localize("Cannot use {file}: {reason}.", file=path, reason=reason), file=str(path))


@dataclass
class WorkspaceFiles:
    """`.vscode` of one folder."""

    folder: Path
    rule: FileAccessPolicy = field(default_factory=FileAccessPolicy)

    @property
    def launch_file(self) -> Path:
        return self.folder / ".vscode" / "launch.json"

    @cached_property
    def launch(self) -> ConfigNode:
        node = self._read(self.launch_file, "bad_launch_json")
        if node is None:
            raise LaunchError(
                "no_launch_json",
                localize("Cannot find or read launch.json: {file}.", file=self.launch_file),
                hint=localize("Pass `program` or an inline `configuration`, or create that file."),
                file=str(self.launch_file),
            )
        return node

    @cached_property
    def tasks(self) -> ConfigNode | None:
        return self._read(self.folder / ".vscode" / "tasks.json", "bad_tasks_json")

    @cached_property
    def settings(self) -> ConfigNode | None:
        return self._read(self.folder / ".vscode" / "settings.json", "bad_settings_json")

    def _read(self, path: Path, code: str) -> ConfigNode | None:
        return read_document(path, code, self.folder, self.rule)


def require_workspace(folder: Path) -> None:
    if not folder.is_absolute() or file_kind(folder) != "folder":
        raise LaunchError(
            "bad_workspace",
            localize("Invalid workspace path: {folder}.", folder=folder),
            hint=localize("Use the absolute path of an existing folder."),
            folder=str(folder),
        )


def entries(node: ConfigNode, key: str) -> list[ConfigNode]:
    """The list under a key of the document, bounded; a missing one is empty."""
    member = node.get(key)
    if member is None:
        return []
    found = list(member.items())
    if len(found) > MAX_ENTRIES:
        raise member.fault(localize("it has more than {limit} entries", limit=MAX_ENTRIES))
    return found


@dataclass(frozen=True, slots=True)
class LaunchConfigurations:
    """Entries of launch.json with all their keys. An entry that cannot be started is in `problems` instead."""

    configurations: Sequence[dict[str, Any]]
    compounds: Sequence[dict[str, Any]]
    problems: Sequence[LaunchError]


def list_configurations(workspace: Path, rule: FileAccessPolicy | None = None) -> LaunchConfigurations:
    require_workspace(workspace)
    launch = WorkspaceFiles(workspace, rule or FileAccessPolicy()).launch
    problems: list[LaunchError] = []
    return LaunchConfigurations(
        _valid_entries(entries(launch, "configurations"), require_configuration, problems),
        _valid_entries(entries(launch, "compounds"), require_compound, problems),
        problems,
    )


def require_configuration(node: ConfigNode) -> None:
    for key in ("name", "type", "request"):
        node.required_text(key)
    if node.text("request") not in REQUESTS:
        raise node.child("request", node.text("request")).wrong_type(localize('"launch" or "attach"'))


def require_compound(node: ConfigNode) -> None:
    node.required_text("name")
    if not compound_members(node):
        raise node.fault(localize("this compound has no configurations"))


def compound_members(node: ConfigNode) -> list[ConfigNode]:
    """The names it starts: a plain string, or an object with a name, for a workspace of several folders."""
    members = entries(node, "configurations")
    return [member if isinstance(member.value, str) else _member_name(member) for member in members]


def _member_name(member: ConfigNode) -> ConfigNode:
    return member.child("name", member.required_text("name"))


def _valid_entries(
    nodes: list[ConfigNode], require: Callable[[ConfigNode], None], problems: list[LaunchError]
) -> list[dict[str, Any]]:
    whole = []
    for node in nodes:
        try:
            require(node)
        except LaunchError as problem:
            problems.append(problem)
        else:
            whole.append(node.object())
    return whole
