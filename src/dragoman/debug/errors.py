"""Errors of debug sessions and their adapters: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from dragoman.core.errors import (
    DragomanError,
    ErrorSpec,
    RemoteProtocolError,
    cut,
    internal_error,
    or_else,
    quoted,
    short_number,
)
from dragoman.core.localization import localize
from dragoman.debug import model
from dragoman.debug.launch.errors import LaunchErrorSpec
from dragoman.debug.model import FrameInfo, SessionState, Stop


def clock_time(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9).astimezone().strftime("%H:%M:%S")


attach_timed_out = ErrorSpec(
    "attach_timeout",
    "Attaching to the process timed out.",
    "No response within {seconds} seconds. Check that the program is running and no other debugger is attached.",
    seconds=short_number,
)
not_served = ErrorSpec("not_served", "`{command}` is not supported.", command=cut(40))
no_program = ErrorSpec(
    "no_such_program",
    "{folder} has no Go program: no `main` package and no tests.",
    "Set `program` to the folder or file of a `main` package, or of tests with `mode` test.",
)
needs_npm = ErrorSpec(
    "needs_npm",
    "{name} is installed with npm, but npm is not on PATH.",
    "Install Node.js with npm (apt-get install nodejs npm, or brew install node), then try again.",
)
no_inspector = ErrorSpec(
    "no_inspector",
    "Node process {pid} did not open its inspector.",
    "Port 9229 may be in use. Start it with `--inspect=PORT`, then attach to that `port`.",
)
no_browser = ErrorSpec(
    "no_browser",
    "Browser debugging ({type}) is not supported; only node programs are.",
    "Use type `node` for the server side, or attach to a node process by port.",
)
cargo_unsupported = ErrorSpec(
    "needs_build",
    "This configuration builds with cargo, which only the CodeLLDB extension supports.",
    "Run `cargo build`, then set `program` to the executable in target/debug.",
)
bad_port = ErrorSpec(
    "bad_port",
    "{port} is not a valid port.",
    "Set `connect` to the host and port where the program listens.",
    port=lambda port: ascii(port)[:60],
)
no_debugger_yet = ErrorSpec(
    "adapter_gone",
    "The debugger has not started: pre-launch tasks are still running.",
    "Wait for the session, or stop it.",
)
bad_hit_condition = ErrorSpec(
    "bad_hit_condition",
    "Invalid hit condition: {text}.",
    "Use a count with an optional comparison: 3, == 3, > 5, >= 8, % 2 == 0, % 3.",
    text=lambda text: repr(text[:80]),
)
no_commit = ErrorSpec(
    "no_such_commit",
    "Cannot check out the workspace at that commit: `git {command}`: {reason}.",
    "Pass a commit, branch or tag of the workspace's repository.",
)
adapter_silent = ErrorSpec(
    "adapter_silent",
    "The debug adapter did not respond to `{command}` within {seconds} seconds.",
    "It is still busy. Retry in a few seconds, or end the session with stop_debugging.",
    seconds=short_number,
)
core_dump = ErrorSpec(
    "core_dump",
    "This is a core dump: the program has ended and cannot run or step.",
    "Inspect its frames, variables and threads. To run the program, start it.",
)
program_not_running = ErrorSpec(
    "not_running_program",
    "Only a running program can be paused: the session is {state}.",
    "A stopped program can be stepped, continued and inspected.",
)
already_ended = ErrorSpec("already_ended", "The session has ended.", "Start it again; breakpoints are kept.")
invalid_adapter_response = ErrorSpec(
    "adapter_broken", "The debugger returned an invalid response: {reason}", reason=str
)
adapter_gone = ErrorSpec(
    "adapter_gone",
    "The debugger exited before the program started. Last output: {words}",
    "Check that the program exists and runs on its own.",
    words=lambda last_words: last_words[-400:] or "-",
)
start_timed_out = ErrorSpec(
    "start_timeout",
    "The debugger was not ready in time.",
    "See the session's output. The program may be waiting for input, or the build may be slow.",
)
# `what` says in a verb what it would have done: "stop where data changes".
not_supported = ErrorSpec(
    "not_supported",
    "The debug adapter {adapter} cannot {what}.",
    "Another adapter for the language may support it: see `dragoman adapters`.",
)
already_restarting = ErrorSpec("restarting", "The session is restarting.", "Wait for its next stop with wait_for_stop.")
unknown_variable = ErrorSpec(
    "unknown_variable",
    "No variable {name} in this frame.",
    "Pass the variables_reference of its container, from get_scopes or get_variables.",
    name=quoted(80),
)
thread_running = ErrorSpec(
    "thread_running",
    "Thread {id} is running; only a stopped thread can be inspected.",
    "Pause the program, or set a breakpoint that the thread will reach.",
)
evaluation_busy = ErrorSpec(
    "busy",
    "Another evaluation in this session is still running.",
    "Retry; an expression that never ends is stopped by its timeout.",
)
adapter_busy = ErrorSpec(
    "adapter_busy",
    "The debugger has been busy with `{command}` for {seconds} seconds. The request was not sent.",
    "Retry in a few seconds. stop_debugging ends the session, restart_debugging restarts it.",
    seconds=lambda for_s: f"{for_s:.0f}",
)
auto_resumed = ErrorSpec(
    "not_stopped",
    "The program is not stopped: the countdown resumed it at {time}.",
    "Wait for its next stop with wait_for_stop; its `hold_s` keeps the program there for longer.",
    time=clock_time,
)
resuming = ErrorSpec(
    "not_stopped",
    "The program is resuming; the debugger has not confirmed it yet.",
    "Wait for its next stop with wait_for_stop.",
)
cannot_watch = ErrorSpec(
    "cannot_watch",
    "The debugger cannot watch this: {reason}",
    "Choose an in-memory variable of the current stop, or set a conditional breakpoint.",
    reason=or_else("?"),
)
too_many_sessions = ErrorSpec(
    "too_many_sessions", "Limit reached: {limit} active debug sessions.", "Stop one with stop_debugging."
)
owned_by_person = ErrorSpec(
    "persons_own",
    "This breakpoint belongs to the user; only they can change it, in their editor.",
    "You can remove breakpoints set by agents; ask the user about others.",
)
session_owned_by_person = ErrorSpec(
    "not_supported",
    "This session belongs to the user's editor.",
    "Ask the user to restart it. If they allowed it, it is lent again automatically.",
)
stale_reference = ErrorSpec(
    "stale_reference",
    "{number} belongs to an earlier stop.",
    "Use a frame or variables reference from the latest stop.",
)
unknown_reference = ErrorSpec(
    "unknown_reference",
    "This session never issued {number}.",
    "Use a frame or variables reference from the latest stop.",
)
too_many_references = ErrorSpec(
    "too_many_references",
    "Limit reached: this stop cannot issue more references.",
    "Step or continue: the next stop resets the limit.",
)


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
            who=model.person_label(by) or named,
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
