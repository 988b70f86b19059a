"""Sends the breakpoints of a workspace to its live sessions, and waits no longer than a caller would."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import anyio

from dragoman.core.errors import DragomanError
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint

log = logging.getLogger(__name__)

# A session accepts breakpoints within milliseconds. One that hangs must not delay the client, which sets them in all
# sessions.
_BREAKPOINT_UPDATE_TIMEOUT_S = 2.0
_FURTHER_UPDATE_TIMEOUT_S = 0.5


async def update_sessions(sessions: Iterable[DebugSession], breakpoints: Sequence[Breakpoint]) -> None:
    """The breakpoint is set whatever a session makes of it; one that does not take it shows it as not bound.

    Who no longer waits leaves it to the session, which takes it as soon as it can."""
    async with anyio.create_task_group() as group:
        group.cancel_scope.deadline = anyio.current_time() + _BREAKPOINT_UPDATE_TIMEOUT_S
        for session in sessions:
            if not session.is_ending:
                group.start_soon(_update, session, breakpoints, group.cancel_scope)


async def _update(session: DebugSession, breakpoints: Sequence[Breakpoint], waiting: anyio.CancelScope) -> None:
    try:
        await session.update_breakpoints(breakpoints)
    except DragomanError as error:
        log.warning("session %s did not take the breakpoints: %s", session.id, error)
    else:
        waiting.deadline = min(waiting.deadline, anyio.current_time() + _FURTHER_UPDATE_TIMEOUT_S)
