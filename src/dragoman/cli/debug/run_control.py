"""`dragoman debug next|step|out|continue|pause|wait|restart|stop`, and `dragoman stop-waiting`.

Standard library only, so that a step starts fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.cli.debug.arguments import parse_location
from dragoman.cli.output import ExitCode, show_json, show_message
from dragoman.cli.tool_client import open_tool_client, show_reply
from dragoman.core.localization import localize

# The tool behind each command, and its fixed arguments.
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


def control(
    name: str,
    *,
    session: str | None = None,
    thread: int | None = None,
    timeout: float | None = None,
    until: str | None = None,
    hold: float | None = None,
    workspace: Path | None = None,
    json: bool = False,
) -> int:
    tool, fixed = _TOOLS[name]
    options = {"session_id": session, "thread_id": thread, "timeout_s": timeout, "until": _until_location(until)}
    options |= {} if hold is None else {"hold_s": hold}
    with open_tool_client(workspace) as client:
        reply = client.call(tool, **fixed, **options)
    return show_reply(reply, as_json=json)


def _until_location(until: str | None) -> dict[str, Any] | None:
    if until is None:
        return None
    file, line, _ = parse_location(until)
    return {"file_path": file, "line_number": line}


def stop_waiting(*, session: str = "", json: bool = False) -> int:
    with open_tool_client(None) as client:
        count = client.link.call("stop_waiting", {"session_id": session})["count"]
    if json:
        show_json({"count": count})
    else:
        show_message(localize("Waits cancelled: {count}.", count=count) if count else localize("No tool was waiting."))
    return ExitCode.OK
