"""The files that take longest, by what they took on two cores: they begin first.

Whoever begins a long file last keeps everybody waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

_HERE = Path(__file__).parent

LONGEST = (
    "e2e/life/test_races.py",
    "e2e/test_hostile_kills.py",
    "faces/mcp/test_daemon_goes.py",
    "conformance/test_hostile_programs.py",
    "e2e/test_debug_command.py",
    "conformance/test_deaths.py",
    "conformance/test_hostile_values.py",
    "faces/mcp/test_terminal_tools.py",
    "faces/mcp/test_debugging_over.py",
    "domain/evidence/test_debug_test_faults.py",
    "domain/journal/test_faults.py",
    "e2e/test_demo.py",
    "e2e/test_untrusted_workspace.py",
    "conformance/test_hostile_requests.py",
    "conformance/test_hostile_javascript.py",
    "conformance/test_table_javascript.py",
    "conformance/test_table_typescript.py",
    "conformance/test_table_python.py",
    "page/test_canvas.py",
    "page/test_frame.py",
    "e2e/life/test_take_over.py",
    "e2e/life/test_commands.py",
    "e2e/test_wheel.py",
)


def rank() -> Callable[[pytest.Item], int]:
    """For a stable sort: the rest keep their order."""
    ranks = {_HERE / name: number for number, name in enumerate(LONGEST)}
    return lambda item: ranks.get(item.path, len(ranks))
