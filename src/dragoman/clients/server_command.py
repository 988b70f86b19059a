"""The command that a client's configuration runs to start Dragoman.

A graphical client (Claude Desktop, an editor started from the dock) has not read the shell's profile, so a name that
works in a terminal may not be found. The absolute path works in both. Clients pass on only a few variables: where
DRAGOMAN_HOME selects the daemon, `env` in the entry sets it again, which works for every client.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from dragoman.clients.machine import Machine
from dragoman.core.localization import LocalizedText, localize

SERVER_NAME = "dragoman"
_ENV = "/usr/bin/env"

# The PATH that launchd gives to programs with a window; every Linux desktop has these two as well.
_SYSTEM_FOLDERS = frozenset({Path("/usr/bin"), Path("/bin")})

# `uvx` and `pipx run` make environments that their own cleaning deletes.
_TEMPORARY_ENVIRONMENTS = ("/uv/archive-v", "/uv/environments-v", "/pipx/.cache/")


@dataclass(frozen=True, slots=True)
class ServerCommand:
    program: str
    args: tuple[str, ...] = ("mcp",)
    note: LocalizedText | None = None

    @property
    def argv(self) -> list[str]:
        return [self.program, *self.args]


# What a file that is shared with others says: their path is not ours.
SHARED_COMMAND = ServerCommand(SERVER_NAME)


def find_command(machine: Machine, *, argv0: str | None = None, executable: str | None = None) -> ServerCommand:
    """What reaches the daemon that this command line reaches."""
    command = _find_program(machine, argv0 or sys.argv[0], executable or sys.executable)
    home = machine.environment.get("DRAGOMAN_HOME", "")
    if not home or not _is_text(Path(home)):
        return command
    return replace(command, program=_ENV, args=(f"DRAGOMAN_HOME={Path(home).expanduser().absolute()}", *command.argv))


def _find_program(machine: Machine, argv0: str, executable: str) -> ServerCommand:
    """The script that runs now, else the one beside this interpreter, else the one on PATH, else the plain name."""
    places = (Path(argv0), Path(executable).with_name(SERVER_NAME))
    lasting = next(
        (place for place in map(_absolute, places) if _is_dragoman(place) and not _is_temporary(place)), None
    )
    program = lasting or machine.which(SERVER_NAME)
    if program is None or _is_temporary(program) or not _is_text(program):
        return ServerCommand(SERVER_NAME, note=_install_note())
    return ServerCommand(SERVER_NAME if program.parent in _SYSTEM_FOLDERS else str(program))


def _absolute(path: Path) -> Path:
    # Links stay: pipx and uv keep theirs over an upgrade, what they point at may go.
    return Path(os.path.abspath(path))  # noqa: PTH100  `resolve` follows links, `absolute` keeps ".."


def _is_dragoman(path: Path) -> bool:
    return path.name == SERVER_NAME and path.is_file() and os.access(path, os.X_OK)


def _is_temporary(path: Path) -> bool:
    return any(part in f"{path.resolve()}" for part in _TEMPORARY_ENVIRONMENTS)


def _is_text(path: Path) -> bool:
    """Configuration files are UTF-8; a path that is not cannot be written into one."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _install_note() -> LocalizedText:
    return localize(
        "`{name}` is not installed, so the entry uses the bare name. Install it first: `uv tool install {name}`.",
        name=SERVER_NAME,
    )
