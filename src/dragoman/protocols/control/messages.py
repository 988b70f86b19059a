"""The messages of the daemon's control socket, and the state file that says where the daemon listens.

A client sends `Hello` and receives `Welcome`. With the role `control` it then makes calls: each gets any number of
items and exactly one answer or failure, all with the call's id. With another role the socket changes hands after the
welcome (`mcp`: JSON-RPC lines).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

from dragoman.core.errors import RemoteProtocolError

PROTOCOL = 1


@dataclass(frozen=True, slots=True)
class Hello:
    role: str
    version: str
    language: str = "en"
    about: Mapping[str, Any] = field(default_factory=dict)
    """What the role needs: for `mcp` the workspace, the working folder, the environment and the client's process."""


@dataclass(frozen=True, slots=True)
class Welcome:
    version: str
    pid: int
    instance: str = ""
    """Identifies this start of the daemon; it is never reused."""


@dataclass(frozen=True, slots=True)
class ControlCall:
    id: int
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ControlItem:
    id: int
    value: Any


@dataclass(frozen=True, slots=True)
class ControlAnswer:
    id: int
    result: Any


@dataclass(frozen=True, slots=True)
class ControlFailure:
    """The text is in the language of the hello. Id 0 is about the connection itself."""

    id: int
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DaemonState:
    pid: int
    process_started: float
    """The start time of the process: a later process with the same pid is a different one."""
    version: str
    bind: str
    port: int
    wanted_port: int
    socket: str
    workspace: str
    started_at_ns: int
    port_was_named: bool = False
    """A person chose the port for this start: a restart keeps it, whatever the settings say."""
    omnish_socket: str = ""
    """Where shell wrappers connect; empty for an older daemon."""
    dap_socket: str = ""
    """Where editors connect that speak the Debug Adapter Protocol."""
    instance: str = ""
    """Identifies this start of the daemon: 128 random bits in hex, the first label of the page's host name."""

    @property
    def address(self) -> str:
        host = f"[{self.bind}]" if ":" in self.bind else self.bind
        return f"http://{host}:{self.port}"

    @property
    def page_host(self) -> str:
        """Where the page is served, as `HOST:PORT`.

        On loopback the name is unique to this start: what another user's program left in the browser for an earlier
        holder of the port (a service worker, a cache) belongs to another origin.
        """
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
            return cls(**{item.name: _STATE_TYPES[str(item.type)](value[item.name]) for item in known})
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RemoteProtocolError("bad_state_file", f"the state file lacks or misspells {error}") from error


_STATE_TYPES: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool}
