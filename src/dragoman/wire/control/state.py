"""The state file: what a running daemon says about itself on disk."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from dragoman.errors import RemoteProtocolError


@dataclass(frozen=True, slots=True)
class DaemonState:
    pid: int
    process_started: float
    """Since when this pid has been that process: a later process with the same pid is a stranger."""
    version: str
    bind: str
    port: int
    wanted_port: int
    socket: str
    workspace: str
    started_at_ns: int
    port_was_named: bool = False
    """By a person, for this start: a restart keeps it, whatever the settings say."""
    omnish_socket: str = ""
    """Where shell wrappers connect; a daemon from before there were any says nothing."""
    dap_socket: str = ""
    """Where editors connect that speak the Debug Adapter Protocol."""
    instance: str = ""
    """Of this start of the daemon: 128 random bits in hex, the first label of the page's host name."""

    @property
    def address(self) -> str:
        host = f"[{self.bind}]" if ":" in self.bind else self.bind
        return f"http://{host}:{self.port}"

    @property
    def page_host(self) -> str:
        """Where the page is served, as `HOST:PORT`. On loopback a name of this start alone: what another user's program
        left in the browser for an earlier holder of the port (a service worker, a cache) is of another origin."""
        if self.bind in {"127.0.0.1", "::1"}:
            return f"{self.instance}.localhost:{self.port}"
        return self.address.removeprefix("http://")

    @property
    def page_address(self) -> str:
        return f"http://{self.page_host}"

    def encode(self) -> bytes:
        return json.dumps(asdict(self), indent=2).encode() + b"\n"

    @classmethod
    def decode(cls, data: bytes) -> DaemonState:
        try:
            return cls.from_json(json.loads(data))
        except (ValueError, RecursionError) as error:
            raise RemoteProtocolError("bad_state_file", "the state file is not JSON") from error

    @classmethod
    def from_json(cls, value: Any) -> DaemonState:
        if not isinstance(value, dict):
            raise RemoteProtocolError("bad_state_file", "the state file is not an object")
        try:
            known = [item for item in fields(cls) if item.default is MISSING or item.name in value]
            return cls(**{item.name: _TYPES[str(item.type)](value[item.name]) for item in known})
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RemoteProtocolError("bad_state_file", f"the state file lacks or misspells {error}") from error


_TYPES: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool}
