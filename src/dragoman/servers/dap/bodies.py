"""Convert sessions, frames and breakpoints to DAP bodies, and lines, columns and paths to the way the editor counts
them.

Inside Dragoman a path is absolute, and lines and columns start at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dragoman.core.localization import Language, text_in_language
from dragoman.debug.model import (
    Binding,
    EvaluateResult,
    FrameInfo,
    RaisedException,
    ScopeInfo,
    Stop,
    ThreadInfo,
    VariableInfo,
)
from dragoman.workspace.breakpoints import Breakpoint


@dataclass(frozen=True, slots=True)
class EditorCoordinates:
    """Converts lines, columns and paths between the editor and Dragoman."""

    first_line: int = 1
    first_column: int = 1
    as_uri: bool = False

    def line(self, ours: int) -> int:
        return max(ours + self.first_line - 1, 0)

    def column(self, ours: int) -> int:
        return max(ours + self.first_column - 1, 0)

    def our_line(self, theirs: int) -> int:
        return theirs + 1 - self.first_line

    def our_column(self, theirs: int | None) -> int | None:
        return None if theirs is None else theirs + 1 - self.first_column

    def path(self, ours: str) -> str:
        return Path(ours).as_uri() if self.as_uri and ours.startswith("/") else ours

    def our_path(self, theirs: str) -> str:
        return unquote(urlsplit(theirs).path) if theirs.startswith("file://") else theirs


def stopped(stop: Stop) -> dict[str, Any]:
    body: dict[str, Any] = {
        "reason": stop.reason,
        "threadId": stop.thread_id,
        "allThreadsStopped": stop.all_threads_stopped is not False,
    }
    text = stop.text if stop.text is not None else stop.raised and stop.raised.message
    body |= {"description": stop.description} if stop.description else {}
    body |= {"text": text} if text else {}
    return body | ({"hitBreakpointIds": list(stop.hit_breakpoints)} if stop.hit_breakpoints else {})


def continued(thread_id: int) -> dict[str, Any]:
    return {"threadId": thread_id, "allThreadsContinued": True}


def thread(seen: ThreadInfo) -> dict[str, Any]:
    return {"id": seen.id, "name": seen.name or str(seen.id)}


def frame(seen: FrameInfo, coordinates: EditorCoordinates) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": seen.id,
        "name": seen.name,
        "line": coordinates.line(seen.line) if seen.line else 0,
        "column": coordinates.column(seen.column or 1),
    }
    source = source_of(seen, coordinates)
    body |= {"source": source} if source else {}
    body |= {"instructionPointerReference": seen.address} if seen.address else {}
    return body | ({"presentationHint": "subtle"} if seen.is_library else {})


def source_of(seen: FrameInfo, coordinates: EditorCoordinates) -> dict[str, Any]:
    """Refer to a source by its path if it has one, else by a number with which the editor requests the text."""
    if seen.path and not seen.source_reference:
        return {"name": seen.source_name or Path(seen.path).name, "path": coordinates.path(seen.path)}
    if not seen.source_reference:
        return {"name": seen.source_name} if seen.source_name else {}
    named = {"name": seen.source_name or Path(seen.path).name, "sourceReference": seen.source_reference}
    return named | ({"path": coordinates.path(seen.path)} if seen.path else {})


def scope(seen: ScopeInfo) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": seen.name,
        "variablesReference": seen.reference,
        "expensive": seen.expensive,
    }
    body |= {"presentationHint": seen.hint} if seen.hint else {}
    return body | _counts(seen)


def variable(seen: VariableInfo) -> dict[str, Any]:
    body: dict[str, Any] = {"name": seen.name, "value": seen.value, "variablesReference": seen.reference}
    body |= {"type": seen.type} if seen.type is not None else {}
    body |= {"evaluateName": seen.evaluate_name} if seen.evaluate_name else {}
    body |= {"memoryReference": seen.memory_reference} if seen.memory_reference else {}
    return body | _counts(seen)


def evaluated(seen: EvaluateResult, *, named: str = "result") -> dict[str, Any]:
    body: dict[str, Any] = {named: seen.result, "variablesReference": seen.reference}
    body |= {"type": seen.type} if seen.type is not None else {}
    body |= {"memoryReference": seen.memory_reference} if seen.memory_reference else {}
    return body | _counts(seen)


def exception(raised: RaisedException) -> dict[str, Any]:
    details = {"message": raised.message, "typeName": raised.type, "stackTrace": raised.where}
    return {
        "exceptionId": raised.type,
        "description": raised.message,
        "breakMode": "unhandled" if raised.uncaught else "always",
        "details": {name: value for name, value in details.items() if value},
    }


def breakpoint(
    breakpoint: Breakpoint, binding: Binding, coordinates: EditorCoordinates, language: Language
) -> dict[str, Any]:
    body: dict[str, Any] = {"id": breakpoint.id, "verified": binding.verified}
    body |= {"message": text_in_language(binding.message, language)} if binding.message else {}
    if breakpoint.kind != "line":
        return body
    source = {"name": Path(breakpoint.path).name, "path": coordinates.path(breakpoint.path)}
    return body | {"line": coordinates.line(binding.line or breakpoint.line), "source": source}


def unset_breakpoint(reason: str) -> dict[str, Any]:
    return {"verified": False, "message": reason}


def _counts(seen: ScopeInfo | VariableInfo | EvaluateResult) -> dict[str, int]:
    counts = {"namedVariables": seen.named, "indexedVariables": seen.indexed}
    return {name: count for name, count in counts.items() if count is not None}
