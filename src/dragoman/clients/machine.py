"""The facts about this machine that decide where clients keep their configuration, and its clipboard."""

from __future__ import annotations

import base64
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

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
