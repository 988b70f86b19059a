"""What an editor is told that can be done: what we do for every debugger, and of the rest what this one can."""

from __future__ import annotations

from typing import Any

from dragoman.debug.session import Session
from dragoman.phrases import Language, say

_ALWAYS = (
    "supportsConfigurationDoneRequest",
    "supportsHitConditionalBreakpoints",  # counted here where the debugger cannot
    "supportsLogPoints",  # and logged here
    "supportsDelayedStackTraceLoading",
)
_CHANGING = ("supportsRestartRequest", "supportsTerminateRequest", "supportTerminateDebuggee")
_THEIRS = (
    "supportsEvaluateForHovers",
    "supportsExceptionInfoRequest",
    "supportsLoadedSourcesRequest",
    "supportsModulesRequest",
    "supportsCompletionsRequest",
    "supportsFunctionBreakpoints",
    "supportsDataBreakpoints",
    "supportsExceptionFilterOptions",
    "supportsReadMemoryRequest",
    "supportsDisassembleRequest",
    "supportsStepInTargetsRequest",
    "supportsGotoTargetsRequest",
    "supportsBreakpointLocationsRequest",
    "supportsSteppingGranularity",
)
_THEIRS_TO_CHANGE = (
    "supportsWriteMemoryRequest",
    "supportsTerminateThreadsRequest",
    "supportsRestartFrame",
    "supportsStepBack",
)
_AS_THEY_ARE = ("exceptionBreakpointFilters", "completionTriggerCharacters", "additionalModuleColumns")


def capabilities(session: Session | None, *, read_only: bool, language: Language = "en") -> dict[str, Any]:
    """Without a session what is sure; the rest comes with the event of that name once there is one."""
    told: dict[str, Any] = dict.fromkeys(_ALWAYS, True)
    told |= dict.fromkeys(_CHANGING, not read_only)
    told |= {"supportsConditionalBreakpoints": True}
    return told | (_for_any(language) if session is None else _of(session, read_only=read_only))


def _for_any(language: Language) -> dict[str, Any]:
    """In our own words, which each debugger's are found for: VS Code takes these boxes from the first answer alone."""
    filters = [("raised", say("Raised Exceptions"), False), ("uncaught", say("Uncaught Exceptions"), True)]
    told = [{"filter": name, "label": label.in_language(language), "default": on} for name, label, on in filters]
    return {"exceptionBreakpointFilters": told}


def _of(session: Session, *, read_only: bool) -> dict[str, Any]:
    can, dialect = session.capabilities, session.launch.dialect
    told: dict[str, Any] = {name: can.has(name) for name in _THEIRS}
    sets = can.has("supportsSetVariable") or can.has("supportsSetExpression") or bool(dialect.assigns)
    told |= {"supportsSetVariable": sets, "supportsSetExpression": sets}
    told |= {name: can.has(name) for name in _THEIRS_TO_CHANGE}
    if read_only:
        told |= dict.fromkeys(("supportsSetVariable", "supportsSetExpression", *_THEIRS_TO_CHANGE), False)
    told["supportsConditionalBreakpoints"] = can.has("supportsConditionalBreakpoints") or bool(dialect.holds)
    return told | {name: can.get(name) for name in _AS_THEY_ARE if can.get(name) is not None}
