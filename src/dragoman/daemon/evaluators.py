"""Which debuggers a text of an agent can come to, and so by which rule it is judged before a person is asked.

A breakpoint outlives sessions: its condition comes to whatever debugger takes its file, also one that starts later in
another language. Anything else comes to the session that it names, or to one that runs. Where neither a session nor a
file of a language that we debug says which, it may come to a debugger of an editor that we know nothing of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dragoman.chat.leave import UNKNOWN, Evaluators
from dragoman.debug.adapters import AdapterSpec
from dragoman.debug.dialect import Dialect
from dragoman.debug.session import Session
from dragoman.debug.suffixes import is_anothers, is_source

_LASTS = frozenset({"set_breakpoint"})
_OF_THE_ACTIVE_SESSION = frozenset({"evaluate_expression", "set_variable"})


def evaluators_for(
    tool: str, arguments: Mapping[str, Any], adapters: Sequence[AdapterSpec], live: Sequence[Session]
) -> Evaluators:
    reached = list(_reached(tool, arguments, adapters, live))
    if not reached:
        return UNKNOWN
    return Evaluators(any(it.calls_bare for it in reached), any(it.has_console for it in reached))


def _reached(
    tool: str, arguments: Mapping[str, Any], adapters: Sequence[AdapterSpec], live: Sequence[Session]
) -> Iterator[Dialect]:
    """Nothing where it is not known."""
    session_id = arguments.get("session_id")
    if tool not in _LASTS and session_id:
        yield from (it.launch.dialect for it in live if it.id == session_id)
        return
    if tool in _OF_THE_ACTIVE_SESSION:
        yield from (it.launch.dialect for it in live)
        return
    files = [_file(place) for place in _places(arguments)]
    if not all(map(is_source, files)):
        return  # a debugger that only an editor has may take it: nobody here knows what that makes of a text
    dialects = [*(it.dialect for it in adapters), *(it.launch.dialect for it in live)]
    yield from (it for it in dialects if any(not is_anothers(file, it.suffixes) for file in files))


def _places(arguments: Mapping[str, Any]) -> Sequence[Any]:
    points = arguments.get("points")
    return points if isinstance(points, list) and points else [arguments]


def _file(place: Any) -> str:
    """Empty where a function or nothing is named: that comes to any debugger."""
    file = place.get("file_path") if isinstance(place, Mapping) else None
    return file if isinstance(file, str) else ""
