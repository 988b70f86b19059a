"""The title of a tool call for people: "Reading src/main.ts".

A title names files, lines and configurations, never commands, expressions or values: those are in the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dragoman.core.localization import Language, LocalizedText, localize
from dragoman.core.safe_text import escape_invisible

_PLACE_CHARACTERS = 120

PLAIN_TITLES: Mapping[str, LocalizedText] = {
    "dragoman_status": localize("Checking Dragoman's status"),
    "search_journal": localize("Searching the journal"),
    "get_debugger_configurations": localize("Listing debug configurations"),
    "set_breakpoint": localize("Setting a breakpoint"),
    "remove_breakpoint": localize("Removing breakpoints"),
    "get_breakpoints": localize("Listing the breakpoints"),
    "start_debugging": localize("Starting to debug"),
    "continue_debugging": localize("Resuming the program"),
    "step_execution": localize("Stepping through the program"),
    "get_scopes": localize("Reading the call stack"),
    "get_variables": localize("Reading variables"),
    "evaluate_expression": localize("Evaluating an expression"),
    "stop_debugging": localize("Ending the debug session"),
    "pause_debugging": localize("Pausing the program"),
    "restart_debugging": localize("Restarting the program"),
    "wait_for_stop": localize("Waiting for the program to stop"),
    "list_sessions": localize("Listing the debug sessions"),
    "set_variable": localize("Setting a variable"),
    "get_output": localize("Reading the program's output"),
    "get_source": localize("Reading the source"),
    "trace": localize("Tracing values through a run"),
    "check": localize("Checking a claim about a run"),
    "find_change": localize("Finding where a value changes"),
    "compare_runs": localize("Comparing two runs"),
    "explain_crash": localize("Explaining a crash"),
    "debug_test": localize("Debugging a test"),
    "debug_last_failure": localize("Debugging the last failure"),
    "stop_history": localize("Reading earlier stops"),
    "list_terminals": localize("Listing the terminals"),
    "search_commands": localize("Searching past commands"),
    "get_command_output": localize("Reading a command's output"),
    "get_last_failure": localize("Looking at the last failure"),
    "read_terminal": localize("Reading a terminal"),
    "run_in_terminal": localize("Running a command in a terminal"),
    "wait_for_command": localize("Waiting for a command to end"),
    "show_canvas": localize("Drawing on the canvas"),
    "update_canvas": localize("Updating the canvas"),
    "read_actions": localize("Reading canvas actions"),
    "list_components": localize("Listing canvas components"),
    "ask_user": localize("Asking you"),
    "ide_open": localize("Opening a file in the editor"),
    "ide_diff": localize("Proposing a change"),
    "ide_diagnostics": localize("Reading the editor's problems"),
    "ide_selection": localize("Reading the selection in the editor"),
    "ide_open_files": localize("Listing the files open in the editor"),
    "ide_notify": localize("Showing a notice in the editor"),
    "ide_run_in_terminal": localize("Running a command in the editor's terminal"),
}
PLACED_TITLES: Mapping[str, Callable[[str], LocalizedText]] = {
    "set_breakpoint": lambda place: localize("Setting a breakpoint at {place}", place=place),
    "start_debugging": lambda place: localize("Debugging {place}", place=place),
    "get_source": lambda place: localize("Reading {place}", place=place),
    "ide_open": lambda place: localize("Opening {place} in the editor", place=place),
    "ide_diff": lambda place: localize("Proposing a change to {place}", place=place),
    "ide_diagnostics": lambda place: localize("Reading the editor's problems in {place}", place=place),
}


def tool_title(tool: str, arguments: object, language: Language) -> str:
    """The title; for a tool of another server, its name. A model may write anything as arguments."""
    plain, placed = PLAIN_TITLES.get(tool), PLACED_TITLES.get(tool)
    if plain is None:
        return tool
    place = _place(arguments) if placed and isinstance(arguments, Mapping) else ""
    return (placed(place) if placed and place else plain).in_language(language)


def _place(arguments: Mapping[str, Any]) -> str:
    names = (arguments.get(name) for name in ("file_path", "path", "program", "configuration_name"))
    name = next((it for it in names if isinstance(it, str) and it), "")
    if not name:
        return ""
    shown = " ".join(escape_invisible(name).split())
    shown = shown if len(shown) <= _PLACE_CHARACTERS else "…" + shown[-_PLACE_CHARACTERS:]
    lines = (arguments.get(name) for name in ("line_number", "line"))
    line = next((it for it in lines if isinstance(it, int) and it is not True), None)
    return shown if line is None else f"{shown}:{line}"
