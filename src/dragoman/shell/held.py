"""What was shown at a prompt and is held back until the line is run, each piece with the time at which it was shown."""

from __future__ import annotations

SAME_MOMENT_MS = 25
_MOST_PIECES = 4096


class HeldEcho:
    """Keys come one by one: what came within a moment is one piece, and of very many pieces the oldest are joined."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, bytearray]] = []
        self.size = 0

    def add(self, data: bytes, now_ms: int) -> None:
        self.size += len(data)
        if self._pieces and now_ms - self._pieces[-1][0] < SAME_MOMENT_MS:
            self._pieces[-1][1].extend(data)
            return
        self._pieces.append((now_ms, bytearray(data)))
        if len(self._pieces) > _MOST_PIECES:
            oldest = self._pieces[: _MOST_PIECES // 2]
            self._pieces[: _MOST_PIECES // 2] = [(oldest[0][0], bytearray(b"".join(data for _, data in oldest)))]

    def pieces(self) -> list[tuple[int, bytes]]:
        return [(at_ms, bytes(data)) for at_ms, data in self._pieces]
