"""A client outlives the daemon, debug sessions do not: who asks for an earlier one learns what became of it."""

from __future__ import annotations

from dragoman.debug.service import DebugService
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.tools.debug.client import client_of
from dragoman.tools.operation import Caller


def explained(service: DebugService, caller: Caller, error: DragomanError) -> DragomanError:
    if not (caller.reconnected and _may_be_of_an_earlier_one(service, caller, error)):
        return error
    return DragomanError(
        error.code,
        error.message,
        hint=say(
            "The daemon was restarted since you connected, and its debug sessions ended with it. Breakpoints are "
            "kept: start again with start_debugging."
        ),
    )


def _may_be_of_an_earlier_one(service: DebugService, caller: Caller, error: DragomanError) -> bool:
    """Without an id it can only be meant while this daemon has had no session in the workspace."""
    if error.code == "no_session":
        return not service.sessions(client_of(caller))
    return error.code == "unknown_session"
