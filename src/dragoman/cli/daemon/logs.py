"""`dragoman logs`: the newest lines of the daemon's log file; `-f` follows it across rotations."""

from __future__ import annotations

import contextlib
import json as jsonlib
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TextIO

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, render, show_text, warn
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.core.safe_text import printable

_POLL_INTERVAL_S = 0.2


def logs(
    *,
    follow: Annotated[bool, Parameter(alias="-f", negative="", help=render(localize("Follow new entries.")))] = False,
    lines: Annotated[int, Parameter(alias="-n", help=render(localize("Number of newest lines to show.")))] = 50,
    json: Annotated[bool, Parameter(negative="", help=render(localize("Print the raw lines.")))] = False,
) -> int:
    file = find_paths().log_file
    if not file.exists():
        warn(localize("No log yet: {path}", path=file))
        return ExitCode.OK
    readable = _format_json if json else _format_line
    with file.open(encoding="utf-8", errors="replace") as stream:
        for line in deque(stream, maxlen=max(0, lines)):
            show_text(readable(line))
        for line in _follow(file, stream) if follow else ():
            show_text(readable(line))
    return ExitCode.OK


def _follow(file: Path, stream: TextIO) -> Iterator[str]:
    """Yield new lines until Ctrl-C, across rotations."""
    yield from _until_rotated(file, stream)
    while True:
        with file.open(encoding="utf-8", errors="replace") as renewed:
            yield from _until_rotated(file, renewed)


def _until_rotated(file: Path, stream: TextIO) -> Iterator[str]:
    """Yield complete lines. After a rotation, read the old file to its end first."""
    rest = ""
    while True:
        rotated = _rotated(file, stream)
        for piece in stream:
            rest += piece
            if rest.endswith("\n"):
                yield rest
                rest = ""
        if rotated:
            return
        sys.stdout.flush()  # show it immediately, also in a pipe
        time.sleep(_POLL_INTERVAL_S)


def _rotated(file: Path, stream: TextIO) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return file.stat().st_ino != os.fstat(stream.fileno()).st_ino
    return False


def _format_line(line: str) -> str:
    """Format a line for a person. Escape sequences in stored text are shown, never sent to the terminal."""
    try:
        row = jsonlib.loads(line)
        text = f"{row['at']} {row['level']:<7} {row['from']}: {row['message']}"
        text += f"\n{row['exception']}" if "exception" in row else ""
    except (ValueError, KeyError, TypeError):
        text = line.rstrip("\n")
    return printable(text)


def _format_json(line: str) -> str:
    """Print the stored JSON in ASCII: JSON escapes only the C0 controls, but terminals also interpret C1."""
    try:
        return jsonlib.dumps(jsonlib.loads(line))
    except ValueError:
        return printable(line.rstrip("\n"))
