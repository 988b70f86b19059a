"""One daemon a user: the lock is the truth, the state file is a note for those who look.

A state file without the lock belongs to a dead process, whatever pid stands in it.
"""

from __future__ import annotations

import contextlib
import os
import time

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.places import Places
from dragoman.transport.lock import FileLock
from dragoman.transport.private_files import ensure_private_folder, replace_private
from dragoman.transport.system import REAL_SYSTEM, System
from dragoman.wire.control import DaemonState

# A daemon that is ending lets go within its shutdown deadline; a starter waits that long, then names the holder.
ENDING_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.02


class Instance:
    """The right to be the daemon, from `acquire` to `release`."""

    def __init__(self, places: Places, *, system: System = REAL_SYSTEM) -> None:
        self._places = places
        self._system = system
        self._lock = FileLock(places.lock_file)

    def acquire(self, *, wait_s: float = 0.0) -> None:
        ensure_private_folder(self._places.runtime)
        deadline = time.monotonic() + wait_s
        while not self._lock.try_acquire():
            if time.monotonic() >= deadline:
                raise DragomanError(
                    "already_running",
                    say("A daemon is running already."),
                    hint=say("See it with `dragoman status`; replace it with `dragoman up --take-over`."),
                )
            time.sleep(_LOOK_EVERY_S)
        self._remove_traces()

    def publish(self, state: DaemonState) -> None:
        replace_private(self._places.state_file, state.encode(), system=self._system)

    def release(self) -> None:
        """Traces first, lock last: nobody starts while ours are still there."""
        self._remove_traces()
        self._lock.release()

    def _remove_traces(self) -> None:
        for path in (self._places.state_file, self._places.socket):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108  unlink of a name, never followed
