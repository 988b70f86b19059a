"""Open links by purpose: a connection that was authorised by a token ends when that token changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from dragoman.access.tokens import DEFAULT, Purpose, TokenHolder, Tokens


class AccessLinks:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self._open: dict[anyio.CancelScope, TokenHolder] = {}
        self._without_token: Counter[Purpose] = Counter()
        tokens.on_rotation(lambda purpose: self._end_all(TokenHolder(purpose)))
        tokens.clients.on_revocation(self._end_all)

    @contextmanager
    def hold(self, purpose: Purpose, name: str = DEFAULT) -> Iterator[anyio.CancelScope]:
        """Run the block until the token is rotated or revoked; `cancel_called` then tells that this cancelled it."""
        holder = TokenHolder(purpose, name)
        with anyio.CancelScope() as scope:
            if not self.tokens.knows(holder):  # revoked after the client presented it
                scope.cancel("the token was revoked")
            self._open[scope] = holder
            try:
                yield scope
            finally:
                del self._open[scope]

    @contextmanager
    def note(self, purpose: Purpose) -> Iterator[None]:
        """Count a connection that was authorised by the peer's uid. A token rotation does not end it."""
        self._without_token[purpose] += 1
        try:
            yield
        finally:
            self._without_token[purpose] -= 1

    def count(self, purpose: Purpose) -> int:
        return sum(1 for held in self._open.values() if held.purpose == purpose) + self._without_token[purpose]

    def held(self, holder: TokenHolder) -> int:
        return sum(1 for held in self._open.values() if held == holder)

    def _end_all(self, holder: TokenHolder) -> None:
        for scope, held in list(self._open.items()):
            if held == holder:
                scope.cancel("the token was rotated or revoked")
