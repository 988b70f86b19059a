"""The parent of all supervisors: forks one per session, and ends what a killed supervisor leaves behind.

There is one per daemon, and it is warm: a fork takes a millisecond or two and shares its memory, a new interpreter
does neither. Orphans of a killed supervisor become its children. It keeps every supervisor's socket open until they
are gone, so that the daemon reads end of file only when nothing of that tree is left. If the fork server itself is
killed, the supervisors go on, and the daemon starts another one for the next session.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys

from dragoman.io.processes.descendants import ProcessTable, living_descendants, process_table
from dragoman.io.processes.supervisor import (
    GRACE_AFTER_DEATH_S,
    POLL_INTERVAL_S,
    TreeTermination,
    become_subreaper,
    child_signal_fd,
    run_supervisor,
)


class ForkServer:
    def __init__(self, daemon: socket.socket) -> None:
        self._daemon = daemon
        self._supervisors: dict[int, socket.socket] = {}
        self._orphaned: list[socket.socket] = []  # sockets of supervisors that have ended
        self._ending: TreeTermination | None = None
        self._wake = child_signal_fd()

    def run(self) -> None:
        while self._daemon.fileno() >= 0 or self._supervisors or self._orphaned:
            self._wait()
            self._reap()
            self._sweep()

    def _wait(self) -> None:
        poll = select.poll()
        for fd in (self._wake, self._daemon.fileno()):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(POLL_INTERVAL_S * 1000 if self._orphaned else None)}
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._daemon.fileno() in ready:
            self._receive()

    def _receive(self) -> None:
        """Each byte carries the socket of a new supervisor. End of file means that all end; the supervisors notice
        it themselves."""
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
        except OSError:  # the daemon reads end of file for this supervisor at once
            control.close()
            return
        if pid == 0:
            for other in (self._daemon, *self._supervisors.values(), *self._orphaned):
                other.close()
            os.close(self._wake)
            run_supervisor(control)
        self._supervisors[pid] = control

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) > 0:
                if pid in self._supervisors:
                    self._orphaned.append(self._supervisors.pop(pid))

    def _sweep(self) -> None:
        """After a supervisor that ended by itself, nothing is left to end."""
        if not self._orphaned:
            return
        if self._ending is None and self._orphans():
            self._ending = TreeTermination(self._orphans, GRACE_AFTER_DEATH_S)
        if self._ending is None or self._ending.is_over():
            self._ending = None
            while self._orphaned:
                self._orphaned.pop().close()

    def _orphans(self) -> ProcessTable:
        table = process_table()
        for pid in self._supervisors:
            table.pop(pid, None)
        return living_descendants(os.getpid(), table)


def main() -> None:
    control = int(sys.argv[1])
    os.set_inheritable(control, False)
    become_subreaper()
    ForkServer(socket.socket(fileno=control)).run()
    os._exit(0)  # nothing to clean up, and the daemon may be waiting
