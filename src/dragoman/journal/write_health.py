"""Whether the journal can be written: the last error, and the probe that finds out when it is over.

When a disk has room again, no caller may be writing. So after an error a small file is written and removed once per
second until that works.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dragoman.core.errors import DragomanError, disk_full
from dragoman.io.files.system_calls import SystemCalls, write_all

TRY_AGAIN_S = 1.0
_NEEDED_BYTES = 64 * 1024
_OF_WRITING = frozenset({"disk_full", "journal_io_failed"})
_FILE = ".room"


class WriteHealth:
    """Belongs to the journal's event loop; `attempt` has the writer's thread prove that there is room."""

    def __init__(self, folder: Path, attempt: Callable[[], asyncio.Future[Any]]) -> None:
        self._folder, self._attempt = folder, attempt
        self._fault: DragomanError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def fault(self) -> DragomanError | None:
        """A full disk is detected before the first write fails on it."""
        if self._fault is not None:
            return self._fault
        with suppress(OSError):
            disk = os.statvfs(self._folder)
            if disk.f_blocks and disk.f_bavail * disk.f_frsize < _NEEDED_BYTES:
                return disk_full()
        return None

    def note(self, outcome: object) -> None:
        """Note the result of a write; other errors are ignored here."""
        if isinstance(outcome, DragomanError) and outcome.code in _OF_WRITING:
            self._fault = outcome
            if self._timer is None and not self._is_closed:
                self._timer = asyncio.get_running_loop().call_later(TRY_AGAIN_S, self._try)

    def close(self) -> None:
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _try(self) -> None:
        self._attempt().add_done_callback(self._tried)

    def _tried(self, done: asyncio.Future[Any]) -> None:
        self._timer = None
        error = None if done.cancelled() else done.exception()
        if error is None:
            self._fault = None
        else:
            self.note(error)


def prove_room(folder: Path, system: SystemCalls) -> None:
    """Raises the error that a write of the record would meet now."""
    path = folder / _FILE
    path.unlink(missing_ok=True)
    descriptor = system.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
    try:
        write_all(system, descriptor, bytes(_NEEDED_BYTES))
        system.fsync(descriptor)
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)
