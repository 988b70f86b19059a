"""How `dragoman mcp --on` gets a daemon on another machine: it connects, and connects again with growing pauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dragoman.cli.remote.connection import open_target
from dragoman.core.errors import DragomanError
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.net.remote_errors import may_pass
from dragoman.io.net.targets import Target


@dataclass(slots=True)
class RemoteConnector:
    """Used by one search at a time. The daemon there is started by `dragoman pipe`, if its settings allow it."""

    target: Target
    about: Mapping[str, Any]
    first_pause_s: float = 0.5
    max_pause_s: float = 8.0
    _client: ControlClient | None = field(default=None)

    def open(self, *, is_first: bool) -> ControlClient:
        about = {**self.about, "reconnected": not is_first}
        self._client = open_target(self.target, role="mcp", about=about, starts_daemon=True)
        return self._client

    def retries(self, error: DragomanError, *, is_first: bool) -> bool:
        """The first attempt is reported at once: most often, something has to be set up."""
        return not is_first and may_pass(error)

    def should_start(self, *, is_first: bool, waited_s: float) -> bool:  # noqa: ARG002  as for this machine
        return False

    def start(self) -> None:
        raise AssertionError("the far side starts its own daemon")

    def updated(self, client: ControlClient) -> ControlClient:
        """A daemon there is never replaced from here; the versions agree, or the link was refused."""
        return client

    def fault(self) -> DragomanError | None:
        return self._client.fault() if self._client else None
