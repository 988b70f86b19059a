"""Which of the recorded terminals and commands a caller may look at: those of its workspace, and its own.

A command belongs to the folder it ran in. What an agent ran in a terminal of its own stays its own wherever it went.
"""

from __future__ import annotations

from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.terminal.agent_terminal import Client
from dragoman.terminal.model import FOLDER, Command
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import TerminalSeen
from dragoman.tools.operation import Caller
from dragoman.tools.showing import one_line

_NAME = 60


def client_of(caller: Caller) -> Client:
    """For people it goes by the name it gave itself."""
    return Client(
        id=one_line(caller.name, _NAME) or caller.id,
        workspace=caller.workspace,
        cwd=caller.cwd,
        environment=caller.environment,
        trusts_workspace=caller.trusts_workspace,
        link=caller.link,
        reconnected=caller.reconnected,
    )


def folder(caller: Caller, cwd: str) -> str:
    """Relative to where the caller stands; a person's ~ is the client's."""
    if not cwd:
        return ""
    home = caller.environment.get("HOME", "")
    expanded = home + cwd[1:] if home and (cwd == "~" or cwd.startswith("~/")) else cwd
    return str(Path(caller.cwd, expanded).resolve()) if "\0" not in cwd else cwd


def searched(caller: Caller, cwd: str) -> str:
    """The folder whose commands are looked through; one outside the workspace is refused, not found empty."""
    wanted, own = folder(caller, cwd), caller.record_of
    if own is None or not wanted:
        return wanted or own or ""
    if not _is_in(own, wanted):
        raise DragomanError(
            "outside_workspace",
            say("This folder is outside the workspace; its record is not shown here."),
            hint=say("A person can look with `dragoman history --all-workspaces`."),
        )
    return wanted


def may_see(caller: Caller, command: Command, service: TerminalService) -> bool:
    own = caller.record_of
    return own is None or _is_in(own, command.cwd) or _is_own(own, command.terminal, service)


def may_see_terminal(caller: Caller, seen: TerminalSeen, last: Command | None) -> bool:
    """By where it stands, as its shell tells at each prompt; else the folder of what runs there or ran last."""
    own = caller.record_of
    command = seen.running or last
    told = seen.terminal.attributes
    stands = told.get(FOLDER) or (command.cwd if command else "") or told.get("cwd", "")
    return own is None or _is_in(own, stands) or _agents(own, seen)


async def seen_command(service: TerminalService, caller: Caller, command_id: str) -> Command:
    """By its id; another workspace's is as unknown as one that never was."""
    command = await service.command(command_id)
    if not may_see(caller, command, service):
        raise DragomanError(
            "unknown_command",
            say("No command {id} is known.", id=repr(command_id[:80])),
            hint=say("Search for it with search_commands, which gives ids."),
        )
    return command


def _is_own(own: str, terminal: str, service: TerminalService) -> bool:
    try:
        return _agents(own, service.terminal(terminal))
    except DragomanError:
        return False


def _agents(own: str, seen: TerminalSeen) -> bool:
    return seen.terminal.owner == "agent" and _is_in(own, seen.terminal.attributes.get("cwd", ""))


def _is_in(folder: str, path: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")
