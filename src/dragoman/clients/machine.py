"""The facts about this machine that decide where clients keep their configuration, and its clipboard."""

from __future__ import annotations

import base64
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TextIO

from dragoman.core.localization import LocalizedText, localize

_CLIPBOARD_TIMEOUT_S = 5.0
# The environment variable that a clipboard program needs, and the program.
_CLIPBOARD_PROGRAMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("pbcopy",)),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("clip.exe",)),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """Passed in everywhere, so that tests can describe a machine."""

    system: Literal["linux", "macos"]
    home: Path
    environment: Mapping[str, str]
    project: Path
    wsl: bool = False

    def which(self, program: str) -> Path | None:
        found = shutil.which(program, path=self.environment.get("PATH", ""))
        return Path(found) if found else None

    def folders(self) -> dict[str, Path]:
        """The folders that the client table names, each with the variable that moves it."""
        config = self._moved("XDG_CONFIG_HOME", self.home / ".config") if self.system == "linux" else None
        support = self.home / "Library" / "Application Support"
        return {
            "home": self.home,
            "project": self.project,
            "config": config or self.home / ".config",
            "application": config or support,
            "claude": self._moved("CLAUDE_CONFIG_DIR", self.home),
            "claude_settings": self._moved("CLAUDE_CONFIG_DIR", self.home / ".claude"),
            "codex": self._moved("CODEX_HOME", self.home / ".codex"),
        }

    def _moved(self, variable: str, default: Path) -> Path:
        value = self.environment.get(variable, "")
        return Path(value) if value.startswith("/") else default


def this_machine(environment: Mapping[str, str] = os.environ) -> Machine:
    return Machine(
        system="macos" if sys.platform == "darwin" else "linux",
        home=Path.home(),
        environment=environment,
        project=Path.cwd(),
        wsl="microsoft" in platform.release().lower(),
    )


def copy_text(text: str, machine: Machine, terminal: TextIO) -> str | None:
    """Copy the text and return the program that did it; None if there is none."""
    for variable, command in _CLIPBOARD_PROGRAMS:
        if variable and not machine.environment.get(variable):
            continue
        if machine.which(command[0]) and _run_program(command, text, machine):
            return command[0]
    if not terminal.isatty():
        return None
    encoded = base64.b64encode(text.encode()).decode()
    terminal.write(f"\x1b]52;c;{encoded}\x07")
    terminal.flush()
    return "OSC 52"


def _run_program(command: Sequence[str], text: str, machine: Machine) -> bool:
    # clip.exe reads the console's code page unless a byte order mark says UTF-16.
    data = ("\ufeff" + text).encode("utf-16-le") if command[0] == "clip.exe" else text.encode()
    try:
        # xclip stays in the background and keeps its output open, so waiting for a pipe would never end.
        subprocess.run(  # noqa: S603  a fixed table of programs, no shell
            list(command),
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(machine.environment),
            timeout=_CLIPBOARD_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


# The command that a client's configuration runs to start Dragoman.
#
# A graphical client (Claude Desktop, an editor started from the dock) has not read the shell's profile, so a name
# that works in a terminal may not be found. The absolute path works in both. Clients pass on only a few variables: if
# DRAGOMAN_HOME is set, `env` in the entry sets it again, which works in every client.

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
