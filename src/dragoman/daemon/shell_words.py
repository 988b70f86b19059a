"""What the tools say, for who has a shell: the same sentences, with commands and options where they name tools and
their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from dragoman.phrases import Language, Phrase, Spoken, say
from dragoman.tools import Outcome
from dragoman.tools.debug.answers import Failure
from dragoman.tools.debug.ends import PATIENCE
from dragoman.tools.showing import one_line, source_line
from dragoman.words import labelled, word_of

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
    "get_command_output": "dragoman last ID --output",
    "list_terminals": "dragoman terminals",
    "search_commands": "dragoman history",
    # Parameters.
    "clear_all": "--all",
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
_LANGUAGES: tuple[Language, ...] = ("en", "zh")
_NAME = re.compile(r"\{(\w+)\}")
_HOLE = re.compile(r"\\\{(\w+)\\\}")
_SENTENCES = (
    (say("Give a line of the file, or `line_text`."), say("Give a line of the file.")),
    (
        say("Start with `program`, or with an inline `configuration`, or write that file."),
        say("Start a program by its name, or write that file."),
    ),
    (
        say("Give `configuration_name`, or an inline `configuration`, or `program` with its `args`."),
        say("Name a program with its arguments, or a configuration with `--config`."),
    ),
    (say("Give `program` the folder of one of them."), say("Name the folder of one of them.")),
    (
        say("Give `program` the folder or file of a package `main`, or of tests with `mode` test."),
        say("Name the folder or file of a package `main`."),
    ),
    (
        say("Build it with debug information, then give `program` the executable."),
        say("Build it with debug information, then name the executable."),
    ),
    (
        say("Run `cargo build`, then give `program` the executable under target/debug."),
        say("Run `cargo build`, then name the executable under target/debug."),
    ),
    (
        say("Give the variables_reference of what holds it, from get_scopes or get_variables."),
        say("`dragoman debug vars` lists the variables of a frame; `--frame` chooses another one."),
    ),
    (
        say("Search for it with search_commands, which gives ids."),
        say("`dragoman history` lists commands with their ids."),
    ),
    (say("get_debugger_configurations lists the names there are."), say("The names are in .vscode/launch.json.")),
    (
        say("get_debugger_configurations lists the names there are; list_sessions what is stopped."),
        say("The names are in .vscode/launch.json; `dragoman debug sessions` lists what is stopped."),
    ),
    (
        say("A person starts one with `dragoman shell`; run_in_terminal opens one of your own."),
        say("`dragoman shell` starts one."),
    ),
    (say("Take a frame or variables reference from the latest stop."), say("`dragoman debug stack` shows the frames.")),
    (say("Give its `file_path`, or a `line_number` of it."), say("Write FILE:LINE.")),
    (say("Check `cwd` in the configuration."), say("Check `--cwd`, or `cwd` in the configuration.")),
    (
        say("Install it with: {command}. get_command_output works without.", command="{command}"),
        say("Install it with: {command}. `dragoman last --output` works without.", command="{command}"),
    ),
    (
        say("Build it with debug information ({how}), then give `program` the executable.", how="{how}"),
        say("Build it with debug information ({how}), then name the executable.", how="{how}"),
    ),
)
"""What an agent is advised, and what a person at a shell is instead, where a word for a word would not do."""

_TOOL = re.compile(
    r"`?\b(" + "|".join(map(re.escape, _COMMANDS)) + r")\b`?", re.ASCII
)  # in Chinese no space need stand around


def shell_lines(outcome: Outcome, language: Language) -> list[str]:
    """A shell waits as long as it was told to: the advice about impatient clients is not for it."""
    if isinstance(outcome.data, Failure):
        return list(_failed(outcome.data, language))
    return [in_shell(line, language) for line in outcome.lines if line != PATIENCE]


def in_shell(phrase: Phrase, language: Language) -> str:
    """Tools are renamed in our own words alone: what a program says may hold the same words, and stays as it is."""
    names = {name: f"{{{name}}}" for name in phrase.values}
    words = in_shell_words(replace(phrase, values=names).in_language(language))
    return _NAME.sub(lambda it: str(_value(phrase.values.get(it[1], it[0]), language)), words)


def _value(value: object, language: Language) -> object:
    if isinstance(value, Spoken):
        return in_shell(value.phrase, language)
    return in_shell(value, language) if isinstance(value, Phrase) else value


def in_shell_words(text: str) -> str:
    for pattern, template in _patterns():
        if found := pattern.search(text):
            text = text[: found.start()] + template.format(**found.groupdict()) + text[found.end() :]
    return _TOOL.sub(lambda found: f"`{_COMMANDS[found[1]]}`", text)


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """In both languages, with a group for each value."""
    pairs = [(ours.in_language(it), theirs.in_language(it)) for ours, theirs in _SENTENCES for it in _LANGUAGES]
    return [(re.compile(_HOLE.sub(r"(?P<\1>.+?)", re.escape(ours))), theirs) for ours, theirs in pairs]


def _failed(failure: Failure, language: Language) -> Iterator[str]:
    yield f"{failure.code}: {in_shell_words(failure.message)}"
    if failure.hint:
        yield f"  {in_shell_words(failure.hint)}"
    last_words = (failure.debugger_says or "").rsplit("\n", 1)[-1]  # of a traceback, the line that says what it was
    for key, value in {"debugger says": last_words, **(failure.details or {})}.items():
        if value:
            yield from _detail(word_of(key), value, language)


def _detail(label: Phrase, value: object, language: Language) -> Iterator[str]:
    """A list is what a compiler said, or what may be meant: a line each, none of them cut."""
    if isinstance(value, list | tuple):
        yield f"  {say('{label}:', label=label).in_language(language)}"
        yield from (f"    {source_line(str(item))}" for item in value)
    else:
        shown = one_line(str(value), _VALUE_CHARACTERS)
        yield f"  {labelled(label, shown).in_language(language)}"
