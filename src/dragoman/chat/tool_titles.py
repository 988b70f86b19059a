"""What a tool call does, as a sentence for people: "Reading src/main.ts".

A title names files, lines and configurations, never commands, expressions or values: those stand in the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dragoman.phrases import Language, Phrase, say
from dragoman.visible import spelled_out

_PLACE_CHARACTERS = 120

PLAIN: Mapping[str, Phrase] = {
    "dragoman_status": say("Looking at what Dragoman does"),
    "search_journal": say("Searching what happened"),
    "get_debugger_configurations": say("Listing what can be debugged"),
    "set_breakpoint": say("Setting a breakpoint"),
    "remove_breakpoint": say("Removing breakpoints"),
    "get_breakpoints": say("Listing the breakpoints"),
    "start_debugging": say("Starting to debug"),
    "continue_debugging": say("Letting the program go on"),
    "step_execution": say("Stepping through the program"),
    "get_scopes": say("Reading the call stack"),
    "get_variables": say("Reading variables"),
    "evaluate_expression": say("Evaluating an expression"),
    "stop_debugging": say("Ending the debug session"),
    "pause_debugging": say("Pausing the program"),
    "restart_debugging": say("Starting the program again"),
    "wait_for_stop": say("Waiting for the program to stop"),
    "list_sessions": say("Listing the debug sessions"),
    "set_variable": say("Setting a variable"),
    "get_output": say("Reading the program's output"),
    "get_source": say("Reading the source"),
    "trace": say("Tracing values through a run"),
    "check": say("Checking a claim about a run"),
    "find_change": say("Finding where a value changes"),
    "compare_runs": say("Comparing two runs"),
    "explain_crash": say("Explaining a crash"),
    "debug_test": say("Debugging a test"),
    "debug_last_failure": say("Debugging the last failure"),
    "stop_history": say("Looking at earlier stops"),
    "list_terminals": say("Listing the terminals"),
    "search_commands": say("Searching commands that were run"),
    "get_command_output": say("Reading a command's output"),
    "get_last_failure": say("Looking at the last failure"),
    "read_terminal": say("Reading a terminal"),
    "run_in_terminal": say("Running a command in a terminal"),
    "wait_for_command": say("Waiting for a command to end"),
    "show_canvas": say("Drawing on the canvas"),
    "update_canvas": say("Changing the canvas"),
    "read_actions": say("Reading what was done on the canvas"),
    "list_components": say("Listing what can be drawn"),
    "ask_user": say("Asking you"),
    "ide_open": say("Opening a file in the editor"),
    "ide_diff": say("Proposing a change"),
    "ide_diagnostics": say("Reading the editor's problems"),
    "ide_selection": say("Reading the selection in the editor"),
    "ide_open_files": say("Listing the files open in the editor"),
    "ide_notify": say("Showing a notice in the editor"),
    "ide_run_in_terminal": say("Running a command in the editor's terminal"),
}
PLACED: Mapping[str, Callable[[str], Phrase]] = {
    "set_breakpoint": lambda place: say("Setting a breakpoint at {place}", place=place),
    "start_debugging": lambda place: say("Debugging {place}", place=place),
    "get_source": lambda place: say("Reading {place}", place=place),
    "ide_open": lambda place: say("Opening {place} in the editor", place=place),
    "ide_diff": lambda place: say("Proposing a change of {place}", place=place),
    "ide_diagnostics": lambda place: say("Reading the editor's problems in {place}", place=place),
}


def title_of(tool: str, arguments: object, language: Language) -> str:
    """The name of a tool that is not ours; what a model wrote as arguments may be anything."""
    plain, placed = PLAIN.get(tool), PLACED.get(tool)
    if plain is None:
        return tool
    place = _place(arguments) if placed and isinstance(arguments, Mapping) else ""
    return (placed(place) if placed and place else plain).in_language(language)


def _place(arguments: Mapping[str, Any]) -> str:
    names = (arguments.get(name) for name in ("file_path", "path", "program", "configuration_name"))
    name = next((it for it in names if isinstance(it, str) and it), "")
    if not name:
        return ""
    shown = " ".join(spelled_out(name).split())
    shown = shown if len(shown) <= _PLACE_CHARACTERS else "…" + shown[-_PLACE_CHARACTERS:]
    lines = (arguments.get(name) for name in ("line_number", "line"))
    line = next((it for it in lines if isinstance(it, int) and it is not True), None)
    return shown if line is None else f"{shown}:{line}"
