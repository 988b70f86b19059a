"""System calls that fail at the n-th call: raise n until the scenario runs without a fault."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from dragoman.io.files.system_calls import SystemCalls


class FaultySystem(SystemCalls):
    """Fails call number `fail_at` (of all kinds together) with `code`; `short` makes that write a short one instead."""

    def __init__(self, fail_at: int, *, code: int = errno.ENOSPC, short: bool = False) -> None:
        self.fail_at = fail_at
        self.code = code
        self.short = short
        self.calls = 0

    @property
    def reached(self) -> bool:
        return self.calls >= self.fail_at

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        self._count()
        return super().open(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.short and self.calls + 1 == self.fail_at:
            self.calls += 1
            return super().write(fd, memoryview(data)[: max(1, len(data) // 2)])
        self._count()
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._count()
        super().fsync(fd)

    def rename(self, source: Path, target: Path) -> None:
        self._count()
        super().rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._count()
        super().link(source, target)

    def pipe(self) -> tuple[int, int]:
        self._count()
        return super().pipe()

    def terminal(self) -> tuple[int, int]:
        self._count()
        return super().terminal()

    def socketpair(self) -> tuple[socket.socket, socket.socket]:
        self._count()
        return super().socketpair()

    def send(self, to: socket.socket, data: bytes | memoryview, descriptors: Sequence[int] = ()) -> int:
        self._count()
        return super().send(to, data, descriptors)

    def spawn(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: Path,
        output: int,
        descriptors: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        self._count()
        return super().spawn(command, environment=environment, cwd=cwd, output=output, descriptors=descriptors)

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.fail_at:
            raise OSError(self.code, os.strerror(self.code))
