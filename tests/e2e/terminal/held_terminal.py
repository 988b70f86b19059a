"""A wrapper in a terminal that the test holds: its keys, its screen, its settings, its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.daemons import PATIENCE, eventually

WRAPPER = [sys.executable, "-P", "-m", "dragoman.shell"]
_OSC = re.compile(rb"\x1b\][^\x07]*\x07")


class Held:
    def __init__(self, pid: int, master: int, slave: int) -> None:
        self.pid, self.master, self._slave = pid, master, slave
        self.screen = bytearray()
        self.status: int | None = None
        self.before = termios.tcgetattr(slave)

    def type(self, keys: str | bytes) -> None:
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def run(self, line: str, *, shown: str = "", then: str = "", prompt: str = "prompt> ") -> None:
        """A line, what it prints, what is typed then, and the prompt after it."""
        seen = len(self.screen)
        self.type(line + "\r")
        self.until(b"\n", after=seen)
        if shown:
            self.until(shown.encode(), after=seen)
            seen = self.screen.index(shown.encode(), seen)
        self.type(then)
        self.until(prompt.encode(), after=seen)

    def until(self, wanted: bytes, *, after: int = 0, within_s: float = 10) -> None:
        deadline = time.monotonic() + within_s * PATIENCE
        while self.screen.find(wanted, after) < 0:
            after = max(after, len(self.screen) - len(wanted))
            assert time.monotonic() < deadline, (wanted, self.screen[-600:])
            self._read(0.1)

    def run_until_quiet(self, for_s: float = 0.3) -> None:
        """Until nothing more has come for a moment."""
        while self._read(for_s):
            pass

    def plain(self) -> bytes:
        return _OSC.sub(b"", bytes(self.screen))

    def ended(self, *, within_s: float = 10) -> int:
        """The exit code; negative where a signal was the end."""
        deadline = time.monotonic() + within_s * PATIENCE
        while not self._reaped():
            assert time.monotonic() < deadline, self.screen[-600:]
            self._read(0.02)
        while self._read(0):
            pass
        assert self.status is not None
        return os.waitstatus_to_exitcode(self.status)

    def close_window(self) -> None:
        os.close(self.master)

    def exit_code(self, *, within_s: float) -> int:
        """Of one whose window is closed."""
        eventually(self._reaped, within_s=within_s)
        assert self.status is not None
        return os.waitstatus_to_exitcode(self.status)

    def attributes(self) -> list[Any]:
        return termios.tcgetattr(self._slave)

    @property
    def is_raw(self) -> bool:
        return not self.attributes()[3] & (termios.ICANON | termios.ISIG)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        if not self._reaped():
            for number in (signal.SIGCONT, signal.SIGKILL):
                os.kill(self.pid, number)
            self.ended()
        with contextlib.suppress(OSError):
            os.close(self.master)
        os.close(self._slave)

    def _reaped(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def _read(self, within_s: float) -> bool:
        if not select.select([self.master], [], [], within_s)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.screen += data
        return bool(data)


@contextlib.contextmanager
def held(command: list[str], environment: Mapping[str, str], *, folder: Path | None = None) -> Iterator[Held]:
    """In a session of its own with the terminal as its controlling one, as a terminal window gives it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    pid = os.fork()
    if pid == 0:
        os.close(master)
        os.login_tty(os.dup(slave))
        os.chdir(folder or environment["HOME"])
        os.execvpe(command[0], command, dict(environment))
    terminal = Held(pid, master, slave)
    try:
        yield terminal
    finally:
        terminal.close()


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A socket's path must be short, and a test's own folder is not."""
    folder = Path(tempfile.mkdtemp(prefix="dgm"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
