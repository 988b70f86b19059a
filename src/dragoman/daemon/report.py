"""What the daemon says about itself, to the command line and to the page alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import psutil

from dragoman.access.links import Links
from dragoman.access.tokens import PURPOSES, Holder
from dragoman.clock import Clock
from dragoman.daemon.lives import Lives
from dragoman.errors import DragomanError, write_fault_row
from dragoman.transport.lag import LagMeter
from dragoman.wire.control import DaemonState


class Numbered(Protocol):
    last_sequence: int

    @property
    def write_fault(self) -> DragomanError | None: ...


@dataclass(frozen=True, slots=True)
class Report:
    state: DaemonState
    lives: Lives
    links: Links
    lag: LagMeter
    journal: Numbered
    clock: Clock
    since_s: float
    """When it began by the clock that nobody sets."""
    terminals: Callable[[], Mapping[str, Any]]
    """Shells that are wrapped now; they outlive the daemon, so they are no lives of it."""
    gateway: Callable[[], Mapping[str, Any]]
    """The connection to a gateway that the daemon is a client of."""

    def tokens(self) -> list[dict[str, Any]]:
        """Of clients, by name: since when, used when, and what is open with each. Never their values."""
        return [
            {
                "purpose": row["purpose"],
                "name": row["name"],
                "created_at": _iso(row["created_ns"]),
                "last_used_at": _iso(row["last_used_ns"]) if row["last_used_ns"] else None,
                "open": self.links.held(Holder(row["purpose"], row["name"])),
            }
            for row in self.links.tokens.listed()
        ]

    def __call__(self) -> dict[str, Any]:
        state, terminals = self.state, dict(self.terminals())
        links = {purpose: self.links.count(purpose) for purpose in PURPOSES}
        return {
            "state": "running",
            "version": state.version,
            "pid": state.pid,
            "instance": state.instance,
            "address": state.address,
            "port": state.port,
            "wanted_port": state.wanted_port,
            "port_was_named": state.port_was_named,
            "socket": state.socket,
            "omnish_socket": state.omnish_socket,
            "workspace": state.workspace,
            "started_at": _iso(state.started_at_ns),
            "uptime_s": round(self.clock.monotonic_s() - self.since_s),
            "sessions": self.lives.listed(),
            "terminals": terminals,
            "links": {**links, "omnish": terminals["connections"]},
            "tokens": self.tokens(),
            "gateway": {name: self.gateway()[name] for name in ("state", "address")},
            "journal_sequence": self.journal.last_sequence,
            "write_fault": write_fault_row(self.journal.write_fault),
            "lag_ms": self.lag.latest_ms(),
            "worst_lag_ms": self.lag.worst_ms(),
            "resident_mb": round(psutil.Process().memory_info().rss / 1e6, 1),
        }


def _iso(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
