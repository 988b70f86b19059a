"""The tools as chat agents see them: a port, because a domain does not import `tools`. A call that is refused for
lack of trust asks the person of the conversation.

A title ("Reading src/main.ts") names files, lines and configurations, never commands, expressions or values:
those are in the arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dragoman.chat.runs import AgentRequest
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
    "trace_call": localize("Tracing one call of a function"),
    "explain_failure": localize("Explaining a failure"),
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


_FOLDERS_ASKED = 4
"""A program, its interpreter and its tasks may each be in another folder."""


class ToolDescription(NamedTuple):
    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments."""
    reads_only: bool = False


class ToolAnswer(NamedTuple):
    text: str
    """The text for the reader. Output of programs and terminals is marked as data in it."""
    data: Mapping[str, Any]
    is_error: bool = False


class ChatToolbox(Protocol):
    def offers(self) -> Sequence[ToolDescription]: ...

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        """Call a tool.

        A mistake of the caller is an answer, never an exception. No workspace means the daemon's own.
        """
        ...


class TrustPrompt(Protocol):
    async def ask(self, request: AgentRequest, folder: str, tool: str) -> bool:
        """Ask the person to trust the folder; returns whether it is trusted now.

        `tool` is what an agent needs it for; empty if the person called.
        """
        ...


async def call_with_trust(
    call: Callable[[], Awaitable[ToolAnswer]], request: AgentRequest, trust_prompt: TrustPrompt | None, tool: str = ""
) -> ToolAnswer:
    """Make one call, and repeat it if the person trusts the folders that its refusal names.

    Only a person at the page or in the editor is asked, and only once per folder.
    """
    answer = await call()
    if trust_prompt is None or not request.is_person:
        return answer
    named: list[str] = []
    while (folder := _untrusted_folder(answer)) and folder not in named and len(named) < _FOLDERS_ASKED:
        named.append(folder)
        if not await trust_prompt.ask(request, folder, tool):
            break
        answer = await call()
    return answer


def _untrusted_folder(answer: ToolAnswer) -> str:
    if answer.data.get("code") != "needs_trust":
        return ""
    folder = (answer.data.get("details") or {}).get("folder")
    return folder if isinstance(folder, str) else ""
