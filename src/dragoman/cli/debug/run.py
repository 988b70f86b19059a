"""`dragoman debug PROGRAM`: breakpoints, the start, the first stop; the session goes on in the daemon."""

from __future__ import annotations

import sys
from pathlib import Path

from dragoman.cli.debug import options as take
from dragoman.cli.debug import targets, traces
from dragoman.cli.debug.asking import Told, asking, tell_outcome
from dragoman.cli.debug.places import breakpoint_of, here
from dragoman.cli.output import warn
from dragoman.errors import DragomanError
from dragoman.phrases import say


def run(
    program: take.Program = "",
    /,
    *args: take.Args,
    break_: take.Breaks = (),
    trace: take.Traces = (),
    until_crash: take.UntilCrash = False,
    if_: take.If = "",
    hit: take.Hit = "",
    log: take.Log = "",
    keep: take.Keep = False,
    config: take.Config = None,
    module: take.Module = None,
    no_debug: take.NoDebug = False,
    cwd: take.Cwd = None,
    env: take.Env = (),
    pid: take.Pid = None,
    type: take.Type = None,
    input: take.Input = (),
    file: take.File = None,
    stdin: take.Stdin = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    _require_break_before(if_, hit, log)
    start = {
        **targets.target(targets.Named((program, *args), config, module, pid, type), None if cwd is None else str(cwd)),
        "env": dict(map(_variable, env)) or None,
        "stdin": None if stdin is None else _input(stdin),
        "no_debug": no_debug or None,
        "process_id": pid,
        "inputs": dict(map(_variable, input)) or None,
        "file": here(file) if file else None,
        "timeout_s": timeout,
    }
    given = {name: value for name, value in start.items() if value is not None}
    wanted = {"breakpoints": [breakpoint_of(token) for token in break_], "start": given, "keep": keep}
    whole = traces.whole_run(trace, given, until_crash=until_crash, breaks=break_)
    with asking(workspace, starts_daemon=True) as asker:
        told = asker.ask("run", wanted) if whole is None else asker.call(whole[0], **whole[1])
    status = tell_outcome(told, as_json=json)
    if not json:
        _tell_next(told)
    return status


def _require_break_before(*conditions: str) -> None:
    """Those behind a --break have become part of it; what is left stood before the first."""
    if any(conditions):
        raise DragomanError(
            "condition_without_break",
            say("--if, --hit and --log belong behind the --break that they are for."),
            hint=say("For example: dragoman debug app.py --break app.py:12 --if 'n > 3'"),
        )


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise DragomanError(
            "bad_variable",
            say("{text} is not a variable.", text=ascii(text[:200])),
            hint=say("Write NAME=VALUE."),
        )
    return name, value


def _input(text: str) -> str:
    """Bytes as they are, also those that are no text: a line's end is not ours to change."""
    if text != "-" and not text.startswith("@"):
        return text
    try:
        data = sys.stdin.buffer.read() if text == "-" else Path(text[1:]).expanduser().read_bytes()
        return data.decode("utf-8", "surrogateescape")
    except OSError as error:
        raise DragomanError(
            "input_not_read",
            say("{file} could not be read ({reason}).", file=ascii(text[1:201]), reason=error.strerror),
            hint=say("--stdin @FILE reads a file; text that begins with @ can be piped in with --stdin -."),
        ) from error


def _tell_next(told: Told) -> None:
    if told.status == "stopped":
        warn(say("Go on with `dragoman debug next`, `step`, `out`, `continue`, `eval EXPR`, `vars`, `stop`."))
