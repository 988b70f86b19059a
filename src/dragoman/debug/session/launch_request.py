"""What a client asks to launch, and the sessions that were prepared for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from dragoman.debug.backends.port import Backend
from dragoman.debug.launch.errors import LaunchNote
from dragoman.debug.model import LaunchRequest
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.workspace.caller import Caller

if TYPE_CHECKING:
    from dragoman.debug.session.session import DebugSession

_START_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class PreparedSession:
    """A backend that is ready to be talked to, and what to tell it."""

    title: str
    backend: Backend
    launch: AdapterLaunch
    launch_request: LaunchRequest
    """What starts this one alone again."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Told in the first answer: which interpreter, which adapter."""
    notes: tuple[LaunchNote, ...] = ()
    """Told there as well: what of the configuration may not be as it was meant."""
    post_debug: Callable[[], Awaitable[None]] | None = None
    """What the configuration wants done when the session has ended."""
    may_start_late: bool = False
    """Tasks run first, or a program is yet to come: nobody is kept until it has begun."""
    hold: anyio.Event | None = None
    """Its program does not start before that is set: whoever asked for it sets breakpoints meanwhile."""
    later_sessions: AsyncIterator[PreparedSession] | None = None
    """Programs that come to where this one came: each is a session of its own, as long as one of them lives."""
    made: Callable[[DebugSession], None] | None = None
    """Told the session that it became, before that begins."""


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """The sessions of one launch: several for a compound, otherwise one."""

    sessions: tuple[PreparedSession, ...]
    stop_all: bool = False
    """The end of one ends the others."""

    @property
    def unattended_start_timeout_s(self) -> float:
        """For whoever does not wait: that it runs, or why not, is worth a moment, unless that takes its time."""
        return unattended_start_timeout_s(self.sessions)


def unattended_start_timeout_s(sessions: Sequence[PreparedSession]) -> float:
    return 0.0 if any(it.may_start_late for it in sessions) else _START_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class LaunchDisclosure:
    """What a launch request would run, for the person who is asked, and the digest of everything that decides it."""

    would_run: tuple[Mapping[str, Any], ...]
    digest: str


class SessionStarter(Protocol):
    """Turns a launch request into backends: launch.json, its tasks, the table of adapters, the processes."""

    async def prepare(self, client: Caller, launch_request: LaunchRequest) -> PreparedLaunch: ...

    async def disclose(self, client: Caller, launch_request: LaunchRequest) -> LaunchDisclosure:
        """Nothing runs for it; what is not trusted is refused here as well."""
        ...

    def approve(self, starts: Sequence[LaunchDisclosure]) -> None:
        """Several at once, before the first is prepared. Raises where nobody has approved exactly these."""
        ...
