"""The few system calls whose failure must never lose acknowledged data.

Everything that writes a file of ours or starts a process goes through one `SystemCalls`, so that a test can make the
n-th call fail (`tests.support.faulty_system`) and increase n until the scenario passes.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class SystemCalls:
    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags | os.O_CLOEXEC, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def rename(self, source: Path, target: Path) -> None:
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """Fails where the target exists, unlike `rename`."""
        os.link(source, target)

    def pipe(self) -> tuple[int, int]:
        return os.pipe()

    def terminal(self) -> tuple[int, int]:
        return os.openpty()

    def socketpair(self) -> tuple[socket.socket, socket.socket]:
        return socket.socketpair()

    def send(self, to: socket.socket, data: bytes | memoryview, descriptors: Sequence[int] = ()) -> int:
        return socket.send_fds(to, [data], descriptors) if descriptors else to.send(data)

    def spawn(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: Path,
        output: int,
        descriptors: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start a child in its own session, without our terminal; both output streams go to the descriptor `output`.

        It inherits the given `descriptors` under their own numbers, and no others.
        """
        return subprocess.Popen(  # noqa: S603  a list of arguments, never a shell
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(environment),
            cwd=cwd,
            start_new_session=True,
            pass_fds=descriptors,
        )


REAL_SYSTEM = SystemCalls()


def write_all(system: SystemCalls, fd: int, data: bytes) -> None:
    """Short writes are normal: continue until everything is written or the system refuses."""
    rest = memoryview(data)
    while rest:
        rest = rest[system.write(fd, rest) :]
