"""Events as JSON, no more than fit: an event may have 256 KB, so a number of events is no bound."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dragoman.events import Recorded


def packed(rows: Sequence[Recorded], room: int) -> list[bytes]:
    """The first ones, at least one of them if there is any."""
    pieces: list[bytes] = []
    for row in rows:
        piece = msgspec.json.encode(row)
        if pieces and len(piece) > room:
            break
        room -= len(piece)
        pieces.append(piece)
    return pieces
