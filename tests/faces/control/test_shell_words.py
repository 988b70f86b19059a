"""What the debug tools say to a shell names commands and options, never tools and their parameters."""

from __future__ import annotations

import re

import pytest

from dragoman.chinese import sessions, tools
from dragoman.daemon.shell_words import in_shell_words

# What a shell has no word for: these sentences are about launch.json, or about what only an agent can ask for.
ONLY_FOR_AGENTS = re.compile(r"get_debugger_configurations|variables_reference|line_text|file_path")
NAMES = re.compile(
    r"\b(continue_debugging|evaluate_expression|get_breakpoints|get_output|get_scopes|get_variables|list_sessions|"
    r"pause_debugging|remove_breakpoint|restart_debugging|set_breakpoint|set_variable|start_debugging|step_execution|"
    r"stop_debugging|wait_for_stop|stop_history|session_id|thread_id|process_id|timeout_s|hit_condition|no_debug)\b",
    re.ASCII,
)


@pytest.mark.parametrize("table", [sessions.TABLE, tools.TABLE], ids=["sessions", "tools"])
def test_no_sentence_to_a_shell_names_a_tool_or_its_parameter(table: dict[str, str]) -> None:
    named = [it for pair in table.items() for it in pair if NAMES.search(it)]
    assert named, "some do, before they are said to a shell"
    left = [it for it in map(in_shell_words, named) if NAMES.search(it) and not ONLY_FOR_AGENTS.search(it)]
    assert left == []


def test_a_word_of_another_meaning_is_left_alone() -> None:
    assert in_shell_words("my_session_id_here and Give `session_id`.") == "my_session_id_here and Give `--session`."
