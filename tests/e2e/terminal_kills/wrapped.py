"""The real wrapper around a real bash in a terminal that the test holds, which prints lines with their number."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from tests.daemons import PATIENCE

_LINE = re.compile(rb"(?<![\w-])line-(\d+)-end")
_PROMPT = b"ready> "
_READY = Path(__file__).with_name("ready.bashrc")


def numbers_in(output: bytes) -> list[int]:
    return [int(number) for number in _LINE.findall(output)]


class Wrapped:
    """`screen` is all that the outer terminal was given."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, slave: int, before: list[Any]) -> None:
        self.process = psutil.Process(process.pid)
        self.popen = process
        self.screen = bytearray()
        self._master, self._slave = master, slave
        self.before = before

    def type(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\r")

    def read_for(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self._read(left):
            pass

    def read_until(self, wanted: bytes, within_s: float = 15) -> None:
        deadline = time.monotonic() + within_s * PATIENCE
        while wanted not in self.screen:
            assert time.monotonic() < deadline, (wanted, bytes(self.screen[-300:]))
            self._read(0.1)

    def shell(self) -> psutil.Process:
        """The wrapper's own child that is a bash."""
        return next(it for it in self.process.children() if it.name() == "bash")

    def ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds * PATIENCE
        while self.popen.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.popen.poll() is not None

    def hang_up(self) -> None:
        """The window is closed."""
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1

    def attributes(self) -> list[Any]:
        return termios.tcgetattr(self._slave)

    def _read(self, within_s: float) -> bool:
        if not select.select([self._master], [], [], within_s)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self.screen += data
        return bool(data)


@contextlib.contextmanager
def wrapped(variables: Mapping[str, str]) -> Iterator[Wrapped]:
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    environment = {**variables, "TERM": "xterm", "HISTFILE": "/dev/null"}
    command = [sys.executable, "-P", "-m", "dragoman.shell", "--", "bash", "--rcfile", str(_READY)]
    process = subprocess.Popen(
        command, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    try:
        terminal = Wrapped(process, master, slave, before)
        terminal.read_until(_PROMPT)
        yield terminal
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
        with contextlib.suppress(OSError):
            os.close(master)
            os.close(slave)
