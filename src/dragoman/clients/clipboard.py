"""The clipboard: by the program that the desktop has, else by the terminal itself (OSC 52)."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Sequence
from typing import TextIO

from dragoman.clients.machine import Machine

_DEADLINE_S = 5.0

# The variable that must be set for a program to reach a clipboard, and the program.
_PROGRAMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("pbcopy",)),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("clip.exe",)),
)


def copy_text(text: str, machine: Machine, terminal: TextIO) -> str | None:
    """Copy, and name what did it; None when there is no way."""
    for variable, command in _PROGRAMS:
        if variable and not machine.environment.get(variable):
            continue
        if machine.which(command[0]) and _fed(command, text, machine):
            return command[0]
    if not terminal.isatty():
        return None
    encoded = base64.b64encode(text.encode()).decode()
    terminal.write(f"\x1b]52;c;{encoded}\x07")
    terminal.flush()
    return "OSC 52"


def _fed(command: Sequence[str], text: str, machine: Machine) -> bool:
    # clip.exe reads the console's code page, unless a byte order mark says UTF-16.
    data = ("\ufeff" + text).encode("utf-16-le") if command[0] == "clip.exe" else text.encode()
    try:
        # xclip stays in the background and holds its output open: a pipe there would never end.
        subprocess.run(  # noqa: S603  a fixed table of programs, no shell
            list(command),
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(machine.environment),
            timeout=_DEADLINE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True
