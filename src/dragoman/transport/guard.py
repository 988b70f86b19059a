"""The parent of all supervisors: forks one for each session, and ends what a supervisor that was killed has left.

One for the daemon, and warm: a fork takes a millisecond or two and shares its memory, a new interpreter neither.
Orphans of a killed supervisor become the guard's children. It keeps every supervisor's socket open until then, so
that the daemon reads its end of file only when nothing of that tree lives. Should the guard be killed itself, the
supervisors go on; the daemon starts another guard for the next session.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys

from dragoman.transport.descendants import Table, living_descendants, process_table
from dragoman.transport.supervisor import (
    GRACE_AFTER_DEATH_S,
    LOOK_EVERY_S,
    Ending,
    become_subreaper,
    supervise,
    woken_by_children,
)


class Guard:
    def __init__(self, daemon: socket.socket) -> None:
        self._daemon = daemon
        self._supervisors: dict[int, socket.socket] = {}
        self._bereaved: list[socket.socket] = []  # of supervisors that are gone
        self._ending: Ending | None = None
        self._wake = woken_by_children()

    def run(self) -> None:
        while self._daemon.fileno() >= 0 or self._supervisors or self._bereaved:
            self._wait()
            self._reap()
            self._sweep()

    def _wait(self) -> None:
        poll = select.poll()
        for fd in (self._wake, self._daemon.fileno()):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(LOOK_EVERY_S * 1000 if self._bereaved else None)}
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._daemon.fileno() in ready:
            self._receive()

    def _receive(self) -> None:
        """Each byte brings the socket of a new supervisor. The end means the end of all, which they read themselves."""
        try:
            data, descriptors, *_ = socket.recv_fds(self._daemon, 1, 1)
        except OSError:
            data, descriptors = b"", []
        for fd in descriptors:
            os.set_inheritable(fd, False)
            self._fork(socket.socket(fileno=fd))
        if not data:
            self._daemon.close()

    def _fork(self, control: socket.socket) -> None:
        try:
            pid = os.fork()
        except OSError:  # the daemon reads the end of this supervisor at once
            control.close()
            return
        if pid == 0:
            for other in (self._daemon, *self._supervisors.values(), *self._bereaved):
                other.close()
            os.close(self._wake)
            supervise(control)
        self._supervisors[pid] = control

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) > 0:
                if pid in self._supervisors:
                    self._bereaved.append(self._supervisors.pop(pid))

    def _sweep(self) -> None:
        """After a supervisor that ended by itself there is nobody to end."""
        if not self._bereaved:
            return
        if self._ending is None and self._orphans():
            self._ending = Ending(self._orphans, GRACE_AFTER_DEATH_S)
        if self._ending is None or self._ending.is_over():
            self._ending = None
            while self._bereaved:
                self._bereaved.pop().close()

    def _orphans(self) -> Table:
        table = process_table()
        for pid in self._supervisors:
            table.pop(pid, None)
        return living_descendants(os.getpid(), table)


def main() -> None:
    control = int(sys.argv[1])
    os.set_inheritable(control, False)
    become_subreaper()
    Guard(socket.socket(fileno=control)).run()
    os._exit(0)  # nothing to clean up, and the daemon may be waiting
