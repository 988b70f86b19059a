"""The tools that let the program run and wait for what it does, and the one that ends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from dragoman.clock import Clock
from dragoman.debug.model import Until
from dragoman.debug.service import DebugService, Happened, Wish
from dragoman.debug.session import Session
from dragoman.phrases import say
from dragoman.tools.debug import never_began
from dragoman.tools.debug import parameters as take
from dragoman.tools.debug.answers import StopRequested
from dragoman.tools.debug.client import client_of, files_of_stacks, live_besides
from dragoman.tools.debug.ends import (
    CONTINUING,
    PAUSING,
    RESTARTING,
    STARTING,
    STEPPING,
    WAITING,
    Ends,
    Waited,
    also,
    live_lines,
)
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.places import Places
from dragoman.tools.debug.values import name
from dragoman.tools.debug.waits import Wait, Waits
from dragoman.tools.operation import Caller, Outcome
from dragoman.words import labelled, word_of

_WAYS_TO_START = ("configuration_name", "configuration", "program")


@dataclass(frozen=True, slots=True)
class Running:
    service: DebugService
    ends: Ends
    places: Places
    waits: Waits
    clock: Clock

    async def start(self, caller: Caller, wanted: take.Start) -> Outcome:
        began = self.clock.monotonic_s()
        client, waited = client_of(caller), Waited(STARTING, wanted.timeout_s, wait=wanted.wait)
        with never_began.told(caller.workspace / str(wanted.program or wanted.configuration.get("program", ""))):
            first, *others = sessions = await self.service.launch(client, _wish(wanted))
            begun = partial(self.service.begun, client, sessions, within_s=self._left_s(waited, began))
            return await self._await(caller, Happened(first, None, tuple(others)), waited, begun)

    async def restart(self, caller: Caller, wanted: take.Acting) -> Outcome:
        """Also of a session that has ended: it keeps its id."""
        began = self.clock.monotonic_s()
        client = client_of(caller)
        session = self.service.find_or_last(client, wanted.session_id)
        waited = Waited(RESTARTING, wanted.timeout_s, wait=wanted.wait)
        with never_began.told():
            happened = await self.service.restart(client, session.id, within_s=0)
            return await self._restarted(caller, happened, waited, began)

    async def _restarted(self, caller: Caller, happened: Happened, waited: Waited, began_s: float) -> Outcome:
        """A restart itself cannot be broken off; only the wait after it."""
        left = self._left_s(waited, began_s)
        if happened.outcome is not None or not left:
            return await self.ends.answer(caller, happened, waited)
        first = partial(self.service.first, client_of(caller), (happened.session,), within_s=left)
        return await self._await(caller, happened, waited, first)

    def _left_s(self, waited: Waited, began_s: float) -> float:
        return max(waited.within_s - (self.clock.monotonic_s() - began_s), 0.0)

    async def resume(self, caller: Caller, wanted: take.Continue) -> Outcome:
        client = client_of(caller)
        session = self.service.find(client, wanted.session_id)
        waited = Waited(CONTINUING, wanted.timeout_s, wait=wanted.wait)
        until = await self._until(caller, wanted.until) if wanted.until else None

        resume = partial(self.service.resume, client, session.id, until=until)
        act = partial(resume, thread_id=wanted.thread_id, within_s=waited.within_s)
        return await self._await(caller, _nothing_yet(session), waited, act)

    async def step(self, caller: Caller, wanted: take.Step) -> Outcome:
        client = client_of(caller)
        session = self.service.find(client, wanted.session_id)
        waited = Waited(STEPPING, wanted.timeout_s, wait=wanted.wait)
        step = partial(self.service.step, client, session.id, wanted.step_type)
        act = partial(step, thread_id=wanted.thread_id, within_s=waited.within_s)
        return await self._await(caller, _nothing_yet(session), waited, act)

    async def pause(self, caller: Caller, wanted: take.Acting) -> Outcome:
        session = self.service.find(client_of(caller), wanted.session_id)
        waited = Waited(PAUSING, wanted.timeout_s, wait=wanted.wait)
        if session.stands:
            return await self._present(caller, session, waited)
        pause = partial(self.service.pause, client_of(caller), session.id, within_s=waited.within_s)
        return await self._await(caller, _nothing_yet(session), waited, pause)

    async def wait(self, caller: Caller, wanted: take.Waiting) -> Outcome:
        """A program that has stopped already, or ended, is told of at once."""
        client = client_of(caller)
        session = self.service.find_or_last(client, wanted.session_id)
        waited = Waited(WAITING, wanted.timeout_s)
        if session.stands:
            return await self._present(caller, session, waited)
        wait = partial(self.service.wait, client, session.id, within_s=waited.within_s)
        return await self._await(caller, _nothing_yet(session), waited, wait)

    async def stop(self, caller: Caller, wanted: take.OfSession) -> Outcome:
        client = client_of(caller)
        session = await self.service.stop(client, wanted.session_id)
        message = say("The request to stop the debug session was sent.")
        live = also(live_besides(self.service, client, {session.id}))
        answer = StopRequested(
            message=message.in_language(caller.language),
            session_id=session.id,
            name=name(session.title),
            state=session.state.value,
            live_sessions=live or None,
        )
        which = labelled(word_of("session"), f"{answer.session_id} {answer.name}")
        return Outcome([message, which, *live_lines(live)], answer)

    async def _until(self, caller: Caller, wanted: take.Until) -> Until:
        named = files_of_stacks(self.service, client_of(caller))
        path, line = await self.places.line_of(
            wanted.file_path, caller.workspace, named, wanted.line_number, wanted.line_text
        )
        return Until(path=path, line=line)

    async def _present(self, caller: Caller, session: Session, waited: Waited) -> Outcome:
        """The stop there is, and that this client now knows of it."""
        told = await self.service.wait(client_of(caller), session.id, within_s=0)
        return await self.ends.answer(caller, Happened(session, told.outcome or session.stop), waited)

    async def _await(
        self, caller: Caller, before: Happened, waited: Waited, act: Callable[[], Awaitable[Happened]]
    ) -> Outcome:
        wait = Wait(waited.ends.tool, before.session.id, caller.workspace, caller.id)
        happened = await self.waits.until(caller, wait, waited.within_s, act)
        if happened is None:
            return self.ends.interrupted(caller, before, waited)
        return await self.ends.answer(caller, happened, waited)


def _nothing_yet(session: Session) -> Happened:
    return Happened(session, None)


def _wish(wanted: take.Start) -> Wish:
    given = [name for name in _WAYS_TO_START if getattr(wanted, name)]
    if len(given) != 1:
        raise ToolError(
            "bad_arguments",
            say("Give exactly one of `configuration_name`, `configuration` and `program`."),
            hint=say("get_debugger_configurations lists the names there are."),
        )
    return Wish(
        configuration_name=wanted.configuration_name,
        configuration=wanted.configuration,
        program=wanted.program,
        args=tuple(wanted.args),
        cwd=wanted.cwd,
        env=wanted.env,
        inputs=wanted.inputs,
        process_id=wanted.process_id,
        file=wanted.file,
        no_debug=wanted.no_debug,
        stdin=wanted.stdin,
    )
