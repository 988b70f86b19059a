"""What the tools say, for who has a shell: the same sentences, with commands and options where they name tools and
their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dragoman.phrases import Language, Phrase
from dragoman.tools import Outcome
from dragoman.tools.debug.answers import Failure
from dragoman.tools.debug.ends import PATIENCE
from dragoman.tools.showing import one_line, source_line

_VALUE_CHARACTERS = 400

_COMMANDS: Mapping[str, str] = {
    "continue_debugging": "dragoman debug continue",
    "evaluate_expression": "dragoman debug eval",
    "get_breakpoints": "dragoman debug breakpoints",
    "get_output": "dragoman debug output",
    "get_scopes, then get_variables": "dragoman debug vars",
    "get_scopes": "dragoman debug vars",
    "get_variables": "dragoman debug vars",
    "list_sessions": "dragoman debug sessions",
    "pause_debugging": "dragoman debug pause",
    "remove_breakpoint": "dragoman debug clear",
    "restart_debugging": "dragoman debug restart",
    "set_breakpoint": "dragoman debug break",
    "set_variable": "dragoman debug set",
    "start_debugging": "dragoman debug",
    "step_execution": "dragoman debug next",
    "stop_debugging": "dragoman debug stop",
    "stop_history": "dragoman report",
    "wait_for_stop": "dragoman debug wait",
    # Parameters.
    "configuration_name": "--config",
    "hit_condition": "--hit",
    "line_number": "FILE:LINE",
    "log_message": "--log",
    "no_debug": "--no-debug",
    "process_id": "--pid",
    "session_id": "--session",
    "thread_id": "--thread",
    "timeout_s": "--timeout",
}
_TOOL = re.compile(
    r"`?\b(" + "|".join(map(re.escape, _COMMANDS)) + r")\b`?", re.ASCII
)  # in Chinese no space need stand around


def shell_lines(outcome: Outcome, language: Language) -> list[str]:
    """A shell waits as long as it was told to: the advice about impatient clients is not for it."""
    if isinstance(outcome.data, Failure):
        return list(_failed(outcome.data))
    return [_rendered(line, language) for line in outcome.lines if line != PATIENCE]


def _rendered(phrase: Phrase, language: Language) -> str:
    """Tools are renamed in our own words alone: what a program says may hold the same words, and stays as it is."""
    names = {name: f"{{{name}}}" for name in phrase.values}
    words = in_shell_words(replace(phrase, values=names).in_language(language))
    return words.format(**{name: _value(value, language) for name, value in phrase.values.items()})


def _value(value: object, language: Language) -> object:
    return _rendered(value, language) if isinstance(value, Phrase) else value


def in_shell_words(text: str) -> str:
    return _TOOL.sub(lambda found: f"`{_COMMANDS[found[1]]}`", text)


def _failed(failure: Failure) -> Iterator[str]:
    yield f"{failure.code}: {in_shell_words(failure.message)}"
    if failure.hint:
        yield f"  {in_shell_words(failure.hint)}"
    last_words = (failure.debugger_says or "").rsplit("\n", 1)[-1]  # of a traceback, the line that says what it was
    for key, value in {"debugger says": last_words, **(failure.details or {})}.items():
        if value:
            yield from _detail(key, value)


def _detail(key: str, value: object) -> Iterator[str]:
    """A list is what a compiler said, or what may be meant: a line each, none of them cut."""
    if isinstance(value, list | tuple):
        yield f"  {key}:"
        yield from (f"    {source_line(str(item))}" for item in value)
    else:
        yield f"  {key}: {one_line(str(value), _VALUE_CHARACTERS)}"
