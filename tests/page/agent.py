"""An agent that draws: MCP over HTTP, as any client would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.servers.mcp.http_clients import Wire
from tests.servers.target_daemon import TargetDaemon


@dataclass(frozen=True)
class Agent:
    wire: Wire

    @classmethod
    def at(cls, daemon: TargetDaemon, *, name: str = "raw", **query: str) -> Agent:
        wire = Wire(daemon.port, daemon.paths.token_file("mcp").read_text().strip(), query)
        assert wire.initialize(name).status == 200
        return cls(wire)

    def data_of(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.wire.call(tool, **arguments).messages[-1]["result"]
        assert not result.get("isError"), result
        data: dict[str, Any] = result["structuredContent"]
        return data

    def actions(self, surface_id: str, *, within_s: float = 10) -> list[tuple[str, dict[str, Any]]]:
        taken = self.data_of("read_actions", surface_id=surface_id, timeout_s=within_s)["actions"]
        return [(it["name"], it["context"]) for it in taken]
