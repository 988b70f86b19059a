"""Errors of debug sessions: each has a stable code, a message and a hint that says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.core.errors import DragomanError, ErrorSpec, RemoteProtocolError, internal_error
from dragoman.core.localization import localize
from dragoman.debug import client_ids
from dragoman.debug.errors import invalid_adapter_response, not_supported, start_timed_out
from dragoman.debug.launch.errors import LaunchErrorSpec
from dragoman.debug.model import FrameInfo, SessionState, Stop

_NAMED = 40
_SESSIONS_NAMED = 8
_LAST_LINES = 20
_LONGEST_LINE = 500


def not_stopped(state: SessionState) -> DragomanError:
    return DragomanError(
        "not_stopped",
        localize("The program is not stopped: the session is {state}.", state=state.value),
        hint=localize("Still starting: wait_for_stop waits again, stop_debugging ends it.")
        if state is SessionState.STARTING
        else localize("Wait for a stop, set a breakpoint that it will reach, or pause it."),
    )


def session_moved_on(stop: Stop, by: str, name: str, command: str) -> DragomanError:
    """Shows the name that a client gave itself. Its id would mean nothing to another client."""
    named = localize("{text}", text=ascii(name[:60])) if name else localize("another client")
    return DragomanError(
        "moved_on",
        localize(
            "The session moved on: {who} ran `{command}`; it is now at stop {number}.",
            number=stop.number,
            who=client_ids.person_label(by) or named,
            command=command,
        ),
        hint=localize("Check where it is with wait_for_stop, then decide again."),
    )


def first_cause(errors: BaseExceptionGroup[Exception]) -> DragomanError:
    """The first cause; what else failed on the way is its consequence."""
    first: BaseException = errors
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    if isinstance(first, DragomanError):
        return first
    if isinstance(first, RemoteProtocolError):
        return invalid_adapter_response(reason=first)
    return start_timed_out() if isinstance(first, TimeoutError) else internal_error()


def ended_at_once(exit_code: int | None, output: str) -> DragomanError:
    return _ended_at_once(code=exit_code, details={"exit_code": exit_code, "last_lines": _last_lines(output)})


_ended_at_once = LaunchErrorSpec(
    "ended_at_once",
    "The program ended with exit code {code} before the debugger attached.",
    "`last_lines` is its output. The interpreter may be the wrong one, or fail while loading.",
)


def build_failed(output: str) -> DragomanError:
    """The compiler's output is data, so it is in the details and never in the message."""
    return _build_failed(details={"last_lines": _last_lines(output)})


_build_failed = LaunchErrorSpec(
    "build_failed",
    "The program cannot start: it does not compile.",
    "Fix the compiler errors, then start again.",
)


def _last_lines(output: str) -> list[str]:
    return [line[:_LONGEST_LINE] for line in output.splitlines()[-_LAST_LINES:]]


def _newest(known: Sequence[str]) -> str:
    """Names the newest sessions, which are usually meant, and counts the others."""
    left = len(known) - _SESSIONS_NAMED
    return ", ".join(known[-_SESSIONS_NAMED:]) + (f" (+{left})" if left > 0 else "")


def no_session(ended: Sequence[str]) -> DragomanError:
    again = localize(
        "Start one with start_debugging, or restart an ended one with restart_debugging: {ended}.", ended=_newest(ended)
    )
    return DragomanError(
        "no_session",
        localize("No active debug session in this workspace."),
        hint=again if ended else localize("Start one with start_debugging."),
    )


class AmbiguousSessionError(DragomanError):
    """`details` has each live session with its stop, so that the client can choose."""

    def __init__(self, sessions: Sequence[Mapping[str, Any]]) -> None:
        named = ", ".join(str(it["session_id"]) for it in sessions[:_SESSIONS_NAMED])
        super().__init__(
            "which_session",
            localize("{count} debug sessions are active, and this client has used none of them.", count=len(sessions)),
            hint=localize("Choose a session: {known}.", known=named),
        )
        self.details: Mapping[str, Any] = {"sessions": list(sessions[:_NAMED])}


def unknown_session(session_id: str, known: Sequence[str]) -> DragomanError:
    return DragomanError(
        "unknown_session",
        localize("No session {id} in this workspace.", id=ascii(session_id[:60])),
        hint=localize("Sessions: {known}.", known=_newest(known))
        if known
        else localize("Start one with start_debugging."),
    )


# Thread names are the program's text, so only their numbers are in the message.
unknown_thread = ErrorSpec(
    "unknown_thread",
    "No thread {id} in this session.",
    "Threads: {threads}.",
    threads=lambda known: ", ".join(str(it.id) for it in known[:_NAMED]) or "-",
)


def cannot_restart(adapter: str) -> DragomanError:
    return not_supported(adapter=adapter, what=localize("restart a program that it did not start"))


no_such_access = ErrorSpec(
    "not_supported",
    "This data cannot be watched for {access}.",
    "Supported: {offered}.",
    offered=lambda offered: ", ".join(offered[:_NAMED]) or "-",
)


_no_frame = ErrorSpec("no_frame", "This stop has no call stack.", "Step or continue to a place with source.")


def top_frame(stop: Stop) -> FrameInfo:
    if stop.frames:
        return stop.frames[0]
    raise _no_frame()
