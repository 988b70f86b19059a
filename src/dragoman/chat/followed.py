"""Commands that take more than one call: what a person asks for in one word, an agent finds out in steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from dragoman.chat.toolbox import ToolAnswer

Call = Callable[[str, Mapping[str, Any]], Awaitable[ToolAnswer]]
Follow = Callable[[Call, ToolAnswer, str], Awaitable[ToolAnswer]]
"""With the first answer and what stood after the command; returns the answer to show."""

_AROUND = 5
_CALLERS = 3


async def variables(call: Call, scopes: ToolAnswer, rest: str) -> ToolAnswer:
    """The locals, those of a scope that is named, or what a value holds."""
    if scopes.is_error:
        return scopes
    scope = _scope(scopes.data.get("scopes") or (), rest)
    if scope is not None:
        return await call("get_variables", {"variables_reference": scope["variables_reference"]})
    if not rest:
        return scopes
    value = await call("evaluate_expression", {"expression": rest})
    if value.is_error and rest.isidentifier():
        value = await _of_caller(call, rest) or value
    reference = value.data.get("variables_reference")
    return await call("get_variables", {"variables_reference": reference}) if reference else value


async def _of_caller(call: Call, name: str) -> ToolAnswer | None:
    """A name that is not known here may be one of those who called: inside of a comprehension most are."""
    stop = await call("wait_for_stop", {"timeout_s": 0})
    frames = (stop.data.get("stop_event_data") or {}).get("call_stack") or ()
    for frame in frames[1 : 1 + _CALLERS]:
        value = await call("evaluate_expression", {"expression": name, "frame_id": frame["frame_id"]})
        if not value.is_error:
            return value._replace(text=f"{_frame(frame)}\n{value.text}")
    return None


def _frame(it: Mapping[str, Any]) -> str:
    return f"{it['function_name']}  {it['file_path']}:{it['line_number']}"


def _scope(scopes: Sequence[Mapping[str, Any]], word: str) -> Mapping[str, Any] | None:
    """The first is the innermost, and every debugger has names of its own: Locals, Local, Upvalues."""
    if not word:
        return next((it for it in scopes if it["variables_reference"]), None)
    wanted = word.casefold().rstrip("s")
    return next((it for it in scopes if it["name"].casefold().rstrip("s") == wanted), None)


async def stack(_: Call, stop: ToolAnswer, __: str) -> ToolAnswer:
    """One frame a line, the innermost first, marked as the line where it stands is."""
    told = stop.data.get("stop_event_data") or {}
    frames = told.get("call_stack") or ()
    if not frames:
        return stop
    here = told.get("at_frame_id") or frames[0]["frame_id"]
    lines = [f"{'>' if it['frame_id'] == here else ' '} {_frame(it)}" for it in frames]
    hidden = told.get("total_frames", 0) - len(frames)
    return stop._replace(text="\n".join([*lines, *([f"  … {hidden}"] if hidden > 0 else [])]))


async def listing(call: Call, stop: ToolAnswer, _: str) -> ToolAnswer:
    """The lines around the one where it stands, which is marked."""
    told = stop.data.get("stop_event_data") or {}
    path, line = (told.get("source") or {}).get("path"), told.get("line")
    if not path or not line:
        return stop
    first = max(1, line - _AROUND)
    found = await call("get_source", {"file_path": path, "line": first, "count": 2 * _AROUND + 1})
    lines = found.text.split("\n")
    here = line - first
    if not found.is_error and here < len(lines):
        lines[here] = f">{lines[here][1:]}"
    return found._replace(text="\n".join(lines))
