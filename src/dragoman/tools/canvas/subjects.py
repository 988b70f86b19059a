"""What is shown with one call: a program that stands still, a command that failed; with all that belongs to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePath
from typing import Any

from dragoman.phrases import Language, Phrase, say
from dragoman.tools.operation import Caller

Json = dict[str, Any]
# On behalf of a caller, by an id or what is meant without one: what the tools of the subject answer.
Ask = Callable[[Caller, str], Awaitable[Json]]
Subjects = Mapping[str, Ask]
Picture = tuple[Phrase, list[Json]]
"""A title, and components that stand one below the other."""

_OUTPUT_ROWS = 16


def pictured(subject: str, told: Json, language: Language) -> Picture:
    return _PICTURES[subject](told, language)


def _stop(stop: Json, language: Language) -> Picture:
    raised, line = stop.get("exception"), stop.get("line") or 0
    path = (stop.get("source") or {}).get("path", "")
    title = say("stopped at {place}", place=f"{PurePath(path).name}:{line}" if path else "?")
    why = f"{raised['type']}: {raised['message']}" if raised else stop["reason"]
    parts = [
        {"id": "why", "component": "Text", "variant": "h3", "text": why},
        *_source(stop, path, line),
        {"id": "stack", "component": "StackTrace", "frames": [_frame(it) for it in stop["call_stack"]]},
        *_variables(stop),
        *_printed("printed", stop.get("output") or "", say("output").in_language(language)),
    ]
    return title, parts


def _source(stop: Json, path: str, line: int) -> list[Json]:
    around = stop.get("source_lines")
    if not around:
        return []
    code = "\n".join(around["lines"])
    return [
        {"id": "source", "component": "CodeBlock", "title": path, "code": code, "firstLine": around["start"],
         "marked": [line]}
    ]  # fmt: skip


def _frame(frame: Json) -> Json:
    return {"function": frame["function_name"], "file": frame["file_path"], "line": frame["line_number"]}


def _variables(stop: Json) -> list[Json]:
    top = stop.get("top_frame_variables") or {}
    found = [{"name": it["name"], "value": it["value"], "type": it["type"] or ""} for it in top.get("variables", ())]
    return (
        [{"id": "variables", "component": "VariableTree", "title": top["scope_name"], "variables": found}]
        if found
        else []
    )


def _failure(failure: Json, language: Language) -> Picture:
    command = failure["command"]
    facts = say("in {folder}, exit code {code}", folder=command["cwd"], code=command["exit_code"])
    errors = "\n".join(failure["error_lines"])
    parts = [
        {"id": "command", "component": "CodeBlock", "code": command["command"], "language": "sh"},
        {"id": "facts", "component": "Text", "variant": "caption", "text": facts.in_language(language)},
        *([{"id": "errors", "component": "CodeBlock", "code": errors, "title": say("errors").in_language(language)}]
          if errors else []),
        *_printed("printed", failure["output_tail"], say("output").in_language(language)),
    ]  # fmt: skip
    return say("failed: {command}", command=command["command"][:80]), parts


def _printed(id: str, text: str, title: str) -> list[Json]:
    return [{"id": id, "component": "Terminal", "text": text, "title": title, "rows": _OUTPUT_ROWS}] if text else []


_PICTURES: Mapping[str, Callable[[Json, Language], Picture]] = {"stop": _stop, "failure": _failure}
