"""What a person is asked about before an agent does it: a row for each tool that does more than read.

Asked for is what runs or writes something new: a program, a command line, a file, and of what is evaluated in a program
what can act there. Going on with what was allowed to run, and showing things to the person, is not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dragoman.chat.expressions import (
    acts,
    console_acts,
    function_acts,
    function_acts_in_console,
    hits_act,
    message_acts,
    message_acts_in_console,
    message_reaches,
    reaches,
)


class Evaluators(NamedTuple):
    """What the debuggers that a text can come to make of it. Nothing known of them: the strictest of all."""

    calls_bare: bool = True
    """A member's name alone calls it."""
    has_console: bool = True
    """Any text may be a command."""


UNKNOWN = Evaluators()


class Acts(NamedTuple):
    """Whether a text does more than look: as an expression, where it may be a command, and where a name calls."""

    expression: Callable[[str], bool]
    console: Callable[[str], bool]
    bare: Callable[[str], bool] = reaches


class Leave(NamedTuple):
    """What is run or written, as one text; leave that does not last is asked for each time."""

    subject: str
    lasts: bool = True


@dataclass(frozen=True, slots=True)
class Judged:
    """A parameter that stands in neither set is asked for, so that a new one is until somebody has judged it."""

    plain: frozenset[str] = frozenset()
    """Steers, bounds or shows, and runs nothing."""
    code: Mapping[str, Acts | Judged] = field(default_factory=dict)
    """Evaluated in the program, one or several: asked for where it can act."""
    begins: bool = False
    """Something runs, whatever is given."""
    unsaid: str = ""
    """What that is where nothing is given."""
    lasting: frozenset[str] | None = None
    """What names one thing for ever: without any of them it changes, so that leave for it does not last."""


def leave_for(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    reads_only: bool = False,
    evaluators: Evaluators = UNKNOWN,
    tells_starts: bool = False,
) -> Leave | None:
    """None: nothing is asked. A tool that nobody has judged is asked for whole. `tells_starts`: what a start would run
    is asked for when it is known, by its content, and not here by its name."""
    judged = TOOLS.get(tool, _UNJUDGED)
    if reads_only and judged is _UNJUDGED:
        return None
    if tells_starts and tool in STARTS:
        judged = replace(judged, plain=judged.plain | _STARTED, begins=False)
    asked = {name: value for name, value in arguments.items() if value and _is_asked(judged, name, value, evaluators)}
    if not asked and not judged.begins:
        return None
    if evaluators.has_console and arguments.get("file_path") and not judged.code.keys().isdisjoint(asked):
        # What a console makes of a text depends on whose it is: leave for a text in one file is not leave in another.
        asked |= {"file_path": arguments["file_path"]}
    lasts = judged.lasting is None or not judged.lasting.isdisjoint(asked)
    return Leave(_text(asked) if asked else judged.unsaid or "{}", lasts)


def _is_asked(judged: Judged, name: str, value: Any, evaluators: Evaluators) -> bool:
    acting = judged.code.get(name)
    if acting is None:
        return name not in judged.plain
    if isinstance(value, list) is not (name in _SEVERAL):
        return True
    judge = _point_acts if isinstance(acting, Judged) else _text_acts
    return any(judge(acting, it, evaluators) for it in (value if name in _SEVERAL else [value]))


def _text_acts(acting: Any, text: Any, evaluators: Evaluators) -> bool:
    """Also what is no text."""
    if not isinstance(text, str):
        return True
    in_console = evaluators.has_console and acting.console(text)
    return in_console or acting.expression(text) or (evaluators.calls_bare and acting.bare(text))


def _point_acts(judged: Any, point: Any, evaluators: Evaluators) -> bool:
    if not isinstance(point, dict):
        return True
    return any(_is_asked(judged, name, value, evaluators) for name, value in point.items() if value)


def _text(asked: Mapping[str, Any]) -> str:
    """One text for one thing: a line that looks like the arguments of another call is not shown bare."""
    (name, value), *others = asked.items()
    if not others and name in ("command", "expression") and isinstance(value, str) and value[:1] != "{":
        return value
    return json.dumps(asked, ensure_ascii=False, sort_keys=True)


def _typed(text: str) -> bool:
    """What is evaluated as if it were typed: a debugger may have commands there, and `!` hands a line to a shell."""
    return acts(text) or text.lstrip().startswith("!")


_SEVERAL = frozenset({"expressions", "points"})
_CODE = Acts(acts, console_acts)
_TYPED = Acts(_typed, console_acts)
_HITS = Acts(hits_act, hits_act, hits_act)
_MESSAGE = Acts(message_acts, message_acts_in_console, message_reaches)
_FUNCTION = Acts(function_acts, function_acts_in_console, function_acts)
_PLACE = frozenset({"file_path", "line_number", "line_text"})
_POINT = Judged(_PLACE, {"expressions": _CODE, "condition": _CODE, "function": _FUNCTION})
_WAITS = frozenset({"session_id", "timeout_s", "wait"})
_GOES_ON = Judged(_WAITS | {"thread_id", "until", "step_type"})
_LIMITS = frozenset({"max_hits", "max_chars", "max_steps", "timeout_s", "session_id", "stop"})
_DRAWN = frozenset(
    {"components", "data", "messages", "surface_id", "title", "subject", "subject_id", "changes", "remove"}
)
_UNJUDGED = Judged(begins=True)
_STARTED = frozenset(
    {"configuration_name", "configuration", "program", "args", "cwd", "env", "stdin", "inputs", "process_id", "file"}
    | {"test", "command", "terminal", "command_id", "against"}
)
STARTS = frozenset(
    {"start_debugging", "debug_test", "debug_last_failure", "compare_runs", "trace", "check", "find_change"}
    | {"explain_crash"}
)
"""They start a program by way of the debugger, where all that would run is known."""

TOOLS: Mapping[str, Judged] = {
    "start_debugging": Judged(frozenset({"timeout_s", "wait", "no_debug"}), begins=True),
    "run_in_terminal": Judged(frozenset({"timeout_s"}), begins=True),
    "ide_run_in_terminal": Judged(frozenset({"name"}), begins=True),
    "debug_test": Judged(frozenset({"timeout_s"}), begins=True),
    "debug_last_failure": Judged(
        frozenset({"timeout_s"}), begins=True, unsaid="the last command that failed", lasting=frozenset({"command_id"})
    ),
    "compare_runs": Judged(_LIMITS, {"points": _POINT}, begins=True),
    # They start a program, or look into one that a session holds already.
    "trace": Judged(_LIMITS, {"points": _POINT}),
    "check": Judged(
        _LIMITS | _PLACE, {"claim": _CODE, "expressions": _CODE, "condition": _CODE, "function": _FUNCTION}
    ),
    "find_change": Judged(_LIMITS | _PLACE, {"expression": _CODE, "invariant": _CODE, "function": _FUNCTION}),
    "explain_crash": Judged(_LIMITS),
    # They are about a program that was allowed to run.
    "set_breakpoint": Judged(
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
    "remove_breakpoint": Judged(frozenset({"breakpoint_id", "location", "clear_all"})),
    **dict.fromkeys(("continue_debugging", "step_execution", "pause_debugging", "restart_debugging"), _GOES_ON),
    "stop_debugging": Judged(_WAITS),
    "evaluate_expression": Judged(_WAITS | {"thread_id", "frame_id", "context", "max_chars"}, {"expression": _TYPED}),
    "set_variable": Judged(frozenset({"session_id", "frame_id", "max_chars"})),
    # The person sees them, and decides there.
    **dict.fromkeys(("show_canvas", "update_canvas"), Judged(_DRAWN)),
    "read_actions": Judged(frozenset({"surface_id", "timeout_s"})),
    "ask_user": Judged(frozenset({"title", "fields", "text", "timeout_s"})),
    "ide_open": Judged(frozenset({"file_path", "line", "end_line"})),
    "ide_diff": Judged(frozenset({"file_path", "text", "title", "timeout_s"})),
    "ide_notify": Judged(frozenset({"message", "level"})),
}
