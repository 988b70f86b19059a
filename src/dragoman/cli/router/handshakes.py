"""Which targets know the client. One that is found later is sent the handshake before its first call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any


class Handshakes:
    """A reconnection is none of its business: the relay of a target replays the handshake that it has seen."""

    def __init__(self, targets: int) -> None:
        self._params: Mapping[str, Any] | None = None
        self._initialized: Mapping[str, Any] | None = None
        self._has_begun = [False] * targets
        self._own: dict[int, int] = {}
        """Requests whose answers no client waits for."""

    def begin(self, params: Mapping[str, Any]) -> None:
        self._params, self._initialized = params, None

    def complete(self, notification: Mapping[str, Any]) -> None:
        self._initialized = notification

    def begin_for(self, target: int) -> None:
        self._has_begun[target] = True

    def failed(self, target: int) -> None:
        self._has_begun[target] = False

    def targets(self) -> list[int]:
        """Those that know the client; all of them for a revision without a handshake."""
        return [it for it, has_begun in enumerate(self._has_begun) if has_begun or self._params is None]

    def missing(self, target: int, new_id: Callable[[], int]) -> Iterator[bytes]:
        """The lines that the target needs before its first call."""
        if self._params is None or self._has_begun[target]:
            return
        self._has_begun[target] = True
        number = new_id()
        self.follow(target, number)
        yield _line({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": self._params})
        if self._initialized is not None:
            yield _line(self._initialized)

    def follow(self, target: int, number: int) -> None:
        self._own[number] = target

    def answered(self, target: int, number: int, *, is_error: bool) -> bool:
        """Whether this answers one of these requests."""
        if self._own.get(number) != target:
            return False
        del self._own[number]
        if is_error:
            self._has_begun[target] = False
        return True


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
