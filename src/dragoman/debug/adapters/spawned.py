"""A backend that we start ourselves: an adapter in a supervised tree, and the family of sessions that it has.

Or one that runs already, of which we hold the connections alone.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
import psutil
from anyio.abc import TaskGroup, TaskStatus

from dragoman.debug import faults
from dragoman.debug.adapters.links import DapLink, attach_timed_out
from dragoman.debug.adapters.output_events import without_noise
from dragoman.debug.adapters.place import Foreign, Own
from dragoman.debug.adapters.run_in_terminal import Terminal, exited, with_signal
from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.debug.backend import Owns
from dragoman.debug.family import RUNS, Family, Traits
from dragoman.debug.messages import fields, made, output
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import say
from dragoman.transport.curing import Curing
from dragoman.transport.supervisors import Supervisors
from dragoman.wire.dap import Event, Request, Response, read_arguments
from dragoman.wire.dap.bodies import StartDebuggingArguments

log = logging.getLogger(__name__)

_GRACE_S = 2.0
_EXIT_WITHIN_S = 2.0
_LAUNCHER_TELLS_WITHIN_S = 0.5
_PORTS_TRIED = 3
_PERHAPS_TAKEN = frozenset({"foreign_peer", "adapter_gone"})
_EARLY_AT_MOST = 200
_LONGEST_CODE = 19  # digits; int() refuses thousands of them
_ATTACHED_WITHIN_S = 15.0


class _PortTakenError(Exception):
    """A port that was free a moment ago may not be: another is tried."""


class SpawnedAdapter:
    """Owns the tree: ending it ends the adapter, the program and whatever that started."""

    owns = Owns()

    def __init__(
        self, stack: AsyncExitStack, place: Own | Foreign, curing: Curing, spec: AdapterSpec, situation: Situation
    ) -> None:
        self._stack = stack
        self._place = place
        # Adapters write a message in two pieces and wait 44 ms for the first one's acknowledgement.
        self._patient = curing.admit(place.glimpsed_pids)
        stack.callback(self._patient.leaves)
        self._spec = spec
        # An adapter that somebody else started may be on another machine: it gets nothing run here, in no terminal.
        self._terminal = situation.terminal if situation.is_in_terminal and isinstance(place, Own) else None
        self._life = anyio.CancelScope()
        self._links = anyio.create_task_group()
        self._family: Family
        self._early: deque[Event] | None = deque(maxlen=_EARLY_AT_MOST)
        self._exit_told = False
        self._is_at_last_remarks = False
        self._signal: int | None = None
        # Whoever attaches waits for a program that is there; only with `listen` it has yet to come.
        attaches = situation.request == "attach" and "listen" not in situation.arguments
        self._hurried = frozenset({"initialize", "attach"} if attaches else ())

    @classmethod
    async def open(
        cls, supervisors: Supervisors, curing: Curing, group: TaskGroup, spec: AdapterSpec, situation: Situation
    ) -> SpawnedAdapter:
        """In the daemon's own group. Returns once the adapter can be spoken to."""
        for _ in range(_PORTS_TRIED - 1 if spec.transport == "tcp" and spec.listening is None else 0):
            with contextlib.suppress(_PortTakenError):
                return await cls._open_once(supervisors, curing, group, spec, situation, is_last=False)
        return await cls._open_once(supervisors, curing, group, spec, situation, is_last=True)

    @classmethod
    async def _open_once(
        cls,
        supervisors: Supervisors,
        curing: Curing,
        group: TaskGroup,
        spec: AdapterSpec,
        situation: Situation,
        *,
        is_last: bool,
    ) -> SpawnedAdapter:
        async with AsyncExitStack() as stack:
            address = spec.listens_already(situation)
            if address is not None:
                adapter = cls(stack, Foreign(address, situation.port_users), curing, spec, situation)
            else:
                tree = await stack.enter_async_context(supervisors.tree(grace_s=_GRACE_S))
                adapter = cls(stack, await Own.start(tree, spec, situation, stack), curing, spec, situation)
            try:
                await group.start(adapter._run)
            except DragomanError as error:
                if not is_last and error.code in _PERHAPS_TAKEN:
                    raise _PortTakenError from error
                raise
            adapter._stack = stack.pop_all()
            return adapter
        raise AssertionError("unreachable")

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in RUNS:
            self._patient.runs()
        if command == "disconnect" and (arguments or {}).get("terminateDebuggee"):
            await self._kill_program()
        within_s = min(timeout_s, _ATTACHED_WITHIN_S) if command in self._hurried else timeout_s
        try:
            return await self._family.request(command, arguments, timeout_s=within_s)
        except DragomanError as error:
            if command in self._hurried and error.code == "adapter_silent":
                raise attach_timed_out(within_s) from error
            raise

    async def events(self) -> AsyncIterator[Event]:
        async for event in self._family.events():
            if event.event == "stopped":
                self._patient.stops()
            for told in self._heard(event) if event.event == "output" else (event,):
                yield self._with_signal(told) if told.event == "exited" else told

    async def _kill_program(self) -> None:
        """js-debug lets one that is stopped go on instead, and does not answer before it has ended."""
        if self._spec.exit_code_from_process and self._place.terminal is not None:
            await self._place.terminal.kill()

    def memory_bytes(self) -> int | None:
        """Resident, of the whole tree; not for the event loop."""
        sizes = [size for pid in self._place.pids() if (size := _resident(pid)) is not None]
        return sum(sizes) if sizes else None

    async def end(self) -> None:
        self._life.cancel("the session has ended")
        await self._family.end()
        await self._stack.aclose()

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        """A fault of ours ends this session, never the others. One before there is a session is the opener's."""
        opened = False
        try:
            with self._life:
                async with self._links as group:
                    await self._open(group)
                    opened = True
                    task_status.started()
                    await self._family.run()
                    group.cancel_scope.cancel("the adapter has gone")
        except* Exception as errors:
            if not opened:
                raise faults.of_group(errors) from errors
            log.error("the pump of an adapter failed", exc_info=errors)

    async def _open(self, group: TaskGroup) -> None:
        group.start_soon(self._place.hear, self._tell)
        root = await self._link()
        spec = self._spec
        traits = Traits(spec.ends_with_its_children, spec.shows_old_values, spec.goes_on_only_when_asked)
        self._family = Family(root, self._join, self._last, traits)
        if self._spec.program_output_is_adapters and isinstance(self._place, Own):
            await self._tell(_is_the_program(self._place.pid))
        group.start_soon(self._tell_early)

    async def _link(self, configuration: Mapping[str, Any] | None = None) -> DapLink:
        link = DapLink(await self._place.connect(configuration), self._serve)
        self._links.start_soon(link.run)
        return link

    async def _join(self, configuration: Mapping[str, Any]) -> DapLink:
        self._patient.connects()
        return await self._link(configuration)

    async def _serve(self, request: Request) -> Any:
        if request.command == "startDebugging":
            asked = read_arguments(request, StartDebuggingArguments)
            self._family.welcome(asked.request, asked.configuration)
            return {}
        if request.command == "runInTerminal":
            return await self._serve_program(self._with_our_variables(read_arguments(request, dict[str, Any])))
        raise _not_served(request.command)

    async def _serve_program(self, asked: dict[str, Any]) -> Any:
        if self._terminal is not None:
            return await self._terminal(asked)
        if self._place.terminal is not None:
            started = await self._place.terminal.run(asked, self._links, self._tell, self._spec.noise)
            if self._spec.exit_code_from_process:
                await self._tell(_is_the_program(started["processId"]))
            else:  # it is the adapter's launcher, which tells of the program, unless it ends at once
                self._links.start_soon(self._see_launcher, self._place.terminal)
            return started
        raise _not_served("runInTerminal")

    async def _see_launcher(self, launcher: Terminal) -> None:
        """debugpy waits a minute for a program that has ended before it was reached."""
        exit = await launcher.ended(math.inf)
        await anyio.sleep(_LAUNCHER_TELLS_WITHIN_S)
        if exit is not None and not self._family.is_configurable:
            for event in exited(exit):
                await self._tell(event)

    def _with_our_variables(self, asked: dict[str, Any]) -> dict[str, Any]:
        variables = asked.get("env")
        return {**asked, "env": self._spec.program_variables(variables)} if isinstance(variables, dict) else asked

    def _with_signal(self, event: Event) -> Event:
        if self._signal is not None:
            return made("exited", exitCode=-self._signal)
        return with_signal(event) if self._spec.tells_signals_in_eight_bits else event

    def _heard(self, event: Event) -> list[Event]:
        """Of an adapter's own remarks: the exit code where only they hold it, and what is worth telling."""
        if self._spec.noise is None and self._spec.exit_code_in_output is None:
            return [event]
        try:
            body = fields(event)
        except RemoteProtocolError:
            return [event]  # who reads it next passes it over, with a word in the log
        if body.get("category", "console") != "console":
            return [event]
        text = self._without_last_remarks(str(body.get("output", "")))
        code = self._spec.exit_code_in_output.search(text) if self._spec.exit_code_in_output else None
        told = [made("exited", exitCode=int(code["code"][:_LONGEST_CODE]))] if code else []
        rest = without_noise(text, self._spec.noise)
        return told + ([made("output", **{**body, "output": rest})] if rest else [])

    def _without_last_remarks(self, text: str) -> str:
        begin, signal = self._spec.last_remarks, self._spec.signal_in_last_remarks
        if begin is None or signal is None:
            return text
        found = begin.search(text)
        kept = 0 if self._is_at_last_remarks else found.start() if found else len(text)
        self._is_at_last_remarks |= found is not None
        for named in signal.finditer(text, kept):
            self._signal = int(named["signal"], 16)
        return text[:kept]

    async def _tell(self, event: Event) -> None:
        if self._early is not None:
            self._early.append(event)
        else:
            await self._family.tell(event)

    async def _tell_early(self) -> None:
        """What was said before we came together."""
        early, self._early = self._early or (), None
        for event in early:
            await self._family.tell(event)

    async def _last(self, *, gone: bool) -> list[Event]:
        """What only we know: how the program ended that we started, and what an adapter said before it went."""
        told: list[Event] = []
        if self._spec.exit_code_from_process and not self._exit_told:
            exit = await self._place.program_ended(_EXIT_WITHIN_S)
            self._exit_told = exit is not None
            told += exited(exit) if exit is not None else []
        if gone:
            await self._place.hear_out()
            told += [output(self._place.last_words, "stderr")] if self._place.last_words else []
        return told


def _not_served(command: str) -> DragomanError:
    return DragomanError("not_served", say("`{command}` is not served.", command=command))


def _is_the_program(pid: int) -> Event:
    return made("process", name="", systemProcessId=pid)


def _resident(pid: int) -> int | None:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return None  # it has gone meanwhile
