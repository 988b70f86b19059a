"""The result of a tool that waits: stopped, completed, timed out, interrupted, or not waited for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from dragoman.core.errors import ErrorSpec
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import LocalizedText, join_texts, localize, text_in_language
from dragoman.debug.errors import clock_time
from dragoman.debug.launch import LaunchNote
from dragoman.debug.model import LIVE_STATES, ProgramEnd, SessionState, Stop
from dragoman.debug.session.outcome import DebugOutcome
from dragoman.debug.session.session import DebugSession
from dragoman.debug.thread_dump import ThreadDump
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug import start_failures
from dragoman.tools.debug.parameters import CLIENT_TIMEOUT_S
from dragoman.tools.debug.results import AlsoStarted, NoteAnswer, WaitResult
from dragoman.tools.debug.session_lookup import describe_actor
from dragoman.tools.debug.shown_stops import ShownStops
from dragoman.tools.debug.stop_results import StopResults, output_lines, stop_lines, unbound_lines
from dragoman.tools.debug.thread_dumps import dump_fields, dump_lines
from dragoman.tools.debug.values import name
from dragoman.tools.tool import ToolOutcome
from dragoman.workspace.caller import Caller

_OUTPUT_CHARACTERS = 2000
_FACT_CHARACTERS = 300
_IMPORTANT = frozenset({"important"})
_NOTES = 20
_OTHERS = 32


@dataclass(frozen=True, slots=True)
class WaitMessages:
    """The messages of one waiting tool; the specification defines them per tool."""

    tool: str
    completed: LocalizedText
    timeout: LocalizedText
    interrupted: LocalizedText


_ENDED = localize("The debug session ended normally.")
STARTING = WaitMessages(
    "start_debugging",
    _ENDED,
    localize("Timed out waiting for the debugger's first stop."),
    localize("The user interrupted the wait for the start."),
)
CONTINUING = WaitMessages(
    "continue_debugging",
    _ENDED,
    localize("Timed out waiting for the debugger to stop again or end."),
    localize("The user interrupted the wait after continuing."),
)
STEPPING = WaitMessages(
    "step_execution",
    localize("The program ended during the step."),
    localize("Timed out waiting for the debugger to stop after the step."),
    localize("The user interrupted the wait for the step."),
)
PAUSING = WaitMessages(
    "pause_debugging",
    _ENDED,
    localize("Timed out waiting for the program to pause."),
    localize("The user interrupted the wait for the pause."),
)
RESTARTING = WaitMessages("restart_debugging", _ENDED, STARTING.timeout, STARTING.interrupted)
WAITING = WaitMessages("wait_for_stop", _ENDED, CONTINUING.timeout, CONTINUING.interrupted)

BLOCKED = localize(
    "The program cannot pause yet: no thread is running code that the debugger can stop in. It pauses as soon "
    "as one does."
)
_STILL_RUNNING = localize(
    "The program is running: wait_for_stop waits again, pause_debugging pauses it, stop_debugging ends it."
)
_STILL_STARTING = localize("Still starting: wait_for_stop waits again, stop_debugging ends it.")
LONG_WAIT_HINT = localize("Many clients time out after 60 seconds; `wait: false`, then wait_for_stop, is safer.")


@dataclass(frozen=True, slots=True)
class WaitRequest:
    """What a call waited for, and how long."""

    messages: WaitMessages
    timeout_s: float
    wait: bool = field(default=True, kw_only=True)

    @property
    def is_first(self) -> bool:
        """Whether this is the first result of a session, which also describes the session."""
        return self.messages.tool in {STARTING.tool, RESTARTING.tool}

    @property
    def shows_whole_stop(self) -> bool:
        """The first stop of a session, and one that was asked for: not only what is new to the client."""
        return self.messages.tool not in {CONTINUING.tool, STEPPING.tool}

    @property
    def within_s(self) -> float:
        return self.timeout_s if self.wait else 0.0

    @property
    def hint(self) -> LocalizedText | None:
        return LONG_WAIT_HINT if self.wait and self.timeout_s > CLIENT_TIMEOUT_S else None


@dataclass(frozen=True, slots=True)
class WaitResults:
    """Makes the result of a wait from what happened: a stop, an end, a timeout or an interruption."""

    stops: StopResults
    notes: Callable[[str], Sequence[LaunchNote]]
    live_besides: Callable[[Caller, Collection[str]], Sequence[DebugSession]]
    shown: ShownStops = field(default_factory=ShownStops)

    async def answer(self, caller: Caller, happened: DebugOutcome, waited: WaitRequest) -> ToolOutcome:
        if waited.is_first:
            self.shown.forget(happened.session.id)
        outcome = await self._outcome(caller, happened, waited)
        return self._with_session_facts(caller, outcome, happened) if waited.is_first else outcome

    async def _outcome(self, caller: Caller, happened: DebugOutcome, waited: WaitRequest) -> ToolOutcome:
        match happened.outcome:
            case Stop() as stop:
                return await self._stopped(caller, happened.session, stop, waited)
            case ProgramEnd() as ended:
                return self._completed(caller, happened.session, ended, waited)
            case None if waited.wait:
                return await self._timed_out(caller, happened, waited)
        return self._not_waited(caller, happened.session)

    def interrupted(self, caller: Caller, happened: DebugOutcome, waited: WaitRequest) -> ToolOutcome:
        outcome = self._still_running(caller, happened.session, "interrupted", waited.messages.interrupted)
        return self._with_session_facts(caller, outcome, happened) if waited.is_first else outcome

    def _with_session_facts(self, caller: Caller, outcome: ToolOutcome, happened: DebugOutcome) -> ToolOutcome:
        """Add the session's interpreter and adapter, other started sessions, and notes about its configuration."""
        found, lines = _surroundings(caller, happened)
        more, lines_of_them = self._unbound_everywhere(caller, outcome, happened)
        found, lines = {**found, **more}, [*lines_of_them, *lines]
        together = {happened.session.id, *(it.id for it in happened.others)}
        live = session_summaries(self.live_besides(caller, together))
        lines += live_lines(live)
        notes = [note for it in (happened.session, *happened.others) for note in self.notes(it.id)][:_NOTES]
        shown = [self._note(caller, note) for note in notes]
        for note, answer in zip(notes, shown, strict=True):
            lines += [note.message, localize("{text}", text=f"  | {one_line(answer.about)}")]
        data = outcome.data.model_copy(update={**found, "live_sessions": live or None, "notes": shown or None})
        return replace(outcome, lines=[*outcome.lines, *lines], data=data)

    def _unbound_everywhere(
        self, caller: Caller, outcome: ToolOutcome, happened: DebugOutcome
    ) -> tuple[dict[str, object], list[LocalizedText]]:
        """Report breakpoints that no started session can bind at once, instead of after a wait in vain."""
        stop = getattr(outcome.data, "stop_event_data", None)
        known_unbound = getattr(stop or outcome.data, "unbound_breakpoints", None) or []
        unbound = self.stops.unbound(caller, happened.session, (happened.session, *happened.others)) or []
        new = [it for it in unbound if it.id not in {known.id for known in known_unbound}]
        if not new:
            return {}, []
        lines = unbound_lines(new, caller.workspace)
        if stop is None:
            return {"unbound_breakpoints": [*known_unbound, *new]}, lines
        return {"stop_event_data": stop.model_copy(update={"unbound_breakpoints": [*known_unbound, *new]})}, lines

    def _note(self, caller: Caller, note: LaunchNote) -> NoteAnswer:
        about = one_line(self.stops.values.text(note.about, _FACT_CHARACTERS))
        return NoteAnswer(message=note.message.in_language(caller.language), about=about)

    async def _stopped(self, caller: Caller, session: DebugSession, stop: Stop, waited: WaitRequest) -> ToolOutcome:
        if (start_error := start_failures.start_failure_at_stop(session, stop)) is not None:
            await _end_session(session)
            raise start_error
        data = await self.stops.data(caller, session, stop)
        dump = await session.thread_dumps.read(may_halt=False) if waited.messages is PAUSING else ThreadDump()
        answer = WaitResult(
            status="stopped",
            session_id=session.id,
            state=session.state.value,
            stop_event_data=data,
            hint=_localized_hint(waited.hint, caller),
            **dump_fields(dump, caller),
        )
        is_whole = waited.shows_whole_stop or caller.is_shared
        changes = self.shown.note(caller, data, stop, session, is_whole=is_whole)
        lines = [*stop_lines(data, stop, caller.workspace, changes), *dump_lines(answer, caller.workspace)]
        return ToolOutcome([*lines, *_hint_lines(waited.hint)], answer)

    def _completed(self, caller: Caller, session: DebugSession, ended: ProgramEnd, waited: WaitRequest) -> ToolOutcome:
        if ended.message:
            raise _session_broken(details={"session_id": session.id, "reason": ended.message})
        if (start_error := start_failures.start_failure(session, ended)) is not None:
            raise start_error
        message = _end_message(ended, waited.messages, caller)
        unbound = self.stops.unbound(caller, session)
        answer = WaitResult(
            status="completed",
            session_id=session.id,
            state=session.state.value,
            message=message.in_language(caller.language),
            exit_code=ended.exit_code,
            signal=ended.signal or None,
            output=self.stops.values.tail(ended.output, _OUTPUT_CHARACTERS) or None,
            unbound_breakpoints=unbound,
            hint=_localized_hint(waited.hint, caller),
        )
        head = localize("completed: {message} ({session})", message=message, session=session.id)
        lines = [head, *output_lines(answer.output, ended.output_lines), *unbound_lines(unbound, caller.workspace)]
        return ToolOutcome([*lines, *_hint_lines(waited.hint)], answer)

    async def _timed_out(self, caller: Caller, happened: DebugOutcome, waited: WaitRequest) -> ToolOutcome:
        """Add a thread dump: where each thread is, and what it waits for."""
        session, dump = happened.session, happened.dump
        if not dump and session.state is SessionState.RUNNING:
            may_halt = waited.within_s > 0  # otherwise the call only reads the state, and must not change it
            dump = await session.thread_dumps.read(may_halt=may_halt)
        is_blocked = waited.messages is PAUSING and dump.is_blocked
        outcome = self._still_running(caller, session, "timeout", BLOCKED if is_blocked else waited.messages.timeout)
        answer = WaitResult.model_validate(outcome.data).model_copy(update=dump_fields(dump, caller))
        return replace(outcome, lines=[*outcome.lines, *dump_lines(answer, caller.workspace)], data=answer)

    def _still_running(self, caller: Caller, session: DebugSession, status: str, message: LocalizedText) -> ToolOutcome:
        if session.auto_resumed_at_ns:
            at = clock_time(session.auto_resumed_at_ns)
            message = join_texts(" ", (message, localize("The countdown resumed the program at {time}.", time=at)))
        hint = _STILL_STARTING if session.state is SessionState.STARTING else _STILL_RUNNING
        answer = WaitResult.model_validate(
            {
                "status": status,
                "session_id": session.id,
                "state": session.state.value,
                "message": message.in_language(caller.language),
                "hint": hint.in_language(caller.language),
                "output": self._debugger_advice(session, message),
                "unbound_breakpoints": self.stops.unbound(caller, session),
            }
        )
        head = localize(
            "{status}: {message} State: {state} ({session}).",
            status=label_of(status),
            message=message,
            state=label_of(session.state.value),
            session=session.id,
        )
        unbound = unbound_lines(answer.unbound_breakpoints, caller.workspace)
        return ToolOutcome([head, hint, *output_lines(answer.output), *unbound], answer)

    def _debugger_advice(self, session: DebugSession, message: LocalizedText) -> str | None:
        """The debugger's message about a program that it cannot pause."""
        if message not in (PAUSING.timeout, BLOCKED):
            return None
        advice, _ = session.output.since(0, most=_OUTPUT_CHARACTERS, categories=_IMPORTANT)
        return self.stops.values.tail(advice, _OUTPUT_CHARACTERS) or None

    def _not_waited(self, caller: Caller, session: DebugSession) -> ToolOutcome:
        message = localize("Did not wait: wait_for_stop returns the next stop.")
        answer = WaitResult(
            status="success",
            session_id=session.id,
            state=session.state.value,
            message=message.in_language(caller.language),
        )
        head = localize("State: {state} ({session}).", state=label_of(session.state.value), session=session.id)
        return ToolOutcome([head, message], answer)


async def _end_session(session: DebugSession) -> None:
    """End a session whose program never started."""
    if session.state in LIVE_STATES and not session.is_ending:
        await session.terminate()


def _surroundings(caller: Caller, happened: DebugOutcome) -> tuple[dict[str, object], list[LocalizedText]]:
    facts = runs_with(caller, happened.session)
    others = session_summaries(happened.others)
    found: dict[str, object] = {"runs_with": facts or None, "other_sessions": others or None}
    lines = [with_label(label_of(key), value) for key, value in facts.items()]
    return found, [*lines, *(with_label(localize("also started"), _summary_text(it)) for it in others)]


def runs_with(caller: Caller, session: DebugSession) -> dict[str, str]:
    facts = session.facts.items()
    return {key: one_line(text_in_language(value, caller.language), _FACT_CHARACTERS) for key, value in facts}


def session_summaries(sessions: Sequence[DebugSession]) -> list[AlsoStarted]:
    shown = sessions[:_OTHERS]
    return [AlsoStarted(session_id=it.id, name=name(it.title), state=it.state.value) for it in shown]


def live_lines(live: Sequence[AlsoStarted]) -> list[LocalizedText]:
    return [with_label(localize("also active"), _summary_text(it)) for it in live]


def _summary_text(session: AlsoStarted) -> LocalizedText:
    return join_texts(" ", (session.session_id, label_of(session.state), session.name))


def _end_message(ended: ProgramEnd, sentences: WaitMessages, caller: Caller) -> LocalizedText:
    if ended.by:
        return localize("The session was ended by {who}.", who=describe_actor(ended.by, caller))
    if ended.is_unreported:
        return localize("The debugger exited without reporting how the program ended.")
    if ended.signal:
        return localize("The program was terminated by signal {signal}.", signal=ended.signal[:20])
    if ended.exit_code:
        return localize("The program ended with exit code {code}.", code=ended.exit_code)
    return sentences.completed


# A debugger that failed, as opposed to a program that ended.
_session_broken = ErrorSpec(
    "session_broken",
    "The debug session broke: the debugger failed or sent an invalid message.",
    "Start it again; breakpoints are kept. get_output has the output so far.",
)


def _localized_hint(hint: LocalizedText | None, caller: Caller) -> str | None:
    return hint.in_language(caller.language) if hint else None


def _hint_lines(hint: LocalizedText | None) -> list[LocalizedText]:
    return [hint] if hint else []
