"""What is shown with one call: a program that stands still, a command that failed; with all that belongs to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePath
from typing import Any

from dragoman.phrases import Phrase, say
from dragoman.tools.operation import Caller

Json = dict[str, Any]
# On behalf of a caller, by an id or what is meant without one: what the tools of the subject answer.
Ask = Callable[[Caller, str], Awaitable[Json]]
Subjects = Mapping[str, Ask]
Picture = tuple[Phrase, list[Json]]
"""A title, and components that stand one below the other."""

_OUTPUT_ROWS = 16


def pictured(subject: str, told: Json, caller: Caller) -> Picture:
    return _PICTURES[subject](told, caller)


def _stop(stop: Json, caller: Caller) -> Picture:
    raised, line = stop.get("exception"), stop.get("line") or 0
    path = (stop.get("source") or {}).get("path", "")
    title = say("stopped at {place}", place=f"{PurePath(path).name}:{line}" if path else "?")
    why = f"{raised['type']}: {raised['message']}" if raised else stop["reason"]
    beside = [_stack(stop, caller), *_variables(stop)]
    parts = [
        {"id": "why", "component": "Text", "variant": "h3", "text": why},
        *_source(stop, _near(path, caller), line),
        {"id": "beside", "component": "Row", "children": [it["id"] for it in beside]},
        *beside,
        *_printed("printed", stop.get("output") or "", say("output").in_language(caller.language)),
    ]
    return title, parts


def _source(stop: Json, path: str, line: int) -> list[Json]:
    around = stop.get("source_lines")
    if not around:
        return []
    code = "\n".join(around["lines"])
    lines = {"code": code, "firstLine": around["start"], "marked": [line]}
    return [{"id": "source", "component": "CodeBlock", "title": path, **lines}]


def _stack(stop: Json, caller: Caller) -> Json:
    title = say("call stack").in_language(caller.language)
    frames = [_frame(it, caller) for it in stop["call_stack"]]
    return {"id": "stack", "component": "StackTrace", "title": title, "frames": frames}


def _frame(frame: Json, caller: Caller) -> Json:
    file = _near(frame["file_path"], caller)
    is_own = not PurePath(file).is_absolute()
    return {"function": frame["function_name"], "file": file, "line": frame["line_number"], "isOwn": is_own}


def _near(path: str, caller: Caller) -> str:
    """Of the caller's own folder: as it is called there."""
    file = PurePath(path)
    return str(file.relative_to(caller.workspace)) if file.is_relative_to(caller.workspace) else path


def _variables(stop: Json) -> list[Json]:
    top = stop.get("top_frame_variables") or {}
    found = [{"name": it["name"], "value": it["value"], "type": it["type"] or ""} for it in top.get("variables", ())]
    drawn = {"id": "variables", "component": "VariableTree", "title": top.get("scope_name", ""), "variables": found}
    return [drawn] if found else []


def _failure(failure: Json, caller: Caller) -> Picture:
    command, language = failure["command"], caller.language
    facts = say("in {folder}, exit code {code}", folder=command["cwd"], code=command["exit_code"])
    errors = "\n".join(failure["error_lines"])
    wrong = {"id": "errors", "component": "CodeBlock", "code": errors, "title": say("errors").in_language(language)}
    parts = [
        {"id": "command", "component": "CodeBlock", "code": command["command"], "title": facts.in_language(language)},
        *([wrong] if errors else []),
        *_printed("printed", failure["output_tail"], say("output").in_language(language)),
    ]
    return say("failed: {command}", command=command["command"][:80]), parts


def _printed(id: str, text: str, title: str) -> list[Json]:
    return [{"id": id, "component": "Terminal", "text": text, "title": title, "rows": _OUTPUT_ROWS}] if text else []


_PICTURES: Mapping[str, Callable[[Json, Caller], Picture]] = {"stop": _stop, "failure": _failure}
