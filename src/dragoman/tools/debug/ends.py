"""How a wait ends: stopped, completed, time over, broken off, or not waited for at all; each in its tool's words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from dragoman.debug.launch import Note
from dragoman.debug.model import Ended, Stop
from dragoman.debug.service import Happened
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE, State
from dragoman.debug.thread_dump import ThreadDump
from dragoman.phrases import Phrase, joined, say, text_in
from dragoman.tools.debug import never_began
from dragoman.tools.debug.answers import AlsoStarted, Awaited, NoteAnswer
from dragoman.tools.debug.client import who
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.parameters import PATIENCE_OF_CLIENTS_S
from dragoman.tools.debug.stops import Stops, output_lines, stop_lines, unbound_lines
from dragoman.tools.debug.thread_dumps import dump_fields, dump_lines
from dragoman.tools.debug.values import name
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line
from dragoman.words import labelled, word_of

_OUTPUT_CHARACTERS = 2000
_FACT_CHARACTERS = 300
_IMPORTANT = frozenset({"important"})
_NOTES = 20
_OTHERS = 32


@dataclass(frozen=True, slots=True)
class Sentences:
    """The specification gives each waiting tool its own."""

    tool: str
    completed: Phrase
    timeout: Phrase
    interrupted: Phrase


_ENDED = say("The debug session ended normally.")
STARTING = Sentences(
    "start_debugging",
    _ENDED,
    say("Waiting for the debugger's first stop timed out."),
    say("The user broke off the wait for the start."),
)
CONTINUING = Sentences(
    "continue_debugging",
    _ENDED,
    say("Waiting for the debugger to stop again or to end timed out."),
    say("The user broke off the wait after continuing."),
)
STEPPING = Sentences(
    "step_execution",
    say("The debug session ended normally after the step."),
    say("Waiting for the debugger to stop after the step timed out."),
    say("The user broke off the wait for the step."),
)
PAUSING = Sentences(
    "pause_debugging",
    _ENDED,
    say("Waiting for the program to pause timed out."),
    say("The user broke off the wait for the pause."),
)
RESTARTING = Sentences("restart_debugging", _ENDED, STARTING.timeout, STARTING.interrupted)
WAITING = Sentences("wait_for_stop", _ENDED, CONTINUING.timeout, CONTINUING.interrupted)

BLOCKED = say(
    "The program cannot be halted where it is: no thread runs code that the debugger can stop in. It halts as soon as "
    "one does."
)
_GOES_ON = say("The program goes on: wait_for_stop waits again, pause_debugging halts it, stop_debugging ends it.")
_STARTS = say("It is still starting: wait_for_stop waits again, stop_debugging ends it.")
PATIENCE = say("Many clients give up after 60 seconds; `wait: false`, then wait_for_stop, is safer.")


@dataclass(frozen=True, slots=True)
class Waited:
    ends: Sentences
    timeout_s: float
    wait: bool = field(default=True, kw_only=True)

    @property
    def is_first(self) -> bool:
        """The first answer about a session says what it got and what was started with it."""
        return self.ends.tool in {STARTING.tool, RESTARTING.tool}

    @property
    def within_s(self) -> float:
        return self.timeout_s if self.wait else 0.0

    @property
    def hint(self) -> Phrase | None:
        return PATIENCE if self.wait and self.timeout_s > PATIENCE_OF_CLIENTS_S else None


@dataclass(frozen=True, slots=True)
class Ends:
    stops: Stops
    notes: Callable[[str], Sequence[Note]]
    live_besides: Callable[[Caller, Collection[str]], Sequence[Session]]

    async def answer(self, caller: Caller, happened: Happened, waited: Waited) -> Outcome:
        outcome = await self._outcome(caller, happened, waited)
        return self._introduced(caller, outcome, happened) if waited.is_first else outcome

    async def _outcome(self, caller: Caller, happened: Happened, waited: Waited) -> Outcome:
        match happened.outcome:
            case Stop() as stop:
                return await self._stopped(caller, happened.session, stop, waited)
            case Ended() as ended:
                return self._completed(caller, happened.session, ended, waited)
            case None if waited.wait:
                return await self._timed_out(caller, happened, waited)
        return self._unwaited(caller, happened.session)

    def interrupted(self, caller: Caller, happened: Happened, waited: Waited) -> Outcome:
        outcome = self._going_on(caller, happened.session, "interrupted", waited.ends.interrupted)
        return self._introduced(caller, outcome, happened) if waited.is_first else outcome

    def _introduced(self, caller: Caller, outcome: Outcome, happened: Happened) -> Outcome:
        """What the session got, what came with it, and what of its configuration may not be as it was meant."""
        found, lines = _surroundings(caller, happened)
        more, lines_of_them = self._nowhere_bound(caller, outcome, happened)
        found, lines = {**found, **more}, [*lines_of_them, *lines]
        together = {happened.session.id, *(it.id for it in happened.others)}
        live = also(self.live_besides(caller, together))
        lines += live_lines(live)
        notes = [note for it in (happened.session, *happened.others) for note in self.notes(it.id)][:_NOTES]
        shown = [self._note(caller, note) for note in notes]
        for note, answer in zip(notes, shown, strict=True):
            lines += [note.message, say("{text}", text=f"  | {one_line(answer.about)}")]
        data = outcome.data.model_copy(update={**found, "live_sessions": live or None, "notes": shown or None})
        return replace(outcome, lines=[*outcome.lines, *lines], data=data)

    def _nowhere_bound(
        self, caller: Caller, outcome: Outcome, happened: Happened
    ) -> tuple[dict[str, object], list[Phrase]]:
        """What cannot bind in anything that was started is named at once, not when it was waited for in vain."""
        stop = getattr(outcome.data, "stop_event_data", None)
        told = getattr(stop or outcome.data, "unbound_breakpoints", None) or []
        unbound = self.stops.unbound(caller, happened.session, (happened.session, *happened.others)) or []
        new = [it for it in unbound if it.id not in {known.id for known in told}]
        if not new:
            return {}, []
        lines = unbound_lines(new, caller.workspace)
        if stop is None:
            return {"unbound_breakpoints": [*told, *new]}, lines
        return {"stop_event_data": stop.model_copy(update={"unbound_breakpoints": [*told, *new]})}, lines

    def _note(self, caller: Caller, note: Note) -> NoteAnswer:
        about = one_line(self.stops.values.text(note.about, _FACT_CHARACTERS))
        return NoteAnswer(message=note.message.in_language(caller.language), about=about)

    async def _stopped(self, caller: Caller, session: Session, stop: Stop, waited: Waited) -> Outcome:
        if (unbegun := never_began.at_stop(session, stop)) is not None:
            await _end(session)
            raise unbegun
        data = await self.stops.data(caller, session, stop)
        dump = await session.thread_dump(may_halt=False) if waited.ends is PAUSING else ThreadDump()
        answer = Awaited(
            status="stopped",
            session_id=session.id,
            state=session.state.value,
            stop_event_data=data,
            hint=_said(waited.hint, caller),
            **dump_fields(dump, caller),
        )
        lines = [*stop_lines(data, stop, caller.workspace), *dump_lines(answer, caller.workspace)]
        return Outcome([*lines, *_also(waited.hint)], answer)

    def _completed(self, caller: Caller, session: Session, ended: Ended, waited: Waited) -> Outcome:
        if ended.message:
            raise _broken(session, ended)
        if (unbegun := never_began.reason(session, ended)) is not None:
            raise unbegun
        message = _how(ended, waited.ends, caller)
        unbound = self.stops.unbound(caller, session)
        answer = Awaited(
            status="completed",
            session_id=session.id,
            state=session.state.value,
            message=message.in_language(caller.language),
            exit_code=ended.exit_code,
            signal=ended.signal or None,
            output=self.stops.values.tail(ended.output, _OUTPUT_CHARACTERS) or None,
            unbound_breakpoints=unbound,
            hint=_said(waited.hint, caller),
        )
        head = say("completed: {message} ({session})", message=message, session=session.id)
        lines = [head, *output_lines(answer.output, ended.output_lines), *unbound_lines(unbound, caller.workspace)]
        return Outcome([*lines, *_also(waited.hint)], answer)

    async def _timed_out(self, caller: Caller, happened: Happened, waited: Waited) -> Outcome:
        """With what the program does instead: where each of its threads is, and what it waits for."""
        session, dump = happened.session, happened.dump
        if not dump and session.state is State.RUNNING:
            may_halt = waited.within_s > 0  # else it is a look at the state, which changes nothing
            dump = await session.thread_dump(may_halt=may_halt)
        is_blocked = waited.ends is PAUSING and dump.is_blocked
        outcome = self._going_on(caller, session, "timeout", BLOCKED if is_blocked else waited.ends.timeout)
        answer = Awaited.model_validate(outcome.data).model_copy(update=dump_fields(dump, caller))
        return replace(outcome, lines=[*outcome.lines, *dump_lines(answer, caller.workspace)], data=answer)

    def _going_on(self, caller: Caller, session: Session, status: str, message: Phrase) -> Outcome:
        hint = _STARTS if session.state is State.STARTING else _GOES_ON
        answer = Awaited.model_validate(
            {
                "status": status,
                "session_id": session.id,
                "state": session.state.value,
                "message": message.in_language(caller.language),
                "hint": hint.in_language(caller.language),
                "output": self._why_it_goes_on(session, message),
                "unbound_breakpoints": self.stops.unbound(caller, session),
            }
        )
        head = say(
            "{status}: {message} State: {state} ({session}).",
            status=word_of(status),
            message=message,
            state=word_of(session.state.value),
            session=session.id,
        )
        unbound = unbound_lines(answer.unbound_breakpoints, caller.workspace)
        return Outcome([head, hint, *output_lines(answer.output), *unbound], answer)

    def _why_it_goes_on(self, session: Session, message: Phrase) -> str | None:
        """What a debugger says of a program that it cannot halt."""
        if message not in (PAUSING.timeout, BLOCKED):
            return None
        said, _ = session.output.since(0, most=_OUTPUT_CHARACTERS, categories=_IMPORTANT)
        return self.stops.values.tail(said, _OUTPUT_CHARACTERS) or None

    def _unwaited(self, caller: Caller, session: Session) -> Outcome:
        message = say("Not waited for: wait_for_stop gives the next stop.")
        answer = Awaited(
            status="success",
            session_id=session.id,
            state=session.state.value,
            message=message.in_language(caller.language),
        )
        head = say("State: {state} ({session}).", state=word_of(session.state.value), session=session.id)
        return Outcome([head, message], answer)


async def _end(session: Session) -> None:
    """Of what never began, there is nothing to go on with."""
    if session.state in LIVE and not session.is_ending:
        await session.terminate()


def _surroundings(caller: Caller, happened: Happened) -> tuple[dict[str, object], list[Phrase]]:
    facts = runs_with(caller, happened.session)
    others = also(happened.others)
    found: dict[str, object] = {"runs_with": facts or None, "other_sessions": others or None}
    lines = [labelled(word_of(key), value) for key, value in facts.items()]
    return found, [*lines, *(labelled(say("also started"), _which(it)) for it in others)]


def runs_with(caller: Caller, session: Session) -> dict[str, str]:
    facts = session.facts.items()
    return {key: one_line(text_in(value, caller.language), _FACT_CHARACTERS) for key, value in facts}


def also(sessions: Sequence[Session]) -> list[AlsoStarted]:
    shown = sessions[:_OTHERS]
    return [AlsoStarted(session_id=it.id, name=name(it.title), state=it.state.value) for it in shown]


def live_lines(live: Sequence[AlsoStarted]) -> list[Phrase]:
    return [labelled(say("also live"), _which(it)) for it in live]


def _which(session: AlsoStarted) -> Phrase:
    return joined(" ", (session.session_id, word_of(session.state), session.name))


def _how(ended: Ended, sentences: Sentences, caller: Caller) -> Phrase:
    if ended.by:
        return say("The session was ended by {who}.", who=who(ended.by, caller))
    if ended.is_untold:
        return say("The debugger is gone, and has not said how the program ended.")
    if ended.signal:
        return say("The program was ended by the signal {signal}.", signal=ended.signal[:20])
    if ended.exit_code:
        return say("The program ended with exit code {code}.", code=ended.exit_code)
    return sentences.completed


def _broken(session: Session, ended: Ended) -> ToolError:
    """The debugger failed in the middle: not an end of the program."""
    return ToolError(
        "session_broken",
        say("The debug session broke: the debugger failed or said what cannot be read."),
        hint=say("Start it again; breakpoints are kept. get_output has what was printed."),
        session_id=session.id,
        reason=ended.message,
    )


def _said(hint: Phrase | None, caller: Caller) -> str | None:
    return hint.in_language(caller.language) if hint else None


def _also(hint: Phrase | None) -> list[Phrase]:
    return [hint] if hint else []
