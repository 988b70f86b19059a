"""What the shell and the screen have already and nobody else has heard of, in order."""

from __future__ import annotations

FRAME = 64 * 1024
Typed = tuple[bytes, int, float]
"""Keys, the terminal's modes when they came, and that moment."""


class Backlog:
    __slots__ = ("_items", "_shown", "_unjoined", "size")

    def __init__(self) -> None:
        self._items: list[bytes | Typed] = []
        self._shown: list[bytes] = []
        self._unjoined = 0
        self.size = 0
        """Of what was shown, in bytes."""

    def __bool__(self) -> bool:
        return bool(self._items or self._shown)

    def add_shown(self, data: bytes) -> None:
        self._shown.append(data)
        self.size += len(data)
        self._unjoined += len(data)
        if self._unjoined >= FRAME:
            self._join()

    def add_typed(self, typed: Typed) -> None:
        self._join()
        self._items.append(typed)

    def take(self) -> list[bytes | Typed]:
        """What was shown without a key between is one, up to a frame."""
        self._join()
        items, self._items, self.size = self._items, [], 0
        return items

    def _join(self) -> None:
        if self._shown:
            self._items.append(self._shown[0] if len(self._shown) == 1 else b"".join(self._shown))
            self._shown, self._unjoined = [], 0
