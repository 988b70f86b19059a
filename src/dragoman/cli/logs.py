"""`dragoman logs`: the newest lines of the log file, readable; `-f` follows it over rotations."""

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

from dragoman.cli.output import ExitCode, show_text, shown, warn
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.visible import visible

_LOOK_EVERY_S = 0.2


def logs(
    *,
    follow: Annotated[bool, Parameter(alias="-f", negative="", help=shown(say("Go on with what comes.")))] = False,
    lines: Annotated[int, Parameter(alias="-n", help=shown(say("How many of the newest lines.")))] = 50,
    json: Annotated[bool, Parameter(negative="", help=shown(say("The lines as they are stored.")))] = False,
) -> int:
    file = find_places().log_file
    if not file.exists():
        warn(say("There is no log yet: {path}", path=file))
        return ExitCode.OK
    readable = _as_json if json else _readable
    with file.open(encoding="utf-8", errors="replace") as stream:
        for line in deque(stream, maxlen=max(0, lines)):
            show_text(readable(line))
        for line in _following(file, stream) if follow else ():
            show_text(readable(line))
    return ExitCode.OK


def _following(file: Path, stream: TextIO) -> Iterator[str]:
    """Every new line until Ctrl-C, from where the stream stands, over rotations."""
    yield from _until_rotated(file, stream)
    while True:
        with file.open(encoding="utf-8", errors="replace") as renewed:
            yield from _until_rotated(file, renewed)


def _until_rotated(file: Path, stream: TextIO) -> Iterator[str]:
    """Whole lines; a file that was rotated away is read to its end first, for what came between two looks."""
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
        sys.stdout.flush()  # who follows wants it now, also through a pipe
        time.sleep(_LOOK_EVERY_S)


def _rotated(file: Path, stream: TextIO) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return file.stat().st_ino != os.fstat(stream.fileno()).st_ino
    return False


def _readable(line: str) -> str:
    """Stored text may hold escape sequences that a program printed: they are shown, never sent to the terminal."""
    try:
        row = jsonlib.loads(line)
        text = f"{row['at']} {row['level']:<7} {row['from']}: {row['message']}"
        text += f"\n{row['exception']}" if "exception" in row else ""
    except (ValueError, KeyError, TypeError):
        text = line.rstrip("\n")
    return visible(text)


def _as_json(line: str) -> str:
    """As stored, in ASCII: JSON itself escapes the C0 controls alone, and a terminal obeys C1 as well."""
    try:
        return jsonlib.dumps(jsonlib.loads(line))
    except ValueError:
        return visible(line.rstrip("\n"))
