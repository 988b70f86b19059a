"""Threads, tasks and stacks: `threads.py NAME`."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable

DEPTH = 10_000


def stop() -> int:
    return 1  # stop here


def endless(*, daemon: bool) -> None:
    threading.Thread(target=time.sleep, args=(600,), name="endless", daemon=daemon).start()
    stop()


def many(count: int = 100) -> None:
    over = threading.Event()
    for _ in range(count):
        threading.Thread(target=over.wait, daemon=True).start()
    stop()
    over.set()


def all_stop(count: int = 20) -> None:
    """Every one runs into the breakpoint."""
    threads = [threading.Thread(target=stop) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def tasks(count: int = 100) -> None:
    async def one(number: int) -> int:
        await asyncio.sleep(0)
        return number + stop()

    print(sum(await asyncio.gather(*(one(number) for number in range(count)))))


def deep() -> None:
    sys.setrecursionlimit(DEPTH * 4)
    threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=descend, args=(DEPTH,))
    thread.start()
    thread.join()


def descend(depth: int) -> int:
    return descend(depth - 1) if depth else stop()


NAMES: dict[str, Callable[[], object]] = {
    "endless": lambda: endless(daemon=False),
    "daemon": lambda: endless(daemon=True),
    "many": many,
    "all-stop": all_stop,
    "asyncio": lambda: asyncio.run(tasks()),
    "deep": deep,
}

if __name__ == "__main__":
    NAMES[sys.argv[1]]()
