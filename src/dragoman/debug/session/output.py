"""What a program printed, bounded, with cursors that report how much was missed."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from dragoman.core.clock import Clock, SystemClock
from dragoman.core.redaction import SecretStream
from dragoman.debug.session.lifecycle import ChangeSignal

RETAINED_CHARACTERS = 1 << 20
_MAX_CHUNKS = 20_000
_CHUNK_CHARACTERS = 2048  # a program may print one character at a time, so small pieces are joined


# When what was printed, for a replay: finer than a person sees, and bounded however long a program prints.
_MARK_NS = 50_000_000
_MAX_MARKS = 4_000


class OutputMark(NamedTuple):
    """By then everything before `end` had been printed."""

    at_ns: int
    end: int


class OutputChunk(NamedTuple):
    start: int
    category: str
    text: str


class ProgramOutputPage(NamedTuple):
    text: str
    missed: int
    """The number of characters before the text that have been dropped."""
    next: int
    """The cursor to read on with."""


class SessionOutput:
    """Positions count every character that was ever printed, so a cursor stays valid after old pieces are dropped.

    With `secrets`, they are replaced as output arrives, however it is cut into pieces: a reader that continues from a
    cursor never sees the rest of one. `raw` is what the program printed, for the person whose editor has joined the
    session.
    """

    def __init__(
        self,
        kept: int = RETAINED_CHARACTERS,
        changes: ChangeSignal | None = None,
        secrets: Callable[[], SecretStream] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.raw: SessionOutput = SessionOutput(kept, changes) if secrets else self
        self._clock = clock or SystemClock()
        self._marks: list[OutputMark] = []
        self._secrets = secrets
        self._filters: dict[str, _SecretFilter] = {}
        self._kept = kept
        self._changes = changes or ChangeSignal()
        self._pieces: deque[OutputChunk] = deque()
        self._held = 0
        self._end = 0
        self._lines = 0

    @property
    def start(self) -> int:
        return self._end - self._held

    @property
    def end(self) -> int:
        self._flush_filters()
        return self._end

    @property
    def lines(self) -> int:
        """The number of all lines that ended, including those that have been dropped."""
        self._flush_filters()
        return self._lines

    def append(self, category: str, text: str) -> None:
        if self._secrets is None:
            self._append(category, text)
            return
        self.raw.append(category, text)
        if category not in self._filters:
            self._filters[category] = _SecretFilter(self._secrets())
        self._append(category, self._filters[category].feed(text))

    def _flush_filters(self) -> None:
        """Decides about text that was held back because a secret may begin in it: a reader sees everything."""
        for category, held in self._filters.items():
            self._append(category, held.flush())

    def _append(self, category: str, text: str) -> None:
        if not text:
            return
        kept = text[-self._kept :]
        self._end += len(text)
        self._lines += text.count("\n")
        self._held += len(kept)
        self._add(OutputChunk(self._end - len(kept), category, kept))
        self._mark_time()
        while len(self._pieces) > 1 and (self._held > self._kept or len(self._pieces) > _MAX_CHUNKS):
            self._held -= len(self._pieces.popleft().text)
        self._changes.notify()

    def _add(self, piece: OutputChunk) -> None:
        last = self._pieces[-1] if self._pieces else None
        follows = last is not None and last.start + len(last.text) == piece.start
        if (
            last is None
            or last.category != piece.category
            or not follows
            or len(last.text) + len(piece.text) > _CHUNK_CHARACTERS
        ):
            self._pieces.append(piece)
        else:
            self._pieces[-1] = last._replace(text=last.text + piece.text)

    def _mark_time(self) -> None:
        mark = OutputMark(self._clock.wall_ns(), self._end)
        if self._marks and mark.at_ns - self._marks[-1].at_ns < _MARK_NS:
            self._marks[-1] = OutputMark(self._marks[-1].at_ns, self._end)
            return
        if len(self._marks) >= _MAX_MARKS:
            del self._marks[:-2:2]  # the older ones become coarser
        self._marks.append(mark)

    @property
    def marks(self) -> tuple[OutputMark, ...]:
        return tuple(self._marks)

    def pieces(self, cursor: int) -> list[OutputChunk]:
        """Everything after the cursor, each piece with its category. Text that has been dropped is missing."""
        self._flush_filters()
        chunks: list[OutputChunk] = []
        for piece in reversed(self._pieces):
            if piece.start + len(piece.text) <= cursor:
                break
            seen = max(0, cursor - piece.start)
            chunks.append(OutputChunk(piece.start + seen, piece.category, piece.text[seen:]))
        return chunks[::-1]

    def since(self, cursor: int, *, most: int, categories: frozenset[str] = frozenset()) -> tuple[str, int]:
        """The newest `most` characters after the cursor, and how many before them were cut or dropped."""
        self._flush_filters()
        texts = [
            piece.text[max(0, cursor - piece.start) :]
            for piece in self._pieces
            if piece.start + len(piece.text) > cursor and (not categories or piece.category in categories)
        ]
        whole = "".join(texts)
        missed = max(0, self.start - cursor)
        return whole[-most:] if most else "", missed + max(0, len(whole) - most)

    def page(self, cursor: int, *, most: int, categories: frozenset[str] = frozenset()) -> ProgramOutputPage:
        """Forward from the cursor. A page ends with a line where one ends in it: what is hidden by its shape, such as a
        secret, is then seen whole."""
        self._flush_filters()
        begin, room, spans = max(cursor, self.start), most, list[tuple[int, str]]()
        for piece in self._pieces:
            start = max(begin, piece.start)
            new = piece.text[start - piece.start :][:room] if not categories or piece.category in categories else ""
            spans += [(start, new)] if new else []
            room -= len(new)
            if not room:
                return _whole_lines(spans, begin - cursor)
        return ProgramOutputPage("".join(text for _, text in spans), begin - cursor, self.end)


class _SecretFilter:
    """Text through a stream of bytes; a character of several bytes is never cut."""

    def __init__(self, stream: SecretStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, text: str) -> str:
        return self._decoder.decode(self._stream.feed(text.encode("utf-8", "replace")))

    def flush(self) -> str:
        return self._decoder.decode(self._stream.flush()) if self._stream.holds else ""


def _whole_lines(spans: list[tuple[int, str]], missed: int) -> ProgramOutputPage:
    """A full page ends at the end of a line."""
    for index in range(len(spans) - 1, -1, -1):
        start, text = spans[index]
        if end := text.rfind("\n") + 1:
            return ProgramOutputPage("".join(it for _, it in spans[:index]) + text[:end], missed, start + end)
    start, text = spans[-1]
    return ProgramOutputPage("".join(it for _, it in spans), missed, start + len(text))
