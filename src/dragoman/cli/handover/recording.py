"""The terminal recording of a shared session: an asciicast, redacted again, without what has nothing to do with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dragoman.core.redaction import Redactor, SecretStream

_SIZE_KEYS = ("width", "height")
_BEFORE_S, _AFTER_S = 2.0, 5.0
"""Around the session: the command that started it, and what it printed last."""


class RecordingSpan(NamedTuple):
    """The time of a session, in seconds since 1970."""

    began_s: float
    ended_s: float


def redacted_recording(recording: bytes, span: RecordingSpan, redactor: Redactor, shown: Callable[[str], str]) -> bytes:
    """`shown` replaces private parts of paths. Only output is kept: keys and marks of the shell are not."""
    if not recording:
        return b""
    header, *lines = (json.loads(line) for line in recording.splitlines())
    start_s = header["dragoman"]["started_ms"] / 1000
    begin, end = span.began_s - _BEFORE_S - start_s, span.ended_s + _AFTER_S - start_s
    rows = [row for row in lines if begin <= row[0] <= end]
    if not rows:
        return b""
    first = rows[0][0]
    head = {"version": 2, **{key: header[key] for key in _SIZE_KEYS}, "timestamp": int(start_s + first)}
    outputs = _outputs(rows, first, redactor.stream(), shown)
    return b"".join(json.dumps(it, separators=(",", ":")).encode() + b"\n" for it in (head, *outputs))


def _outputs(
    rows: list[list[Any]], first: float, secrets: SecretStream, shown: Callable[[str], str]
) -> Iterator[list[Any]]:
    """A secret may be cut into several pieces: the stream holds back what could become one."""
    at = 0.0
    for row in rows:
        at = round(row[0] - first, 3)
        if row[1] == "r":
            yield [at, "r", row[2]]
        elif row[1] == "o" and (data := secrets.feed(row[2].encode("utf-8", "replace"))):
            yield [at, "o", shown(data.decode("utf-8", "replace"))]
    if held := secrets.flush():
        yield [at, "o", shown(held.decode("utf-8", "replace"))]
