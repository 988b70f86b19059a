"""What a tool call does, in a sentence: also when it is read again from the history."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.chat.toolbox import PLACED_TITLES, PLAIN_TITLES, tool_title


@pytest.mark.parametrize(
    ("tool", "arguments", "title"),
    [
        ("get_source", {"file_path": "src/main.ts"}, "Reading src/main.ts"),
        ("get_source", {"file_path": "a.py", "line": 7}, "Reading a.py:7"),
        ("set_breakpoint", {"file_path": "a.py", "line_number": 3}, "Setting a breakpoint at a.py:3"),
        ("set_breakpoint", {"kind": "function", "function_name": "f"}, "Setting a breakpoint"),
        ("start_debugging", {"program": "a.py"}, "Debugging a.py"),
        ("start_debugging", {"configuration_name": "Tests"}, "Debugging Tests"),
        ("ide_open", {"path": "a.py"}, "Opening a.py in the editor"),
        ("run_in_terminal", {"command": "login --password hunter2"}, "Running a command in a terminal"),
        ("get_source", {"file_path": 5, "line": True}, "Reading the source"),
        ("get_source", "not an object", "Reading the source"),
        ("get_source", {"file_path": "a{b}.py\n\x1b[2J"}, "Reading a{b}.py \\x1b[2J"),
        ("get_source", {"file_path": "x" * 5000}, "Reading …" + "x" * 120),
        ("somebody_elses", {"file_path": "a.py"}, "somebody_elses"),
    ],
)
def test_a_title_says_what_is_done_and_where(tool: str, arguments: Any, title: str) -> None:
    assert tool_title(tool, arguments, "en") == title


def test_a_title_is_in_the_readers_language() -> None:
    assert tool_title("get_source", {"file_path": "a.py", "line": 7}, "zh") == "读取 a.py:7"


def test_what_names_a_place_can_also_be_said_without_one() -> None:
    assert set(PLACED_TITLES) <= set(PLAIN_TITLES)
