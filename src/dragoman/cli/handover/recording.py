"""The terminal recording of a shared session: an asciicast, redacted again, without what has nothing to do with it."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from dragoman.cli.handover.home_folder import HomeFolder
from dragoman.core.redaction import Redactor

_SIZE_KEYS = ("width", "height")
_BEFORE_S, _AFTER_S = 2.0, 5.0
"""Around the session: the command that started it, and what it printed last."""


class RecordingSpan(NamedTuple):
    """The time of a session, in seconds since 1970."""

    began_s: float
    ended_s: float


def redacted_recording(recording: bytes, span: RecordingSpan, redactor: Redactor, home: HomeFolder) -> bytes:
    """Only output is kept: keys and marks of the shell are not."""
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
    outputs = _outputs(rows, first, _OutputFilter(redactor, home))
    return b"".join(json.dumps(it, separators=(",", ":")).encode() + b"\n" for it in (head, *outputs))


class _OutputFilter:
    """A secret, or the name of the home, may be cut into several pieces: what could become one is held back."""

    def __init__(self, redactor: Redactor, home: HomeFolder) -> None:
        self._secrets = redactor.stream()
        self._home = home.stream()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, text: str) -> str:
        return self._home.feed(self._decoder.decode(self._secrets.feed(text.encode("utf-8", "replace"))))

    def flush(self) -> str:
        rest = self._decoder.decode(self._secrets.flush(), final=True)
        return self._home.feed(rest) + self._home.flush()


def _outputs(rows: list[list[Any]], first: float, output: _OutputFilter) -> Iterator[list[Any]]:
    at = 0.0
    for row in rows:
        at = round(row[0] - first, 3)
        if row[1] == "r":
            yield [at, "r", row[2]]
        elif row[1] == "o" and (text := output.feed(row[2])):
            yield [at, "o", text]
    if held := output.flush():
        yield [at, "o", held]
