"""Which recorded terminals and commands a caller may see: those of its workspace, and its own.

A command belongs to the folder it ran in. What an agent ran in a terminal of its own stays its own, wherever it went.
"""

from __future__ import annotations

from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.terminal.agent_terminals.terminal import AgentClient
from dragoman.terminal.model import FOLDER, RecordedCommand, TerminalStatus
from dragoman.terminal.service import TerminalService
from dragoman.tools.agent_text import one_line
from dragoman.workspace.caller import Caller

_NAME = 60


def terminal_client(caller: Caller) -> AgentClient:
    """For people it goes by the name it gave itself."""
    return AgentClient(
        id=one_line(caller.name, _NAME) or caller.id,
        workspace=caller.workspace,
        cwd=caller.cwd,
        environment=caller.environment,
        trusts_workspace=caller.trusts_workspace,
        link=caller.link,
        reconnected=caller.reconnected,
    )


def resolve_folder(caller: Caller, cwd: str) -> str:
    """Relative to where the caller stands; a person's ~ is the client's."""
    if not cwd:
        return ""
    home = caller.environment.get("HOME", "")
    expanded = home + cwd[1:] if home and (cwd == "~" or cwd.startswith("~/")) else cwd
    return str(Path(caller.cwd, expanded).resolve()) if "\0" not in cwd else cwd


def search_folder(caller: Caller, cwd: str) -> str:
    """The folder whose commands are looked through; one outside the workspace is refused, not found empty."""
    wanted, own = resolve_folder(caller, cwd), caller.record_workspace
    if own is None or not wanted:
        return wanted or own or ""
    if not _is_in(own, wanted):
        raise DragomanError(
            "outside_workspace",
            localize("This folder is outside the workspace; its history is not shown here."),
            hint=localize("The user can run `dragoman history --all-workspaces`."),
        )
    return wanted


def may_see_command(caller: Caller, command: RecordedCommand, service: TerminalService) -> bool:
    own = caller.record_workspace
    return own is None or _is_in(own, command.cwd) or _is_own(own, command.terminal, service)


def may_see_terminal(caller: Caller, seen: TerminalStatus, last: RecordedCommand | None) -> bool:
    """By where it stands, as its shell tells at each prompt; else the folder of what runs there or ran last."""
    own = caller.record_workspace
    command = seen.running or last
    told = seen.terminal.attributes
    stands = told.get(FOLDER) or (command.cwd if command else "") or told.get("cwd", "")
    return own is None or _is_in(own, stands) or _is_agent_terminal(own, seen)


async def find_command(service: TerminalService, caller: Caller, command_id: str) -> RecordedCommand:
    """By its id; another workspace's is as unknown as one that never was."""
    command = await service.command(command_id)
    if not may_see_command(caller, command, service):
        raise DragomanError(
            "unknown_command",
            localize("No command with id {id}.", id=repr(command_id[:80])),
            hint=localize("Find its id with search_commands."),
        )
    return command


def _is_own(own: str, terminal: str, service: TerminalService) -> bool:
    try:
        return _is_agent_terminal(own, service.terminal(terminal))
    except DragomanError:
        return False


def _is_agent_terminal(own: str, seen: TerminalStatus) -> bool:
    return seen.terminal.owner == "agent" and _is_in(own, seen.terminal.attributes.get("cwd", ""))


def _is_in(folder: str, path: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")
