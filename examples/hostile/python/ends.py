"""Ways to end: `ends.py NAME`."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn


class MessageRaises(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no message for you")


def by_signal(number: int) -> None:
    os.kill(os.getpid(), number)


def huge_message() -> NoReturn:
    raise ValueError("m" * 2_000_000)


def bad_message() -> NoReturn:
    raise MessageRaises


def chained() -> NoReturn:
    try:
        {}["missing"]
    except KeyError as error:
        raise ValueError("while asking") from error


def grouped() -> NoReturn:
    raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])


def base_exception() -> NoReturn:
    raise KeyboardInterrupt


def recursion(depth: int = 0) -> int:
    return recursion(depth + 1)


def orderly() -> None:
    """Nothing more: the end of the file is the end."""


ENDS: dict[str, Callable[[], object]] = {
    "at-once": orderly,
    "exit-3": lambda: sys.exit(3),
    "exit-words": lambda: sys.exit("words for standard error"),
    "exit-hard": lambda: os._exit(3),
    "abort": os.abort,
    "segfault": lambda: ctypes.string_at(0),
    "SIGKILL": lambda: by_signal(signal.SIGKILL),
    "SIGTERM": lambda: by_signal(signal.SIGTERM),
    "huge-message": huge_message,
    "bad-message": bad_message,
    "chained": chained,
    "grouped": grouped,
    "interrupt": base_exception,
    "recursion": recursion,
}

if __name__ == "__main__":
    ENDS[sys.argv[1]]()
