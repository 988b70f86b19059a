"""Errors of the debug tools as results: the specification's message, the reason, the session's state, and what to do.

Text from a debugger or a program is kept apart, as data. It never becomes part of Dragoman's own sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.labels import comma_list, label_of, with_label
from dragoman.core.localization import Language, LocalizedStr, LocalizedText, join_sentences, localize, text_in_language
from dragoman.debug.service import DebugService
from dragoman.tools.agent_text import map_strings, one_line
from dragoman.tools.debug.results import DebugFailure
from dragoman.tools.debug.values import ValueFormatter
from dragoman.tools.tool import ToolOutcome
from dragoman.workspace.caller import Caller

_DEBUGGER_CHARACTERS = 1000
_VALUE_CHARACTERS = 400
_LISTED_FROM = 2
_ITEMS = 100
_DETAIL_CHARACTERS = _DEBUGGER_CHARACTERS


def explain_lost_session(service: DebugService, caller: Caller, error: DragomanError) -> DragomanError:
    if not (caller.reconnected and _may_be_from_earlier_daemon(service, caller, error)):
        return error
    return DragomanError(
        error.code,
        error.message,
        hint=localize(
            "The daemon restarted after you connected, and its debug sessions ended. Breakpoints are kept: "
            "start again with start_debugging."
        ),
    )


def _may_be_from_earlier_daemon(service: DebugService, caller: Caller, error: DragomanError) -> bool:
    """Whether the call may refer to a session of an earlier daemon: without an id, only if this one has had
    none here.
    """
    if error.code == "no_session":
        return not service.registry.sessions(caller)
    return error.code == "unknown_session"


# For each error code, the value of the message that is the debugger's own text.
_DEBUGGER_TEXT = {
    "adapter_refused": "reason",
    "adapter_broken": "reason",
    "adapter_gone": "words",
    "cannot_watch": "reason",
}


@dataclass(frozen=True, slots=True)
class DebugFailures:
    service: DebugService
    values: ValueFormatter

    def format_error(
        self, caller: Caller, tool: str, arguments: Mapping[str, Any], error: DragomanError
    ) -> ToolOutcome:
        error = explain_lost_session(self.service, caller, error)
        debugger_text = self._debugger_text(error, caller)
        message = _sentence(tool, arguments, error, debugger_text)
        details: dict[str, Any] = map_strings(error.details, partial(self._detail, caller))
        session_id, state = (None, None)
        if error.code != "which_session":
            session_id, state = self._state(caller, tool, details.pop("session_id", arguments.get("session_id")))
        failure = DebugFailure(
            status="error",
            message=message.in_language(caller.language),
            code=error.code,
            hint=self._hint(tool, error, caller, session_id),
            state=state,
            session_id=session_id,
            debugger_says=debugger_text or None,
            details=details or None,
        )
        return ToolOutcome(_lines(failure, caller.language), failure, is_error=True)

    def _debugger_text(self, error: DragomanError, caller: Caller) -> str:
        words = error.message.values.get(_DEBUGGER_TEXT.get(error.code, ""), "")
        debugger_text = text_in_language(words, caller.language) if isinstance(words, str) else str(words)
        return self.values.tail(debugger_text.strip(), _DEBUGGER_CHARACTERS) if words not in {"?", "-"} else ""

    def _detail(self, caller: Caller, _: str, text: str) -> str:
        """Redact and shorten a detail, because it came from a file, a program or a caller."""
        return self.values.text(text_in_language(text, caller.language), _DEBUGGER_CHARACTERS)

    def _state(self, caller: Caller, tool: str, session_id: object) -> tuple[str | None, str]:
        """The session's id and state. A failed start does not report the state of another active session."""
        if tool == "start_debugging" and not session_id:
            return None, "Idle"
        try:
            session = self.service.find(caller, session_id if isinstance(session_id, str) else "")
        except DragomanError:
            return None, "Idle"
        return session.id, session.state.value

    def _hint(self, tool: str, error: DragomanError, caller: Caller, session_id: str | None) -> str | None:
        hint = _HINTS.get((tool, error.code), error.hint)
        if hint is _STILL_STOPPED and self._is_interrupted(caller, session_id):
            hint = _INTERRUPTED
        return _with_clean_values(hint).in_language(caller.language) if hint else None

    def _is_interrupted(self, caller: Caller, session_id: str | None) -> bool:
        """Whether the debugger interrupts a long expression of this session by itself."""
        found = [it for it in self.service.registry.sessions(caller) if it.id == session_id]
        return any(session.launch.quirks.is_interruptible for session in found)


_STILL_STOPPED = localize(
    "The program is still stopped. It may be busy with the expression; restart_debugging restarts it."
)
_INTERRUPTED = localize(
    "The program is still stopped. A Python expression is interrupted after 20 seconds: retry then, or use "
    "restart_debugging."
)


# Hints of a tool that are better than the error's own.
_HINTS: Mapping[tuple[str, str], LocalizedText] = {
    ("evaluate_expression", "adapter_silent"): _STILL_STOPPED,
}


def _lines(failure: DebugFailure, language: Language) -> list[LocalizedText]:
    which = localize("({session}, {state})", session=failure.session_id, state=label_of(failure.state or ""))
    sentence = join_sentences((failure.message, which if failure.session_id else None, failure.hint), language)
    data = {"debugger says": _main_first(failure.debugger_says or ""), **(failure.details or {})}
    shown = [line for key, value in data.items() if value for line in _detail(key, value, language)]
    return [localize("{text}", text=f"{failure.code}: {sentence}"), *shown]


def _detail(key: str, value: object, language: Language) -> list[LocalizedText]:
    """A detail as lines. Long lists show their end: the last lines of a build say what was wrong."""
    label = label_of(key)
    if not isinstance(value, list):
        return [with_label(label, one_line(_plain(value, language), _DETAIL_CHARACTERS))]
    shown = [_plain(item, language) for item in value]
    if len(value) < _LISTED_FROM:
        return [with_label(label, one_line(it, _DETAIL_CHARACTERS)) for it in shown]
    items = [localize("{text}", text=f"  {one_line(it, _DETAIL_CHARACTERS)}") for it in shown[-_ITEMS:]]
    return [localize("{label}:", label=label), *items]


def _plain(value: object, language: Language) -> str:
    """Lists and objects as plain text."""
    if isinstance(value, Mapping):
        given = [(str(key), inner) for key, inner in value.items() if inner not in (None, "", [], {})]
        shown = [with_label(label_of(key), _member(key, inner, language)) for key, inner in given]
        return comma_list(shown).in_language(language) if shown else ""
    if isinstance(value, list | tuple):
        return " ".join(_plain(inner, language) for inner in value)
    return str(value)


def _member(key: str, value: object, language: Language) -> object:
    return label_of(value) if key in _LABELLED_MEMBERS and isinstance(value, str) else _plain(value, language)


_LABELLED_MEMBERS = frozenset({"state", "reason"})
"""Members with values that have labels."""


def _main_first(text: str) -> list[str]:
    """All lines, because clients show their model the text of an error alone. The most informative one comes first: a
    compiler's first error, or a traceback's last line.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    main = next((at for at, line in enumerate(lines) if line.startswith("error: ")), len(lines) - 1)
    return [*lines[main : main + 1], *lines[:main], *lines[main + 1 :]] if lines else []


_SentenceBuilder = Callable[[LocalizedText, Mapping[str, Any]], LocalizedText]


_STEPS = {"into": localize("into"), "over": localize("over"), "out": localize("out")}


def _frame(reason: LocalizedText, _: Mapping[str, Any]) -> LocalizedText:
    return localize("Invalid stack frame ID: {reason}", reason=reason)


def _reference(reason: LocalizedText, _: Mapping[str, Any]) -> LocalizedText:
    return localize("Invalid variables_reference: {reason}", reason=reason)


def _value_unreadable(_: LocalizedText, __: Mapping[str, Any]) -> LocalizedText:
    return localize("Cannot read the value of the variable.")


def _not_paused(reason: LocalizedText, _: Mapping[str, Any]) -> LocalizedText:
    return localize("The debugger is not paused: {reason}", reason=reason)


def _session_or_thread(reason: LocalizedText, _: Mapping[str, Any]) -> LocalizedText:
    return localize("Invalid session ID or thread ID: {reason}", reason=reason)


def _thread(reason: LocalizedText, _: Mapping[str, Any]) -> LocalizedText:
    return localize("Invalid thread ID: {reason}", reason=reason)


def _not_resumed(reason: LocalizedText, _: Mapping[str, Any]) -> LocalizedText:
    return localize("Cannot resume the program: {reason}", reason=reason)


def _not_stepped(reason: LocalizedText, arguments: Mapping[str, Any]) -> LocalizedText:
    step = _STEPS.get(str(arguments.get("step_type")), _STEPS["over"])
    return localize("Cannot step {step} in the current state: {reason}", step=step, reason=reason)


def _nothing_to_stop(reason: LocalizedText, _: Mapping[str, Any]) -> LocalizedText:
    return localize("No active debug session to stop: {reason}", reason=reason)


def _not_in_time(_: LocalizedText, __: Mapping[str, Any]) -> LocalizedText:
    return localize("The expression timed out; it may still be running in the program.")


def _not_set(_: LocalizedText, __: Mapping[str, Any]) -> LocalizedText:
    return localize("Cannot set the variable to this value.")


def _not_started(_: LocalizedText, __: Mapping[str, Any]) -> LocalizedText:
    return localize("The debugger could not be started.")


# The messages that the specification defines for each tool, by error code.
_SENTENCES: Mapping[str, Mapping[str, _SentenceBuilder]] = {
    "get_scopes": {
        "stale_reference": _frame,
        "unknown_reference": _frame,
        "not_stopped": _not_paused,
        "unknown_thread": _thread,
    },
    "get_variables": {
        "stale_reference": _reference,
        "unknown_reference": _reference,
        "not_stopped": _not_paused,
        "adapter_refused": _value_unreadable,
    },
    "evaluate_expression": {
        "stale_reference": _frame,
        "unknown_reference": _frame,
        "not_stopped": _not_paused,
        "unknown_thread": _thread,
        "adapter_silent": _not_in_time,
    },
    "set_variable": {
        "stale_reference": _reference,
        "unknown_reference": _reference,
        "not_stopped": _not_paused,
        "adapter_refused": _not_set,
    },
    "start_debugging": {
        "adapter_gone": _not_started,
        "adapter_refused": _not_started,
    },
    "continue_debugging": {
        "unknown_session": _session_or_thread,
        "unknown_thread": _thread,
        "not_stopped": _not_resumed,
        "adapter_refused": _not_resumed,
    },
    "step_execution": {
        "unknown_session": _session_or_thread,
        "unknown_thread": _thread,
        "not_stopped": _not_stepped,
        "adapter_refused": _not_stepped,
    },
    "stop_debugging": {
        "no_session": _nothing_to_stop,
        "already_ended": _nothing_to_stop,
    },
}


def _sentence(tool: str, arguments: Mapping[str, Any], error: DragomanError, debugger_text: str) -> LocalizedText:
    if tool == "evaluate_expression" and error.code == "adapter_refused":
        return _not_evaluated(debugger_text, str(arguments.get("expression", "")))
    reason = _own_sentence(error)
    format_error = _SENTENCES.get(tool, {}).get(error.code)
    return format_error(reason, arguments) if format_error else reason


def _own_sentence(error: DragomanError) -> LocalizedText:
    if error.code in _DEBUGGER_TEXT:
        return localize("The debugger failed or rejected the request; see `debugger_says`.")
    return _with_clean_values(error.message)


def _with_clean_values(phrase: LocalizedText) -> LocalizedText:
    """Escape and shorten the values that came from a file or a caller."""
    return replace(phrase, values={key: _clean_value(value) for key, value in phrase.values.items()})


def _clean_value(value: object) -> object:
    if isinstance(value, LocalizedText | LocalizedStr):
        return _with_clean_values(value.phrase if isinstance(value, LocalizedStr) else value)
    return value if isinstance(value, int | float) else one_line(str(value), _VALUE_CHARACTERS)


# How debuggers of several languages report an unknown name or a syntax error.
_UNDEFINED = re.compile(
    r"(?:\bname|\blocal variable|undeclared identifier|symbol value for|\bNo symbol|undefined local variable or method)"
    r"\s['\"`‘]?([^\W\d]\w{0,99})"
    r"|\b([^\W\d]\w{0,99}) is not defined"
)
_SYNTAX = re.compile(r"(?i)syntax\s?error|invalid syntax|parse error|unexpected (?:token|end|eof)|expected expression")
_SIDE_EFFECT = re.compile(r"(?i)side.?effect")


def _not_evaluated(debugger_text: str, expression: str) -> LocalizedText:
    if _SYNTAX.search(debugger_text):
        return localize("The expression has a syntax error.")
    if _SIDE_EFFECT.search(debugger_text):
        return localize("The expression has side effects, which are not allowed in this context.")
    match = _UNDEFINED.search(debugger_text)
    name = (match[1] or match[2]) if match else ""
    if name and re.search(rf"\b{re.escape(name)}\b", expression):  # the caller's own word, not one of the program
        return localize("The variable '{name}' is not defined.", name=name)
    return localize("The expression cannot be evaluated in this context.")
