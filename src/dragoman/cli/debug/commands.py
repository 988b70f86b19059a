"""`dragoman debug PROGRAM`, which starts a session, and the table of its subcommands.

The target is a program, a launch configuration, a Python module or a running process.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.caller import working_folder
from dragoman.cli.commands import labelled_app
from dragoman.cli.debug import arguments, inspection
from dragoman.cli.debug import options as opt
from dragoman.cli.debug.arguments import absolute_path, breakpoint_arguments, parse_breakpoint, parse_location
from dragoman.cli.output import render, warn
from dragoman.cli.parser.fast_commands import FAST_COMMANDS
from dragoman.cli.parser.parameters import command_function
from dragoman.cli.remote.options import is_remote
from dragoman.cli.tool_client import ToolReply, open_tool_client, show_reply
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize


def break_(
    place: Annotated[str, Parameter(help=render(localize("FILE:LINE, or FILE:LINE:COLUMN.")))],
    /,
    *,
    if_: opt.If = "",
    hit: opt.Hit = "",
    log: opt.Log = "",
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    wanted = breakpoint_arguments(place, condition=if_, hit_condition=hit, log_message=log)
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.call("set_breakpoint", **wanted)
    return show_reply(reply, as_json=json)


def breakpoints(*, workspace: opt.Workspace = None, json: opt.Json = False) -> int:
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.call("get_breakpoints")
    return show_reply(reply, as_json=json)


def clear(
    which: Annotated[str, Parameter(help=render(localize("Breakpoint number, or FILE:LINE.")))] = "",
    /,
    *,
    everything: Annotated[
        bool, Parameter(name="--all", negative="", help=render(localize("Remove all breakpoints in the workspace.")))
    ] = False,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    asked = _breakpoint_selection(which, everything=everything)
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.call("remove_breakpoint", **asked)
    return show_reply(reply, as_json=json)


def _breakpoint_selection(which: str, *, everything: bool) -> dict[str, Any]:
    if bool(which) == everything:
        raise DragomanError(
            "bad_choice",
            localize("Pass exactly one of: a breakpoint number, FILE:LINE, --all."),
            hint=localize("`dragoman debug breakpoints` lists them."),
        )
    if everything:
        return {"clear_all": True}
    if which.isascii() and which.isdigit():
        return {"breakpoint_id": int(which)}
    file, line, _ = parse_location(which)
    return {"location": {"file_path": file, "line_number": line}}


_VERSION_SUFFIX = re.compile(r"[\d.]+$")


@dataclass(frozen=True, slots=True)
class DebugTarget:
    words: tuple[str, ...]
    """The program and its arguments; only arguments if the target is named by an option."""
    config: str | None = None
    module: str | None = None
    pid: int | None = None
    type: str | None = None


def target_arguments(target: DebugTarget, cwd: str | None) -> dict[str, Any]:
    """The arguments of `start_debugging`. A program runs in the working folder; a configuration sets its own."""
    _require_one(target)
    words = [] if target.words == ("",) else list(target.words)
    folder = absolute_path(cwd) if cwd else None
    if target.config is not None:
        return {"configuration_name": target.config, "args": words or None, "cwd": folder}
    if target.module is not None:
        module = {"type": "python", "request": "launch", "name": target.module, "module": target.module}
        return {"configuration": module, "args": words or None, "cwd": folder or _own_folder()}
    if target.pid is not None:
        return {"configuration": _attach_configuration(target.pid, target.type)}
    program, *args = target.words
    named_program = program if _is_command(program) else absolute_path(program)
    return {"program": named_program, "args": args or None, "cwd": folder or _own_folder()}


def _own_folder() -> str | None:
    """The folder in which a program runs unless told otherwise; on another machine, its workspace, or the folder that
    this one is mapped to.
    """
    if is_remote():
        from dragoman.cli.remote.folder_maps import mapped_path

        return mapped_path(working_folder())
    return working_folder()


def _is_command(program: str) -> bool:
    """`python3`, `npm` and the like are commands, not files of that name in the working folder."""
    from pathlib import Path

    from dragoman.debug.launch.programs import is_launcher

    folder = Path(_own_folder() or "/")
    return "/" not in program and is_launcher({"program": program}, folder, folder)


def _require_one(target: DebugTarget) -> None:
    program = bool(target.words and target.words[0])
    if target.type is not None and (target.pid is None or target.config is not None):
        raise DragomanError(
            "type_without_pid",
            localize("--type requires --pid."),
            hint=localize("A program's debugger is chosen by its file; a configuration has its own `type`."),
        )
    if target.config is not None and target.module is None:
        return
    if (target.config, target.module, target.pid).count(None) < 2 or (target.pid is not None and program):
        raise DragomanError(
            "several_targets",
            localize("One command can debug only one target."),
            hint=localize(
                "Pass one of: a program, --config, --module, --pid. --pid with --config selects the process to "
                "attach to."
            ),
        )
    if not program and target.module is None and target.pid is None:
        raise DragomanError(
            "no_program",
            localize("Nothing to debug."),
            hint=localize("Pass a program, or a configuration with --config. See `dragoman debug --help`."),
        )


def _attach_configuration(pid: int, type: str | None) -> dict[str, Any]:
    if type is None and is_remote():
        raise DragomanError(
            "no_type",
            localize("The debugger for a process on another machine must be named."),
            hint=localize("Pass --type, such as `--type python`."),
        )
    return {"type": type or type_of_process(pid), "request": "attach", "name": f"process {pid}"}


def type_of_process(pid: int) -> str:
    """From the name of the program that runs. The daemon checks that the process exists and belongs to the user."""
    import psutil

    from dragoman.debug.launch.programs import INTERPRETER_TYPES, NATIVE

    try:
        name = psutil.Process(pid).exe().rpartition("/")[2]
    except (psutil.Error, OverflowError, ValueError):
        return NATIVE
    return INTERPRETER_TYPES.get(_VERSION_SUFFIX.sub("", name), NATIVE)


def run(
    program: opt.Program = "",
    /,
    *args: opt.Args,
    break_: opt.Breaks = (),
    trace: opt.Traces = (),
    until_crash: opt.UntilCrash = False,
    if_: opt.If = "",
    hit: opt.Hit = "",
    log: opt.Log = "",
    keep: opt.Keep = False,
    config: opt.Config = None,
    module: opt.Module = None,
    no_debug: opt.NoDebug = False,
    cwd: opt.Cwd = None,
    env: opt.Env = (),
    pid: opt.Pid = None,
    type: opt.Type = None,
    input: opt.Input = (),
    file: opt.File = None,
    stdin: opt.Stdin = None,
    timeout: opt.Timeout = None,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    _refuse_unattached_conditions(if_, hit, log)
    start = {
        **target_arguments(DebugTarget((program, *args), config, module, pid, type), None if cwd is None else str(cwd)),
        "env": dict(map(_parse_variable, env)) or None,
        "stdin": None if stdin is None else _read_input(stdin),
        "no_debug": no_debug or None,
        "process_id": pid,
        "inputs": dict(map(_parse_variable, input)) or None,
        "file": absolute_path(file) if file else None,
        "timeout_s": timeout,
    }
    given = {name: value for name, value in start.items() if value is not None}
    wanted = {"breakpoints": [parse_breakpoint(token) for token in break_], "start": given, "keep": keep}
    whole = arguments.whole_run_call(trace, given, until_crash=until_crash, breaks=break_)
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.request("run", wanted) if whole is None else client.call(whole[0], **whole[1])
    status = show_reply(reply, as_json=json)
    if not json:
        _show_next_commands(reply)
    return status


def _refuse_unattached_conditions(*conditions: str) -> None:
    """Refuse conditions before the first `--break`; those after one were joined with it."""
    if any(conditions):
        raise DragomanError(
            "condition_without_break",
            localize("Put --if, --hit and --log after the --break they apply to."),
            hint=localize("For example: dragoman debug app.py --break app.py:12 --if 'n > 3'"),
        )


def _parse_variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise DragomanError(
            "bad_variable",
            localize("Invalid variable: {text}.", text=ascii(text[:200])),
            hint=localize("Use NAME=VALUE."),
        )
    return name, value


def _read_input(text: str) -> str:
    """Read the program's input as bytes: it need not be text, and its line ends are kept."""
    if text != "-" and not text.startswith("@"):
        return text
    try:
        data = sys.stdin.buffer.read() if text == "-" else Path(text[1:]).expanduser().read_bytes()
        return data.decode("utf-8", "surrogateescape")
    except OSError as error:
        raise DragomanError(
            "input_not_read",
            localize("Cannot read {file} ({reason}).", file=ascii(text[1:201]), reason=error.strerror),
            hint=localize("--stdin @FILE reads a file. To pass text that starts with @, pipe it in with --stdin -."),
        ) from error


def _show_next_commands(reply: ToolReply) -> None:
    if reply.status == "stopped":
        warn(localize("Next: `dragoman debug next`, `step`, `out`, `continue`, `eval EXPR`, `vars`, `stop`."))


app = labelled_app(name="debug", default_command=run)


for name, function, about in (
    ("next", None, localize("Step over.")),
    ("step", None, localize("Step into.")),
    ("out", None, localize("Step out.")),
    ("continue", None, localize("Run to the next stop or to the end.")),
    ("pause", None, localize("Pause the running program.")),
    ("wait", None, localize("Wait for the next stop. If already stopped, show the stop again.")),
    ("restart", None, localize("Restart the program in the same session.")),
    ("stop", None, localize("End the session.")),
    ("eval", inspection.eval_, localize("Evaluate an expression.")),
    ("vars", inspection.vars_, localize("Show the locals, or the contents of one.")),
    ("set", inspection.set_, localize("Change a variable.")),
    ("stack", inspection.stack, localize("Show the call stack.")),
    ("threads", inspection.threads, localize("Show the threads.")),
    ("output", inspection.output, localize("Show the program's output.")),
    ("sessions", inspection.sessions, localize("List the debug sessions in the workspace.")),
    ("break", break_, localize("Set a breakpoint and keep it in the workspace.")),
    ("breakpoints", breakpoints, localize("List the breakpoints in the workspace.")),
    ("clear", clear, localize("Remove breakpoints.")),
):
    app.command(function or command_function(FAST_COMMANDS[f"debug {name}"]), name=name, help=render(about))
