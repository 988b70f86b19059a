"""The names of all tools that a daemon offers, in their order."""

from __future__ import annotations

from typing import Any, cast

from dragoman.tools.canvas import canvas_operations
from dragoman.tools.debug.table import TOOLS
from dragoman.tools.editor import editor_operations
from dragoman.tools.evidence.table import TOOLS as EVIDENCE_TOOLS
from dragoman.tools.terminal.table import TOOLS as TERMINAL_TOOLS

_NOTHING = cast("Any", None)  # the table alone: nothing of it is called
EVERYTHING = [
    "dragoman_status",
    "search_journal",
    *(tool.name for tool in (*TOOLS, *EVIDENCE_TOOLS, *TERMINAL_TOOLS)),
    *(operation.name for operation in canvas_operations(_NOTHING, lambda: 0, {})),
    *(operation.name for operation in editor_operations(_NOTHING, _NOTHING, _NOTHING)),
]
