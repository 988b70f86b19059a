"""Background tasks, which never end: the line of output that says that one has done its work.

It comes from the task's own problem matcher (`background.endsPattern`) or from one known by name. A background task
without one is refused: to go on at once would debug what is not built yet, to wait would be forever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dragoman.debug.launch.nodes import Node
from dragoman.phrases import say

_MOST_PATTERN = 1000

KNOWN_MATCHERS: Mapping[str, str] = {
    "$tsc-watch": r"(?:Compilation complete|Found \d+ errors?)\. Watching for file changes\.",
    "$ts-webpack-watch": r"(?:webpack|Compiled).*(?:compiled|successfully|warning|error)",
    "$ts-checker-webpack-watch": r"No (?:type )?errors? found|\d+ errors? (?:found|in)",
    "$esbuild-watch": r"\[watch\] build finished",
    "$lessc-watch": r"Successfully compiled|Error",
    "$gulp-tsc-watch": r"Finished '",
}


def read_readiness(task: Node) -> re.Pattern[str] | None:
    """None for a task that ends by itself."""
    if not task.flag("isBackground"):
        return None
    matchers = task.get("problemMatcher")
    for matcher in [] if matchers is None else matchers.one_or_more():
        pattern = _pattern(matcher)
        if pattern is not None:
            return pattern
    raise task.fault(
        say("this task runs in the background, and nothing says when it is ready"),
        code="background_task",
        hint=say("Give its problemMatcher a background.endsPattern, or take isBackground away if it ends by itself."),
    )


def _pattern(matcher: Node) -> re.Pattern[str] | None:
    if isinstance(matcher.value, str):
        known = KNOWN_MATCHERS.get(matcher.value)
        return None if known is None else re.compile(known)
    background = matcher.get("background")
    ends = None if background is None else background.get("endsPattern")
    if ends is not None and isinstance(ends.value, dict):
        ends = ends.get("regexp")
    if ends is not None:
        return _compiled(ends)
    base = matcher.get("base")
    return None if base is None else _pattern(base)


def _compiled(node: Node) -> re.Pattern[str]:
    """JavaScript's named groups are written differently; the rest of what people use is the same."""
    if len(node.string()) > _MOST_PATTERN:
        raise node.fault(say("this pattern is longer than {limit} characters", limit=_MOST_PATTERN))
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", node.string()))
    except (re.error, RecursionError, OverflowError) as error:
        raise node.fault(say("this is not a pattern that can be used: {reason}", reason=error)) from error
