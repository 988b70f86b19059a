"""What the daemon reports about itself, to the command line and to the page, and the list of live sessions in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import psutil

from dragoman.access.tokens import PURPOSES, AccessLinks, TokenHolder
from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, write_fault_json
from dragoman.io.event_loop import EventLoopLagMeter
from dragoman.protocols.control import DaemonState


@dataclass(frozen=True, slots=True)
class LiveSession:
    """One session as a person would name it."""

    id: str
    kind: str
    title: str
    ends: bool = True
    """Whether it ends with the daemon. A session that runs in a person's editor continues there."""


class LiveSessions:
    """The live sessions of every domain, and whether they end with the daemon."""

    def __init__(self) -> None:
        self._by_id: dict[str, LiveSession] = {}
        self._sources: list[Callable[[], Iterable[LiveSession]]] = []

    def __len__(self) -> int:
        return len(self._by_id)

    def listed(self) -> list[dict[str, str | bool]]:
        found = [live_session for find in self._sources for live_session in find()]
        return [asdict(live_session) for live_session in (*self._by_id.values(), *found)]

    def add_source(self, find: Callable[[], Iterable[LiveSession]]) -> None:
        """Add a source of sessions that come and go without notice. It is queried at each request."""
        self._sources.append(find)

    @contextmanager
    def track(self, live_session: LiveSession) -> Iterator[None]:
        self._by_id[live_session.id] = live_session
        try:
            yield
        finally:
            del self._by_id[live_session.id]


class JournalStatus(Protocol):
    last_sequence: int

    @property
    def write_fault(self) -> DragomanError | None: ...


@dataclass(frozen=True, slots=True)
class StatusReport:
    state: DaemonState
    live_sessions: LiveSessions
    links: AccessLinks
    lag: EventLoopLagMeter
    journal: JournalStatus
    clock: Clock
    since_s: float
    """When it began, on the monotonic clock."""
    terminals: Callable[[], Mapping[str, Any]]
    """The shells that are wrapped now. They outlive the daemon, so they are not among its live sessions."""
    gateway: Callable[[], Mapping[str, Any]]
    """The connection to a gateway that the daemon is a client of."""
    agents_paused_ns: Callable[[], int] = lambda: 0
    """Since when a person has paused all agents; zero if nobody has."""

    def tokens(self) -> list[dict[str, Any]]:
        """The clients' tokens by name: when each was created and last used, and what is open with it.

        Never their values.
        """
        return [
            {
                "purpose": row["purpose"],
                "name": row["name"],
                "created_at": _iso(row["created_ns"]),
                "last_used_at": _iso(row["last_used_ns"]) if row["last_used_ns"] else None,
                "open": self.links.held(TokenHolder(row["purpose"], row["name"])),
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
            "agents_paused_since": _iso(paused_ns) if (paused_ns := self.agents_paused_ns()) else None,
            "sessions": self.live_sessions.listed(),
            "terminals": terminals,
            "links": {**links, "omnish": terminals["connections"]},
            "tokens": self.tokens(),
            "gateway": {name: self.gateway()[name] for name in ("state", "address")},
            "journal_sequence": self.journal.last_sequence,
            "write_fault": write_fault_json(self.journal.write_fault),
            "lag_ms": self.lag.latest_ms(),
            "worst_lag_ms": self.lag.worst_ms(),
            "resident_mb": round(psutil.Process().memory_info().rss / 1e6, 1),
        }


def _iso(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
