"""The names of all tools that a daemon offers, in their order, and of those that it lists by default; its budget."""

from __future__ import annotations

import json
from typing import Any

from dragoman.tools import canvas, debug, editor, evidence, status_and_journal, terminal
from dragoman.tools.tool_sets import DEFAULT_TOOLS

LIST_BYTES = 18_000

EVERYTHING = [tool.name for of in (status_and_journal, debug, evidence, terminal, canvas, editor) for tool in of.TOOLS]
LISTED = [name for name in EVERYTHING if name in DEFAULT_TOOLS]


def weight(message: Any) -> int:
    """Its bytes on the wire."""
    return len(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode())
