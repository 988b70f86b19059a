"""Floods of output: `output.py NAME`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

MB = 1_000_000


def fast(size: int = 100 * MB) -> None:
    line = "x" * 99 + "\n"
    for _ in range(size // len(line)):
        sys.stdout.write(line)
    sys.stdout.flush()


def one_line(size: int = 50 * MB) -> None:
    sys.stdout.write("y" * size)
    sys.stdout.write("\nlast\n")
    sys.stdout.flush()


def single_characters(count: int = 200_000) -> None:
    for _ in range(count):
        os.write(1, b"z")


def control_sequences() -> None:
    print("\x1b[2J\x1b]52;c;aGVsbG8=\x07\x1b]0;title\x07\x9b31m\x1bP1$r\x1b\\ \u202e\u2066 \U000e0041 \0 end")


def no_text() -> None:
    os.write(1, bytes(range(256)) * 4)
    os.write(1, b"\nafter\n")


def both_streams(count: int = 20_000) -> None:
    for number in range(count):
        print(number, file=sys.stderr if number % 2 else sys.stdout)


OUTPUTS: dict[str, Callable[[], None]] = {
    "fast": fast,
    "one-line": one_line,
    "characters": single_characters,
    "control": control_sequences,
    "no-text": no_text,
    "both": both_streams,
}


def finish() -> None:
    print("finished")  # stop here


if __name__ == "__main__":
    OUTPUTS[sys.argv[1]]()
    finish()
