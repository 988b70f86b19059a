"""Programs that are hard to end, and how to look at them from outside."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import anyio

from dragoman.io.net.streams import PipeReader
from dragoman.io.processes.command import ProcessCommand, Stdio
from dragoman.io.processes.descendants import process_table
from tests.daemons import PATIENCE

PATH = {"PATH": os.environ["PATH"]}

# A child, a grandchild in a session of its own whose parent is gone, and both deaf to SIGTERM; their pids are told.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b"%d\\n" % os.getpid())
        time.sleep(600)
    os._exit(0)
os.wait()
os.write(1, b"%d\\n" % os.getpid())
time.sleep(600)
"""


def python(code: str, *arguments: str, stdio: Stdio = Stdio.PIPES, cwd: Path = Path("/")) -> ProcessCommand:
    return ProcessCommand([sys.executable, "-I", "-S", "-c", code, *arguments], PATH, cwd, stdio)


def shell(line: str, stdio: Stdio = Stdio.PIPES) -> ProcessCommand:
    return ProcessCommand(["sh", "-c", line], PATH, Path("/"), stdio)


async def lines(stream: PipeReader) -> AsyncIterator[str]:
    buffer = b""
    while True:
        buffer += await stream.receive()
        *whole, buffer = buffer.split(b"\n")
        for line in whole:
            yield line.decode()


async def first_lines(stream: PipeReader, count: int) -> list[str]:
    found: list[str] = []
    with anyio.fail_after(20 * PATIENCE):
        async for line in lines(stream):
            found.append(line)
            if len(found) == count:
                break
    return found


async def everything(stream: PipeReader) -> bytes:
    data = b""
    with anyio.fail_after(20 * PATIENCE):
        while True:
            try:
                data += await stream.receive()
            except anyio.EndOfStream:
                return data


def alive(pids: Iterable[int]) -> list[int]:
    table = process_table()
    return [pid for pid in pids if pid in table and not table[pid].is_dead]


async def until(condition: Callable[[], object], within_s: float = 10) -> None:
    with anyio.fail_after(within_s * PATIENCE):
        while not condition():  # noqa: ASYNC110  what is watched is outside of this process
            await anyio.sleep(0.005)


def descriptors_of(pid: int) -> set[int]:
    return {int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()}


def open_descriptors() -> int:
    return len(descriptors_of(os.getpid()))
