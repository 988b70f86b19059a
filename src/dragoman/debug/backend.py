"""The port to whatever can be debugged: it takes DAP requests and emits DAP events.

A spawned adapter, the Lua bridge and a session that an editor owns are all backends, so every tool works with each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

import msgspec

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.wire.dap import Event, Response


class Owns(msgspec.Struct, frozen=True, kw_only=True):
    """What is the backend's own business; services ask, never assume."""

    breakpoints: bool = True
    process: bool = True
    output: bool = True
    restart: bool = False
    others: str = ""
    """Who else sends the program on, past us: a person whose session it is. Nobody: empty."""


class Answering(Protocol):
    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        """A response that succeeded. Raises `AdapterRefusedError`, or another when the backend is gone or silent."""
        ...


class Backend(Answering, Protocol):
    owns: Owns

    def events(self) -> AsyncIterator[Event]:
        """In the order they came; ends when the backend has gone."""
        ...

    async def end(self) -> None:
        """Let go of everything, at once; safe to call twice."""
        ...


class AdapterRefusedError(DragomanError):
    """The adapter answered a request with a failure; `reason` is in its own words."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(
            "adapter_refused",
            say("The debugger refused `{command}`: {reason}", command=command, reason=reason or "?"),
        )
        self.reason = reason
