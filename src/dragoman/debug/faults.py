"""What goes wrong when a session is asked at the wrong moment: a stable code, the state, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.debug import persons
from dragoman.debug.launch.faults import LaunchError
from dragoman.debug.model import Frame, Stop, ThreadSeen
from dragoman.debug.states import State
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Phrase, say

_NAMED = 40
_SESSIONS_NAMED = 8
_LAST_LINES = 20
_LONGEST_LINE = 500


def not_stopped(state: State) -> DragomanError:
    return DragomanError(
        "not_stopped",
        say("The program is not stopped: the session is {state}.", state=state.value),
        hint=say("It is still starting: wait_for_stop waits again, stop_debugging ends it.")
        if state is State.STARTING
        else say("Wait for a stop, set a breakpoint where it will come by, or pause it."),
    )


def core_dump() -> DragomanError:
    return DragomanError(
        "core_dump",
        say("This is a core dump: the program has ended, and cannot run or be stepped."),
        hint=say("Look at its frames, variables and threads. Start the program itself to run it."),
    )


def not_running(state: State) -> DragomanError:
    return DragomanError(
        "not_running_program",
        say("Only a running program can be paused: the session is {state}.", state=state.value),
        hint=say("A stopped one can be stepped, continued and looked at."),
    )


def already_ended() -> DragomanError:
    return DragomanError(
        "already_ended",
        say("The session has ended."),
        hint=say("Start it again to go on; breakpoints are kept."),
    )


def moved_on(stop: Stop, by: str, name: str, command: str) -> DragomanError:
    """A name is what a client says of itself; its id would say nothing to another."""
    named = say("{text}", text=ascii(name[:60])) if name else say("another client")
    return DragomanError(
        "moved_on",
        say(
            "The session moved on: {who} did `{command}`, and it is now at stop {number}.",
            number=stop.number,
            who=persons.told(by) or named,
            command=command,
        ),
        hint=say("wait_for_stop shows where it is now; then decide again."),
    )


def adapter_confused(error: RemoteProtocolError) -> DragomanError:
    return DragomanError(
        "adapter_broken",
        say("The debugger answered with something that cannot be read: {reason}", reason=str(error)),
    )


def of_group(errors: BaseExceptionGroup[Exception]) -> DragomanError:
    """The first cause; what else failed on the way is its consequence."""
    first: BaseException = errors
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    if isinstance(first, DragomanError):
        return first
    if isinstance(first, RemoteProtocolError):
        return adapter_confused(first)
    return start_timed_out() if isinstance(first, TimeoutError) else _internal()


def _internal() -> DragomanError:
    return DragomanError(
        "internal_error",
        say("Something went wrong in the daemon."),
        hint=say("See `dragoman logs`, then try again."),
    )


def adapter_gone(last_words: str) -> DragomanError:
    return DragomanError(
        "adapter_gone",
        say(
            "The debugger ended before the program was started. Its last words: {words}", words=last_words[-400:] or "-"
        ),
        hint=say("Check that the program exists and can be run by itself."),
    )


def ended_at_once(exit_code: int | None, output: str) -> DragomanError:
    return LaunchError(
        "ended_at_once",
        say("The program ended before the debugger was attached to it, with exit code {code}.", code=exit_code),
        hint=say(
            "`last_lines` is what it printed. Its interpreter may be the wrong one, or what that loads first may fail."
        ),
        exit_code=exit_code,
        last_lines=_last_lines(output),
    )


def build_failed(output: str) -> DragomanError:
    """What the compiler said is data beside the sentence, never in it."""
    return LaunchError(
        "build_failed",
        say("The program cannot start: it does not compile."),
        hint=say("Correct what the compiler says, then start again."),
        last_lines=_last_lines(output),
    )


def _last_lines(output: str) -> list[str]:
    return [line[:_LONGEST_LINE] for line in output.splitlines()[-_LAST_LINES:]]


def start_timed_out() -> DragomanError:
    return DragomanError(
        "start_timeout",
        say("The debugger did not get ready in time."),
        hint=say("See the session's output; a program that waits for input or a slow build may be the reason."),
    )


def _newest(known: Sequence[str]) -> str:
    """Those of the last minutes are meant, if any is; the others are counted."""
    left = len(known) - _SESSIONS_NAMED
    return ", ".join(known[-_SESSIONS_NAMED:]) + (f" (+{left})" if left > 0 else "")


def no_session(ended: Sequence[str]) -> DragomanError:
    again = say(
        "Start one with start_debugging, or one that has ended with restart_debugging: {ended}.", ended=_newest(ended)
    )
    return DragomanError(
        "no_session",
        say("There is no live debug session in this workspace."),
        hint=again if ended else say("Start one with start_debugging."),
    )


class WhichSessionError(DragomanError):
    """`details` has each live session with the stop it stands at, for the client to choose from."""

    def __init__(self, sessions: Sequence[Mapping[str, Any]]) -> None:
        named = ", ".join(str(it["session_id"]) for it in sessions[:_SESSIONS_NAMED])
        super().__init__(
            "which_session",
            say("{count} debug sessions are live, and this client has been shown none of them.", count=len(sessions)),
            hint=say("Name the session that is meant: {known}.", known=named),
        )
        self.details: Mapping[str, Any] = {"sessions": list(sessions[:_NAMED])}


def unknown_session(session_id: str, known: Sequence[str]) -> DragomanError:
    return DragomanError(
        "unknown_session",
        say("There is no session {id} in this workspace.", id=ascii(session_id[:60])),
        hint=say("Known: {known}.", known=_newest(known)) if known else say("Start one with start_debugging."),
    )


def unknown_thread(thread_id: int, known: Sequence[ThreadSeen]) -> DragomanError:
    """The names of threads are the program's: only their numbers stand in a sentence of ours."""
    return DragomanError(
        "unknown_thread",
        say("There is no thread {id} in this session.", id=thread_id),
        hint=say("Threads there are: {threads}.", threads=", ".join(str(it.id) for it in known[:_NAMED]) or "-"),
    )


def not_supported(what: Phrase, adapter: str) -> DragomanError:
    """`what` says in a verb what it would have done: "stop where data changes"."""
    return DragomanError(
        "not_supported",
        say("The debug adapter {adapter} cannot {what}.", adapter=adapter, what=what),
        hint=say("Another adapter of the same language may: `dragoman adapters` lists them."),
    )


def cannot_restart(adapter: str) -> DragomanError:
    return not_supported(say("start a program again that it did not start itself"), adapter)


def restarts_already() -> DragomanError:
    return DragomanError(
        "restarting",
        say("The session is being started again."),
        hint=say("Wait for its next stop with wait_for_stop."),
    )


def unknown_variable(name: str) -> DragomanError:
    return DragomanError(
        "unknown_variable",
        say("There is no variable {name} in this frame.", name=ascii(name[:80])),
        hint=say("Give the variables_reference of what holds it, from get_scopes or get_variables."),
    )


def thread_runs(thread_id: int) -> DragomanError:
    return DragomanError(
        "thread_running",
        say("The thread {id} is running: it can be looked at only when it is stopped.", id=thread_id),
        hint=say("Pause the program, or set a breakpoint where the thread will come by."),
    )


def busy() -> DragomanError:
    return DragomanError(
        "busy",
        say("Another evaluation in this session has not ended yet."),
        hint=say("Ask again; an expression that never ends is cut off by its own timeout."),
    )


def adapter_busy(command: str, for_s: float) -> DragomanError:
    return DragomanError(
        "adapter_busy",
        say(
            "The debugger is still busy with `{command}`, for {seconds} seconds: nothing else was asked of it.",
            command=command,
            seconds=f"{for_s:.0f}",
        ),
        hint=say("Ask again in a few seconds. stop_debugging ends the session, restart_debugging begins afresh."),
    )


def sent_on() -> DragomanError:
    return DragomanError(
        "not_stopped",
        say("The program was sent on, which the debugger has not confirmed yet."),
        hint=say("Wait for its next stop with wait_for_stop."),
    )


def cannot_watch(reason: str) -> DragomanError:
    return DragomanError(
        "cannot_watch",
        say("The debugger cannot watch this: {reason}", reason=reason or "?"),
        hint=say("Name a variable of the present stop that lies in memory, or set a conditional breakpoint."),
    )


def no_such_access(access: str, offered: Sequence[str]) -> DragomanError:
    return DragomanError(
        "not_supported",
        say("This data cannot be watched for {access}.", access=access),
        hint=say("It can be watched for: {offered}.", offered=", ".join(offered[:_NAMED]) or "-"),
    )


def too_many_sessions(limit: int) -> DragomanError:
    return DragomanError(
        "too_many_sessions",
        say("{limit} debug sessions are live, as many as there may be.", limit=limit),
        hint=say("End one with stop_debugging."),
    )


def top_frame(stop: Stop) -> Frame:
    if stop.frames:
        return stop.frames[0]
    raise DragomanError(
        "no_frame",
        say("This stop has no stack."),
        hint=say("Step or continue to a place with source."),
    )


def persons_own() -> DragomanError:
    return DragomanError(
        "persons_own",
        say("This breakpoint is a person's own, in a session that they lend: it is theirs to change, in their editor."),
        hint=say("Breakpoints that agents set can be removed; ask the person about the others."),
    )


def is_a_persons() -> DragomanError:
    return DragomanError(
        "not_supported",
        say("The session is a person's, in an editor."),
        hint=say("Ask the person to start it again: where they allowed it, it is lent again by itself."),
    )
