"""One daemon a user: the lock is the truth, the state file is a note for those who look.

A state file without the lock belongs to a dead process, whatever pid stands in it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.places import Places
from dragoman.transport.lock import FileLock
from dragoman.transport.private_files import ensure_private_folder, replace_private
from dragoman.transport.system import REAL_SYSTEM, System
from dragoman.wire.control import DaemonState

# Whoever asks whether the lock is held takes it for a moment: one refusal does not prove a daemon.
_LOOKED_AT_S = 0.1
_TRY_EVERY_S = 0.02


class Instance:
    """The right to be the daemon, from `acquire` to `release`, or to the end of the process."""

    def __init__(self, places: Places, *, system: System = REAL_SYSTEM) -> None:
        self._places = places
        self._system = system
        self._lock = FileLock(places.lock_file)

    async def acquire(self, *, wait_s: float = 0.0) -> None:
        for folder in (self._places.runtime, self._places.state):
            ensure_private_folder(folder)
        deadline = time.monotonic() + max(wait_s, _LOOKED_AT_S)
        while not self._lock.try_acquire():
            if time.monotonic() >= deadline:
                raise DragomanError(
                    "already_running",
                    say("A daemon is running already."),
                    hint=say("See it with `dragoman status`; replace it with `dragoman up --take-over`."),
                )
            await anyio.sleep(_TRY_EVERY_S)
        try:
            self._remove_what_a_dead_one_left()
        except BaseException:
            self._lock.release()
            raise

    def publish(self, state: DaemonState) -> None:
        replace_private(self._places.state_file, state.encode(), system=self._system)

    def withdraw(self) -> None:
        """Take the traces away and keep the lock: the kernel lets go of it when the process has really ended."""
        sockets = [
            (path, stat.S_ISSOCK) for path in (self._places.socket, self._places.omnish_socket, self._places.dap_socket)
        ]
        for path, is_kind in ((self._places.state_file, stat.S_ISREG), *sockets):
            with contextlib.suppress(DragomanError, OSError):
                _remove_own(path, is_kind)

    def release(self) -> None:
        """Traces first, lock last: nobody starts while ours are still there."""
        self.withdraw()
        self._lock.release()

    def _remove_what_a_dead_one_left(self) -> None:
        """Its state file, and drafts that were never renamed: one of the tokens would keep them in a second place."""
        _remove_own(self._places.state_file)
        drafts = [*self._places.runtime.glob(f".{self._places.state_file.name}.*.new")]
        for draft in (*drafts, *self._places.tokens_folder.glob(".*.new")):
            _remove_own(draft)


def _remove_own(path: Path, is_kind: Callable[[int], bool] = stat.S_ISREG) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not is_kind(status.st_mode) or status.st_uid != os.getuid():
        raise DragomanError(
            "unsafe_file",
            say("{path} is in the way: it is not a file of yours.", path=path),
            hint=say("Remove it, or point DRAGOMAN_HOME at a folder of your own."),
        )
    path.unlink()
