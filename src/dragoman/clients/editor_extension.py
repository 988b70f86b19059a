"""The editor's extension on this machine: where editors of VS Code's family keep it, and what removes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dragoman.clients.machine import Machine

_ID = "dragoman.dragoman"


class _Editor(NamedTuple):
    program: str
    extensions: str
    storage: str


_EDITORS = (
    _Editor("code", "{home}/.vscode/extensions", "{application}/Code/User/globalStorage"),
    _Editor("code", "{home}/.vscode-server/extensions", "{home}/.vscode-server/data/User/globalStorage"),
    _Editor("cursor", "{home}/.cursor/extensions", "{application}/Cursor/User/globalStorage"),
    _Editor("codium", "{home}/.vscode-oss/extensions", "{application}/VSCodium/User/globalStorage"),
    _Editor(
        "code-server",
        "{home}/.local/share/code-server/extensions",
        "{home}/.local/share/code-server/User/globalStorage",
    ),
)


def removal_commands(machine: Machine) -> list[str]:
    """One for each editor that has it: an editor's extensions are its own to remove."""
    having = (it.program for it in _EDITORS if any(_folder(it.extensions, machine).glob(f"{_ID}-*")))
    return [f"{program} --uninstall-extension {_ID}" for program in dict.fromkeys(having)]


def storage_folders(machine: Machine) -> Iterator[Path]:
    """What the extension itself keeps, as the Dragoman that it installed: no editor removes that."""
    return (path for it in _EDITORS if (path := _folder(it.storage, machine) / _ID).is_dir())


def _folder(template: str, machine: Machine) -> Path:
    return Path(template.format_map(machine.folders()))
