"""Builds a gdb for the tests where the system's cannot call functions: gdb 13 on a processor with AMX.

debugpy gets into a running program by such a call. A wrapper in `.peers/gdb`, where tests/peers.py looks, preloads
`tools/gdb/ptrace_xstate.c`. The product does without: it says what is wrong and touches nothing.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".peers" / "gdb"
_WITHIN_S = 60.0


def ensure() -> bool:
    """Whether there is a gdb now that can call functions."""
    system = shutil.which("gdb")
    if sys.platform != "linux" or system is None:
        return False
    if (PLACE / "gdb").exists() or can_call(system):
        return True
    PLACE.mkdir(parents=True, exist_ok=True)
    library = PLACE / "ptrace_xstate.so"
    source = str(ROOT / "tools" / "gdb" / "ptrace_xstate.c")
    if subprocess.call(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), source, "-ldl"]) != 0:
        return False
    wrapper = PLACE / "gdb.new"
    wrapper.write_text(f"#!/bin/sh\nLD_PRELOAD='{library}' exec '{system}' \"$@\"\n")
    wrapper.chmod(0o755)
    if not can_call(str(wrapper)):
        return False
    wrapper.rename(PLACE / "gdb")
    return True


def can_call(gdb: str) -> bool:
    with subprocess.Popen(["sleep", "120"], stderr=subprocess.DEVNULL) as own:  # it may die of it
        try:
            command = [gdb, "--nx", "--batch", "--pid", str(own.pid), "--eval-command=print (int)getpid()"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        finally:
            own.kill()
    return f"$1 = {own.pid}" in done.stdout.splitlines()
