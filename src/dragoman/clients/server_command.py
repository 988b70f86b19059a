"""The command that a client's configuration runs to start Dragoman.

A graphical client (Claude Desktop, an editor started from the dock) has not read the shell's profile, so a name that
works in a terminal may not be found. The absolute path works in both. Clients pass on only a few variables: if
DRAGOMAN_HOME is set, `env` in the entry sets it again, which works in every client.
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

# The PATH that launchd gives to graphical programs; Linux desktops have both folders too.
_SYSTEM_FOLDERS = frozenset({Path("/usr/bin"), Path("/bin")})

# `uvx` and `pipx run` create environments that they delete later.
_TEMPORARY_ENVIRONMENTS = ("/uv/archive-v", "/uv/environments-v", "/pipx/.cache/")


@dataclass(frozen=True, slots=True)
class ServerCommand:
    program: str
    args: tuple[str, ...] = ("mcp",)
    note: LocalizedText | None = None
    options: tuple[str, ...] = ()
    """What follows `mcp`: the target on which the server works."""

    @property
    def argv(self) -> list[str]:
        return [self.program, *self.args]

    @property
    def shared(self) -> ServerCommand:
        """For shared files: the path on another machine differs."""
        return SHARED_COMMAND.with_options(self.options)

    def with_options(self, options: tuple[str, ...]) -> ServerCommand:
        return replace(self, args=(*self.args, *options), options=options)


SHARED_COMMAND = ServerCommand(SERVER_NAME)


def find_command(machine: Machine, *, argv0: str | None = None, executable: str | None = None) -> ServerCommand:
    """The command that reaches the same daemon as this command line."""
    command = _find_program(machine, argv0 or sys.argv[0], executable or sys.executable)
    home = machine.environment.get("DRAGOMAN_HOME", "")
    if not home or not _is_text(Path(home)):
        return command
    return replace(command, program=_ENV, args=(f"DRAGOMAN_HOME={Path(home).expanduser().absolute()}", *command.argv))


def _find_program(machine: Machine, argv0: str, executable: str) -> ServerCommand:
    """The running script, else the one beside this interpreter, else the one on PATH, else the bare name."""
    places = (Path(argv0), Path(executable).with_name(SERVER_NAME))
    lasting = next(
        (place for place in map(_absolute, places) if _is_dragoman(place) and not _is_temporary(place)), None
    )
    program = lasting or machine.which(SERVER_NAME)
    if program is None or _is_temporary(program) or not _is_text(program):
        return ServerCommand(SERVER_NAME, note=_install_note())
    return ServerCommand(SERVER_NAME if program.parent in _SYSTEM_FOLDERS else str(program))


def _absolute(path: Path) -> Path:
    # Keep links: those of pipx and uv survive an upgrade, their targets may not.
    return Path(os.path.abspath(path))  # noqa: PTH100  `resolve` follows links, `absolute` keeps ".."


def _is_dragoman(path: Path) -> bool:
    return path.name == SERVER_NAME and path.is_file() and os.access(path, os.X_OK)


def _is_temporary(path: Path) -> bool:
    return any(part in f"{path.resolve()}" for part in _TEMPORARY_ENVIRONMENTS)


def _is_text(path: Path) -> bool:
    """Whether the path is UTF-8, which configuration files require."""
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
