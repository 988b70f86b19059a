"""Running a client's own `mcp add`: with a deadline, without a shell, and with the reason when it did not work."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence

from dragoman.clients.machine import Machine
from dragoman.phrases import Phrase, say
from dragoman.transport.system import REAL_SYSTEM, System

DEADLINE_S = 20.0
_SHOWN = 200


def run_own_command(
    command: Sequence[str], machine: Machine, *, deadline_s: float = DEADLINE_S, system: System = REAL_SYSTEM
) -> Phrase | None:
    """None when it said that it worked, else why not."""
    with tempfile.TemporaryFile() as output:
        try:
            process = system.spawn(command, environment=machine.environment, cwd=machine.home, output=output.fileno())
        except OSError as error:
            return say("it did not start: {reason}", reason=error.strerror)
        try:
            status = process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            return say("it did not end within {seconds} seconds", seconds=round(deadline_s, 1))
        finally:
            _end(process)
        output.seek(0)
        return None if status == 0 else _failure(status, output.read())


def _end(process: subprocess.Popen[bytes]) -> None:
    """With its whole group, since these programs are scripts that start others; but what it left behind when it
    ended by itself is the user's (an editor window), and its number may be somebody else's by now."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _failure(status: int, output: bytes) -> Phrase:
    lines = output.decode(errors="replace").strip().splitlines() or [""]
    return say("it ended with status {status}: {line}", status=status, line=lines[-1][:_SHOWN])
