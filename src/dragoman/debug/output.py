"""What a program printed, bounded, with a cursor that says how much was missed."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

KEPT_CHARACTERS = 1 << 20


class Piece(NamedTuple):
    start: int
    category: str
    text: str


class Output:
    """Positions count every character ever printed, so a cursor stays true after old pieces have gone."""

    def __init__(self, kept: int = KEPT_CHARACTERS) -> None:
        self._kept = kept
        self._pieces: deque[Piece] = deque()
        self._held = 0
        self.end = 0

    @property
    def start(self) -> int:
        return self.end - self._held

    def append(self, category: str, text: str) -> None:
        kept = text[-self._kept :]
        self.end += len(text)
        self._pieces.append(Piece(self.end - len(kept), category, kept))
        self._held += len(kept)
        while self._held > self._kept and len(self._pieces) > 1:
            self._held -= len(self._pieces.popleft().text)

    def since(self, cursor: int, *, most: int, categories: frozenset[str] = frozenset()) -> tuple[str, int]:
        """The newest `most` characters after the cursor, and how many before them were cut or have gone."""
        texts = [
            piece.text[max(0, cursor - piece.start) :]
            for piece in self._pieces
            if piece.start + len(piece.text) > cursor and (not categories or piece.category in categories)
        ]
        whole = "".join(texts)
        missed = max(0, self.start - cursor)
        return whole[-most:] if most else "", missed + max(0, len(whole) - most)
