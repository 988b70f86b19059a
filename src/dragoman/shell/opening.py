"""What a shell says first, on the screen before what records and draws is imported: somebody waits for that prompt."""

from __future__ import annotations

from dragoman.shell.history_line import HistoryLine
from dragoman.shell.passing import Passing
from dragoman.wire.osc import MarkScanner

LONGEST_MARK = 64 * 1024
"""A pasted program is a long command line; a mark that tells it is taken up to here."""


def first_shown(data: bytes, nonce: str, passing: Passing) -> bytes:
    """What the screen gets of it: the same as from `Side`, which is given the same bytes later."""
    shown = [
        piece
        if isinstance(piece, bytes)
        else passing.shown(piece, verified=bool(nonce) and piece.nonce == nonce, busy=False)
        for piece in HistoryLine(nonce).pieces(MarkScanner(LONGEST_MARK).feed(data))
    ]
    return b"".join(shown)
