"""Who sits where: whether a process is in the foreground of a terminal, and whether another one started it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_PS = ("ps", "-o", "ppid=,pgid=,tpgid=", "-p")
_PS_WITHIN_S = 5.0


class _Standing(NamedTuple):
    parent: int
    group: int
    foreground: int
    """The group that its terminal listens to; less than 1 without a terminal."""


def is_in_foreground(pid: int) -> bool:
    """Of a terminal that it has: what a shell runs in the background, a service or an agent's pipe is not."""
    now = _standing(pid)
    return now is not None and now.foreground > 0 and now.foreground == now.group


def is_below(pid: int, ancestor: int) -> bool:
    """A process that ended meanwhile, or that cannot be looked at, counts as one: nobody can vouch for it."""
    while pid > 1:
        now = _standing(pid)
        if now is None or now.parent == ancestor:
            return True
        pid = now.parent
    return pid < 1


def program_of(pid: int) -> int:
    """The program that a helper process serves: the topmost of its ancestors in the process group of its parent, which
    a shell with job control makes one of each command. 0 for a process that is gone or nobody's child."""
    now = _standing(pid)
    program, group = (now.parent, None) if now else (0, None)
    found = 0
    while program > 1 and (now := _standing(program)) is not None and group in {None, now.group}:
        found, program, group = program, now.parent, now.group
    return found


def _standing(pid: int) -> _Standing | None:
    try:
        return _from_proc(pid) if sys.platform == "linux" else _from_ps(pid)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _from_proc(pid: int) -> _Standing:
    text = Path(f"/proc/{pid}/stat").read_bytes()
    # The name stands in parentheses and may contain anything. Then state, ppid, pgrp, session, tty_nr, tpgid …
    fields = text[text.rindex(b")") + 2 :].split(None, 6)
    return _Standing(int(fields[1]), int(fields[2]), int(fields[5]))


def _from_ps(pid: int) -> _Standing:
    """macOS has no /proc. Written after its manual pages; not run there yet."""
    found = subprocess.run([*_PS, str(pid)], capture_output=True, check=True, timeout=_PS_WITHIN_S)  # noqa: S603
    parent, group, foreground = (int(it) for it in found.stdout.split())
    return _Standing(parent, group, foreground)
