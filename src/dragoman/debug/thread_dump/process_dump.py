"""Thread dumps from outside the process, for a program that cannot be asked: by faulthandler, or by system calls.

`debugpy_launcher` has the interpreter's `faulthandler` write all stacks into a file in memory when a signal comes:
that needs no lock and runs no Python. Only a program that has both the file and the handler gets the signal.
Otherwise the kernel says which system call the main thread waits in; its place in the source is not known then.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dragoman.debug.source_files import is_library
from dragoman.debug.thread_dump.model import DumpedThread, ThreadDump

_FILE = "/memfd:dragoman-threads"
_WRITE_TIMEOUT_S = 0.4
_POLL_INTERVAL_S = 0.01
_MAX_DUMP_BYTES = 256 * 1024
_MAX_THREADS = 64
_SYSCALL_SAMPLES = 3
_SAMPLE_INTERVAL_S = 0.02

_THREAD = re.compile(
    r"^(?P<current>Current t|T)hread 0x(?P<ident>[0-9a-f]+)[^\n]*:\n(?P<frames>(?:  File [^\n]*\n?)*)", re.MULTILINE
)
_FRAME = re.compile(r'^  File "(?P<path>[^"\n]*)", line (?P<line>\d+) in (?P<function>[^\n]*)$', re.MULTILINE)
_DEBUGGERS = re.compile(r"pydevd|/debugpy")


def faulthandler_dump(pid: int) -> ThreadDump:
    """Empty where it cannot be had. Blocks for less than half a second: not for the event loop."""
    if sys.platform != "linux":
        return ThreadDump()
    try:
        text = _request_stacks(pid)
    except (OSError, ValueError, AttributeError):
        return ThreadDump()
    threads = list(_parse_threads(text))[:_MAX_THREADS]
    return ThreadDump(threads=tuple(threads), total=len(threads), native=True)


def _request_stacks(pid: int) -> str:
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
        return _read_dump(written.fileno(), start)


def _busy_thread(process: Path) -> int:
    """The thread that computes: a signal disturbs it least, and it holds the lock."""
    tasks = sorted(int(it.name) for it in (process / "task").iterdir())
    states = {it: (process / "task" / str(it) / "stat").read_text().rpartition(")")[2].split()[0] for it in tasks}
    return next((it for it, state in states.items() if state == "R"), tasks[0])


def _read_dump(file: int, start: int) -> str:
    """Whole when it has grown, and does not grow any more."""
    until, size = time.monotonic() + _WRITE_TIMEOUT_S, start
    while time.monotonic() < until:
        time.sleep(_POLL_INTERVAL_S)
        now = os.fstat(file).st_size
        if now == size > start:
            break
        size = now
    return os.pread(file, _MAX_DUMP_BYTES, start).decode(errors="replace")


def _parse_threads(text: str) -> Iterator[DumpedThread]:
    for thread in _THREAD.finditer(text):
        frames = [(it["path"], int(it["line"]), it["function"]) for it in _FRAME.finditer(thread["frames"])]
        is_main = not any(function == "_bootstrap" for _, _, function in frames)
        if not frames or (not is_main and _is_debugger_thread([path for path, _, _ in frames])):
            continue
        path, line, function = next((it for it in frames if _is_own_code(it[0])), frames[0])
        yield DumpedThread(
            name="MainThread" if is_main else f"0x{thread['ident']}",
            path=path,
            line=line,
            function=function,
            kind="call" if thread["current"].startswith("C") else "",
        )


def _is_debugger_thread(paths: Sequence[str]) -> bool:
    """Recognised by the function that the thread was started with; through `pydev_monkey`, every thread is."""
    first = next((path for path in reversed(paths) if not path.endswith(("/threading.py", "/pydev_monkey.py"))), "")
    return bool(_DEBUGGERS.search(first))


def _is_own_code(path: str) -> bool:
    return not is_library(path) and not _DEBUGGERS.search(path)


# What a program waits for while it is in one of these system calls, by their number.
_X86_64 = {
    "data": (0, 17, 19, 45, 47),
    "writing": (1, 20, 44, 46),
    "descriptors": (7, 23, 232, 270, 271, 281, 441),
    "connecting": (42,),
    "connection": (43, 288),
    "sleep": (35, 230),
    "lock": (202,),
    "process": (61, 247),
    "signal": (34, 128, 130),
    "file_lock": (72, 73),
}
_AARCH64 = {
    "data": (63, 65, 67, 207, 212),
    "writing": (64, 66, 206, 211),
    "descriptors": (22, 72, 73, 441),
    "connecting": (203,),
    "connection": (202, 242),
    "sleep": (101, 115),
    "lock": (98,),
    "process": (95, 260),
    "signal": (133, 137),
    "file_lock": (25, 32),
}
_CALLS = {"x86_64": _X86_64, "aarch64": _AARCH64}


def syscall_dump(pid: int, names: Mapping[str, str] | None = None) -> ThreadDump:
    """Empty where it cannot be had. Blocks for some milliseconds: not for the event loop. `names` are kinds of waits
    that are called otherwise in the program's language."""
    if sys.platform != "linux":
        return ThreadDump()
    try:
        seen = set(_sample_syscalls(Path(f"/proc/{pid}/task/{pid}")))
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ValueError):
        return ThreadDump()
    kind = seen.pop() if len(seen) == 1 else "runs"
    waits = "" if kind == "runs" else (names or {}).get(kind, kind)
    return ThreadDump(threads=(DumpedThread(name=name, runs=kind == "runs", kind=waits),), total=1, native=True)


def _sample_syscalls(task: Path) -> Iterator[str]:
    """One that is seen in several calls, or in none, runs."""
    numbers = _CALLS.get(platform.machine(), {})
    kinds = {number: kind for kind, several in numbers.items() for number in several}
    for look in range(_SYSCALL_SAMPLES):
        time.sleep(_SAMPLE_INTERVAL_S if look else 0)
        first = (task / "syscall").read_text().split()[0]
        yield "runs" if first == "running" else kinds.get(int(first), "call")
