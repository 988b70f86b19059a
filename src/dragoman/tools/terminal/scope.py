"""Which recorded terminals and commands a caller may see: those of its workspace, and its own.

A command belongs to the folder it ran in. Commands in an agent's own terminal belong to that agent, wherever they ran.
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
    """The caller as a client of terminals. People see the name that it gave itself."""
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
    """Resolve a folder relative to the caller's; ~ is the caller's home."""
    if not cwd:
        return ""
    home = caller.environment.get("HOME", "")
    expanded = home + cwd[1:] if home and (cwd == "~" or cwd.startswith("~/")) else cwd
    return str(Path(caller.cwd, expanded).resolve()) if "\0" not in cwd else cwd


def search_folder(caller: Caller, cwd: str) -> str:
    """The folder to search. One outside the workspace is an error, instead of an empty result."""
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
    """Decide by the folder that its shell reported at the last prompt, else by the folder of its latest command."""
    own = caller.record_workspace
    command = seen.running or last
    attributes = seen.terminal.attributes
    folder = attributes.get(FOLDER) or (command.cwd if command else "") or attributes.get("cwd", "")
    return own is None or _is_in(own, folder) or _is_agent_terminal(own, seen)


async def find_command(service: TerminalService, caller: Caller, command_id: str) -> RecordedCommand:
    """Find a command by its id. Commands of another workspace are reported as unknown."""
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
