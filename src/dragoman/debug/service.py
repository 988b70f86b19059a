"""The debug service: everything that a server or a tool may ask of debugging. Sessions belong to a workspace and
outlive the call that started them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.redaction import SecretStream
from dragoman.debug.breakpoints.session_updates import update_sessions
from dragoman.debug.errors import owned_by_person
from dragoman.debug.launch.errors import LaunchNote
from dragoman.debug.model import (
    Binding,
    EvaluateResult,
    LaunchRequest,
    ProgramEnd,
    RunTarget,
    StepKind,
    Stop,
    is_person,
)
from dragoman.debug.registry import FollowedSession, SessionEntry, SessionRegistry
from dragoman.debug.session.countdown import HaltLimits
from dragoman.debug.session.event_log import EventLog, EventSink, rows_within_bounds
from dragoman.debug.session.launch_request import LaunchPreview, PreparedLaunch, PreparedSession, SessionStarter
from dragoman.debug.session.outcome import DebugOutcome, pause_program
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.session.session import DebugSession
from dragoman.debug.session.stop_permissions import halt_refused
from dragoman.debug.session.supervisor import DAEMON_ID, SessionSupervisor
from dragoman.debug.stops.history.store import RecordStop, record_nothing
from dragoman.debug.stops.snapshot import Probe
from dragoman.workspace.breakpoints import Breakpoint, BreakpointRegistry
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)

_MIN_RESPONSE_TIMEOUT_S = 1.0  # also for a caller that does not wait: a refusal is worth it
_ADOPT_TIMEOUT_S = 10.0
_END_ALL_TIMEOUT_S = 8.0  # a program that is asked to end has 5 s before it is killed
_RECORDED_EXPRESSION_CHARACTERS = 200
_RECORDED_TABLE_CHARACTERS = 16_000
_REDACTED_CHARACTERS = 4000


class DebugService:
    """The entry point to debugging for tools and servers.

    It finds the session that a call means, gives the session the command, waits for the outcome within the caller's
    time, and records what was done. It owns the registry of sessions, their supervisor and the event log, and it alone
    updates the stop that each caller has seen. It never talks to an adapter, never makes text for a person or an agent,
    and does not know which server or tool calls.
    """

    def __init__(
        self,
        group: TaskGroup,
        book: BreakpointRegistry,
        starter: SessionStarter,
        event_sink: EventSink,
        clock: Clock,
        session_scope: Callable[[DebugSession], AbstractContextManager[None]] = lambda _: nullcontext(),
        redacted: Callable[[str, str], str] = lambda _, text: text,
        record_stop: RecordStop = record_nothing,
        secrets: Callable[[], SecretStream] | None = None,
        limits: HaltLimits | None = None,
    ) -> None:
        """`session_scope` is entered while a session lives. `redacted` takes a name (or none) and its value."""
        self._redacted = redacted
        self._book = book
        self._starter = starter
        self._clock = clock
        self.registry = SessionRegistry(clock)
        self._event_log = EventLog(event_sink)
        self._supervisor = SessionSupervisor(
            group, book, self.registry, self._event_log, clock, session_scope, record_stop, secrets, limits
        )
        group.start_soon(self._event_log.write)

    # Sessions.

    async def start(
        self, caller: Caller, request: LaunchRequest, *, within_s: float, probe: Probe | None = None
    ) -> DebugOutcome:
        """Start all sessions of the request; if one of them fails, that is the error, and the others are ended."""
        self.registry.require_capacity(1)
        deadline_s = self._clock.monotonic_s() + within_s
        preparation = await self._starter.prepare(caller, request)
        start_s = self._remaining_s(deadline_s) if within_s else preparation.unattended_start_timeout_s
        sessions = await self._supervisor.begin(caller, preparation, within_s=start_s, probe=probe)
        return await self.wait_for_first_outcome(caller, sessions, within_s=self._remaining_s(deadline_s))

    async def preview_launch(self, caller: Caller, request: LaunchRequest) -> LaunchPreview:
        """Describes what a start would run, if the code may run at all."""
        return await self._starter.preview(caller, request)

    def approve(self, starts: Sequence[LaunchPreview]) -> None:
        """Approve several starts at once, before the first one runs."""
        self._starter.approve(starts)

    async def launch(self, caller: Caller, request: LaunchRequest) -> list[DebugSession]:
        """Creates the sessions without waiting for their start; `wait_until_started` waits."""
        self.registry.require_capacity(1)
        return await self._supervisor.begin(caller, await self._starter.prepare(caller, request), within_s=0.0)

    async def wait_until_started(
        self, caller: Caller, sessions: Sequence[DebugSession], *, within_s: float
    ) -> DebugOutcome:
        """Like `start`, for sessions that `launch` returned. A caller may stop waiting while they are still
        starting."""
        deadline_s = self._clock.monotonic_s() + within_s
        await self._supervisor.wait_until_started([self.registry.by_id(session.id) for session in sessions])
        return await self.wait_for_first_outcome(caller, sessions, within_s=self._remaining_s(deadline_s))

    async def open(self, caller: Caller, request: LaunchRequest, hold: anyio.Event) -> DebugSession:
        """For a caller that sets breakpoints once the debugger is there: returns at once, and the program starts when
        `hold` is set. Of a compound, the others start as they would."""
        self.registry.require_capacity(1)
        preparation = await self._starter.prepare(caller, request)
        first, *others = preparation.sessions
        held = replace(preparation, sessions=(replace(first, hold=hold), *others))
        return (await self._supervisor.begin(caller, held, within_s=0.0))[0]

    async def add_editor_session(self, caller: Caller, prepared: PreparedSession) -> DebugSession:
        """A program that somebody else started, and debugs: from now on its session is one of the workspace's."""
        return (await self._supervisor.begin(caller, PreparedLaunch((prepared,)), within_s=_ADOPT_TIMEOUT_S))[0]

    @contextmanager
    def keep_open(self, session_id: str, by: str, *, is_remote: bool = False) -> Iterator[FollowedSession]:
        """A session of any workspace, by its id. While it is followed, it is not ended as unused."""
        followed = self.find_in_any_workspace(session_id)
        if is_remote:
            self.registry.add_holder(followed.entry, by)
        with self.registry.keep_open(followed.entry):
            self._event_log.record_event("debug.joined", session_id, "", {"by": by}, workspace=followed.entry.workspace)
            try:
                yield followed
            finally:
                self.registry.drop_holder(by)
                self._event_log.record_event(
                    "debug.left", session_id, "", {"by": by}, workspace=followed.entry.workspace
                )

    def find_in_any_workspace(self, session_id: str) -> FollowedSession:
        """The outcome at this moment, without waiting."""
        return FollowedSession(self.registry.in_any_workspace(session_id))

    async def wait_for_first_outcome(
        self, caller: Caller, sessions: Sequence[DebugSession], *, within_s: float
    ) -> DebugOutcome:
        """Waits for the first outcome of any of several sessions that were started together."""
        chosen = sessions[0]

        async def wait(session: DebugSession, scope: anyio.CancelScope) -> None:
            nonlocal chosen
            if await session.outcome(self.registry.seen_stop(caller, session) or 0, within_s) is not None:
                chosen = session
                scope.cancel("the first has an outcome")

        if len(sessions) > 1:
            async with anyio.create_task_group() as group:
                for session in sessions:
                    group.start_soon(wait, session, group.cancel_scope)
            within_s = 0.0
        seen_stop = self.registry.seen_stop(caller, chosen) or 0
        outcome = await self._wait(caller, self.registry.by_id(chosen.id), seen_stop, within_s)
        return DebugOutcome(outcome.session, outcome.outcome, tuple(it for it in sessions if it is not chosen))

    async def restart(self, caller: Caller, session_id: str, *, within_s: float) -> DebugOutcome:
        """Under the same id, with the same breakpoints; one that has ended can be started again as well."""
        entry = self.registry.known(caller, session_id) if session_id else self.registry.selected_or_last(caller)
        session, deadline_s = entry.session, self._clock.monotonic_s() + within_s
        if session.restarts_in_place and session.ended is None:
            self._require_halt(caller, session, "restart")
            return await self._perform(caller, session, session.restart(by=caller.id), within_s)
        before = session.last_stop
        with self._supervisor.restarting(entry):
            preparation = await self._starter.prepare(
                caller, entry.prepared.launch_request
            )  # where that fails, nothing is lost
            start_s = self._remaining_s(deadline_s) if within_s else preparation.unattended_start_timeout_s
            await self._supervisor.restart(caller, entry, preparation, within_s=start_s)
        return await self._wait(caller, entry, before, self._remaining_s(deadline_s))

    def notes(self, session_id: str) -> tuple[LaunchNote, ...]:
        """On how its configuration was taken."""
        return self.registry.by_id(session_id).prepared.notes

    def is_restarting(self, session_id: str) -> bool:
        """Whether its end is that of one life, and the next begins under the same id."""
        return self.registry.by_id(session_id).restart_done is not None

    async def resume(
        self,
        caller: Caller,
        session_id: str,
        *,
        thread_id: int | None,
        within_s: float,
        until: RunTarget | None = None,
    ) -> DebugOutcome:
        session = self.find(caller, session_id)
        if until is not None:
            self._require_halt(caller, session, "until")
        seen_stop = self.registry.seen_stop(caller, session)
        resumed = session.run_control.resume(thread_id=thread_id, seen_stop=seen_stop, by=caller.id, until=until)
        return await self._perform(caller, session, resumed, within_s)

    async def step(
        self, caller: Caller, session_id: str, kind: StepKind, *, thread_id: int | None, within_s: float
    ) -> DebugOutcome:
        session = self.find(caller, session_id)
        self._require_halt(caller, session, "step")
        seen_stop = self.registry.seen_stop(caller, session)
        stepped = session.run_control.step(kind, thread_id=thread_id, seen_stop=seen_stop, by=caller.id)
        return await self._perform(caller, session, stepped, within_s)

    async def pause(self, caller: Caller, session_id: str, *, within_s: float) -> DebugOutcome:
        """If the program does not halt, the outcome has a thread dump of it."""
        session = self.find(caller, session_id)
        self._require_halt(caller, session, "pause")
        entry, before = self.registry.by_id(session.id), session.last_stop

        async def ask(seconds: float) -> DebugOutcome:
            return await self._perform(caller, session, session.run_control.pause(by=caller.id), seconds)

        async def wait(seconds: float) -> DebugOutcome:
            return await self._wait(caller, entry, before, seconds)

        return await pause_program(session, self._clock, ask=ask, wait=wait, within_s=within_s)

    async def wait(self, caller: Caller, session_id: str, *, within_s: float) -> DebugOutcome:
        """For a client that started without waiting: the stop after the last one that it has seen."""
        session = self.find(caller, session_id)
        seen_stop = self.registry.seen_stop(caller, session) or 0
        return await self._wait(caller, self.registry.by_id(session.id), seen_stop, within_s)

    def hold(self, caller: Caller, session_id: str, seconds: float) -> DebugSession:
        """Puts off the countdown of a stop, which belongs to programs that were attached to from another machine."""
        session = self.find(caller, session_id)
        self._require_halt(caller, session, "hold_s")
        session.countdown.hold(seconds)
        return session

    async def stop(self, caller: Caller, session_id: str) -> DebugSession:
        session = self.find(caller, session_id)
        session.remember_client_name(caller.id, caller.name)
        await session.terminate(by=caller.id)
        return session

    async def end_all(self, *, by: str) -> list[dict[str, Any]]:
        """End every session of every folder at the same time, and say of each what became of its program. Sessions
        that an editor lends are the person's own and stay."""
        results: list[dict[str, Any]] = []

        async def end(session: DebugSession) -> None:
            done = "terminated" if session.launch.is_launch else "detached"
            is_confirmed = await session.end_within(_END_ALL_TIMEOUT_S, by=by)
            result = {"session_id": session.id, "title": session.title, "program": done}
            results.append(result if is_confirmed else {**result, "confirmed": False})

        async with anyio.create_task_group() as group:
            for session in self.live():
                group.start_soon(end, session)
        return sorted(results, key=lambda it: str(it["session_id"]))

    def find(self, caller: Caller, session_id: str = "") -> DebugSession:
        """By id. Without one, the only live session of the workspace, or the last one that this client was shown."""
        entry = self.registry.known(caller, session_id) if session_id else self.registry.selected(caller)
        return entry.session

    def find_or_last(self, caller: Caller, session_id: str = "") -> DebugSession:
        """Like `find`, for questions that an ended session can answer too."""
        entry = self.registry.known(caller, session_id) if session_id else self.registry.selected_or_last(caller)
        return entry.session

    def live(self, *, lent: bool = False) -> list[DebugSession]:
        """Live sessions of every folder. An editor does not want the sessions that it lends itself, unless it asks for
        them."""
        every = [it for place in self.registry.workspaces() for it in self.registry.live_sessions(place)]
        return [session for session in every if lent or not session.is_owned_by_person]

    def output_of(self, session_id: str, most: int) -> str:
        """The end of what it printed; nothing, where it is not known any more."""
        output = self.printed_by(session_id)
        return self._redacted("", output.since(0, most=most)[0]) if output else ""

    def printed_by(self, session_id: str) -> SessionOutput | None:
        """What a session of any workspace printed; None where it is not known any more."""
        try:
            return self.registry.in_any_workspace(session_id).session.output
        except DragomanError:
            return None

    async def end_idle_sessions(self, linger_s: float) -> None:
        """A session lives by a lease: so long after the last call, and with nobody waiting, it is ended."""
        for session in self.registry.unused(linger_s):
            log.info("session %s is ended: unused for more than %d seconds", session.id, linger_s)
            await session.terminate(by=DAEMON_ID)

    # Looking.

    async def evaluate(
        self,
        caller: Caller,
        session_id: str,
        expression: str,
        *,
        frame: int | None,
        context: str,
        within_s: float,
        thread_id: int | None = None,
    ) -> EvaluateResult:
        session = self.find(caller, session_id)
        self._require_halt(caller, session, "evaluate")
        found = await session.inspection.evaluate(expression, frame, context, timeout_s=within_s, thread_id=thread_id)
        asked, result = self._without_secrets(expression), self._without_secrets(found.result, of=expression)
        body = {"expression": asked, "result": result, "by": caller.id}
        self._event_log.record_event("debug.evaluated", session.id, asked, body, workspace=caller.workspace_key)
        return found

    async def set_variable(
        self, caller: Caller, session_id: str, *, name: str, value: str, reference: int | None, frame: int | None
    ) -> EvaluateResult:
        """Without a reference it is looked up in the scopes of the frame, or set as an expression."""
        session = self.find(caller, session_id)
        self._require_halt(caller, session, "set variable")
        found = await session.inspection.set_variable(name, value, reference, frame)
        asked = self._without_secrets(name)
        body = {"name": asked, "by": caller.id}
        self._event_log.record_event("debug.variable_set", session.id, asked, body, workspace=caller.workspace_key)
        return found

    def record_trace(
        self, caller: Caller, session_id: str, places: str, table: str, rows: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Records the result of a whole run for later readers. Secrets have already been removed."""
        body = {
            "place": (place := places[:_RECORDED_EXPRESSION_CHARACTERS]),
            "table": table[:_RECORDED_TABLE_CHARACTERS],
            "rows": rows_within_bounds(rows),
            "by": caller.id,
        }
        self._event_log.record_event("debug.traced", session_id, place, body, workspace=caller.workspace_key)

    def _without_secrets(self, text: str, of: str = "") -> str:
        """Cut last: nothing tells half a secret from other words."""
        return self._redacted(of, text[:_REDACTED_CHARACTERS])[:_RECORDED_EXPRESSION_CHARACTERS]

    # Breakpoints.

    async def set_breakpoint(self, caller: Caller, wanted: Breakpoint) -> tuple[Breakpoint, Binding]:
        wanted = self._with_halt_limits(caller, wanted)
        self._require_some_session_may_halt(caller, wanted)
        if wanted.kind == "data":
            session = self.find(caller, wanted.session)
            wanted = msgspec.structs.replace(
                await session.inspection.resolve_data_breakpoint(wanted), session=session.id
            )
        made = await self._book.add(caller.workspace_key, wanted)
        await self._update_sessions(caller.workspace_key)
        return made, self.binding(caller, made.id)

    async def change_breakpoint(self, caller: Caller, id: int, **fields: object) -> tuple[Breakpoint, Binding]:
        """Changes any client's breakpoint: the last writer wins."""
        if any(it.id == id and self._is_locked(caller, it) for it in self._book.of(caller.workspace_key)):
            raise owned_by_person()
        if not caller.may_halt_attached and fields != {"enabled": False}:
            fields["skips_attached"] = True
        if fields != {"enabled": False}:
            fields["is_remote"] = caller.remote is not None
        changed = await self._book.change(caller.workspace_key, id, **fields)
        await self._update_sessions(caller.workspace_key)
        return changed, self.binding(caller, id)

    async def replace_breakpoints(
        self, caller: Caller, which: Callable[[Breakpoint], bool], wanted: Sequence[Breakpoint]
    ) -> list[Breakpoint]:
        """A whole list at once, as DAP sets them: those of `which` become those wanted, of which known ones keep their
        id. In the order of the list."""
        spared = [self._with_halt_limits(caller, it) for it in wanted]
        made = await self._book.replace(caller.workspace_key, which, spared)
        await self._update_sessions(caller.workspace_key)
        return made

    async def remove_breakpoints(self, caller: Caller, which: Callable[[Breakpoint], bool]) -> list[Breakpoint]:
        selected = [it for it in self._book.of(caller.workspace_key) if which(it)]
        if selected and all(self._is_locked(caller, it) for it in selected):
            raise owned_by_person()
        gone = await self._book.remove(
            caller.workspace_key, lambda it: which(it) and not self._is_locked(caller, it), by=caller.id
        )
        if gone:
            await self._update_sessions(caller.workspace_key)
        return gone

    def _with_halt_limits(self, caller: Caller, wanted: Breakpoint) -> Breakpoint:
        is_remote = caller.remote is not None
        return msgspec.structs.replace(wanted, skips_attached=not caller.may_halt_attached, is_remote=is_remote)

    def _require_some_session_may_halt(self, caller: Caller, wanted: Breakpoint) -> None:
        """One that would stop in no live session is refused. With another program there, its binding says why not."""
        live = [it for it in self.registry.live_sessions(caller.workspace_key) if not it.is_ending]
        refusing = [it for it in live if not it.breakpoint_sync.permits(wanted)]
        if refusing and len(refusing) == len(live):
            raise halt_refused(what="set_breakpoint")

    def _require_halt(self, caller: Caller, session: DebugSession, what: str) -> None:
        if session.permissions.is_attached:
            session.permissions.require(what, caller)

    def _is_locked(self, caller: Caller, breakpoint: Breakpoint) -> bool:
        """A person's own in a session that they lend: their editor has it, and nobody here can take it from there."""
        if not breakpoint.session or breakpoint.owner == caller.id or not is_person(breakpoint.owner):
            return False
        live = self.registry.live_sessions(caller.workspace_key)
        return any(it.id == breakpoint.session and it.is_owned_by_person for it in live)

    def breakpoints(self, caller: Caller) -> list[tuple[Breakpoint, Binding]]:
        return [(it, self.binding(caller, it.id)) for it in self._book.of(caller.workspace_key)]

    def has_breakpoint(self, id: int) -> bool:
        return self._book.has(id)

    def binding(self, caller: Caller, id: int) -> Binding:
        """The binding in the first live session that has bound the breakpoint; otherwise not verified."""
        bound = [
            it.breakpoint_sync.binding_of(id)
            for it in self.registry.live_sessions(caller.workspace_key)
            if not it.is_ending
        ]
        return next((binding for binding in bound if binding.verified), bound[0] if bound else Binding())

    # Inside.

    async def _perform(
        self, caller: Caller, session: DebugSession, command: Coroutine[Any, Any, None], within_s: float
    ) -> DebugOutcome:
        """Limits the wait for an adapter that does not answer to the caller's own time limit."""
        session.remember_client_name(caller.id, caller.name)
        if session.permissions.is_attached:
            session.permissions.note_command(caller)
        before, deadline_s = session.last_stop, self._clock.monotonic_s() + within_s
        with anyio.move_on_after(max(within_s, _MIN_RESPONSE_TIMEOUT_S)):
            await command
        return await self._wait(caller, self.registry.by_id(session.id), before, self._remaining_s(deadline_s))

    async def _wait(self, caller: Caller, entry: SessionEntry, after_stop: int, within_s: float) -> DebugOutcome:
        """The end of a session that is being restarted is not an outcome: the restarted one has it."""
        deadline_s = self._clock.monotonic_s() + within_s
        outcome: Stop | ProgramEnd | None = None
        with self.registry.waiting_for(caller, entry):
            while True:
                left_s = self._remaining_s(deadline_s)
                outcome = await entry.session.outcome(after_stop, left_s)
                again = entry.restart_done
                if not isinstance(outcome, ProgramEnd) or again is None:
                    break
                with anyio.move_on_after(left_s) as waiting:
                    await again.wait()
                if waiting.cancelled_caught:
                    outcome = None
                    break
        if isinstance(outcome, ProgramEnd):
            await self._supervisor.require_started(entry)
        self.registry.mark_shown(caller, entry.session)
        if isinstance(outcome, Stop):
            self.registry.mark_stop_seen(caller, entry.session, outcome.number)
        return DebugOutcome(entry.session, outcome)

    def _remaining_s(self, deadline_s: float) -> float:
        return max(deadline_s - self._clock.monotonic_s(), 0.0)

    async def _update_sessions(self, workspace: str) -> None:
        await update_sessions(self.registry.live_sessions(workspace), self._book.of(workspace))
