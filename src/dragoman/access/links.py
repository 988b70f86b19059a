"""Open links by purpose. Whatever stays open on the strength of a token ends when that token changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from dragoman.access.tokens import Purpose, Tokens


class Links:
    def __init__(self, tokens: Tokens) -> None:
        self._open: dict[anyio.CancelScope, Purpose] = {}
        self._without_token: Counter[Purpose] = Counter()
        tokens.on_rotation(self._end_all)

    @contextmanager
    def hold(self, purpose: Purpose) -> Iterator[anyio.CancelScope]:
        """The block is cancelled when the purpose's token is rotated; `cancel_called` then tells why it ended."""
        with anyio.CancelScope() as scope:
            self._open[scope] = purpose
            try:
                yield scope
            finally:
                del self._open[scope]

    @contextmanager
    def note(self, purpose: Purpose) -> Iterator[None]:
        """A link that stands on the peer's uid: it is counted, and no rotation ends it."""
        self._without_token[purpose] += 1
        try:
            yield
        finally:
            self._without_token[purpose] -= 1

    def count(self, purpose: Purpose) -> int:
        return sum(1 for held in self._open.values() if held == purpose) + self._without_token[purpose]

    def _end_all(self, purpose: Purpose) -> None:
        for scope, held in list(self._open.items()):
            if held == purpose:
                scope.cancel("the token was rotated")
