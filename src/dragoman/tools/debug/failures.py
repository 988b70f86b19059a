"""Errors as answers, in one place: the specification's sentence, the reason, the state, and what to do.

What a debugger or a program said about it is kept apart, as data; it never becomes part of a sentence of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dragoman.debug.service import DebugService
from dragoman.errors import DragomanError
from dragoman.phrases import Language, Phrase, Spoken, say, sentences, text_in
from dragoman.tools.debug.answers import Failure
from dragoman.tools.debug.client import client_of
from dragoman.tools.debug.restarts import explained
from dragoman.tools.debug.values import Values
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line, through
from dragoman.words import labelled, listed, word_of

_SAID_CHARACTERS = 1000
_VALUE_CHARACTERS = 400
_LISTED_FROM = 2
_ITEMS = 20
_ITEM_CHARACTERS = 200
# Which value of an error's sentence is in the words of a debugger.
_WORDS_OF_OTHERS = {
    "adapter_refused": "reason",
    "adapter_broken": "reason",
    "adapter_gone": "words",
    "cannot_watch": "reason",
}


class ToolError(DragomanError):
    """`details` is what the sentence is about, in data: names, lines, what there is."""

    def __init__(self, code: str, message: Phrase, *, hint: Phrase | None = None, **details: Any) -> None:
        super().__init__(code, message, hint=hint)
        self.details: Mapping[str, Any] = details


@dataclass(frozen=True, slots=True)
class Failures:
    service: DebugService
    values: Values

    def tell(self, caller: Caller, tool: str, arguments: Mapping[str, Any], error: DragomanError) -> Outcome:
        error = explained(self.service, caller, error)
        said = self._others(error, caller)
        message = _sentence(tool, arguments, error, said)
        details: dict[str, Any] = through(getattr(error, "details", {}), partial(self._detail, caller))
        session_id, state = (None, None)
        if error.code != "which_session":
            session_id, state = self._state(caller, tool, details.pop("session_id", arguments.get("session_id")))
        failure = Failure(
            status="error",
            message=message.in_language(caller.language),
            code=error.code,
            hint=self._hint(tool, error, caller, session_id),
            state=state,
            session_id=session_id,
            debugger_says=said or None,
            details=details or None,
        )
        return Outcome(_lines(failure, caller.language), failure, is_error=True)

    def _others(self, error: DragomanError, caller: Caller) -> str:
        words = error.message.values.get(_WORDS_OF_OTHERS.get(error.code, ""), "")
        said = text_in(words, caller.language) if isinstance(words, str) else str(words)
        return self.values.tail(said.strip(), _SAID_CHARACTERS) if words not in {"?", "-"} else ""

    def _detail(self, caller: Caller, _: str, text: str) -> str:
        """What an error is about came from a file, a program or a caller: shown like all else of theirs."""
        return self.values.text(text_in(text, caller.language), _SAID_CHARACTERS)

    def _state(self, caller: Caller, tool: str, session_id: object) -> tuple[str | None, str]:
        """A start that failed says nothing of the session that happens to be active."""
        if tool == "start_debugging" and not session_id:
            return None, "Idle"
        try:
            session = self.service.find(client_of(caller), session_id if isinstance(session_id, str) else "")
        except DragomanError:
            return None, "Idle"
        return session.id, session.state.value

    def _hint(self, tool: str, error: DragomanError, caller: Caller, session_id: str | None) -> str | None:
        hint = _HINTS.get((tool, error.code), error.hint)
        if hint is _STILL_STOPPED and self._is_interrupted(caller, session_id):
            hint = _INTERRUPTED
        return _clean(hint).in_language(caller.language) if hint else None

    def _is_interrupted(self, caller: Caller, session_id: str | None) -> bool:
        """Whether what such a program is kept busy with is ended in time."""
        found = [it for it in self.service.sessions(client_of(caller)) if it.id == session_id]
        return any(session.launch.dialect.is_interrupted for session in found)


_STILL_STOPPED = say(
    "The program is still stopped. It may be busy with the expression; restart_debugging begins afresh."
)
_INTERRUPTED = say(
    "The program is still stopped. A Python expression is interrupted 20 seconds after its start: ask again then. "
    "restart_debugging begins afresh."
)


# Where a tool knows better what to do than whoever raised the error.
_HINTS: Mapping[tuple[str, str], Phrase] = {
    ("evaluate_expression", "adapter_silent"): _STILL_STOPPED,
}


def _lines(failure: Failure, language: Language) -> list[Phrase]:
    which = say("({session}, {state})", session=failure.session_id, state=word_of(failure.state or ""))
    said = sentences((failure.message, which if failure.session_id else None, failure.hint), language)
    data = {"debugger says": _gist(failure.debugger_says or ""), **(failure.details or {})}
    shown = [line for key, value in data.items() if value for line in _detail(key, value, language)]
    return [say("{text}", text=f"{failure.code}: {said}"), *shown]


def _detail(key: str, value: object, language: Language) -> list[Phrase]:
    """Of a list its end: the last lines of a build are those that say what was wrong."""
    label = word_of(key)
    if not isinstance(value, list):
        return [labelled(label, one_line(_plain(value, language), _VALUE_CHARACTERS))]
    shown = [_plain(item, language) for item in value]
    if len(value) < _LISTED_FROM:
        return [labelled(label, one_line(it, _VALUE_CHARACTERS)) for it in shown]
    items = [say("{text}", text=f"  {one_line(it, _ITEM_CHARACTERS)}") for it in shown[-_ITEMS:]]
    return [say("{label}:", label=label), *items]


def _plain(value: object, language: Language) -> str:
    """Lists and objects as a person would write them down."""
    if isinstance(value, Mapping):
        given = [(str(key), inner) for key, inner in value.items() if inner not in (None, "", [], {})]
        shown = [labelled(word_of(key), _member(key, inner, language)) for key, inner in given]
        return listed(shown).in_language(language) if shown else ""
    if isinstance(value, list | tuple):
        return " ".join(_plain(inner, language) for inner in value)
    return str(value)


def _member(key: str, value: object, language: Language) -> object:
    return word_of(value) if key in _OF_OURS and isinstance(value, str) else _plain(value, language)


_OF_OURS = frozenset({"state", "reason"})
"""Members whose values are words of ours, where they are in our list."""


def _gist(said: str) -> str:
    """The line that says what it was: a compiler's first, a traceback's last."""
    lines = [line for line in said.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error: ")), lines[-1] if lines else "")


_Tell = Callable[[Phrase, Mapping[str, Any]], Phrase]

_STEPS = {"into": say("into"), "over": say("over"), "out": say("out")}


def _frame(reason: Phrase, _: Mapping[str, Any]) -> Phrase:
    return say("The stack frame id is not valid: {reason}", reason=reason)


def _reference(reason: Phrase, _: Mapping[str, Any]) -> Phrase:
    return say("The variables_reference is not valid: {reason}", reason=reason)


def _unread(_: Phrase, __: Mapping[str, Any]) -> Phrase:
    return say("The value of the variable cannot be read.")


def _not_paused(reason: Phrase, _: Mapping[str, Any]) -> Phrase:
    return say("The debugger is not paused: {reason}", reason=reason)


def _session_or_thread(reason: Phrase, _: Mapping[str, Any]) -> Phrase:
    return say("The session id or the thread id is not valid: {reason}", reason=reason)


def _thread(reason: Phrase, _: Mapping[str, Any]) -> Phrase:
    return say("The thread id is not valid: {reason}", reason=reason)


def _not_resumed(reason: Phrase, _: Mapping[str, Any]) -> Phrase:
    return say("The program cannot be resumed: {reason}", reason=reason)


def _not_stepped(reason: Phrase, arguments: Mapping[str, Any]) -> Phrase:
    step = _STEPS.get(str(arguments.get("step_type")), _STEPS["over"])
    return say("The present state does not allow to step {step}: {reason}", step=step, reason=reason)


def _nothing_to_stop(reason: Phrase, _: Mapping[str, Any]) -> Phrase:
    return say("There is no active debug session to stop: {reason}", reason=reason)


def _not_in_time(_: Phrase, __: Mapping[str, Any]) -> Phrase:
    return say("The expression was not evaluated in time; it may still be running in the program.")


def _not_set(_: Phrase, __: Mapping[str, Any]) -> Phrase:
    return say("The variable cannot be set to this value.")


def _not_started(_: Phrase, __: Mapping[str, Any]) -> Phrase:
    return say("The debugger could not be started.")


# The sentences that the specification gives for a tool, by the code of the error.
_SENTENCES: Mapping[str, Mapping[str, _Tell]] = {
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
        "adapter_refused": _unread,
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


def _sentence(tool: str, arguments: Mapping[str, Any], error: DragomanError, said: str) -> Phrase:
    if tool == "evaluate_expression" and error.code == "adapter_refused":
        return _not_evaluated(said, str(arguments.get("expression", "")))
    reason = _own_words(error)
    tell = _SENTENCES.get(tool, {}).get(error.code)
    return tell(reason, arguments) if tell else reason


def _own_words(error: DragomanError) -> Phrase:
    if error.code in _WORDS_OF_OTHERS:
        return say("The debugger refused or failed; its own words are in `debugger_says`.")
    return _clean(error.message)


def _clean(phrase: Phrase) -> Phrase:
    """Names that came from a file or a caller stand in some sentences: visible, and short."""
    return replace(phrase, values={key: _clean_value(value) for key, value in phrase.values.items()})


def _clean_value(value: object) -> object:
    if isinstance(value, Phrase | Spoken):
        return _clean(value.phrase if isinstance(value, Spoken) else value)
    return value if isinstance(value, int | float) else one_line(str(value), _VALUE_CHARACTERS)


# How debuggers of several languages say that a name or the syntax is wrong.
_UNDEFINED = re.compile(
    r"(?:\bname|\blocal variable|undeclared identifier|symbol value for|\bNo symbol|undefined local variable or method)"
    r"\s['\"`‘]?([^\W\d]\w{0,99})"
    r"|\b([^\W\d]\w{0,99}) is not defined"
)
_SYNTAX = re.compile(r"(?i)syntax\s?error|invalid syntax|parse error|unexpected (?:token|end|eof)|expected expression")
_SIDE_EFFECT = re.compile(r"(?i)side.?effect")


def _not_evaluated(said: str, expression: str) -> Phrase:
    if _SYNTAX.search(said):
        return say("The expression has a syntax error.")
    if _SIDE_EFFECT.search(said):
        return say("The expression has side effects, which are not allowed in this context.")
    found = _UNDEFINED.search(said)
    name = (found[1] or found[2]) if found else ""
    if name and re.search(rf"\b{re.escape(name)}\b", expression):  # the caller's own word, not one of the program
        return say("The variable '{name}' is not defined.", name=name)
    return say("The expression cannot be evaluated in this context.")
