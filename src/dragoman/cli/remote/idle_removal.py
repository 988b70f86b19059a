"""What `dragoman setup --on` copied into a container removes itself after 15 idle minutes. This runs there.

One process per folder, which nearly always sleeps. `setup` starts it, and so does each `dragoman pipe`, because a
container may have been restarted. Idle means that no command runs from the folder and that its daemon, if there is one,
can stop without ending a debug session. Standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from dragoman.cli.remote.setup_script import MARKER, read_marker, remove_folder, running_daemons, running_processes

IDLE_S = 900.0
_LOOKS_EVERY_S = 30.0
_ENDS_WITHIN_S = 90.0
_DETACH = "--detach"
_OURS = "dragoman.cli.remote.idle_removal"
_COMMANDS = (b"dragoman.cli.", b"dragoman.shell")


def ensure_watcher(folder: Path) -> None:
    """Start the process, unless it runs; nothing for a folder that stays."""
    if _is_temporary(folder):
        _run(folder / "bin" / "python3", "-P", "-m", _OURS, _DETACH)


def watch(folder: Path, idle_s: float = IDLE_S, every_s: float = _LOOKS_EVERY_S) -> None:
    """Until the folder is removed, by this or another process, or replaced: then it has a watcher of its own."""
    with _locked(folder) as marker:
        if marker is None:
            return
        used_at_s = time.monotonic()
        while _is_same(folder, marker) and _is_temporary(folder):
            if _is_in_use(folder):
                used_at_s = time.monotonic()
            elif time.monotonic() - used_at_s >= idle_s:
                if _stop_daemon(folder) and _remove(folder):
                    return
                used_at_s = time.monotonic()  # a session is open
            time.sleep(every_s)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[BinaryIO | None]:
    try:
        marker = (folder / MARKER).open("rb")
    except OSError:
        yield None
        return
    with marker:
        try:
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another process watches it
            yield None
        else:
            yield marker


def _is_same(folder: Path, marker: BinaryIO) -> bool:
    try:
        return (folder / MARKER).stat().st_ino == os.fstat(marker.fileno()).st_ino
    except OSError:
        return False


def _is_temporary(folder: Path) -> bool:
    marker = read_marker(folder)
    return marker is not None and marker.get("removes_itself") is True


def _is_in_use(folder: Path) -> bool:
    starts = tuple(os.fsencode(it) + b"/" for it in {str(folder), os.path.realpath(folder)})
    return any(
        command.startswith(starts) and any(it in command for it in _COMMANDS) and _OURS.encode() not in command
        for _, command in running_processes()
    )


def _stop_daemon(folder: Path) -> bool:
    """Whether none runs from the folder any more. Without `--yes`, one with open sessions goes on."""
    if not running_daemons(folder):
        return True
    _run(folder / "bin" / "dragoman", "down")
    return not running_daemons(folder)


def _remove(folder: Path) -> bool:
    if _is_in_use(folder):  # somebody came while the daemon stopped
        return False
    with contextlib.suppress(OSError):
        remove_folder(folder)
        return True
    return False


def _run(program: Path, *words: str) -> None:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(  # noqa: S603  our own words, and a path below our folder
            [program, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            timeout=_ENDS_WITHIN_S,
            check=False,
        )


def main(words: Sequence[str]) -> None:
    if words[:1] == [_DETACH]:
        if os.fork():  # nobody waits for the child, so nobody has to take its exit status
            return
        os.setsid()
        words = words[1:]
    watch(Path(sys.prefix), *map(float, words))


if __name__ == "__main__":
    main(sys.argv[1:])
