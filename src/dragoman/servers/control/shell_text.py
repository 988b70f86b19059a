"""Rewrite what the tools return for a person at a shell: the same sentences, with commands and options in place of
tools and their parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import Language, LocalizedStr, LocalizedText, localize
from dragoman.tools import ToolOutcome
from dragoman.tools.agent_text import one_line, source_line
from dragoman.tools.debug.results import DebugFailure
from dragoman.tools.debug.wait_results import LONG_WAIT_HINT

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
    "hold_s": "--hold",
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
_PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")
_SENTENCES = (
    (localize("Choose a line in the file, or pass `line_text`."), localize("Choose a line in the file.")),
    (
        localize("Pass `program` or an inline `configuration`, or create that file."),
        localize("Pass a program, or create that file."),
    ),
    (
        localize("Pass `configuration_name`, an inline `configuration`, or `program` with `args`."),
        localize("Pass a program with its arguments, or a configuration with `--config`."),
    ),
    (localize("Set `program` to the folder of one of them."), localize("Pass the folder of one of them.")),
    (
        localize("Set `program` to the folder or file of a `main` package, or of tests with `mode` test."),
        localize("Pass the folder or file of a `main` package."),
    ),
    (
        localize("Build it with debug information, then set `program` to the executable."),
        localize("Build it with debug information, then pass the executable."),
    ),
    (
        localize("Run `cargo build`, then set `program` to the executable in target/debug."),
        localize("Run `cargo build`, then pass the executable in target/debug."),
    ),
    (
        localize("Pass the variables_reference of its container, from get_scopes or get_variables."),
        localize("`dragoman debug vars` lists the variables; use `--frame N` for another frame."),
    ),
    (
        localize("Find its id with search_commands."),
        localize("`dragoman history` lists commands and their ids."),
    ),
    (
        localize("get_debugger_configurations lists the names."),
        localize("The names are in .vscode/launch.json."),
    ),
    (
        localize("get_debugger_configurations lists the names; list_sessions lists stopped sessions."),
        localize("The names are in .vscode/launch.json; `dragoman debug sessions` lists stopped sessions."),
    ),
    (
        localize("Ask the user to run `dragoman shell`, or open your own with run_in_terminal."),
        localize("Start one with `dragoman shell`."),
    ),
    (
        localize("Use a frame or variables reference from the latest stop."),
        localize("`dragoman debug stack` lists the frames."),
    ),
    (localize("Pass its `file_path` or a `line_number`."), localize("Use FILE:LINE.")),
    (
        localize("Pass its file too, as in tests/test_app.py::test_it, or `command`, the full command line."),
        localize("Pass its file too, as in tests/test_app.py::test_it, or the full command line after `--`."),
    ),
    (
        localize("Pass `command`, the full command line."),
        localize("Pass the full command line after `--`."),
    ),
    (
        localize("`test` is an id such as tests/test_app.py::test_it; `command` a line such as `go test ./...`."),
        localize(
            "Pass an id such as tests/test_app.py::test_it, or a command line such as `go test ./...` after `--`."
        ),
    ),
    (localize("Check `cwd` in the configuration."), localize("Check `--cwd`, or `cwd` in the configuration.")),
    (
        localize("Use an inline `configuration` with a `type`, such as {known}.", known="{known}"),
        localize("Write a configuration with a `type`, such as {known}, to .vscode/launch.json.", known="{known}"),
    ),
    (
        localize("Install it with: {command}. get_command_output works without it.", command="{command}"),
        localize("Install it with: {command}. `dragoman last --output` works without it.", command="{command}"),
    ),
    (
        localize("Build it with debug information ({how}), then set `program` to the executable.", how="{how}"),
        localize("Build it with debug information ({how}), then pass the executable.", how="{how}"),
    ),
)
"""Sentences that need a different wording at a shell, not only other names."""

_TOOL = re.compile(
    r"`?\b(" + "|".join(map(re.escape, _COMMANDS)) + r")\b`?", re.ASCII
)  # Chinese text needs no spaces around a name.


def shell_lines(outcome: ToolOutcome, language: Language) -> list[str]:
    """A shell waits as long as its user wants, so the advice about impatient clients is left out."""
    if isinstance(outcome.data, DebugFailure):
        return list(_failure_lines(outcome.data, language))
    return [shell_text(line, language) for line in outcome.lines if line != LONG_WAIT_HINT]


def shell_text(phrase: LocalizedText, language: Language) -> str:
    """Rename tools in Dragoman's own sentences only.

    The output of a program may contain the same words, and stays as it is.
    """
    names = {name: f"{{{name}}}" for name in phrase.values}
    words = replace_tool_names(replace(phrase, values=names).in_language(language))
    return _NAME.sub(lambda it: str(_value(phrase.values.get(it[1], it[0]), language)), words)


def _value(value: object, language: Language) -> object:
    if isinstance(value, LocalizedStr):
        return shell_text(value.phrase, language)
    return shell_text(value, language) if isinstance(value, LocalizedText) else value


def replace_tool_names(text: str) -> str:
    for pattern, template in _patterns():
        if found := pattern.search(text):
            text = text[: found.start()] + template.format(**found.groupdict()) + text[found.end() :]
    return _TOOL.sub(lambda found: f"`{_COMMANDS[found[1]]}`", text)


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """The patterns in both languages, with a group for each value."""
    pairs = [(ours.in_language(it), theirs.in_language(it)) for ours, theirs in _SENTENCES for it in _LANGUAGES]
    return [(re.compile(_PLACEHOLDER.sub(r"(?P<\1>.+?)", re.escape(ours))), theirs) for ours, theirs in pairs]


def _failure_lines(failure: DebugFailure, language: Language) -> Iterator[str]:
    yield f"{failure.code}: {replace_tool_names(failure.message)}"
    if failure.hint:
        yield f"  {replace_tool_names(failure.hint)}"
    last_words = (failure.debugger_says or "").rsplit("\n", 1)[-1]  # The last line of a traceback names the exception.
    for key, value in {"debugger says": last_words, **(failure.details or {})}.items():
        if value:
            yield from _detail(label_of(key), value, language)


def _detail(label: LocalizedText, value: object, language: Language) -> Iterator[str]:
    """Format one detail. A list (compiler output, or suggestions) gets one line per entry, and none is cut."""
    if isinstance(value, list | tuple):
        yield f"  {localize('{label}:', label=label).in_language(language)}"
        yield from (f"    {source_line(str(item))}" for item in value)
    else:
        shown = one_line(str(value), _VALUE_CHARACTERS)
        yield f"  {with_label(label, shown).in_language(language)}"
