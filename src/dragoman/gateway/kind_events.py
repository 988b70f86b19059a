"""What a run tells, as the protocol document has it: `agent` events with a `payload.kind`.

For clients of protocol 3 that are sent no tool stream. Text and the end of a run are not among them: such clients make
`text_delta` of the raw stream and `done` of the `chat` states, and would show both twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET

from dragoman.wire.gateway.vocabulary import ChatEvent, Diff, ToolResult, ToolStart

Json = dict[str, Any]


def of_run(event: ChatEvent) -> Json | None:
    """The payload, or None where the document has no event for it."""
    written = _WRITERS.get(type(event))
    return written(event) if written else None


def of_surface(message: Json) -> Json:
    return {"kind": "a2ui", "payload": message}


def _started(event: ToolStart) -> Json:
    return {
        "kind": "tool_start",
        "tool": event.tool,
        "id": event.id,
        "title": event.title or event.tool,
        "input": _arguments(event),
    }


def _arguments(event: ToolStart) -> Json:
    """Always an object; what a model wrote that is none stands in it as it came."""
    given = None if event.input is UNSET else msgspec.json.decode(event.input)
    if given is None:
        return {}
    return given if isinstance(given, dict) else {"arguments": given}


def _ended(event: ToolResult) -> Json:
    return {"kind": "tool_result", "id": event.id, "output": event.output, "error": event.error}


def _changed(event: Diff) -> Json:
    return {"kind": "diff", "path": event.path, "original": event.original, "modified": event.modified}


_WRITERS: dict[type, Callable[[Any], Json]] = {ToolStart: _started, ToolResult: _ended, Diff: _changed}


_KINDS = frozenset({"tool_start", "tool_result", "diff", "a2ui"})


def is_rewritten(stream: str, kind: str) -> bool:
    """Of an event of another gateway: whether we write it anew for those who read kinds. Text and ends are passed
    on as they came; surfaces are told by the canvas that they are drawn on."""
    return not stream and kind in _KINDS
