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
    """Restarts this session alone."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Shown in the first result: which interpreter, which adapter."""
    notes: tuple[LaunchNote, ...] = ()
    """Shown in the first result: settings that may not mean what their author wanted."""
    post_debug: Callable[[], Awaitable[None]] | None = None
    """Runs the configuration's post-debug task when the session has ended."""
    may_start_late: bool = False
    """Tasks run first, or the program comes later. The caller does not wait for its start."""
    hold: anyio.Event | None = None
    """The program does not start before this is set, so that its client can set breakpoints first."""
    later_sessions: AsyncIterator[PreparedSession] | None = None
    """Programs that connect later to the same port. Each one is a session of its own, while one of them lives."""
    made: Callable[[DebugSession], None] | None = None
    """Called with the session before it begins."""


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """The sessions of one launch: several for a compound, otherwise one."""

    sessions: tuple[PreparedSession, ...]
    stop_all: bool = False
    """The end of one ends the others."""

    @property
    def unattended_start_timeout_s(self) -> float:
        """For a caller that does not wait: briefly waits to report a start or a failure, unless the start may be
        late."""
        return unattended_start_timeout_s(self.sessions)


def unattended_start_timeout_s(sessions: Sequence[PreparedSession]) -> float:
    return 0.0 if any(it.may_start_late for it in sessions) else _START_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class LaunchPreview:
    """What a launch request would run, for the person who is asked, and a digest of everything that decides it."""

    would_run: tuple[Mapping[str, Any], ...]
    digest: str


class SessionStarter(Protocol):
    """Turns a launch request into backends: launch.json, its tasks, the table of adapters, the processes."""

    async def prepare(self, caller: Caller, launch_request: LaunchRequest) -> PreparedLaunch: ...

    async def preview(self, caller: Caller, launch_request: LaunchRequest) -> LaunchPreview:
        """Nothing runs for it; what is not trusted is refused here as well."""
        ...

    def approve(self, starts: Sequence[LaunchPreview]) -> None:
        """Several at once, before the first is prepared. Raises where nobody has approved exactly these."""
        ...
