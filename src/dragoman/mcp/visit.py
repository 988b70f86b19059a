"""A client's stay, for the record: from the moment it says who it is to its end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from anyio.abc import TaskGroup

from dragoman.events import Event
from dragoman.tools import Caller


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    version: str


class Visit:
    def __init__(self, caller: Caller, tell: Callable[[Event], Coroutine[Any, Any, None]]) -> None:
        self._caller = caller
        self._tell = tell
        self.client: Client | None = None

    def introduce(self, params: Mapping[str, Any] | None, tasks: TaskGroup) -> None:
        """In `initialize`, or in the first request of a revision without a handshake; no answer waits for the disk."""
        client = None if self.client else introduced(params)
        if client is not None:
            self.client = client
            tasks.start_soon(self._tell, self._event("mcp.connected", client))

    async def end(self) -> None:
        if self.client is not None:
            await self._tell(self._event("mcp.disconnected", self.client))

    def _event(self, kind: str, client: Client) -> Event:
        return Event(
            kind=kind,
            session=self._caller.id,
            text=f"{kind.replace('.', ' ')}: {client.name} {client.version}".rstrip(),
            body={"client": client.name, "version": client.version, "workspace": str(self._caller.workspace)},
            workspace=str(self._caller.workspace),
        )


def introduced(params: Mapping[str, Any] | None) -> Client | None:
    params = params or {}
    meta = params.get("_meta")
    info = params.get("clientInfo") or (meta.get(types.CLIENT_INFO_META_KEY) if isinstance(meta, dict) else None)
    if not isinstance(info, dict):
        return None
    return Client(str(info.get("name", ""))[:200], str(info.get("version", ""))[:200])
