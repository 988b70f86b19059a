"""Filters the first output of a shell before the sidecar is imported, because a person waits for the prompt."""

from __future__ import annotations

from dragoman.protocols.osc import MarkScanner
from dragoman.shell.mark_filter import HistoryLineReader, MarkFilter

LONGEST_MARK = 64 * 1024
"""The longest mark: a pasted program is a long command line, and its mark carries it."""


def filter_first_output(data: bytes, nonce: str, mark_filter: MarkFilter) -> bytes:
    """What the screen gets: the same as from `Sidecar`, which gets the same bytes later."""
    shown = [
        piece
        if isinstance(piece, bytes)
        else mark_filter.shown(piece, verified=bool(nonce) and piece.nonce == nonce, busy=False)
        for piece in HistoryLineReader(nonce).pieces(MarkScanner(LONGEST_MARK).feed(data))
    ]
    return b"".join(shown)
