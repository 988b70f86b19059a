"""`dragoman uninstall`: everything that Dragoman made on this machine, listed, and removed after a yes.

The package and the editor's extension are removed by whoever installed them; the last lines say how.
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
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli import launcher, shell_profile, up
from dragoman.cli.output import ExitCode, ask_yes, report, show_text, shown, tell
from dragoman.cli.setup import setup
from dragoman.cli.written_files import written_files
from dragoman.clients.command import find_command
from dragoman.clients.editor_extension import removal_commands, storage_folders
from dragoman.clients.files import mentions_us
from dragoman.clients.machine import this_machine
from dragoman.clients.sentences import told
from dragoman.clients.table import BY_ID, CLIENTS, Client
from dragoman.clients.wishes import stdio_wish
from dragoman.clients.write import Writer
from dragoman.debug.luapanda.runtime import is_ours
from dragoman.errors import DragomanError
from dragoman.extras import uninstall_command
from dragoman.phrases import Phrase, say
from dragoman.places import Places, find_places


@dataclass(frozen=True, slots=True)
class Trace:
    """Something of ours on this machine, and how it goes."""

    about: Phrase
    remove: Callable[[], object]


def uninstall(
    *,
    yes: Annotated[bool, Parameter(negative="", alias="-y", help=shown(say("Do not ask.")))] = False,
) -> int:
    places = find_places()
    traces = list(_traces(places))
    if not traces:
        tell(say("Dragoman has left nothing on this machine."))
        return _tell_package()
    tell(say("Dragoman made these on this machine:"), *(say("  {about}", about=it.about) for it in traces))
    if not yes and not ask_yes(say("Remove all of them? Recorded sessions are gone for good.")):
        tell(say("Nothing was changed. `--yes` removes them without asking."))
        return ExitCode.DECLINED
    failed = [trace for trace in traces if not _removed(trace)]
    tell(say("Copies of changed files stay beside them, as FILE.bak-DATE: they hold what was yours."))
    return ExitCode.FAILED if failed else _tell_package()


def _removed(trace: Trace) -> bool:
    """What cannot be removed is reported; the others still go."""
    try:
        return trace.remove() in {None, ExitCode.OK}
    except DragomanError as error:
        report(error)
    except OSError as error:
        tell(say("{about} could not be removed: {reason}", about=trace.about, reason=error.strerror))
    return False


def _traces(places: Places) -> Iterator[Trace]:
    """The daemon first, which would write its files anew; then what starts it."""
    if launcher.find(places).any:
        yield Trace(say("the running daemon, with its live sessions"), lambda: up.down(yes=True))
    yield from _clients()
    yield from _in_projects(places)
    yield from _profiles()
    for folder in dict.fromkeys((places.config, places.state, places.runtime)):
        if _is_own_folder(folder):
            about = say("{path} ({what})", path=folder, what=_holds(places, folder))
            yield Trace(about, partial(shutil.rmtree, folder))
    for folder in filter(_is_own_folder, storage_folders(this_machine())):
        about = say("{path} ({what})", path=folder, what=say("what the editor's extension installed"))
        yield Trace(about, partial(shutil.rmtree, folder))


def _holds(places: Places, folder: Path) -> Phrase:
    if folder == places.config:
        return say("settings")
    if folder == places.state:
        return say("the journal with trusted folders, tokens, logs and installed debug adapters")
    return say("sockets and the lock")


def _clients() -> Iterator[Trace]:
    machine = this_machine()
    wishes = (stdio_wish(client, machine, find_command(machine)) for client in CLIENTS)
    named = [wish for wish in wishes if wish.path and mentions_us(wish.path)]
    if named:
        entries = ", ".join(f"{wish.client.title} ({wish.path})" for wish in named)
        yield Trace(say("entries in MCP clients: {entries}", entries=entries), lambda: setup(yes=True, undo=True))


def _in_projects(places: Places) -> Iterator[Trace]:
    """What was written there since, by whomever, stays: our entry goes, and a copy that is still ours."""
    for written in written_files(places):
        path, client = Path(written.path), BY_ID.get(written.client)
        if client is not None and mentions_us(path):
            about = say("the entry for {client} in {path}", client=client.title, path=path)
            yield Trace(about, partial(_disconnect, client, path))
        elif not written.client and _is_own_copy(path):
            yield Trace(say("{path} ({what})", path=path, what=say("a copy of the Lua runtime")), path.unlink)


def _is_own_copy(path: Path) -> bool:
    try:
        return is_ours(path.read_text("utf-8", "replace"))
    except OSError:
        return False


def _disconnect(client: Client, path: Path) -> None:
    machine = this_machine()
    wish = replace(stdio_wish(client, machine, find_command(machine), project=True), path=path)
    tell(*told(Writer(machine=machine, now=datetime.now).remove(wish)))


def _profiles() -> Iterator[Trace]:
    for profile in shell_profile.changed_profiles():
        about = say("lines in {path}, which wrap new terminals", path=profile.path)
        yield Trace(about, partial(shell_profile.change_profile, removing=True, shell=profile.shell, yes=True))


def _is_own_folder(path: Path) -> bool:
    """A link is not followed: what it leads to was not made by us."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _tell_package() -> int:
    """And the extension: an editor removes its own. A Dragoman that it had installed is gone with its folder."""
    if extensions := removal_commands(this_machine()):
        tell(say("The editor's extension is removed by:"))
        show_text("\n".join(f"  {command}" for command in extensions))
    if Path(sys.executable).exists():
        tell(say("The package itself is removed by:"))
        show_text(f"  {uninstall_command()}")
    return ExitCode.OK
