"""What a test of the daemon's life looks at: processes, locks, terminals, error codes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dragoman.io.drivers.control_client import ControlClient
from dragoman.protocols.control import ControlItem
from tests.daemons import PATIENCE, Cli, daemons_of


def pid_in(result: subprocess.CompletedProcess[str]) -> int:
    """The pid that a successful `up --json` or `restart --json` named."""
    require_success(result)
    return int(json.loads(result.stdout)["pid"])


def require_success(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, (result.args, result.stdout, result.stderr)
    require_sentences(result)


def require_sentences(result: subprocess.CompletedProcess[str]) -> None:
    for word in ("Traceback", "Exception", "Error:", "line 1"):
        assert word not in result.stderr, result.stderr


def error_in(result: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The error that a command with --json ended with; code 1, and not a word of Python."""
    assert result.returncode == 1, (result.args, result.returncode, result.stdout, result.stderr)
    require_sentences(result)
    error: dict[str, str] = json.loads(result.stdout)["error"]
    assert error["message"]
    assert error["hint"]
    return error


def one_daemon(cli: Cli) -> int:
    (only,) = daemons_of(cli.home)
    return int(only.pid)


def lock_holders(cli: Cli) -> set[int]:
    """By the kernel's own table, without touching the lock."""
    inode = cli.paths.lock_file.stat().st_ino
    holders = set()
    for line in Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if "->" not in words and words[3] == "WRITE" and words[5].endswith(f":{inode}"):
            holders.add(int(words[4]))
    return holders


class Watch:
    """Polls the process table and the lock while something happens."""

    def __init__(self, cli: Cli) -> None:
        self.most_daemons = 0
        self.most_holders = 0
        self.pids: set[int] = set()
        self.looks = 0
        self._cli = cli
        self._over = threading.Event()

    def _look(self) -> None:
        while not self._over.is_set():
            pids = {process.pid for process in daemons_of(self._cli.home)}
            self.most_daemons = max(self.most_daemons, len(pids))
            self.most_holders = max(self.most_holders, len(lock_holders(self._cli)))
            self.pids |= pids
            self.looks += 1

    @classmethod
    @contextlib.contextmanager
    def over(cls, cli: Cli) -> Iterator[Watch]:
        watch = cls(cli)
        thread = threading.Thread(target=watch._look)
        thread.start()
        try:
            yield watch
        finally:
            watch._over.set()
            thread.join()


class Terminal:
    """A command on a terminal of its own, and a person who reads and types."""

    def __init__(self, cli: Cli, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            cli.command(*arguments), env={**cli.variables(), "TERM": "dumb"}, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.text = ""

    def read_until(self, words: str, within_s: float = 20) -> str:
        deadline = time.monotonic() + within_s * PATIENCE
        while words not in self.text:
            ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{words!r} did not appear in {self.text!r}"
            self.text += self._read()
        return self.text

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def ended(self, within_s: float = 30) -> int:
        """The exit code; what it still said is read meanwhile, as a terminal does."""
        deadline = time.monotonic() + within_s * PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.text
            if select.select([self._master], [], [], 0.02)[0]:
                self.text += self._read()
        while select.select([self._master], [], [], 0)[0] and (piece := self._read()):
            self.text += piece
        os.close(self._master)
        return self.process.returncode

    def _read(self) -> str:
        with contextlib.suppress(OSError):  # EIO: the other side has gone
            return os.read(self._master, 65536).decode(errors="replace")
        return ""


def journal_rows(cli: Cli) -> list[dict[str, Any]]:
    with ControlClient.open(cli.paths) as link:
        return [item.value for item in link.stream("journal_export") if isinstance(item, ControlItem)]
