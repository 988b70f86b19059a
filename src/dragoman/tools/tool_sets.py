"""Which tools an agent is shown. A model pays for every listed tool with every request, so the default list is short.

A tool that is not listed can still be called by its name.
"""

from __future__ import annotations

DEFAULT_SET = "default"
EVERY_SET = "all"

# The tools of the specification, the questions about a whole run, and what a session needs besides.
DEFAULT_TOOLS = frozenset({
    "get_debugger_configurations", "set_breakpoint", "remove_breakpoint", "get_breakpoints", "start_debugging",
    "continue_debugging", "step_execution", "get_scopes", "get_variables", "evaluate_expression", "stop_debugging",
    "explain_failure", "trace_call", "trace", "check", "find_change", "compare_runs", "stop_history",
    "pause_debugging", "wait_for_stop", "get_output", "list_sessions", "set_variable",
})  # fmt: skip
