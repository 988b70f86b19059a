"""What a person types after a slash: short forms of the tools, each a line of a table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.chat import followed
from dragoman.chat.followed import Follow
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShortForm:
    tool: str
    usage: str
    about: Phrase
    parse: Callable[[str], Arguments]
    follow: Follow | None = None
    """Where the first answer is not yet what was asked for."""


class NotUnderstoodError(DragomanError):
    def __init__(self, usage: str) -> None:
        super().__init__(
            "not_understood", say("That is not how it is written."), hint=say("Write: {usage}", usage=usage)
        )


_PLACE = re.compile(r"(?P<file>\S.*?):(?P<line>\d{1,9})(?:\s+if\s+(?P<condition>\S.*))?", re.DOTALL)
_FUNCTION = re.compile(r"(?P<function>[^\s:]+)\(\)(?:\s+if\s+(?P<condition>\S.*))?", re.DOTALL)
_PAIR = re.compile(r"(?P<name>\S.*?)\s*=\s*(?P<value>\S.*)", re.DOTALL)
_STEPS = {"": "over", "over": "over", "into": "into", "in": "into", "out": "out"}


def _nothing(rest: str) -> Arguments:
    if rest:
        raise ValueError
    return {}


def _place(rest: str) -> Arguments:
    if found := _PLACE.fullmatch(rest):
        condition = {"condition": found["condition"]} if found["condition"] else {}
        return {"file_path": found["file"], "line_number": int(found["line"]), **condition}
    if found := _FUNCTION.fullmatch(rest):
        condition = {"condition": found["condition"]} if found["condition"] else {}
        return {"kind": "function", "function_name": found["function"], **condition}
    raise ValueError


def _start(rest: str) -> Arguments:
    """A word with a dot or a slash in it is a file; anything else the name of a configuration."""
    if not rest:
        raise ValueError
    first, *others = shlex.split(rest)
    if "/" in first or re.search(r"\.\w{1,4}$", first):
        return {"program": first, **({"args": others} if others else {})}
    return {"configuration_name": rest}


def _removed(rest: str) -> Arguments:
    if rest == "all":
        return {"clear_all": True}
    if rest.isdecimal():
        return {"breakpoint_id": int(rest)}
    found = _PLACE.fullmatch(rest)
    if not found:
        raise ValueError
    return {"location": {"file_path": found["file"], "line_number": int(found["line"])}}


def _step(rest: str) -> Arguments:
    if rest not in _STEPS:
        raise ValueError
    return {"step_type": _STEPS[rest]}


def _assignment(rest: str) -> Arguments:
    found = _PAIR.fullmatch(rest)
    if not found:
        raise ValueError
    return {"name": found["name"], "value": found["value"]}


def _source(rest: str) -> Arguments:
    found = _PLACE.fullmatch(rest)
    if found and not found["condition"]:
        return {"file_path": found["file"], "line": max(1, int(found["line"]) - 5), "count": 20}
    return {"file_path": _needed(rest)}


def _listed(rest: str) -> Arguments:
    """Where it stands now: a program that runs is not waited for."""
    return {**_nothing(rest), "timeout_s": 0}


def _anything(_: str) -> Arguments:
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

SHORT_FORMS: Mapping[str, ShortForm] = {
    "break": ShortForm(
        "set_breakpoint", "/break FILE:LINE [if EXPRESSION]", say("Stop there, or in a function: name()."), _place
    ),
    "breaks": ShortForm("get_breakpoints", "/breaks", say("The breakpoints."), _nothing),
    "clear": ShortForm("remove_breakpoint", "/clear ID | FILE:LINE | all", say("Take breakpoints away."), _removed),
    "configs": ShortForm("get_debugger_configurations", "/configs", say("What launch.json offers."), _nothing),
    "start": ShortForm(
        "start_debugging", "/start NAME | FILE [ARGUMENTS]", say("Debug a configuration or a file."), _start
    ),
    "continue": ShortForm("continue_debugging", "/continue", say("Go on to the next stop."), _nothing),
    "step": ShortForm("step_execution", "/step [over|into|out]", say("One step."), _step),
    "into": ShortForm("step_execution", "/into", say("One step, into a call."), _fixed(step_type="into")),
    "next": ShortForm("step_execution", "/next", say("One step, over calls."), _fixed(step_type="over")),
    "out": ShortForm("step_execution", "/out", say("Out of this function."), _fixed(step_type="out")),
    "pause": ShortForm("pause_debugging", "/pause", say("Stop the program where it is."), _nothing),
    "wait": ShortForm("wait_for_stop", "/wait", say("Where it stands, or will stop."), _nothing),
    "restart": ShortForm("restart_debugging", "/restart", say("From the beginning."), _nothing),
    "stop": ShortForm("stop_debugging", "/stop", say("End the debug session."), _nothing),
    "vars": ShortForm(
        "get_scopes",
        "/vars [globals | NAME]",
        say("The variables of this frame, of another scope, or what one holds."),
        _anything,
        followed.variables,
    ),
    "stack": ShortForm("wait_for_stop", "/stack", say("Who called what, to here."), _listed, followed.stack),
    "list": ShortForm("wait_for_stop", "/list", say("The lines around this one."), _listed, followed.listing),
    "eval": ShortForm("evaluate_expression", "/eval EXPRESSION", say("What an expression is."), _EXPRESSION),
    "set": ShortForm("set_variable", "/set NAME = VALUE", say("Change a variable."), _assignment),
    "source": ShortForm("get_source", "/source FILE[:LINE]", say("Lines of a file."), _source),
    "output": ShortForm("get_output", "/output", say("What the program printed last."), _nothing),
    "sessions": ShortForm("list_sessions", "/sessions", say("The debug sessions."), _nothing),
    "why": ShortForm("get_last_failure", "/why", say("Why the last command failed."), _nothing),
    "history": ShortForm("search_commands", "/history [WORDS]", say("Commands that ran in terminals."), _QUERY),
    "last": ShortForm("get_command_output", "/last", say("What the last command printed."), _nothing),
    "terminals": ShortForm("list_terminals", "/terminals", say("The terminals."), _nothing),
    "screen": ShortForm("read_terminal", "/screen [TERMINAL]", say("What a terminal shows."), _optional("terminal")),
    "run": ShortForm("run_in_terminal", "/run COMMAND", say("Run a command in a terminal of its own."), _COMMAND),
    "find": ShortForm("search_journal", "/find WORDS", say("What happened here before."), _required("words")),
    "status": ShortForm("dragoman_status", "/status", say("What runs here."), _nothing),
}

GROUPS: Sequence[tuple[Phrase, Sequence[str]]] = (
    (say("Stop at"), ("break", "breaks", "clear")),
    (say("Run"), ("start", "continue", "step", "into", "next", "out", "pause", "wait", "restart", "stop", "configs")),
    (say("Look"), ("vars", "stack", "list", "eval", "set", "source", "output", "sessions")),
    (say("Terminals"), ("why", "last", "history", "run", "terminals", "screen")),
    (say("Record"), ("find", "status")),
)
"""Every short form stands in one."""
_HANDS = {
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
ALSO: Mapping[str, str] = {also: name for name, others in _HANDS.items() for also in others.split()}
"""What hands are used to from gdb, pdb and editors; nothing that has a row of its own."""


def parsed(form: ShortForm, rest: str) -> Arguments:
    try:
        return form.parse(rest.strip())
    except ValueError:
        raise NotUnderstoodError(form.usage) from None
