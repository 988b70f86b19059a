"""Recordings on disk, which anybody may have written: opened by handle, no link followed, all bounded, told by content.

A last line that is not whole was being written when its writer ended: it is left out. One before it is a fault.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dragoman.phrases import say
from dragoman.terminal.exchange import asciicast, folders, json_lines
from dragoman.terminal.exchange.recording import Header, Item, bad_recording

MOST_BYTES = 1 << 30
MOST_LINE = 32 << 20
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def open_recording(path: Path) -> Iterator[tuple[Header, Iterator[Item]]]:
    """What is in it is read as it is asked for; the file stays open for as long as the block."""
    try:
        if path.is_dir():
            with _opened_folder(path) as opened:
                yield opened
        else:
            with _opened(os.fspath(path)) as stream:
                yield _of_lines(stream)
    except OSError as error:
        raise bad_recording(error.strerror or error) from error


@contextmanager
def _opened_folder(path: Path) -> Iterator[tuple[Header, Iterator[Item]]]:
    folder = os.open(path, _FOLDER)
    try:
        with _opened(folders.META, folder) as meta, _opened(folders.COMMANDS, folder) as commands:
            told = meta.read(folders.MOST_JSON), commands.read(folders.MOST_JSON)
        with _opened(folders.STREAM, folder) as stream:
            yield folders.read(*told, stream)
    finally:
        os.close(folder)


@contextmanager
def _opened(name: str, folder: int | None = None) -> Iterator[BinaryIO]:
    """A device or a pipe is refused before a byte of it is read."""
    fd = os.open(name, _FILE, dir_fd=folder)
    with os.fdopen(fd, "rb") as stream:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise bad_recording(say("{name} is not a file", name=ascii(name[-100:])))
        if about.st_size > MOST_BYTES:
            raise bad_recording(say("{name} is larger than {most} bytes", name=ascii(name[-100:]), most=MOST_BYTES))
        yield stream


def _of_lines(stream: BinaryIO) -> tuple[Header, Iterator[Item]]:
    lines = _values(stream)
    first = next(lines, None)
    if isinstance(first, dict) and first.get("format") == json_lines.FORMAT:
        return json_lines.read(first, lines)
    return asciicast.read(first, lines)


def _values(stream: BinaryIO) -> Iterator[Any]:
    while line := stream.readline(MOST_LINE + 1):
        if len(line) > MOST_LINE:
            raise bad_recording(say("a line of it is longer than {most} bytes", most=MOST_LINE))
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            if not line.endswith(b"\n"):
                return
            raise bad_recording(say("a line of it is not JSON")) from error
