"""A thread dump of a Python program whose interpreter does not answer, because native code keeps the lock of it.

`debugpy_launcher` has the interpreter's own `faulthandler` write all stacks into a file in memory when a signal comes:
it needs no lock, and runs no Python. Only a program that still has both the file and the handler gets the signal.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from dragoman.debug.own_code import is_library
from dragoman.debug.thread_dump.model import DumpedThread, ThreadDump

_FILE = "/memfd:dragoman-threads"
_WRITTEN_WITHIN_S = 0.4
_LOOKED_AGAIN_AFTER_S = 0.01
_READ = 256 * 1024
_THREADS = 64
_THREAD = re.compile(
    r"^(?P<current>Current t|T)hread 0x(?P<ident>[0-9a-f]+)[^\n]*:\n(?P<frames>(?:  File [^\n]*\n?)*)", re.MULTILINE
)
_FRAME = re.compile(r'^  File "(?P<path>[^"\n]*)", line (?P<line>\d+) in (?P<function>[^\n]*)$', re.MULTILINE)
_DEBUGGERS = re.compile(r"pydevd|/debugpy")


def dump_of(pid: int) -> ThreadDump:
    """Empty where it cannot be had. Blocks for less than half a second: not for the event loop."""
    if sys.platform != "linux":
        return ThreadDump()
    try:
        text = _stacks(pid)
    except (OSError, ValueError, AttributeError):
        return ThreadDump()
    threads = list(_threads(text))[:_THREADS]
    return ThreadDump(threads=tuple(threads), total=len(threads), native=True)


def _stacks(pid: int) -> str:
    number = signal.SIGRTMAX - 5
    process = Path(f"/proc/{pid}")
    file = next((it for it in (process / "fd").iterdir() if str(it.readlink()).startswith(_FILE)), None)
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", (process / "status").read_text(), re.MULTILINE)
    if file is None or caught is None or not int(caught[1], 16) >> (number - 1) & 1:
        return ""
    with file.open("rb") as written:
        start = written.seek(0, os.SEEK_END)
        if ctypes.CDLL(None).tgkill(pid, _busy_thread(process), number):
            return ""
        return _written(written.fileno(), start)


def _busy_thread(process: Path) -> int:
    """The one that computes: a signal disturbs it least, and it is the one that has the lock."""
    tasks = sorted(int(it.name) for it in (process / "task").iterdir())
    states = {it: (process / "task" / str(it) / "stat").read_text().rpartition(")")[2].split()[0] for it in tasks}
    return next((it for it, state in states.items() if state == "R"), tasks[0])


def _written(file: int, start: int) -> str:
    """Whole when it has grown, and does not grow any more."""
    until, size = time.monotonic() + _WRITTEN_WITHIN_S, start
    while time.monotonic() < until:
        time.sleep(_LOOKED_AGAIN_AFTER_S)
        now = os.fstat(file).st_size
        if now == size > start:
            break
        size = now
    return os.pread(file, _READ, start).decode(errors="replace")


def _threads(text: str) -> Iterator[DumpedThread]:
    for thread in _THREAD.finditer(text):
        frames = [(it["path"], int(it["line"]), it["function"]) for it in _FRAME.finditer(thread["frames"])]
        is_main = not any(function == "_bootstrap" for _, _, function in frames)
        if not frames or (not is_main and _is_debuggers([path for path, _, _ in frames])):
            continue
        path, line, function = next((it for it in frames if _is_own(it[0])), frames[0])
        yield DumpedThread(
            name="MainThread" if is_main else f"0x{thread['ident']}",
            path=path,
            line=line,
            function=function,
            kind="call" if thread["current"].startswith("C") else "",
        )


def _is_debuggers(paths: Sequence[str]) -> bool:
    """By what the thread was started with; through `pydev_monkey` all of them are."""
    first = next((path for path in reversed(paths) if not path.endswith(("/threading.py", "/pydev_monkey.py"))), "")
    return bool(_DEBUGGERS.search(first))


def _is_own(path: str) -> bool:
    return not is_library(path) and not _DEBUGGERS.search(path)
