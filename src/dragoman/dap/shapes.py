"""From the domain's nouns to the protocol's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.dap.places import Places
from dragoman.debug.model import Binding, Evaluated, Frame, Raised, Scope, Stop, ThreadSeen, Variable
from dragoman.phrases import Language, text_in
from dragoman.workspace.breakpoints import Breakpoint


def stopped(stop: Stop) -> dict[str, Any]:
    told: dict[str, Any] = {
        "reason": stop.reason,
        "threadId": stop.thread_id,
        "allThreadsStopped": stop.all_threads_stopped is not False,
    }
    text = stop.text if stop.text is not None else stop.raised and stop.raised.message
    told |= {"description": stop.description} if stop.description else {}
    told |= {"text": text} if text else {}
    return told | ({"hitBreakpointIds": list(stop.hit_breakpoints)} if stop.hit_breakpoints else {})


def continued(thread_id: int) -> dict[str, Any]:
    return {"threadId": thread_id, "allThreadsContinued": True}


def thread(seen: ThreadSeen) -> dict[str, Any]:
    return {"id": seen.id, "name": seen.name or str(seen.id)}


def frame(seen: Frame, places: Places) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": seen.id,
        "name": seen.name,
        "line": places.line(seen.line) if seen.line else 0,
        "column": places.column(seen.column or 1),
    }
    source = source_of(seen, places)
    told |= {"source": source} if source else {}
    told |= {"instructionPointerReference": seen.address} if seen.address else {}
    return told | ({"presentationHint": "subtle"} if seen.is_library else {})


def source_of(seen: Frame, places: Places) -> dict[str, Any]:
    """By its path where it has one; otherwise the text is asked for by its number."""
    if seen.path and not seen.source_reference:
        return {"name": seen.source_name or Path(seen.path).name, "path": places.path(seen.path)}
    if not seen.source_reference:
        return {"name": seen.source_name} if seen.source_name else {}
    named = {"name": seen.source_name or Path(seen.path).name, "sourceReference": seen.source_reference}
    return named | ({"path": places.path(seen.path)} if seen.path else {})


def scope(seen: Scope) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": seen.name,
        "variablesReference": seen.reference,
        "expensive": seen.expensive,
    }
    told |= {"presentationHint": seen.hint} if seen.hint else {}
    return told | _counts(seen)


def variable(seen: Variable) -> dict[str, Any]:
    told: dict[str, Any] = {"name": seen.name, "value": seen.value, "variablesReference": seen.reference}
    told |= {"type": seen.type} if seen.type is not None else {}
    told |= {"evaluateName": seen.evaluate_name} if seen.evaluate_name else {}
    told |= {"memoryReference": seen.memory_reference} if seen.memory_reference else {}
    return told | _counts(seen)


def evaluated(seen: Evaluated, *, named: str = "result") -> dict[str, Any]:
    told: dict[str, Any] = {named: seen.result, "variablesReference": seen.reference}
    told |= {"type": seen.type} if seen.type is not None else {}
    told |= {"memoryReference": seen.memory_reference} if seen.memory_reference else {}
    return told | _counts(seen)


def exception(raised: Raised) -> dict[str, Any]:
    details = {"message": raised.message, "typeName": raised.type, "stackTrace": raised.where}
    return {
        "exceptionId": raised.type,
        "description": raised.message,
        "breakMode": "unhandled" if raised.uncaught else "always",
        "details": {name: value for name, value in details.items() if value},
    }


def breakpoint(asked: Breakpoint, binding: Binding, places: Places, language: Language) -> dict[str, Any]:
    told: dict[str, Any] = {"id": asked.id, "verified": binding.verified}
    told |= {"message": text_in(binding.message, language)} if binding.message else {}
    if asked.kind != "line":
        return told
    source = {"name": Path(asked.path).name, "path": places.path(asked.path)}
    return told | {"line": places.line(binding.line or asked.line), "source": source}


def unset(reason: str) -> dict[str, Any]:
    return {"verified": False, "message": reason}


def _counts(seen: Scope | Variable | Evaluated) -> dict[str, int]:
    counts = {"namedVariables": seen.named, "indexedVariables": seen.indexed}
    return {name: count for name, count in counts.items() if count is not None}
