"""What a person is asked about before an agent does it: a row for each tool that does more than read.

Asked for is what runs or writes something new: a program, a command line, a file, and of what is evaluated in a program
what can act there. Going on with what was allowed to run, and showing things to the person, is not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dragoman.chat.expressions import acts, hits_act, message_acts, reaches

Acts = Callable[[Any], bool]


class Leave(NamedTuple):
    """What is run or written, as one text; leave that does not last is asked for each time."""

    subject: str
    lasts: bool = True


@dataclass(frozen=True, slots=True)
class Judged:
    """A parameter that stands in neither set is asked for, so that a new one is until somebody has judged it."""

    plain: frozenset[str] = frozenset()
    """Steers, bounds or shows, and runs nothing."""
    code: Mapping[str, Acts] = field(default_factory=dict)
    """Evaluated in the program: asked for where it can act."""
    begins: bool = False
    """Something runs, whatever is given."""
    unsaid: str = ""
    """What that is where nothing is given."""
    lasting: frozenset[str] | None = None
    """What names one thing for ever: without any of them it changes, so that leave for it does not last."""


def leave_for(
    tool: str, arguments: Mapping[str, Any], *, reads_only: bool = False, calls_bare: bool = False
) -> Leave | None:
    """None: nothing is asked. A tool that nobody has judged is asked for whole. `calls_bare` where a program is in hand
    in which a member's name alone calls it; one whose file is named is known by that."""
    judged = TOOLS.get(tool, _UNJUDGED)
    if reads_only and judged is _UNJUDGED:
        return None
    bare = calls_bare or _RUBY in json.dumps(dict(arguments))
    asked = {name: value for name, value in arguments.items() if value and _is_asked(judged, name, value, bare=bare)}
    if not asked and not judged.begins:
        return None
    lasts = judged.lasting is None or not judged.lasting.isdisjoint(asked)
    return Leave(_text(asked) if asked else judged.unsaid or "{}", lasts)


def _is_asked(judged: Judged, name: str, value: Any, *, bare: bool = False) -> bool:
    acting = judged.code.get(name)
    if acting is None:
        return name not in judged.plain
    return acting(value) or (bare and any(map(reaches, _code_in(value))))


def _code_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (code for it in value for code in _code_in(it))
    elif isinstance(value, dict):
        yield from (code for name, it in value.items() if name not in _PLACE for code in _code_in(it))


def _text(asked: Mapping[str, Any]) -> str:
    """One text for one thing: a line that looks like the arguments of another call is not shown bare."""
    (name, value), *others = asked.items()
    if not others and name in ("command", "expression") and isinstance(value, str) and value[:1] != "{":
        return value
    return json.dumps(asked, ensure_ascii=False, sort_keys=True)


def _code(value: Any) -> bool:
    return not isinstance(value, str) or acts(value)


def _typed(value: Any) -> bool:
    """What is evaluated as if it were typed: a debugger may have commands there, and `!` hands a line to a shell."""
    return _code(value) or value.lstrip().startswith("!")


def _all_code(values: Any) -> bool:
    return not isinstance(values, list) or any(map(_code, values))


def _text_of(judge: Callable[[str], bool]) -> Acts:
    return lambda value: not isinstance(value, str) or judge(value)


def _points(values: Any) -> bool:
    return not isinstance(values, list) or any(map(_point_acts, values))


def _point_acts(point: Any) -> bool:
    return not isinstance(point, dict) or any(_is_asked(_POINT, name, value) for name, value in point.items() if value)


_RUBY = ".rb"
_PLACE = frozenset({"file_path", "line_number", "line_text", "function"})
_POINT = Judged(_PLACE, {"expressions": _all_code, "condition": _code})
_WAITS = frozenset({"session_id", "timeout_s", "wait"})
_GOES_ON = Judged(_WAITS | {"thread_id", "until", "step_type"})
_LIMITS = frozenset({"max_hits", "max_chars", "max_steps", "timeout_s", "session_id", "stop"})
_DRAWN = frozenset(
    {"components", "data", "messages", "surface_id", "title", "subject", "subject_id", "changes", "remove"}
)
_UNJUDGED = Judged(begins=True)

TOOLS: Mapping[str, Judged] = {
    "start_debugging": Judged(frozenset({"timeout_s", "wait", "no_debug"}), begins=True),
    "run_in_terminal": Judged(frozenset({"timeout_s"}), begins=True),
    "ide_run_in_terminal": Judged(frozenset({"name"}), begins=True),
    "debug_test": Judged(frozenset({"timeout_s"}), begins=True),
    "debug_last_failure": Judged(
        frozenset({"timeout_s"}), begins=True, unsaid="the last command that failed", lasting=frozenset({"command_id"})
    ),
    "compare_runs": Judged(_LIMITS, {"points": _points}, begins=True),
    # They start a program, or look into one that a session holds already.
    "trace": Judged(_LIMITS, {"points": _points}),
    "check": Judged(_LIMITS | _PLACE, {"claim": _code, "expressions": _all_code, "condition": _code}),
    "find_change": Judged(_LIMITS | _PLACE, {"expression": _code, "invariant": _code}),
    "explain_crash": Judged(_LIMITS),
    # They are about a program that was allowed to run.
    "set_breakpoint": Judged(
        _PLACE
        | {"kind", "column_number", "function_name", "exception", "variables_reference", "access", "session_id"}
        | {"enabled", "breakpoint_id"},
        {
            "variable": _code,
            "condition": _code,
            "hit_condition": _text_of(hits_act),
            "log_message": _text_of(message_acts),
        },
    ),
    "remove_breakpoint": Judged(frozenset({"breakpoint_id", "location", "clear_all"})),
    **dict.fromkeys(("continue_debugging", "step_execution", "pause_debugging", "restart_debugging"), _GOES_ON),
    "stop_debugging": Judged(_WAITS),
    "evaluate_expression": Judged(_WAITS | {"thread_id", "frame_id", "context", "max_chars"}, {"expression": _typed}),
    "set_variable": Judged(frozenset({"session_id", "frame_id", "max_chars"})),
    # The person sees them, and decides there.
    **dict.fromkeys(("show_canvas", "update_canvas"), Judged(_DRAWN)),
    "read_actions": Judged(frozenset({"surface_id", "timeout_s"})),
    "ask_user": Judged(frozenset({"title", "fields", "text", "timeout_s"})),
    "ide_open": Judged(frozenset({"path", "line", "end_line"})),
    "ide_diff": Judged(frozenset({"path", "text", "title", "timeout_s"})),
    "ide_notify": Judged(frozenset({"message", "level"})),
}
