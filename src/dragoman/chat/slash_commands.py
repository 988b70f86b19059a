"""The slash commands: short forms of the tools, one row each, and the commands that need more than one call."""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.chat.toolbox import ToolAnswer
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize

_AROUND = 5
_CALLERS = 3

ToolCaller = Callable[[str, Mapping[str, Any]], Awaitable[ToolAnswer]]
FollowUp = Callable[[ToolCaller, ToolAnswer, str], Awaitable[ToolAnswer]]
"""Takes the first answer and the rest of the command; returns the answer to show."""


async def show_variables(call: ToolCaller, scopes: ToolAnswer, rest: str) -> ToolAnswer:
    """Show the locals, a named scope, or the members of a value."""
    if scopes.is_error:
        return scopes
    scope = _find_scope(scopes.data.get("scopes") or (), rest)
    if scope is not None:
        return await call("get_variables", {"variables_reference": scope["variables_reference"]})
    if not rest:
        return scopes
    value = await call("evaluate_expression", {"expression": rest})
    if value.is_error and rest.isidentifier():
        value = await _evaluate_in_callers(call, rest) or value
    reference = value.data.get("variables_reference")
    return await call("get_variables", {"variables_reference": reference}) if reference else value


async def _evaluate_in_callers(call: ToolCaller, name: str) -> ToolAnswer | None:
    """Look up a name in the callers' frames if it is unknown here: inside a comprehension, most names are."""
    stop = await call("wait_for_stop", {"timeout_s": 0})
    frames = (stop.data.get("stop_event_data") or {}).get("call_stack") or ()
    for frame in frames[1 : 1 + _CALLERS]:
        value = await call("evaluate_expression", {"expression": name, "frame_id": frame["frame_id"]})
        if not value.is_error:
            return value._replace(text=f"{_frame_text(frame)}\n{value.text}")
    return None


def _frame_text(it: Mapping[str, Any]) -> str:
    return f"{it['function_name']}  {it['file_path']}:{it['line_number']}"


def _find_scope(scopes: Sequence[Mapping[str, Any]], word: str) -> Mapping[str, Any] | None:
    """Find a scope. The first is the innermost, and debuggers use different names: Locals, Local, Upvalues."""
    if not word:
        return next((it for it in scopes if it["variables_reference"]), None)
    wanted = word.casefold().rstrip("s")
    return next((it for it in scopes if it["name"].casefold().rstrip("s") == wanted), None)


async def show_stack(_: ToolCaller, stop: ToolAnswer, __: str) -> ToolAnswer:
    """Show one frame per line, the innermost first, with the current one marked."""
    stop_data = stop.data.get("stop_event_data") or {}
    frames = stop_data.get("call_stack") or ()
    if not frames:
        return stop
    here = stop_data.get("at_frame_id") or frames[0]["frame_id"]
    lines = [f"{'>' if it['frame_id'] == here else ' '} {_frame_text(it)}" for it in frames]
    hidden = stop_data.get("total_frames", 0) - len(frames)
    return stop._replace(text="\n".join([*lines, *([f"  … {hidden}"] if hidden > 0 else [])]))


async def show_source(call: ToolCaller, stop: ToolAnswer, _: str) -> ToolAnswer:
    """Show the lines around the current one, which is marked."""
    stop_data = stop.data.get("stop_event_data") or {}
    path, line = (stop_data.get("source") or {}).get("path"), stop_data.get("line")
    if not path or not line:
        return stop
    first = max(1, line - _AROUND)
    found = await call("get_source", {"file_path": path, "line": first, "count": 2 * _AROUND + 1})
    lines = found.text.split("\n")
    here = line - first
    if not found.is_error and here < len(lines):
        lines[here] = f">{lines[here][1:]}"
    return found._replace(text="\n".join(lines))


Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SlashCommand:
    tool: str
    usage: str
    about: LocalizedText
    parse: Callable[[str], Arguments]
    follow: FollowUp | None = None
    """For commands whose first answer is not the final one."""


class CommandUsageError(DragomanError):
    def __init__(self, usage: str) -> None:
        super().__init__("not_understood", localize("Invalid syntax."), hint=localize("Usage: {usage}", usage=usage))


_PLACE = re.compile(r"(?P<file>\S.*?):(?P<line>\d{1,9})(?:\s+if\s+(?P<condition>\S.*))?", re.DOTALL)
_FUNCTION = re.compile(r"(?P<function>[^\s:]+)\(\)(?:\s+if\s+(?P<condition>\S.*))?", re.DOTALL)
_PAIR = re.compile(r"(?P<name>\S.*?)\s*=\s*(?P<value>\S.*)", re.DOTALL)
_STEPS = {"": "over", "over": "over", "into": "into", "in": "into", "out": "out"}


def _nothing(rest: str) -> Arguments:
    if rest:
        raise ValueError
    return {}


def _breakpoint_place(rest: str) -> Arguments:
    if match := _PLACE.fullmatch(rest):
        condition = {"condition": match["condition"]} if match["condition"] else {}
        return {"file_path": match["file"], "line_number": int(match["line"]), **condition}
    if match := _FUNCTION.fullmatch(rest):
        condition = {"condition": match["condition"]} if match["condition"] else {}
        return {"kind": "function", "function_name": match["function"], **condition}
    raise ValueError


def _start(rest: str) -> Arguments:
    """A word with a dot or a slash is a file; any other is the name of a configuration."""
    if not rest:
        raise ValueError
    first, *others = shlex.split(rest)
    if "/" in first or re.search(r"\.\w{1,4}$", first):
        return {"program": first, **({"args": others} if others else {})}
    return {"configuration_name": rest}


def _breakpoint_to_remove(rest: str) -> Arguments:
    if rest == "all":
        return {"clear_all": True}
    if rest.isdecimal():
        return {"breakpoint_id": int(rest)}
    match = _PLACE.fullmatch(rest)
    if not match:
        raise ValueError
    return {"location": {"file_path": match["file"], "line_number": int(match["line"])}}


def _step(rest: str) -> Arguments:
    if rest not in _STEPS:
        raise ValueError
    return {"step_type": _STEPS[rest]}


def _assignment(rest: str) -> Arguments:
    match = _PAIR.fullmatch(rest)
    if not match:
        raise ValueError
    return {"name": match["name"], "value": match["value"]}


def _source(rest: str) -> Arguments:
    match = _PLACE.fullmatch(rest)
    if match and not match["condition"]:
        return {"file_path": match["file"], "line": max(1, int(match["line"]) - 5), "count": 20}
    return {"file_path": _needed(rest)}


def _at_current_stop(rest: str) -> Arguments:
    """Call at the current stop, without waiting for a running program."""
    return {**_nothing(rest), "timeout_s": 0}


def _free_text(_: str) -> Arguments:
    return {}


def _needed(rest: str) -> str:
    if not rest:
        raise ValueError
    return rest


def _optional(name: str) -> Callable[[str], Arguments]:
    return lambda rest: {name: rest} if rest else {}


def _required(name: str) -> Callable[[str], Arguments]:
    return lambda rest: {name: _needed(rest)}


def _fixed(**arguments: Any) -> Callable[[str], Arguments]:
    return lambda rest: {**_nothing(rest), **arguments}


_EXPRESSION = _required("expression")
_COMMAND = _required("command")
_QUERY = _optional("query")


SLASH_COMMANDS: Mapping[str, SlashCommand] = {
    "break": SlashCommand(
        "set_breakpoint",
        "/break FILE:LINE [if EXPRESSION]",
        localize("Set a breakpoint at a line, or in a function: name()."),
        _breakpoint_place,
    ),
    "breaks": SlashCommand("get_breakpoints", "/breaks", localize("List the breakpoints."), _nothing),
    "clear": SlashCommand(
        "remove_breakpoint", "/clear ID | FILE:LINE | all", localize("Remove breakpoints."), _breakpoint_to_remove
    ),
    "configs": SlashCommand(
        "get_debugger_configurations", "/configs", localize("List the configurations in launch.json."), _nothing
    ),
    "start": SlashCommand(
        "start_debugging", "/start NAME | FILE [ARGUMENTS]", localize("Debug a configuration or a file."), _start
    ),
    "continue": SlashCommand("continue_debugging", "/continue", localize("Continue to the next stop."), _nothing),
    "step": SlashCommand("step_execution", "/step [over|into|out]", localize("Step over, into or out."), _step),
    "into": SlashCommand("step_execution", "/into", localize("Step into a call."), _fixed(step_type="into")),
    "next": SlashCommand("step_execution", "/next", localize("Step over calls."), _fixed(step_type="over")),
    "out": SlashCommand("step_execution", "/out", localize("Step out of this function."), _fixed(step_type="out")),
    "pause": SlashCommand("pause_debugging", "/pause", localize("Pause the program."), _nothing),
    "wait": SlashCommand(
        "wait_for_stop", "/wait", localize("Show where the program stopped, or wait until it stops."), _nothing
    ),
    "restart": SlashCommand("restart_debugging", "/restart", localize("Restart the program."), _nothing),
    "stop": SlashCommand("stop_debugging", "/stop", localize("End the debug session."), _nothing),
    "vars": SlashCommand(
        "get_scopes",
        "/vars [globals | NAME]",
        localize("Show the variables of this frame or another scope, or expand one variable."),
        _free_text,
        show_variables,
    ),
    "stack": SlashCommand("wait_for_stop", "/stack", localize("Show the call stack."), _at_current_stop, show_stack),
    "list": SlashCommand(
        "wait_for_stop", "/list", localize("Show the source around the current line."), _at_current_stop, show_source
    ),
    "eval": SlashCommand("evaluate_expression", "/eval EXPRESSION", localize("Evaluate an expression."), _EXPRESSION),
    "set": SlashCommand("set_variable", "/set NAME = VALUE", localize("Change a variable."), _assignment),
    "source": SlashCommand("get_source", "/source FILE[:LINE]", localize("Show lines of a file."), _source),
    "output": SlashCommand("get_output", "/output", localize("Show the program's latest output."), _nothing),
    "sessions": SlashCommand("list_sessions", "/sessions", localize("List the debug sessions."), _nothing),
    "why": SlashCommand("get_last_failure", "/why", localize("Explain why the last command failed."), _nothing),
    "history": SlashCommand(
        "search_commands", "/history [WORDS]", localize("Search commands run in terminals."), _QUERY
    ),
    "last": SlashCommand("get_command_output", "/last", localize("Show the last command's output."), _nothing),
    "terminals": SlashCommand("list_terminals", "/terminals", localize("List the terminals."), _nothing),
    "screen": SlashCommand(
        "read_terminal", "/screen [TERMINAL]", localize("Show a terminal's screen."), _optional("terminal")
    ),
    "run": SlashCommand("run_in_terminal", "/run COMMAND", localize("Run a command in its own terminal."), _COMMAND),
    "find": SlashCommand("search_journal", "/find WORDS", localize("Search past events."), _required("words")),
    "status": SlashCommand("dragoman_status", "/status", localize("Show what is running."), _nothing),
}


COMMAND_GROUPS: Sequence[tuple[LocalizedText, Sequence[str]]] = (
    (localize("Breakpoints"), ("break", "breaks", "clear")),
    (
        localize("Run"),
        ("start", "continue", "step", "into", "next", "out", "pause", "wait", "restart", "stop", "configs"),
    ),
    (localize("Inspect"), ("vars", "stack", "list", "eval", "set", "source", "output", "sessions")),
    (localize("Terminals"), ("why", "last", "history", "run", "terminals", "screen")),
    (localize("Journal and status"), ("find", "status")),
)
"""Every short form is in one group."""
_ALIASES = {
    "break": "b breakpoint",
    "breaks": "breakpoints",
    "clear": "d delete",
    "start": "debug",
    "continue": "c cont",
    "into": "s",
    "next": "n over",
    "out": "finish return",
    "stop": "kill quit q",
    "vars": "locals variables",
    "stack": "where w bt backtrace",
    "list": "l",
    "eval": "print p pp",
}
COMMAND_ALIASES: Mapping[str, str] = {also: name for name, others in _ALIASES.items() for also in others.split()}
"""Names from gdb, pdb and editors; none has a row of its own."""


def parse_arguments(form: SlashCommand, rest: str) -> Arguments:
    try:
        return form.parse(rest.strip())
    except ValueError:
        raise CommandUsageError(form.usage) from None
