"""Errors of debug sessions and their adapters: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from datetime import datetime

from dragoman.core.errors import ErrorSpec, cut, or_else, quoted, short_number


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
let_go = ErrorSpec(
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
