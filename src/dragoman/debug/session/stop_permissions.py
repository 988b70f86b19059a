"""Whether a session may halt its program. A program that ran before we came may serve people who know of no debugger.

A client on another machine only traces such a program, unless a person there gave `--allow-stop`. This is decided
here, on the machine of the program, and for every way in: the permissions belong to the session.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dragoman.core.errors import ErrorSpec
from dragoman.core.localization import localize, localized_str
from dragoman.debug.model import Stop
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller

_ENTRY_STOPS = ("stopOnEntry", "stopAtEntry", "stopAtConnect", "stopOnAttach")

halt_refused = ErrorSpec(
    "halt_refused",
    "`{what}` may halt the program. It was running before, so over --on it is only traced.",
    "Logpoints, trace and check work. Only the user can allow more, with `--allow-stop` beside `--on`.",
)
trace_halts = ErrorSpec(
    "halt_refused",
    "{adapter} pauses a running program even to trace it, which needs `--allow-stop` over --on.",
    "Only the user can allow it, with `--allow-stop` beside `--on`. Programs started by the debugger may always stop.",
)
NOT_SET = localized_str(
    localize("Not set: this program may only be traced. The user can pass `--allow-stop` beside --on.")
)


@dataclass(slots=True)
class StopPermissions:
    """What halts are permitted in one session. The default permits all: for a program that we launched, or a client on
    this machine."""

    is_attached: bool = False
    """The program was running before. A core dump does not count: nothing of it can be halted."""
    traces_only: bool = False
    """The client that attached may not halt it, so nothing does."""
    counts_down: bool = False
    """It was attached from another machine: every halt is limited in time."""
    is_suspended: bool = False
    """Nobody is there for whom it would halt."""
    remote_clients: set[str] = field(default_factory=set)
    """Who commands it from another machine. Halts that they cause are limited in time, whoever attached."""
    remote_breakpoints: frozenset[int] = frozenset()
    """Breakpoints that were set from another machine."""

    @classmethod
    def of(cls, caller: Caller, launch: AdapterLaunch) -> StopPermissions:
        is_attached = not launch.is_launch and not launch.is_core
        is_remote = is_attached and caller.remote is not None
        traces_only = is_attached and not caller.may_halt_attached
        return cls(is_attached, traces_only=traces_only, counts_down=is_remote and not traces_only)

    @property
    def may_count_down(self) -> bool:
        return self.is_attached and not self.traces_only

    def limits(self, stop: Stop) -> bool:
        """Whether this halt is limited in time: its program must not depend on a link to another machine."""
        if self.counts_down:
            return True
        is_remote = stop.by in self.remote_clients or not self.remote_breakpoints.isdisjoint(stop.hit_breakpoints or ())
        return self.may_count_down and is_remote

    def note_command(self, caller: Caller) -> None:
        """Clients at a shell share one id, so the last of them counts."""
        if caller.remote is None:
            self.remote_clients.discard(caller.id)
        else:
            self.remote_clients.add(caller.id)

    @property
    def refuses_stops(self) -> bool:
        return self.traces_only or self.is_suspended

    def require_start(self, launch: AdapterLaunch) -> None:
        """Before anything is attached."""
        if not self.traces_only:
            return
        if not launch.quirks.logs_without_halt:
            raise trace_halts(adapter=launch.adapter_id)
        for name in _ENTRY_STOPS:
            if launch.arguments.get(name):
                raise halt_refused(what=name)

    def require(self, what: str, client: Caller | None = None) -> None:
        """For what halts the program, or changes what it does while it stands."""
        if self.traces_only or (self.is_attached and client is not None and not client.may_halt_attached):
            raise halt_refused(what=what)

    def permits(self, breakpoint: Breakpoint) -> bool:
        """Breakpoints of evidence runs are checked when the run begins; they have no owner and ids below zero."""
        if breakpoint.id < 0 or not self.is_attached or not breakpoint.halts:
            return True
        return not (self.refuses_stops or breakpoint.skips_attached)

    def without_halts(self, exception_filters: Iterable[str]) -> list[Breakpoint]:
        """Breakpoints that switch off the exception filters that are on by default."""
        names = exception_filters if self.refuses_stops else ()
        return [Breakpoint(id=0, kind="exception", filter=name, enabled=False) for name in names]
