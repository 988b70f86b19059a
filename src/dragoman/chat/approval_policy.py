"""Which tool calls need a person's approval: one rule for each tool that does more than read.

Approval is needed for what runs or writes something new: a program, a command line, a file, and an evaluated
expression that can have effects. Continuing what was allowed to run, and showing things to the person, needs none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dragoman.chat.expression_effects import (
    console_has_effects,
    function_has_console_effects,
    function_has_effects,
    has_effects,
    hit_condition_has_effects,
    message_has_console_effects,
    message_has_effects,
    message_reads_member,
    reads_member,
)


class Evaluators(NamedTuple):
    """How the debuggers that a text can reach evaluate it. If nothing is known, the strictest."""

    calls_bare: bool = True
    """The name of a member alone calls it."""
    has_console: bool = True
    """Any text may be a command."""


UNKNOWN_EVALUATORS = Evaluators()


class EffectChecks(NamedTuple):
    """Whether a text has effects: as an expression, as a console command, and where a bare name is a call."""

    expression: Callable[[str], bool]
    console: Callable[[str], bool]
    bare: Callable[[str], bool] = reads_member


class ApprovalSubject(NamedTuple):
    """What is run or written, as one text. `lasts` false: approval is asked for each time."""

    subject: str
    lasts: bool = True


@dataclass(frozen=True, slots=True)
class ToolRule:
    """The rule for one tool. A parameter in neither set needs approval, so that a new one does until somebody has
    judged it.
    """

    plain: frozenset[str] = frozenset()
    """Parameters that steer, limit or show something, and run nothing."""
    code: Mapping[str, EffectChecks | ToolRule] = field(default_factory=dict)
    """Parameters that are evaluated in the program. They need approval if they can have effects."""
    always_runs: bool = False
    """Something runs, whatever the arguments."""
    default_subject: str = ""
    """The subject if no argument names one."""
    lasting: frozenset[str] | None = None
    """Parameters that always name the same thing.

    Without any of them the subject may change, so an approval does not last.
    """


def approval_for(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    reads_only: bool = False,
    evaluators: Evaluators = UNKNOWN_EVALUATORS,
    checks_starts: bool = False,
) -> ApprovalSubject | None:
    """None: no approval is needed.

    A tool without a rule needs approval for all of its arguments. With `checks_starts`, a start is approved later by
    the content of what would run, not here by its name.
    """
    rule = TOOL_RULES.get(tool, _UNKNOWN_TOOL)
    if reads_only and rule is _UNKNOWN_TOOL:
        return None
    if checks_starts and tool in START_TOOLS:
        rule = replace(rule, plain=rule.plain | _STARTED, always_runs=False)
    subjects = {
        name: value for name, value in arguments.items() if value and _needs_approval(rule, name, value, evaluators)
    }
    if not subjects and not rule.always_runs:
        return None
    if evaluators.has_console and arguments.get("file_path") and not rule.code.keys().isdisjoint(subjects):
        # What a console does with a text depends on the language: approval for a text in one file does not hold in
        # another.
        subjects |= {"file_path": arguments["file_path"]}
    lasts = rule.lasting is None or not rule.lasting.isdisjoint(subjects)
    return ApprovalSubject(_text(subjects) if subjects else rule.default_subject or "{}", lasts)


def _needs_approval(rule: ToolRule, name: str, value: Any, evaluators: Evaluators) -> bool:
    checks = rule.code.get(name)
    if checks is None:
        return name not in rule.plain
    if isinstance(value, list) is not (name in _SEVERAL):
        return True
    judge = _point_has_effects if isinstance(checks, ToolRule) else _text_has_effects
    return any(judge(checks, it, evaluators) for it in (value if name in _SEVERAL else [value]))


def _text_has_effects(checks: Any, text: Any, evaluators: Evaluators) -> bool:
    """Whether a value has effects. A value that is not text has."""
    if not isinstance(text, str):
        return True
    in_console = evaluators.has_console and checks.console(text)
    return in_console or checks.expression(text) or (evaluators.calls_bare and checks.bare(text))


def _point_has_effects(rule: Any, point: Any, evaluators: Evaluators) -> bool:
    if not isinstance(point, dict):
        return True
    return any(_needs_approval(rule, name, value, evaluators) for name, value in point.items() if value)


def _text(arguments: Mapping[str, Any]) -> str:
    """One subject as one text. A single line that looks like the arguments of another call is not shown bare."""
    (name, value), *others = arguments.items()
    if not others and name in ("command", "expression") and isinstance(value, str) and value[:1] != "{":
        return value
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True)


def _typed_has_effects(text: str) -> bool:
    """For text that is evaluated as if typed: a debugger may have commands there, and `!` passes a line to a shell."""
    return has_effects(text) or text.lstrip().startswith("!")


_SEVERAL = frozenset({"expressions", "points"})
_CODE = EffectChecks(has_effects, console_has_effects)
_TYPED = EffectChecks(_typed_has_effects, console_has_effects)
_HITS = EffectChecks(hit_condition_has_effects, hit_condition_has_effects, hit_condition_has_effects)
_MESSAGE = EffectChecks(message_has_effects, message_has_console_effects, message_reads_member)
_FUNCTION = EffectChecks(function_has_effects, function_has_console_effects, function_has_effects)
_PLACE = frozenset({"file_path", "line_number", "line_text"})
_POINT = ToolRule(_PLACE, {"expressions": _CODE, "condition": _CODE, "function": _FUNCTION})
_WAITS = frozenset({"session_id", "timeout_s", "wait"})
_CONTINUE_RULE = ToolRule(_WAITS | {"thread_id", "until", "step_type"})
_LIMITS = frozenset({"max_hits", "max_chars", "max_steps", "timeout_s", "session_id", "stop"})
_DRAWN = frozenset(
    {"components", "data", "messages", "surface_id", "title", "subject", "subject_id", "changes", "remove"}
)
_UNKNOWN_TOOL = ToolRule(always_runs=True)
_STARTED = frozenset(
    {"configuration_name", "configuration", "program", "args", "cwd", "env", "stdin", "inputs", "process_id", "file"}
    | {"test", "command", "terminal", "command_id", "against"}
)
START_TOOLS = frozenset(
    {"start_debugging", "debug_test", "debug_last_failure", "compare_runs", "trace", "check", "find_change"}
    | {"explain_crash", "explain_failure", "trace_call"}
)
"""Tools that start a program through the debugger, where everything that would run is known."""

TOOL_RULES: Mapping[str, ToolRule] = {
    "start_debugging": ToolRule(frozenset({"timeout_s", "wait", "no_debug"}), always_runs=True),
    "run_in_terminal": ToolRule(frozenset({"timeout_s"}), always_runs=True),
    "ide_run_in_terminal": ToolRule(frozenset({"name"}), always_runs=True),
    "debug_test": ToolRule(frozenset({"timeout_s"}), always_runs=True),
    "explain_failure": ToolRule(
        frozenset({"timeout_s", "repeat"}),
        always_runs=True,
        default_subject="the last command that failed",
        lasting=frozenset({"test", "command", "program"}),
    ),
    "debug_last_failure": ToolRule(
        frozenset({"timeout_s"}),
        always_runs=True,
        default_subject="the last command that failed",
        lasting=frozenset({"command_id"}),
    ),
    "compare_runs": ToolRule(_LIMITS, {"points": _POINT}, always_runs=True),
    # Tools that start a program, or inspect one that a session holds already.
    "trace": ToolRule(_LIMITS, {"points": _POINT}),
    "check": ToolRule(
        _LIMITS | _PLACE, {"claim": _CODE, "expressions": _CODE, "condition": _CODE, "function": _FUNCTION}
    ),
    "find_change": ToolRule(_LIMITS | _PLACE, {"expression": _CODE, "invariant": _CODE, "function": _FUNCTION}),
    "trace_call": ToolRule(_LIMITS | {"call"}, {"where": _CODE, "function": _FUNCTION}),
    "explain_crash": ToolRule(_LIMITS),
    # Tools for a program that was allowed to run.
    "set_breakpoint": ToolRule(
        _PLACE
        | {"kind", "column_number", "exception", "variables_reference", "access", "session_id"}
        | {"enabled", "breakpoint_id"},
        {
            "variable": _CODE,
            "condition": _CODE,
            "function_name": _FUNCTION,
            "hit_condition": _HITS,
            "log_message": _MESSAGE,
        },
    ),
    "remove_breakpoint": ToolRule(frozenset({"breakpoint_id", "location", "clear_all"})),
    **dict.fromkeys(("continue_debugging", "step_execution", "pause_debugging", "restart_debugging"), _CONTINUE_RULE),
    "stop_debugging": ToolRule(_WAITS),
    "evaluate_expression": ToolRule(_WAITS | {"thread_id", "frame_id", "context", "max_chars"}, {"expression": _TYPED}),
    "set_variable": ToolRule(frozenset({"session_id", "frame_id", "max_chars"})),
    # Tools whose effect the person sees, and decides on there.
    **dict.fromkeys(("show_canvas", "update_canvas"), ToolRule(_DRAWN)),
    "read_actions": ToolRule(frozenset({"surface_id", "timeout_s"})),
    "ask_user": ToolRule(frozenset({"title", "fields", "text", "timeout_s"})),
    "ide_open": ToolRule(frozenset({"file_path", "line", "end_line"})),
    "ide_diff": ToolRule(frozenset({"file_path", "text", "title", "timeout_s"})),
    "ide_notify": ToolRule(frozenset({"message", "level"})),
}
