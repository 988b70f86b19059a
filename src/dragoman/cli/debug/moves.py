"""The commands that let the program run. Without cyclopts: in its plain form a step is served before that is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.cli.debug.asking import asking, tell_outcome

# The tool of each, and what it is called with whatever else is said.
_TOOLS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "next": ("step_execution", {"step_type": "over"}),
    "step": ("step_execution", {"step_type": "into"}),
    "out": ("step_execution", {"step_type": "out"}),
    "continue": ("continue_debugging", {}),
    "pause": ("pause_debugging", {}),
    "wait": ("wait_for_stop", {}),
    "restart": ("restart_debugging", {}),
    "stop": ("stop_debugging", {}),
}


def move(name: str, workspace: Path | None = None, *, as_json: bool, **said: Any) -> int:
    tool, fixed = _TOOLS[name]
    with asking(workspace) as asker:
        told = asker.call(tool, **fixed, **said)
    return tell_outcome(told, as_json=as_json)
