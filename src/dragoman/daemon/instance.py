"""One daemon per user. The lock decides; the state file is only information.

A state file without the lock belongs to a dead process, whatever pid it names.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.paths import Paths
from dragoman.io.files.lock import FileLock
from dragoman.io.files.private_files import ensure_private_folder, replace_private
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.protocols.control import DaemonState

# A check whether the lock is held takes it for a moment, so one failure does not prove that a daemon runs.
_LOOKED_AT_S = 0.1
_TRY_EVERY_S = 0.02


class Instance:
    """The right to be the daemon, from `acquire` to `release` or the end of the process."""

    def __init__(self, paths: Paths, *, system: SystemCalls = REAL_SYSTEM) -> None:
        self._paths = paths
        self._system = system
        self._lock = FileLock(paths.lock_file)

    async def acquire(self, *, wait_s: float = 0.0) -> None:
        for folder in (self._paths.runtime, self._paths.state):
            ensure_private_folder(folder)
        deadline = time.monotonic() + max(wait_s, _LOOKED_AT_S)
        while not self._lock.try_acquire():
            if time.monotonic() >= deadline:
                raise DragomanError(
                    "already_running",
                    localize("A daemon is already running."),
                    hint=localize("Run `dragoman status` to see it, or `dragoman up --take-over` to replace it."),
                )
            await anyio.sleep(_TRY_EVERY_S)
        try:
            self._remove_leftovers()
        except BaseException:
            self._lock.release()
            raise

    def publish(self, state: DaemonState) -> None:
        replace_private(self._paths.state_file, state.encode(), system=self._system)

    def withdraw(self) -> None:
        """Remove the files but keep the lock: the kernel releases it when the process has really ended."""
        sockets = [
            (path, stat.S_ISSOCK) for path in (self._paths.socket, self._paths.omnish_socket, self._paths.dap_socket)
        ]
        for path, is_kind in ((self._paths.state_file, stat.S_ISREG), *sockets):
            with contextlib.suppress(DragomanError, OSError):
                _remove_own(path, is_kind)

    def release(self) -> None:
        """Remove the files, then release the lock, so that nobody starts while our files are there."""
        self.withdraw()
        self._lock.release()

    def _remove_leftovers(self) -> None:
        """Remove the state file of a dead daemon, and temporary files that were never renamed: some may hold tokens."""
        _remove_own(self._paths.state_file)
        drafts = [*self._paths.runtime.glob(f".{self._paths.state_file.name}.*.new")]
        for draft in (*drafts, *self._paths.tokens_folder.glob(".*.new")):
            _remove_own(draft)


def _remove_own(path: Path, is_kind: Callable[[int], bool] = stat.S_ISREG) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not is_kind(status.st_mode) or status.st_uid != os.getuid():
        raise DragomanError(
            "unsafe_file",
            localize("{path} exists and is not your file.", path=path),
            hint=localize("Remove it, or set DRAGOMAN_HOME to a folder you own."),
        )
    path.unlink()
