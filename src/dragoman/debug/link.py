"""A DAP connection, as a family sees its members."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from dragoman.wire.dap import Event, Response


class Link(Protocol):
    """What a backend is, without a say in what it owns."""

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response: ...

    def events(self) -> AsyncIterator[Event]: ...

    async def end(self) -> None: ...
