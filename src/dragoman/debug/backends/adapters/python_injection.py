"""Whether gdb can call a function in a running program: that is how debugpy gets into one before Python 3.14.

gdb 13 cannot write the registers of a processor with AMX: the kernel takes the whole state (11,008 bytes) or nothing
(EFAULT), and gdb's buffer is smaller. The call fails, and the program, which was interrupted in a system call, sees an
error that does not exist (514, ERESTARTNOHAND) and dies. So the call is tried on a process of our own first.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dragoman.core.errors import ErrorSpec, cut

_WITHIN_S = 10.0
_OPTIONS = ("--nw", "--nh", "--nx", "--batch")  # as debugpy calls it

_no_gdb = ErrorSpec(
    "needs_gdb",
    "Attaching by process ID needs gdb, and it is not on PATH. The program was not touched.",
    "Install gdb, or start the program with `python -m debugpy --listen PORT` and attach to that port.",
)
_cannot_call = ErrorSpec(
    "cannot_inject",
    "gdb cannot call functions in processes of this machine: {reason}. Attaching would end the program, so it was not "
    "touched.",
    "Install gdb 14 or newer, or start the program with `python -m debugpy --listen PORT` and attach to that port.",
    reason=cut(120),
)


def require_injection(environment: Mapping[str, str]) -> None:
    """Blocks for as long as gdb takes, most often a third of a second; once per gdb that works."""
    if sys.platform != "linux" or hasattr(sys, "remote_exec"):  # from 3.14, debugpy needs no gdb
        return
    gdb = shutil.which("gdb", path=environment.get("PATH"))
    if gdb is None:
        raise _no_gdb()
    _require_call(gdb, Path(gdb).stat().st_mtime_ns)


@functools.cache  # an error is not kept: the next attach tries again
def _require_call(gdb: str, _modified_ns: int) -> None:
    printed, number = _call_in_own_process(gdb)
    lines = [line.strip().rstrip(".") for line in printed.splitlines() if line.strip()]
    # A process that gdb may not attach to is not harmed, and the other one may be allowed (PR_SET_PTRACER).
    if f"$1 = {number}" not in lines and "ptrace: Operation not permitted" not in lines:
        raise _cannot_call(reason=next((it for it in lines if it.startswith("Couldn't")), " ".join(lines[-1:]) or "?"))


def _call_in_own_process(gdb: str) -> tuple[str, int]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(["sleep", "60"], stdin=quiet, stdout=quiet, stderr=quiet) as own:  # noqa: S607
        try:
            command = [gdb, *_OPTIONS, "--pid", str(own.pid), "--eval-command=print (int)getpid()"]
            done = subprocess.run(  # noqa: S603
                command, stdin=quiet, capture_output=True, timeout=_WITHIN_S, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {_WITHIN_S:.0f} s", own.pid
        finally:
            own.kill()
    return (done.stdout + done.stderr).decode("utf-8", "replace"), own.pid
