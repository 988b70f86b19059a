"""Finds the first line in which a file differs from the one on another machine, by hashes of its lines.

Only the far side sends hashes. What comes from here is the path, which it knows, and how many lines to hash: a far side
that lies learns nothing about a local file.
"""

from __future__ import annotations

import base64
import os
import stat
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_FILE = 2 << 20
MAX_HASHES = 5000
"""Per reply, so that it fits into one frame of the pipe."""
_SIZE = 4


@dataclass(slots=True)
class FileComparison:
    """One file. `query` says what to ask next; `take` reads the reply, and returns whether there is nothing to ask."""

    path: str
    """On the other machine."""
    lines: Sequence[bytes]
    first_difference: int | None = None
    """The number of a line, once `take` has returned True; None: the same, or not known."""
    _first: int = field(default=0)
    _step: int = field(default=0)

    def __post_init__(self) -> None:
        self._step = max(1, -(-len(self.lines) // (MAX_HASHES - 1)))

    @property
    def query(self) -> dict[str, Any]:
        return {"query": "lines", "path": self.path, "first": self._first, "step": self._step, "count": MAX_HASHES}

    def handle_reply(self, reply: Mapping[str, Any]) -> bool:
        total, theirs = reply.get("lines"), _decoded(reply.get("hashes"))
        if not isinstance(total, int) or theirs is None:
            return True
        ours = line_hashes(self.lines, self._first, self._step, MAX_HASHES)
        pairs = zip(ours, theirs, strict=False)
        block = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(ours), len(theirs)))
        if block == len(ours) == len(theirs) and total == len(self.lines):
            return True
        at = self._first + block * self._step
        if self._step == 1 or at >= len(self.lines):
            self.first_difference = at + 1
            return True
        self._first, self._step = at, 1
        return False


def line_hashes(lines: Sequence[bytes], first: int, step: int, count: int) -> list[bytes]:
    """One hash for each `step` lines."""
    starts = range(first, min(len(lines), first + step * count), step)
    return [zlib.crc32(b"\n".join(lines[at : at + step])).to_bytes(_SIZE, "big") for at in starts]


def answer_lines(query: Mapping[str, Any]) -> dict[str, Any]:
    """The reply of the machine that has the file."""
    path, first, step, count = (query.get(name) for name in ("path", "first", "step", "count"))
    if not isinstance(path, str) or not path.startswith("/"):
        return {}
    if not (isinstance(first, int) and isinstance(step, int) and isinstance(count, int)):
        return {}
    lines = read_lines(Path(path))
    if lines is None:
        return {}
    hashes = line_hashes(lines, max(0, first), max(1, step), min(count, MAX_HASHES))
    return {"lines": len(lines), "hashes": base64.b64encode(b"".join(hashes)).decode()}


def read_lines(file: Path) -> list[bytes] | None:
    """The lines without their ends; None if it is not a file that can be compared."""
    try:
        with open(file, "rb", opener=_open_at_once) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE:
                return None
            data = stream.read(MAX_FILE)
    except (OSError, ValueError):
        return None
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    return lines[:-1] if not lines[-1] else lines


def _open_at_once(file: str, flags: int) -> int:
    """A named pipe without a writer would be waited for."""
    return os.open(file, flags | os.O_NONBLOCK)


def _decoded(hashes: object) -> list[bytes] | None:
    if not isinstance(hashes, str):
        return None
    try:
        data = base64.b64decode(hashes, validate=True)
    except ValueError:
        return None
    return [data[at : at + _SIZE] for at in range(0, len(data), _SIZE)] if len(data) % _SIZE == 0 else None
