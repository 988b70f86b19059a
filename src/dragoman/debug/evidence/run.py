"""A run for evidence: in a session of its own that always ends, or in a stopped session that is borrowed and given
back.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import anyio

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.debug.evidence.evidence_probe import EvidenceProbe
from dragoman.debug.evidence.tracepoints import LimitKind
from dragoman.debug.model import LIVE_STATES, FrameInfo, LaunchRequest, ProgramEnd, RaisedException, SessionState, Stop
from dragoman.debug.service import DebugService
from dragoman.debug.session.outcome import DebugOutcome
from dragoman.debug.session.session import DebugSession
from dragoman.debug.session.supervisor import DAEMON_ID
from dragoman.debug.thread_dump import ThreadDump
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)

EndReason = Literal["exited", "exception", "stopped", "limit", "lost"]

_END_TIMEOUT_S = 5.0
_PAUSE_TIMEOUT_S = 3.0
_STOP_TIMEOUT_S = 5.0
_LATE_STOP_S = 0.5  # when the rows have been read, either a stop is on its way or there is none
_READ_INTERVAL_S = 0.1
_SHORTEST_WAIT_S = 0.05
OUTPUT_CHARACTERS = 4000
_TIME_LIMITS = frozenset({"seconds", "expression"})


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """What to run: a launch request, as for any start, or a stopped session."""

    launch_request: LaunchRequest | None = None
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended, or where it was when it had to end."""

    how: EndReason
    limit: LimitKind = ""
    stop: Stop | None = None
    ended: ProgramEnd | None = None
    output: str = ""
    dump: ThreadDump = field(default_factory=ThreadDump)
    """Of one that was not over in time."""

    @property
    def raised(self) -> RaisedException | None:
        return self.stop.raised if self.stop is not None and self.how == "exception" else None

    @property
    def frames(self) -> tuple[FrameInfo, ...]:
        return self.stop.frames[self.stop.at :] if self.stop else ()


WaitForOutcome = Callable[[float], Coroutine[Any, Any, DebugOutcome]]


class EvidenceRun:
    """One run for evidence. `client` is the client that waits for it: for a session of its own, the run itself.

    It owns the deadline and the probe. The session belongs to `DebugService`; a borrowed one is given back with its
    breakpoints.
    """

    def __init__(
        self,
        service: DebugService,
        clock: Clock,
        caller: Caller,
        session: DebugSession,
        probe: EvidenceProbe,
        *,
        owns_session: bool,
    ) -> None:
        self.session = session
        self.client = caller
        self.probe = probe
        self.owns_session = owns_session
        self.keeps_session = False
        """Left where it stands when the run is over, to be looked at by who asked for it."""
        self.service = service
        self._clock = clock
        self._deadline_s = clock.monotonic_s() + probe.table.limits.seconds
        self._printed = 0 if owns_session else session.output.end

    @property
    def remaining_s(self) -> float:
        return max(0.0, self._deadline_s - self._clock.monotonic_s())

    async def run_to_end(self) -> RunOutcome:
        """Its end, an exception that nothing catches, a row that was judged to be the last, or a limit."""
        return await self._run_until_over(self._first if self.owns_session else self._resume)

    async def wait_for_entry(self) -> RunOutcome | None:
        """None: it stands at its first stop, or where it was borrowed. Else how it ended before."""
        if not self.owns_session:
            return None
        attached = not self.session.launch.is_launch
        outcome = await self._wait_for_outcome(self._pause if attached else self._first)
        return None if isinstance(outcome, Stop) else await self._describe_end(outcome)

    async def _pause(self, within_s: float) -> DebugOutcome:
        return await self.service.pause(self.client, self.session.id, within_s=within_s)

    async def run_on(self) -> RunOutcome:
        """The same from where it stands now."""
        return await self._run_until_over(self._resume)

    async def _run_until_over(self, wait: WaitForOutcome) -> RunOutcome:
        while True:
            outcome = await self._wait_for_outcome(wait)
            if not isinstance(outcome, Stop) or not self._is_unrequested(outcome) or not self.remaining_s:
                return await self._describe_end(outcome)
            wait = self._resume

    async def wait_for_exit(self, within_s: float) -> ProgramEnd | None:
        """After its last stop: how a program ends that is stopped by what it did not catch."""
        if self.session.state is not SessionState.STOPPED:
            return self.session.ended
        try:
            happened = await self._resume(min(within_s, max(self.remaining_s, _SHORTEST_WAIT_S)))
        except DragomanError:
            return None
        return happened.outcome if isinstance(happened.outcome, ProgramEnd) else None

    async def _first(self, within_s: float) -> DebugOutcome:
        return await self.service.wait(self.client, self.session.id, within_s=within_s)

    async def _resume(self, within_s: float) -> DebugOutcome:
        return await self.service.resume(self.client, self.session.id, thread_id=None, within_s=within_s)

    async def _wait_for_outcome(self, wait: WaitForOutcome) -> Stop | ProgramEnd | None:
        """Stop waiting once the table is complete while the program runs. At a stop, the stop event follows the row
        that ended the table.
        """
        table = self.probe.table
        found: list[Stop | ProgramEnd | None] = []
        error: DragomanError | None = None
        async with anyio.create_task_group() as group:

            async def give_up() -> None:
                await table.is_over.wait()
                await anyio.sleep(_LATE_STOP_S if self.probe.writes_rows else _STOP_TIMEOUT_S)
                group.cancel_scope.cancel("the run is over")

            group.start_soon(give_up)
            group.start_soon(self._read)
            try:
                found.append((await wait(self.remaining_s)).outcome)
            except DragomanError as raised:  # raised alone, outside of the task group
                error = raised
            group.cancel_scope.cancel("it has come")
        if error is not None:
            raise error
        return found[0] if found else None

    async def _read(self) -> None:
        while self.probe.writes_rows:
            await anyio.sleep(_READ_INTERVAL_S)
            self.probe.read()

    def _is_unrequested(self, stop: Stop) -> bool:
        """Places in the program itself where it asks for a debugger: they are not what is asked about."""
        is_asked = stop.reason == "exception" or stop.reason.startswith("data")
        return not is_asked and not self.probe.table.is_over.is_set()

    async def _describe_end(self, outcome: Stop | ProgramEnd | None) -> RunOutcome:
        table = self.probe.table
        self.probe.read()
        if isinstance(outcome, ProgramEnd):
            how: EndReason = "lost" if outcome.message or outcome.is_unreported else "exited"
            return RunOutcome(how, table.limit, ended=outcome, output=self._output())
        if outcome is None and not table.is_over.is_set():
            table.end("expression" if self.probe.in_progress else "seconds")
        stop = outcome or await self._halted()
        if stop is not None and stop.reason == "exception" and not table.limit:
            return RunOutcome("exception", stop=stop, output=self._output())
        if not table.limit:
            return RunOutcome("stopped", stop=stop, output=self._output())
        return await self.end_at_limit(table.limit, stop)

    async def end_at_limit(self, limit: LimitKind, stop: Stop | None = None) -> RunOutcome:
        """What took too long is shown with where each thread is and what it waits for."""
        dump = ThreadDump()
        if limit in _TIME_LIMITS:
            dump = await self.session.thread_dumps.read(may_halt=stop is None)
        return RunOutcome("limit", limit, stop=stop, output=self._output(), dump=dump)

    async def _halted(self) -> Stop | None:
        """Where a program is that did not come to an end, as far as its debugger can say; and a borrowed one stays."""
        if self.owns_session and self.probe.table.limit != "seconds":
            return None
        try:
            happened = await self.service.pause(self.client, self.session.id, within_s=_PAUSE_TIMEOUT_S)
        except DragomanError:
            return None
        return happened.outcome if isinstance(happened.outcome, Stop) else None

    def _output(self) -> str:
        return self.session.output.since(self._printed, most=OUTPUT_CHARACTERS)[0]


class EvidenceService:
    """Opens runs for evidence and ends them, whatever happens in between."""

    def __init__(self, service: DebugService, clock: Clock) -> None:
        self.service = service
        self._clock = clock

    def run(
        self, caller: Caller, subject: EvidenceSource, probe: EvidenceProbe
    ) -> AbstractAsyncContextManager[EvidenceRun]:
        if subject.launch_request is None:
            return self._borrow(caller, subject.session_id, probe)
        return self._start_own_session(caller, subject.launch_request, probe)

    @asynccontextmanager
    async def _start_own_session(
        self, caller: Caller, launch_request: LaunchRequest, probe: EvidenceProbe
    ) -> AsyncIterator[EvidenceRun]:
        """By a client of its own, so that what its owner does next is not meant for it."""
        asking = replace(caller, id=f"{new_id('evidence')}:{caller.id}")
        with probe.writing_rows():
            async with self._open_session(caller, asking, launch_request, probe) as run:
                yield run

    @asynccontextmanager
    async def _open_session(
        self, caller: Caller, asking: Caller, launch_request: LaunchRequest, probe: EvidenceProbe
    ) -> AsyncIterator[EvidenceRun]:
        with anyio.CancelScope(shield=True):  # a caller that disconnects during a start would leave a program running
            happened = await self.service.start(asking, launch_request, within_s=0, probe=probe)
        run = EvidenceRun(self.service, self._clock, asking, happened.session, probe, owns_session=True)
        try:
            yield run
        finally:
            with anyio.CancelScope(shield=True):
                if run.keeps_session and run.session.is_at_stop:
                    await _give_back(run.session)
                    # From here on, the owner is responsible for it.
                    await self.service.wait(caller, run.session.id, within_s=0)
                else:
                    for session in (happened.session, *happened.others):
                        await _end_session(session)

    @asynccontextmanager
    async def _borrow(self, caller: Caller, session_id: str, probe: EvidenceProbe) -> AsyncIterator[EvidenceRun]:
        session = self.service.find(caller, session_id)
        session.require_stopped()
        session.permissions.require("trace", caller)
        with probe.writing_rows():
            try:
                await session.probe(probe)
                yield EvidenceRun(self.service, self._clock, caller, session, probe, owns_session=False)
            finally:
                with anyio.CancelScope(shield=True):
                    await _give_back(session)


async def _end_session(session: DebugSession) -> None:
    if session.state in LIVE_STATES - {SessionState.TERMINATING}:
        await session.terminate(by=DAEMON_ID)
    while session.ended is None:
        if await session.outcome(session.last_stop, _END_TIMEOUT_S) is None:
            log.warning("session %s of a run for evidence takes long to end", session.id)
            return


async def _give_back(session: DebugSession) -> None:
    """With the breakpoints of its clients."""
    if session.state not in LIVE_STATES:
        return
    try:
        with anyio.fail_after(_END_TIMEOUT_S):
            await session.probe(None)
    except (DragomanError, TimeoutError) as error:
        log.warning("session %s has not got its breakpoints back: %s", session.id, error)
