"""What the first thread of a program waits for, as the kernel knows it: for one that nobody inside can be asked about.

Its place is not known this way. The other threads are left out: they are a runtime's own.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from dragoman.debug.thread_dump.model import DumpedThread, ThreadDump

_LOOKS = 3
_LOOKED_AGAIN_AFTER_S = 0.02
# Numbers of system calls, by what a program that is in one waits for.
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


def dump_of(pid: int, names: Mapping[str, str] | None = None) -> ThreadDump:
    """Empty where it cannot be had. Blocks for some milliseconds: not for the event loop. `names` are kinds of waits
    that are called otherwise in the program's language."""
    if sys.platform != "linux":
        return ThreadDump()
    try:
        seen = set(_looks(Path(f"/proc/{pid}/task/{pid}")))
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ValueError):
        return ThreadDump()
    kind = seen.pop() if len(seen) == 1 else "runs"
    waits = "" if kind == "runs" else (names or {}).get(kind, kind)
    return ThreadDump(threads=(DumpedThread(name=name, runs=kind == "runs", kind=waits),), total=1, native=True)


def _looks(task: Path) -> Iterator[str]:
    """One that is seen in several calls, or in none, runs."""
    numbers = _CALLS.get(platform.machine(), {})
    kinds = {number: kind for kind, several in numbers.items() for number in several}
    for look in range(_LOOKS):
        time.sleep(_LOOKED_AGAIN_AFTER_S if look else 0)
        first = (task / "syscall").read_text().split()[0]
        yield "runs" if first == "running" else kinds.get(int(first), "call")
