"""Which tool calls need a person's approval: one rule for each tool that does more than read.

Approval is needed for what runs or writes something new: a program, a command line, a file, and an evaluated
expression that can have effects. Continuing what was allowed to run, and showing things to the person, needs none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

# Whether an expression can do more than read. Only its form counts, in any language; in doubt, it can.
#
# Names, members, subscripts, literals and operators read. Calls, assignments, statements, debugger commands and
# everything that is not understood have effects. So does text that is a call, a comment or the end of a string in one
# language and something else in another. The form does not show what a getter or an operator does, nor a method that
# is called without brackets, except in languages that are known to have them (`reads_member`). A debugger with a
# console may take any text for a command: `total` can be one, and `n > 3` writes a file if the console is a shell.
# There, only a number is safe (`console_has_effects`).

_TOKEN = re.compile(
    r"""(?P<space>\s*)(?:
      (?P<word>(?:and|or|in|is|not|if|else)\b(?!\$))
    | (?P<verb>(?:del|delete|new|await|yield|throw|raise|return|exec|call|import|super|fork|exit|abort)\b(?!\$))
    | (?P<value>[^\W\d][\w$]*|\$\w+
        | (?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)(?![\w$])
        | "(?:(?![\#$]\{|\$\(|\{\$|\\\()(?:[^"\\\n]|\\.))*" | '(?:(?![\#$]\{|\$\(|\{\$|\\\()(?:[^'\\\n]|\\.))*')
    | (?P<unknown>\+\+|--|/\*|<-|\[\[)
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<mark>===|!==|\*\*|//|==|!=|~=|<=|>=|<<|>>|&&|\|\||\?\?|\?\.|->|::|\.\.|[-+*/%<>&|^.,:?!~\#])
    )""",
    re.VERBOSE,
)
_BEFORE = frozenset({"-", "+", "!", "~", "*", "&", "#", "**", "::", ":", ",", "not", "in"})
"""What may precede a value: a colon does in `rows[:3]`, and `in` follows `not`."""
_BEFORE_ALL = _BEFORE - {",", ":", "**", "in"}
"""The subset that an expression may begin with: a comma or a colon begins a command in some debuggers."""
_BETWEEN = "between"
"""The kind of an operator that has a value before it."""
_ONLY_BEFORE = frozenset({"!", "~", "#"})
_MEMBER = frozenset({".", "?.", "->", "::"})
_HIT_COUNT = re.compile(r"\s*(?:[<>=!]=|[<>%=])?\s*\d{1,9}\s*(?:==\s*\d{1,9}\s*)?")
_FILLED = re.compile(r"\{([^{}]*)\}")
_MEMBER_ACCESS = re.compile(r"\.\s*[^\W\d]|::\s*[^\W\dA-Z]")
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_FUNCTION_NAME = re.compile(r"[^\W\d][\w.:$]*")
_FUNCTION_SHAPE = re.compile(r"[\w.:$~<>()\[\],*&=!+/%|^ -]+")
_PLAIN_WORDS = re.compile(r"[\w ,.]*")
_MOST = 2_000


class _Token(NamedTuple):
    kind: str
    text: str
    is_spaced: bool


def has_effects(expression: str) -> bool:
    before, depth = _Token("start", "", is_spaced=True), 0
    for token in _tokens(expression):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth < 0 or not _follows(before, token):
            return True
        has_value = before.kind in ("value", "close")
        before = token._replace(kind=_BETWEEN) if has_value and token.kind == "mark" else token
    return depth != 0 or before.kind in ("word", "mark", _BETWEEN)


def reads_member(text: str) -> bool:
    """Whether the expression names a member, which is a call in languages where a bare name calls.

    A module's member counts unless its case marks a constant.
    """
    return _MEMBER_ACCESS.search(text) is not None


def console_has_effects(text: str) -> bool:
    """Whether a console could take the text for a command."""
    return _NUMBER.fullmatch(text.strip()) is None


def function_has_effects(name: str) -> bool:
    """The name of a function with its parameter types, as native debuggers accept it, is looked up and never run."""
    return _FUNCTION_SHAPE.fullmatch(name) is None


def function_has_console_effects(name: str) -> bool:
    return _FUNCTION_NAME.fullmatch(name) is None


def message_reads_member(message: str) -> bool:
    return any(reads_member(found[1]) for found in _FILLED.finditer(message))


def message_has_console_effects(message: str) -> bool:
    """For a log message that is quoted for a console, as well as its adapter can."""
    filled = [found[1] for found in _FILLED.finditer(message)]
    return _PLAIN_WORDS.fullmatch(_FILLED.sub("", message)) is None or any(map(console_has_effects, filled))


def hit_condition_has_effects(condition: str) -> bool:
    """A hit condition: a number after a comparison is not code of the program."""
    return _HIT_COUNT.fullmatch(condition) is None


def message_has_effects(message: str) -> bool:
    """The parts of a log message between braces are evaluated; the rest is text."""
    literal_text = _FILLED.sub("", message)
    return (
        "{" in literal_text or "}" in literal_text or any(has_effects(found[1]) for found in _FILLED.finditer(message))
    )


def _follows(before: _Token, token: _Token) -> bool:
    """Whether a token may follow: a value where one is expected, an operator between two, a bracket after a value only
    as a subscript.

    An operator with a space only on its left begins an argument: `system *words` and `system ["ls"]` in Ruby, `shell
    /bin/ls` in a debugger. Nobody puts spaces around a member's dot: `shell . notes` runs a file.
    """
    has_value = before.kind in ("value", "close")
    if token.is_spaced and (token.text in _MEMBER or (before.text in _MEMBER and before.kind == _BETWEEN)):
        return False
    if before.kind == "start" and token.kind in ("word", "mark"):
        return token.text in _BEFORE_ALL
    if before.kind == _BETWEEN and before.is_spaced and not token.is_spaced:
        return False
    match token.kind:
        case "value":
            return not has_value
        case "open" if token.text == "[":
            return not (has_value and token.is_spaced)
        case "open":
            return not (has_value or _is_called(before, token))
        case "word" | "mark":
            return token.text not in _ONLY_BEFORE if has_value else token.text in _BEFORE
        case kind:
            return kind == "close"


def _is_called(before: _Token, bracket: _Token) -> bool:
    """`a?.(x)` and `a.(x)` are calls in every language that has them; `not(x)` is one in a language without `not`."""
    return before.text in _MEMBER or (before.kind == "word" and not bracket.is_spaced)


def _tokens(expression: str) -> Iterator[_Token]:
    text, at = expression.strip(), 0
    if len(text) > _MOST or len(text.splitlines()) > 1:
        yield _Token("unknown", "", is_spaced=False)
        return
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            yield _Token("unknown", text[at], is_spaced=False)
            return
        yield _Token(match.lastgroup, match[match.lastgroup], is_spaced=bool(match["space"]))
        at = match.end()


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
_POINT = ToolRule(_PLACE, {"expressions": _CODE, "condition": _CODE, "function": _FUNCTION, "returns": _FUNCTION})
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
        _LIMITS | _PLACE,
        {"claim": _CODE, "expressions": _CODE, "condition": _CODE, "function": _FUNCTION, "returns": _FUNCTION},
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
