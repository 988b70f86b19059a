"""What is between two machines: copies bytes in both directions, late if asked to, and breaks when it is told to.

    link_proxy.py [OPTIONS] connect HOST PORT     for `ProxyCommand`
    link_proxy.py [OPTIONS] run COMMAND …         in place of a target's command

A fault begins with the next bytes after it was written into the control file, or after so many bytes to the near side.
What arrives there is faulted, except where the name says otherwise. Standard library alone: it starts with every `ssh`.
"""

from __future__ import annotations

import argparse
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

CHUNK = 1 << 16
LOOK_S = 0.02
"""How often the control file is read."""


class _EndError(Exception):
    """A fault that ends the proxy, or the end of both sides."""


class Direction:
    """Bytes on their way from one descriptor to another, each chunk with the time when it is due."""

    def __init__(self, source: int, to: int, delay_s: float) -> None:
        self.source = source
        self.to = to
        self.is_open = True
        self._delay_s = delay_s
        self._waiting: deque[tuple[float, bytes]] = deque()

    def take(self, change: Callable[[bytes], bytes]) -> None:
        data = os.read(self.source, CHUNK)
        self.is_open = bool(data)
        self._waiting.append((time.monotonic() + self._delay_s, change(data) if data else b""))

    def due_s(self) -> float | None:
        return max(0.0, self._waiting[0][0] - time.monotonic()) if self._waiting else None

    def deliver(self, *, bytewise: bool) -> None:
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            data = self._waiting.popleft()[1]
            if not data:
                raise _EndError
            step = 1 if bytewise else len(data)
            while data:
                data = data[os.write(self.to, data[:step]) :]


class LinkProxy:
    def __init__(self, near: tuple[int, int], far: tuple[int, int], options: argparse.Namespace) -> None:
        delay_s = options.round_trip_ms / 2000
        self._to_far = Direction(near[0], far[1], delay_s)
        self._to_near = Direction(far[0], near[1], delay_s)
        self._options = options
        self._control: Path | None = options.control
        self._fault = ""
        self._is_done = False
        self._looked = 0.0
        self.passed = 0
        """Bytes to the near side."""

    def run(self) -> None:
        while True:
            self._look()
            directions = [] if self._fault == "hang" else [self._to_far, self._to_near]
            if self._fault in {"hang_to_near", "hang_to_far"}:
                directions = [self._to_far if self._fault == "hang_to_near" else self._to_near]
            dues = [due for it in directions if (due := it.due_s()) is not None]
            wait = min([*dues, LOOK_S if self._control else 60.0])
            ready, _, _ = select.select([it.source for it in directions if it.is_open], [], [], wait)
            for it in directions:
                if it.source in ready:
                    it.take(self._faulted if it is self._to_near else bytes)
                it.deliver(bytewise=self._fault == "bytewise")

    def _look(self) -> None:
        if self._control is None or time.monotonic() - self._looked < LOOK_S:
            return
        self._looked = time.monotonic()
        fault = self._control.read_text() if self._control.exists() else ""
        if fault != self._fault:
            self._fault, self._is_done = fault, False
        if fault == "die":
            raise _EndError

    def _faulted(self, data: bytes) -> bytes:
        """The bytes before the fault are passed on as they are."""
        before = self._options.after - self.passed
        self.passed += len(data)
        if not self._options.fault or before >= len(data):
            return self._changed(data)
        whole = data[: max(0, before)]
        self._fault = self._options.fault
        if self._fault in {"die", "cut"}:
            os.write(1, whole + (data[len(whole) :][:1] if self._fault == "cut" else b""))
            raise _EndError
        if self._fault == "hang":
            return whole
        return whole + self._changed(data[len(whole) :])

    def _changed(self, data: bytes) -> bytes:
        """Once per fault, in the first bytes after it."""
        change = _CHANGES.get(self._fault)
        if change is None or self._is_done:
            return data
        self._is_done = True
        return change(data)


def _cut(data: bytes) -> bytes:
    os.write(1, data[: len(data) // 2])
    raise _EndError


_CHANGES: Mapping[str, Callable[[bytes], bytes]] = {
    "drop": lambda data: data[: len(data) // 2] + data[len(data) // 2 + 1 :],
    "drop_all": lambda _: b"",
    "duplicate": lambda data: data + data,
    "flip": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "insert": lambda data: b"\n" + data,
    "cut": _cut,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--round-trip-ms", type=float, default=0.0)
    parser.add_argument("--control", type=Path)
    parser.add_argument("--fault", default="")
    parser.add_argument("--after", type=int, default=0)
    parser.add_argument("--count", type=Path, help="a file for the number of bytes to the near side")
    parser.add_argument("kind", choices=("connect", "run"))
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    process: subprocess.Popen[bytes] | None = None
    if given.kind == "connect":
        sock = socket.create_connection((given.words[0], int(given.words[1])))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        far = (sock.fileno(), sock.fileno())
    else:
        process = subprocess.Popen(given.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        far = (process.stdout.fileno(), process.stdin.fileno())
    proxy = LinkProxy((0, 1), far, given)
    try:
        proxy.run()
    except (_EndError, OSError):
        pass
    finally:
        if given.count:
            given.count.write_text(str(proxy.passed))
        if process is not None:
            process.kill()
            sys.exit(process.wait() and 255)


if __name__ == "__main__":
    main()
