"""How a client starts us: the command that goes into its configuration.

A client with a window (Claude Desktop, an editor started from the dock) has not read the shell's profile, so a name
that works in a terminal may mean nothing to it. The absolute path works in both. Clients hand on a few variables and
no others: where DRAGOMAN_HOME says which daemon is meant, `env` says it again in the entry, which needs no client's own
way of naming variables.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from dragoman.clients.machine import Machine
from dragoman.phrases import Phrase, say

NAME = "dragoman"
_ENV = "/usr/bin/env"

# The PATH that launchd gives to programs with a window; every Linux desktop has these two as well.
_FOUND_BY_EVERYBODY = frozenset({Path("/usr/bin"), Path("/bin")})

# `uvx` and `pipx run` make environments that their own cleaning deletes.
_THROWN_AWAY = ("/uv/archive-v", "/uv/environments-v", "/pipx/.cache/")


@dataclass(frozen=True, slots=True)
class Command:
    program: str
    args: tuple[str, ...] = ("mcp",)
    note: Phrase | None = None

    @property
    def argv(self) -> list[str]:
        return [self.program, *self.args]


# What a file that is shared with others says: their path is not ours.
SHARED_COMMAND = Command(NAME)


def find_command(machine: Machine, *, argv0: str | None = None, executable: str | None = None) -> Command:
    """What reaches the daemon that this command line reaches."""
    command = _find_program(machine, argv0 or sys.argv[0], executable or sys.executable)
    home = machine.environment.get("DRAGOMAN_HOME", "")
    if not home or not _is_text(Path(home)):
        return command
    return replace(command, program=_ENV, args=(f"DRAGOMAN_HOME={Path(home).expanduser().absolute()}", *command.argv))


def _find_program(machine: Machine, argv0: str, executable: str) -> Command:
    """The script that runs now, else the one beside this interpreter, else the one on PATH, else the plain name."""
    places = (Path(argv0), Path(executable).with_name(NAME))
    lasting = next((place for place in map(_absolute, places) if _is_ours(place) and not _passing(place)), None)
    program = lasting or machine.which(NAME)
    if program is None or _passing(program) or not _is_text(program):
        return Command(NAME, note=_install_first())
    return Command(NAME if program.parent in _FOUND_BY_EVERYBODY else str(program))


def _absolute(path: Path) -> Path:
    # Links stay: pipx and uv keep theirs over an upgrade, what they point at may go.
    return Path(os.path.abspath(path))  # noqa: PTH100  `resolve` follows links, `absolute` keeps ".."


def _is_ours(path: Path) -> bool:
    return path.name == NAME and path.is_file() and os.access(path, os.X_OK)


def _passing(path: Path) -> bool:
    return any(part in f"{path.resolve()}" for part in _THROWN_AWAY)


def _is_text(path: Path) -> bool:
    """Configuration files are UTF-8; a path that is not cannot be written into one."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _install_first() -> Phrase:
    return say(
        "No lasting `{name}` was found, so the plain name is used. Install it first: `uv tool install {name}`.",
        name=NAME,
    )
