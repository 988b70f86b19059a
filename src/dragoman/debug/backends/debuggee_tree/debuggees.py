"""The debuggees of a tree: the root, and children that connect and leave at any time."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.adapters.connection import DebuggeeConnection, DebuggeeSetup
from dragoman.debug.backends.debuggee_tree.breakpoint_lists import BreakpointLists
from dragoman.debug.backends.port import make_event, make_output_event
from dragoman.debug.errors import not_served
from dragoman.protocols.dap.bodies import EventBody, StoppedBody

log = logging.getLogger(__name__)

ROOT = 0
MAX_DEBUGGEES = 32  # children; each one adds a connection, and threads to list at every stop
_MAX_JOINING = 1_000
_JOINING_CONCURRENCY = 4  # the adapter process also serves the other debuggees
_JOIN_TIMEOUT_S = 20.0
_LEAVE_TIMEOUT_S = 1.0
_TITLE_CHARACTERS = 200  # appended to the name of every thread

_KEEP_RUNNING = {"terminateDebuggee": False}

ConnectChild = Callable[[Mapping[str, Any]], Awaitable[DebuggeeConnection]]


class Debuggee:
    """One debuggee of a tree. One beyond the limit is resumed at once, and is not reported."""

    def __init__(self, slot: int, link: DebuggeeConnection, title: str) -> None:
        self.slot = slot
        self.link = link
        self.title = title
        self.initialized = anyio.Event()
        self.left = False
        self.is_debugged = slot <= MAX_DEBUGGEES


class DebuggeeHost(Protocol):
    """What debuggees need from their tree."""

    def emit(self, body: EventBody) -> None: ...

    async def read_events(self, debuggee: Debuggee) -> None:
        """To its end."""
        ...

    def remove(self, debuggee: Debuggee) -> None: ...


class Debuggees:
    """The debuggees of a tree; `connected` are those that can be asked."""

    def __init__(
        self,
        root: DebuggeeConnection,
        setup: DebuggeeSetup,
        lists: BreakpointLists,
        connect: ConnectChild,
        host: DebuggeeHost,
        group: TaskGroup,
    ) -> None:
        self.root = Debuggee(ROOT, root, "")
        if root.is_initialized:
            self.root.initialized.set()
        self.connected: dict[int, Debuggee] = {ROOT: self.root}
        self._setup = setup
        self._connect = connect
        self._breakpoint_lists = lists
        self._host = host
        self._group = group
        self._links: list[DebuggeeConnection] = []
        self._slots = {ROOT}
        self._joining = 0
        self._turn = anyio.CapacityLimiter(_JOINING_CONCURRENCY)
        self._surplus_reported = False

    @property
    def is_root_alone(self) -> bool:
        return self._slots == {ROOT} and not self._joining

    def links(self) -> dict[int, DebuggeeConnection]:
        return {slot: debuggee.link for slot, debuggee in self.connected.items()}

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        if not self._group.cancel_scope.cancel_called:
            self._group.start_soon(work, *arguments)

    def add_child(self, request: str, configuration: Mapping[str, Any]) -> None:
        """The adapter asks for a child session. It joins later: the adapter waits for our response first."""
        if self._group.cancel_scope.cancel_called or self._joining >= _MAX_JOINING:
            raise not_served(command="startDebugging")
        self._joining += 1
        self._group.start_soon(self._connect_child, request, dict(configuration))

    def leave(self, debuggee: Debuggee) -> None:
        """From now on its slot may be another child's."""
        debuggee.left = True
        self.connected.pop(debuggee.slot, None)
        self._breakpoint_lists.breakpoints.remove_debuggee(debuggee.slot)
        self._slots.discard(debuggee.slot)

    async def disconnect(self, debuggee: Debuggee) -> None:
        """The debuggee may still answer its last request."""
        await self._dismiss(debuggee, None if debuggee.is_debugged else _KEEP_RUNNING)
        await debuggee.link.end()
        self._links.remove(debuggee.link)

    async def dismiss_children(self, arguments: dict[str, Any] | None) -> None:
        with anyio.move_on_after(_LEAVE_TIMEOUT_S):
            async with anyio.create_task_group() as group:
                for debuggee in list(self.connected.values())[1:]:
                    group.start_soon(self._dismiss, debuggee, arguments)

    async def end(self) -> None:
        """Close the connections to children. The root's belongs to the backend."""
        for link in self._links:
            await link.end()

    async def _connect_child(self, request: str, configuration: dict[str, Any]) -> None:
        """A child that ended before it joined is skipped."""
        try:
            async with self._turn:
                link = await self._connect(configuration)
                self._links.append(link)
                debuggee = Debuggee(self._free_slot(), link, str(configuration.get("name", ""))[:_TITLE_CHARACTERS])
                self.spawn(self._host.read_events, debuggee)
                await self._initialize_or_remove(debuggee, request, configuration)
        except* (DragomanError, RemoteProtocolError) as errors:
            log.info("a child session was not reached: %s", errors.exceptions[0])
        finally:
            self._joining -= 1

    def _free_slot(self) -> int:
        """The first that is free. Those beyond the bound share one, which nobody is looked for at."""
        slot = next(slot for slot in itertools.count(1) if slot not in self._slots)
        if slot <= MAX_DEBUGGEES:
            self._slots.add(slot)
        return slot

    async def _initialize_or_remove(self, debuggee: Debuggee, request: str, configuration: dict[str, Any]) -> None:
        try:
            with anyio.fail_after(_JOIN_TIMEOUT_S):
                await self._initialize(debuggee, request, configuration)
        except* (DragomanError, RemoteProtocolError, TimeoutError) as errors:
            log.info("a child session did not join: %s", errors.exceptions[0])
            self._host.remove(debuggee)
        if not debuggee.is_debugged:
            self._report_surplus()
            self._host.remove(debuggee)

    async def _initialize(self, debuggee: Debuggee, request: str, configuration: dict[str, Any]) -> None:
        """Initializes a child like a root; it gets all breakpoints before its program runs."""
        await debuggee.link.request("initialize", self._setup.initialize_arguments, timeout_s=_JOIN_TIMEOUT_S)
        async with anyio.create_task_group() as group:
            group.start_soon(self._request_start, debuggee, request, configuration)
            await debuggee.initialized.wait()
            await self._setup.configured.wait()
            if debuggee.is_debugged:
                await self._send_breakpoints(debuggee)
            await debuggee.link.request("configurationDone", timeout_s=_JOIN_TIMEOUT_S)

    async def _send_breakpoints(self, debuggee: Debuggee) -> None:
        """Reports breakpoints that this debuggee is the first to bind."""
        async with self._breakpoint_lists.send_all(debuggee.slot, debuggee.link, within_s=_JOIN_TIMEOUT_S) as news:
            self.connected[debuggee.slot] = debuggee
        for reported in news:
            self._host.emit(make_event("breakpoint", reason="changed", breakpoint=reported))

    def _report_surplus(self) -> None:
        if not self._surplus_reported:
            self._surplus_reported = True
            words = f"[{MAX_DEBUGGEES} child processes are debugged at a time; the others run without a debugger]"
            self._host.emit(make_output_event(f"{words}\n", "console"))

    async def _request_start(self, debuggee: Debuggee, request: str, configuration: dict[str, Any]) -> None:
        await debuggee.link.request(request, configuration, timeout_s=_JOIN_TIMEOUT_S)

    async def _dismiss(self, debuggee: Debuggee, arguments: dict[str, Any] | None) -> None:
        try:
            await debuggee.link.request("disconnect", arguments, timeout_s=_LEAVE_TIMEOUT_S)
        except DragomanError:
            log.debug("a child session left before it was dismissed")


_STEP_TIMEOUT_S = 1.0


class StopArbiter:
    """Which stop is current, which ones wait, and which debuggees are stepping. Debuggees are named by their slots."""

    def __init__(self) -> None:
        self.current: int | None = None
        self._held: list[tuple[int, StoppedBody]] = []
        self._resuming: dict[int, StoppedBody] = {}
        self._stepping: dict[int, anyio.Event] = {}

    def is_current(self, debuggee: int) -> bool:
        return self.current == debuggee

    def stopped(self, debuggee: int, event: StoppedBody) -> bool:
        """Whether to report it now; otherwise it waits, and replaces an earlier one of the same debuggee."""
        self._step_ended(debuggee)
        if self.current == debuggee or (self.current is None and not self._stepping):
            self.current = debuggee
            return True
        self._held = [(owner, held) for owner, held in self._held if owner != debuggee] + [(debuggee, event)]
        return False

    @property
    def held_threads(self) -> tuple[int, ...]:
        return tuple(held.thread_id for _, held in self._held if held.thread_id is not None)

    def continued(self, debuggee: int) -> bool:
        """Whether to report it. A stop that waited and was continued by somebody else is dropped."""
        if self.current == debuggee:
            self.current = None
            return True
        self._held = [(owner, held) for owner, held in self._held if owner != debuggee]
        return self.current is None

    def mark_resumed(self, debuggee: int, *, stepping: bool) -> bool:
        """Whether its stop was the current one, for `mark_refused`. One that waited is not reported any more."""
        self._resuming.pop(debuggee, None)
        for owner, held in [it for it in self._held if it[0] == debuggee]:
            self._held.remove((owner, held))
            self._resuming[debuggee] = held
        was_current = self.current == debuggee
        if was_current:
            self.current = None
        if stepping:
            self._stepping[debuggee] = anyio.Event()
        return was_current

    def mark_refused(self, debuggee: int, *, was_current: bool) -> None:
        """It refused to resume."""
        self._step_ended(debuggee)
        held = self._resuming.pop(debuggee, None)
        if held is not None and all(owner != debuggee for owner, _ in self._held):
            self._held.append((debuggee, held))
        if was_current and self.current is None:
            self.current = debuggee

    def has_waiters(self, debuggee: int) -> bool:
        """Whether resuming it leads to another report: its own step, or a stop that waits."""
        return debuggee in self._stepping or bool(self._held)

    async def wait_for_step(self, debuggee: int) -> None:
        """Returns at once if it was not a step. A long step must not hide the stops of others."""
        step = self._stepping.get(debuggee)
        if step is not None:
            with anyio.move_on_after(_STEP_TIMEOUT_S):
                await step.wait()
            self._stepping.pop(debuggee, None)

    def left(self, debuggee: int) -> None:
        self._step_ended(debuggee)
        self._held = [(owner, held) for owner, held in self._held if owner != debuggee]
        if self.current == debuggee:
            self.current = None

    def next(self) -> StoppedBody | None:
        if self.current is not None or self._stepping or not self._held:
            return None
        self.current, event = self._held.pop(0)
        return event

    def _step_ended(self, debuggee: int) -> None:
        step = self._stepping.pop(debuggee, None)
        if step is not None:
            step.set()
