"""`dragoman uninstall`: list everything that Dragoman created on this machine, and remove it after confirmation.

The package and the editor extension are removed by the tools that installed them; the last lines print the commands.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from dragoman.cli.daemon import launcher, lifecycle
from dragoman.cli.installation import shell_profile
from dragoman.cli.installation.mcp_clients import setup
from dragoman.cli.installation.skill import planned_change, skill_copies, skill_files
from dragoman.cli.installation.written_files import written_files
from dragoman.cli.output import ExitCode, confirm, render, report_error, show_message, show_text
from dragoman.clients.catalog import BY_ID, CLIENTS, McpClient
from dragoman.clients.config_file import mentions_dragoman
from dragoman.clients.descriptions import outcome_messages
from dragoman.clients.entries import desired_stdio_entry
from dragoman.clients.machine import Machine, find_command, this_machine
from dragoman.clients.writer import ConfigWriter
from dragoman.core.errors import DragomanError
from dragoman.core.installation import uninstall_command
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths, find_paths
from dragoman.debug.backends.luapanda.runtime import is_ours

_EXTENSION_ID = "dragoman.dragoman"


class _EditorFolders(NamedTuple):
    program: str
    extensions: str
    storage: str


_EDITORS = (
    _EditorFolders("code", "{home}/.vscode/extensions", "{application}/Code/User/globalStorage"),
    _EditorFolders("code", "{home}/.vscode-server/extensions", "{home}/.vscode-server/data/User/globalStorage"),
    _EditorFolders("cursor", "{home}/.cursor/extensions", "{application}/Cursor/User/globalStorage"),
    _EditorFolders("codium", "{home}/.vscode-oss/extensions", "{application}/VSCodium/User/globalStorage"),
    _EditorFolders(
        "code-server",
        "{home}/.local/share/code-server/extensions",
        "{home}/.local/share/code-server/User/globalStorage",
    ),
)


def extension_removal_commands(machine: Machine) -> list[str]:
    """One command per editor that has the extension."""
    having = (it.program for it in _EDITORS if any(_editor_folder(it.extensions, machine).glob(f"{_EXTENSION_ID}-*")))
    return [f"{program} --uninstall-extension {_EXTENSION_ID}" for program in dict.fromkeys(having)]


def extension_storage_folders(machine: Machine) -> Iterator[Path]:
    """Folders where the extension keeps a Dragoman that it installed. Editors do not remove them."""
    return (path for it in _EDITORS if (path := _editor_folder(it.storage, machine) / _EXTENSION_ID).is_dir())


def _editor_folder(template: str, machine: Machine) -> Path:
    return Path(template.format_map(machine.folders()))


@dataclass(frozen=True, slots=True)
class InstalledArtifact:
    """Something that Dragoman created on this machine, and how to remove it."""

    about: LocalizedText
    remove: Callable[[], object]


def uninstall(
    *,
    yes: Annotated[bool, Parameter(negative="", alias="-y", help=render(localize("Skip confirmation.")))] = False,
) -> int:
    paths = find_paths()
    artifacts = list(_find_artifacts(paths))
    if not artifacts:
        show_message(localize("Nothing of Dragoman is left on this machine."))
        return _show_package_removal()
    show_message(
        localize("Dragoman created these on this machine:"),
        *(localize("  {about}", about=it.about) for it in artifacts),
    )
    if not yes and not confirm(localize("Remove all of them? Recorded sessions are lost permanently.")):
        show_message(localize("Nothing changed. Pass `--yes` to remove them without asking."))
        return ExitCode.DECLINED
    failed = [artifact for artifact in artifacts if not _remove(artifact)]
    show_message(localize("Backups of changed files are kept next to them as FILE.bak-DATE."))
    return ExitCode.FAILED if failed else _show_package_removal()


def _remove(artifact: InstalledArtifact) -> bool:
    """Remove one artifact. Failures are reported and do not stop the others."""
    try:
        return artifact.remove() in {None, ExitCode.OK}
    except DragomanError as error:
        report_error(error)
    except OSError as error:
        show_message(localize("Cannot remove {about}: {reason}", about=artifact.about, reason=error.strerror))
    return False


def _find_artifacts(paths: Paths) -> Iterator[InstalledArtifact]:
    """Everything to remove. The daemon comes first, because it would write its files again; then whatever starts it."""
    if launcher.check_daemon(paths).any:
        yield InstalledArtifact(
            localize("the running daemon and its active sessions"), lambda: lifecycle.down(yes=True)
        )
    yield from _client_entries()
    yield from _project_files(paths)
    yield from _shell_profiles()
    for folder in dict.fromkeys((paths.config, paths.state, paths.runtime)):
        if _is_own_folder(folder):
            about = localize("{path} ({what})", path=folder, what=_folder_contents(paths, folder))
            yield InstalledArtifact(about, partial(shutil.rmtree, folder))
    for folder in filter(_is_own_folder, extension_storage_folders(this_machine())):
        about = localize("{path} ({what})", path=folder, what=localize("files installed by the editor extension"))
        yield InstalledArtifact(about, partial(shutil.rmtree, folder))


def _folder_contents(paths: Paths, folder: Path) -> LocalizedText:
    if folder == paths.config:
        return localize("settings")
    if folder == paths.state:
        return localize("the journal, trusted folders, tokens, logs and installed debug adapters")
    return localize("sockets and the lock")


def _client_entries() -> Iterator[InstalledArtifact]:
    machine = this_machine()
    desired_entries = (desired_stdio_entry(client, machine, find_command(machine)) for client in CLIENTS)
    named = [desired for desired in desired_entries if desired.path and mentions_dragoman(desired.path)]
    entries = [f"{desired.client.title} ({desired.path})" for desired in named]
    files = skill_files()
    copies = [
        str(it.folder)
        for it in skill_copies(CLIENTS, machine)
        if planned_change(it, files, find_paths(), removing=True) == "removed"
    ]
    if found := ", ".join([*entries, *copies]):
        yield InstalledArtifact(
            localize("entries in MCP clients: {entries}", entries=found), lambda: setup(yes=True, undo=True)
        )


def _project_files(paths: Paths) -> Iterator[InstalledArtifact]:
    """Our entries and copies in projects. Anything that others wrote there since stays."""
    for written in written_files(paths):
        path, client = Path(written.path), BY_ID.get(written.client)
        if client is not None and mentions_dragoman(path):
            about = localize("the entry for {client} in {path}", client=client.title, path=path)
            yield InstalledArtifact(about, partial(_disconnect, client, path))
        elif not (written.client or written.digest) and _is_own_copy(path):
            yield InstalledArtifact(
                localize("{path} ({what})", path=path, what=localize("a copy of the Lua runtime")), path.unlink
            )


def _is_own_copy(path: Path) -> bool:
    try:
        return is_ours(path.read_text("utf-8", "replace"))
    except OSError:
        return False


def _disconnect(client: McpClient, path: Path) -> None:
    machine = this_machine()
    desired = replace(desired_stdio_entry(client, machine, find_command(machine), project=True), path=path)
    show_message(*outcome_messages(ConfigWriter(machine=machine, now=datetime.now).remove(desired)))


def _shell_profiles() -> Iterator[InstalledArtifact]:
    for profile in shell_profile.installed_profiles():
        about = localize("lines in {path} that run `dragoman shell` in new terminals", path=profile.path)
        yield InstalledArtifact(
            about, partial(shell_profile.change_profile, removing=True, shell=profile.shell, yes=True)
        )


def _is_own_folder(path: Path) -> bool:
    """Whether it is our own folder. Symbolic links are not followed, because we did not create their targets."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _show_package_removal() -> int:
    """Print how to remove the package and the extension. A Dragoman that the extension installed is removed with its
    folder.
    """
    if extensions := extension_removal_commands(this_machine()):
        show_message(localize("To remove the editor extension, run:"))
        show_text("\n".join(f"  {command}" for command in extensions))
    if Path(sys.executable).exists():
        show_message(localize("To remove the package, run:"))
        show_text(f"  {uninstall_command()}")
    return ExitCode.OK
