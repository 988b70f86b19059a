"""The backend for DAP adapters: starts an adapter in a supervised process tree, or connects to a running one.

Requests go straight to the connection of the program, and its events straight to the session. When the adapter
announces the first child (`startDebugging`, or debugpy's `debugpyAttach`), a `DebuggeeTree` takes over in between.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
import msgspec
import psutil
from anyio.abc import TaskGroup, TaskStatus

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug import errors as session_errors
from dragoman.debug.backends.adapters.adapter_process import AdapterProcess, ExternalAdapter
from dragoman.debug.backends.adapters.connection import (
    AdapterConnection,
    DebuggeeConnection,
    DebuggeeSetup,
    RequestedBreakpointList,
)
from dragoman.debug.backends.adapters.program_io import PipedTerminal, exited_events, strip_noise, with_signal_exit_code
from dragoman.debug.backends.adapters.spec import AdapterSpec, LaunchContext
from dragoman.debug.backends.debuggee_tree.tree import DebuggeeTree
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import (
    EVALUATE_IN_EACH,
    LIST_COMMANDS,
    RUN_COMMANDS,
    BackendOwnership,
    make_output_event,
    make_response,
)
from dragoman.debug.errors import attach_timed_out, not_served
from dragoman.io.processes.nodelay import NoDelayScheduler
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.protocols.dap import Request, Response, read_arguments, read_body
from dragoman.protocols.dap.bodies import (
    DebugpyAttachBody,
    EvaluateResponse,
    EventBody,
    ExitedBody,
    OutputBody,
    ProcessBody,
    StartDebuggingArguments,
    StoppedBody,
    TerminatedBody,
    ThreadsResponse,
)

log = logging.getLogger(__name__)

_TERMINATION_GRACE_S = 2.0
_EXIT_TIMEOUT_S = 2.0
_LAUNCHER_EXIT_GRACE_S = 0.5
_PORT_ATTEMPTS = 3
_PORT_TAKEN_CODES = frozenset({"foreign_peer", "adapter_gone"})
_LONGEST_CODE = 19  # digits, because int() refuses thousands of them
_ATTACH_TIMEOUT_S = 15.0
_SERVED_CAPABILITIES = {"supportsRunInTerminalRequest": True, "supportsStartDebuggingRequest": True}


class _PortTakenError(Exception):
    """A port that was free a moment ago may not be: another is tried."""


class DapBackend:
    """A backend that talks to one adapter and to all debug sessions that this adapter opens.

    Owns the process tree: ending the backend ends the adapter, the program and everything that the program started.
    It never ends an adapter that somebody else started. It forwards DAP and corrects what the adapter omits, such as
    exit codes; what a stop means is decided by the session.
    """

    ownership = BackendOwnership()

    def __init__(
        self,
        stack: AsyncExitStack,
        process: AdapterProcess | ExternalAdapter,
        nodelay_scheduler: NoDelayScheduler,
        spec: AdapterSpec,
        context: LaunchContext,
    ) -> None:
        self._stack = stack
        self._process = process
        # Adapters write a message in two pieces, and TCP delays the second by 44 ms until the first is acknowledged.
        self._watched_tree = nodelay_scheduler.watch(process.quick_pids)
        stack.callback(self._watched_tree.unwatch)
        self._spec = spec
        self._quirks = spec.quirks
        # An adapter that another program started may be on another machine, so it cannot run anything in a terminal
        # here.
        self._terminal = context.terminal if context.is_in_terminal and isinstance(process, AdapterProcess) else None
        self.events = AdapterEventQueue()
        self._scope = anyio.CancelScope()
        self._connections = anyio.create_task_group()
        self._setup = DebuggeeSetup()
        self._root: DebuggeeConnection
        self._tree: DebuggeeTree | None = None
        self._last_threads: Response | None = None
        self._end_reported: anyio.Event | None = None
        self._exit_reported = False
        self._in_exit_report = False
        self._signal: int | None = None
        # An attach is for a program that is already running. Only with `listen` does the program connect later.
        attaches = context.request == "attach" and "listen" not in context.arguments
        self._attach_commands = frozenset({"initialize", "attach"} if attaches else ())

    @classmethod
    async def open(
        cls,
        supervisors: SupervisorPool,
        nodelay_scheduler: NoDelayScheduler,
        group: TaskGroup,
        spec: AdapterSpec,
        context: LaunchContext,
    ) -> DapBackend:
        """In the daemon's own group. Returns once the adapter can be spoken to."""
        for _ in range(_PORT_ATTEMPTS - 1 if spec.transport == "tcp" and spec.listening is None else 0):
            with contextlib.suppress(_PortTakenError):
                return await cls._open_once(supervisors, nodelay_scheduler, group, spec, context, is_last=False)
        return await cls._open_once(supervisors, nodelay_scheduler, group, spec, context, is_last=True)

    @classmethod
    async def _open_once(
        cls,
        supervisors: SupervisorPool,
        nodelay_scheduler: NoDelayScheduler,
        group: TaskGroup,
        spec: AdapterSpec,
        context: LaunchContext,
        *,
        is_last: bool,
    ) -> DapBackend:
        async with AsyncExitStack() as stack:
            address = spec.running_adapter(context)
            if address is not None:
                adapter = cls(stack, ExternalAdapter(address, context.port_users), nodelay_scheduler, spec, context)
            else:
                tree = await stack.enter_async_context(supervisors.tree(grace_s=_TERMINATION_GRACE_S))
                adapter = cls(
                    stack, await AdapterProcess.start(tree, spec, context, stack), nodelay_scheduler, spec, context
                )
            try:
                await group.start(adapter._run)
            except DragomanError as error:
                if not is_last and error.code in _PORT_TAKEN_CODES:
                    raise _PortTakenError from error
                raise
            adapter._stack = stack.pop_all()
            return adapter
        raise AssertionError("unreachable")

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in RUN_COMMANDS:
            self._watched_tree.program_resumed()
        if command == "disconnect" and (arguments or {}).get("terminateDebuggee"):
            await self._kill_program()
        if command == "initialize":
            arguments = self._setup.initialize_arguments = {**(arguments or {}), **_SERVED_CAPABILITIES}
        within_s = min(timeout_s, _ATTACH_TIMEOUT_S) if command in self._attach_commands else timeout_s
        send = self._request_root if self._tree is None else self._tree.request
        try:
            response = await send(command, arguments, timeout_s=within_s)
        except DragomanError as error:
            if command in self._attach_commands and error.code == "adapter_silent":
                raise attach_timed_out(seconds=within_s) from error
            raise
        if command == "configurationDone":
            self._setup.configured.set()
        return response

    async def _request_root(self, command: str, arguments: dict[str, Any] | None, *, timeout_s: float) -> Response:
        """While there is one debuggee."""
        if command in LIST_COMMANDS:
            return await self._set_list(RequestedBreakpointList(command, arguments or {}), timeout_s)
        if command == EVALUATE_IN_EACH:
            return await self._evaluate_in_root(arguments or {}, timeout_s)
        try:
            response = await self._root.request(command, arguments, timeout_s=timeout_s)
        except DragomanError:
            if command in RUN_COMMANDS and self._tree is not None:  # the first child connected during the request
                self._tree.adopt_refusal()
            raise
        if command == "threads":
            if self._tree is not None:  # the first child connected during the request
                return await self._tree.adopt_threads(response)
            self._last_threads = response
        return response

    async def _set_list(self, sent: RequestedBreakpointList, timeout_s: float) -> Response:
        """A caller that waited for another list may find a child when its turn comes."""
        async with self._setup.setting:
            if self._tree is None:
                self._setup.lists[sent.key] = sent
                sent.response = await self._root.request(sent.command, sent.arguments, timeout_s=timeout_s)
                if self._tree is not None:  # the first child connected during the request
                    self._tree.adopt_list(sent.key)
                return sent.response
        return await self._tree.request(sent.command, sent.arguments, timeout_s=timeout_s)

    async def _evaluate_in_root(self, arguments: dict[str, Any], timeout_s: float) -> Response:
        answers: list[dict[str, Any]] = []
        with contextlib.suppress(DragomanError, RemoteProtocolError):
            response = await self._root.request("evaluate", arguments, timeout_s=timeout_s)
            threads = {thread: thread for thread in self._known_threads()}
            answers.append({"result": read_body(response, EvaluateResponse).result, "threads": threads})
        return make_response(EVALUATE_IN_EACH, {"answers": answers})

    # Children.

    def add_child(self, request: str, configuration: Mapping[str, Any]) -> None:
        """The adapter asks for a child session."""
        self._with_tree().add_child(request, configuration)

    def _with_tree(self) -> DebuggeeTree:
        """From here on events and requests go through the tree, which takes over what the root has reported so far."""
        if self._tree is None:
            self._tree = DebuggeeTree(
                self._root, self._setup, self._join, self._handle_event, queue=self.events, group=self._connections,
                thread_ids=self._known_threads(), ends_with_its_children=self._quirks.debuggees_are_children,
            )  # fmt: skip
        return self._tree

    def held_threads(self) -> tuple[int, ...]:
        return self._tree.held_threads if self._tree is not None else ()

    def _known_threads(self) -> set[int]:
        """Every thread whose id the session may have seen, in events or in the last list."""
        listed: set[int] = set()
        if self._last_threads is not None:
            with contextlib.suppress(RemoteProtocolError):  # the session could not read this list either
                listed = {it.id for it in read_body(self._last_threads, ThreadsResponse).threads}
        return self._root.thread_ids | {id for id in listed if id > 0}

    # Events.

    def _handle_root_event(self, body: EventBody) -> bool:
        """Used while there is one debuggee. A tree renumbers threads whose id is not positive: 0 means "no thread"
        above."""
        thread_id = getattr(body, "thread_id", None)
        if isinstance(body, DebugpyAttachBody):
            self._add_attached(body)
        elif thread_id is not None and thread_id <= 0:
            self._root.thread_ids.discard(thread_id)
            self._with_tree()
            self._root.events.put(body)
        else:
            self._handle_event(body)
        return True

    def _add_attached(self, body: DebugpyAttachBody) -> None:
        try:
            self.add_child("attach", body.configuration)
        except DragomanError as error:
            log.warning("a child session was not opened: %s", error)

    def _handle_event(self, body: EventBody) -> None:
        if isinstance(body, StoppedBody):
            self._watched_tree.program_stopped()
        if not isinstance(body, TerminatedBody):
            self._deliver(body)
        elif self._end_reported is None:
            self._end_reported = anyio.Event()
            self._connections.start_soon(self._report_end, body, self._end_reported)

    def _deliver(self, body: EventBody) -> None:
        """Corrects the adapter's events on their way to the session."""
        for it in self._filter_output(body) if isinstance(body, OutputBody) else (body,):
            self.events.put(self._with_signal(it) if isinstance(it, ExitedBody) else it)

    async def _report_end(self, body: TerminatedBody, reported: anyio.Event) -> None:
        """Runs in a task: it may take a moment to learn how the program ended, and its output is read in the
        meantime."""
        try:
            for it in await self._final_events(gone=False):
                self._deliver(it)
            self._deliver(body)
        finally:
            reported.set()

    # The process.

    async def _kill_program(self) -> None:
        """js-debug lets one that is stopped go on instead, and does not answer before it has ended."""
        if self._quirks.exit_code_from_process and self._process.terminal is not None:
            await self._process.terminal.kill()

    def memory_bytes(self) -> int | None:
        """Resident, of the whole tree; not for the event loop."""
        sizes = [size for pid in self._process.pids() if (size := _resident_bytes(pid)) is not None]
        return sum(sizes) if sizes else None

    async def end(self) -> None:
        self._scope.cancel("the session has ended")
        self.events.close()
        if self._tree is not None:
            await self._tree.end()
        await self._root.end()
        await self._stack.aclose()

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        """A fault of ours ends this session, never the others. One before there is a session is the opener's."""
        opened = False
        try:
            with self._scope:
                async with self._connections as group:
                    await self._open(group)
                    opened = True
                    task_status.started()
                    await self._wait_for_end()
                    group.cancel_scope.cancel("the adapter has gone")
        except* Exception as errors:
            if not opened:
                raise session_errors.first_cause(errors) from errors
            log.error("the pump of an adapter failed", exc_info=errors)
        finally:
            self.events.close()

    async def _open(self, group: TaskGroup) -> None:
        group.start_soon(self._process.read_output, self._publish)
        self._root = await self._connect()
        if self._quirks.debuggees_are_children:
            self._with_tree()
        else:
            self._root.events.attach(self._handle_root_event, into=self.events)
        if self._quirks.program_output_is_adapters and isinstance(self._process, AdapterProcess):
            await self._publish(_process_event(self._process.pid))

    async def _wait_for_end(self) -> None:
        """Until the root process has ended and its end was reported."""
        await self._root.events.closed.wait()
        if self._end_reported is not None:
            await self._end_reported.wait()
        for body in await self._final_events(gone=True):
            self._deliver(body)

    async def _connect(self, configuration: Mapping[str, Any] | None = None) -> DebuggeeConnection:
        stream = await self._process.connect(configuration)
        connection = AdapterConnection(stream, self._serve, self._quirks)
        self._connections.start_soon(connection.run)
        return connection

    async def _join(self, configuration: Mapping[str, Any]) -> DebuggeeConnection:
        self._watched_tree.connections_expected()
        return await self._connect(configuration)

    async def _serve(self, request: Request) -> Any:
        if request.command == "startDebugging":
            arguments = read_arguments(request, StartDebuggingArguments)
            self.add_child(arguments.request, arguments.configuration)
            return {}
        if request.command == "runInTerminal":
            return await self._serve_program(self._with_our_variables(read_arguments(request, dict[str, Any])))
        raise not_served(command=request.command)

    async def _serve_program(self, asked: dict[str, Any]) -> Any:
        if self._terminal is not None:
            return await self._terminal(asked)
        if self._process.terminal is not None:
            started = await self._process.terminal.run(
                asked, self._connections, self._publish, self._quirks.adapter_lines
            )
            if self._quirks.exit_code_from_process:
                await self._publish(_process_event(started["processId"]))
            else:  # it is the adapter's launcher, which reports the program unless that ends at once
                self._connections.start_soon(self._watch_launcher, self._process.terminal)
            return started
        raise not_served(command="runInTerminal")

    async def _watch_launcher(self, launcher: PipedTerminal) -> None:
        """debugpy waits a minute for a program that has ended before it was reached."""
        exit = await launcher.wait_for_exit(math.inf)
        await anyio.sleep(_LAUNCHER_EXIT_GRACE_S)
        if exit is not None and not self._root.is_initialized:
            for body in exited_events(exit):
                await self._publish(body)

    def _with_our_variables(self, asked: dict[str, Any]) -> dict[str, Any]:
        variables = asked.get("env")
        return {**asked, "env": self._spec.program_variables(variables)} if isinstance(variables, dict) else asked

    def _with_signal(self, body: ExitedBody) -> ExitedBody:
        if self._signal is not None:
            return ExitedBody(exit_code=-self._signal)
        return with_signal_exit_code(body) if self._quirks.reports_signals_in_eight_bits else body

    def _filter_output(self, body: OutputBody) -> list[EventBody]:
        """Filters the adapter's own messages: keeps the exit code if only they have it, and what is worth showing."""
        if self._quirks.adapter_lines is None and self._quirks.exit_code_in_output is None:
            return [body]
        if body.category != "console":
            return [body]
        text = self._strip_exit_report(body.output)
        code = self._quirks.exit_code_in_output.search(text) if self._quirks.exit_code_in_output else None
        events: list[EventBody] = [ExitedBody(exit_code=int(code["code"][:_LONGEST_CODE]))] if code else []
        rest = strip_noise(text, self._quirks.adapter_lines)
        return events + ([msgspec.structs.replace(body, output=rest)] if rest else [])

    def _strip_exit_report(self, text: str) -> str:
        begin, signal = self._quirks.exit_report, self._quirks.signal_in_exit_report
        if begin is None or signal is None:
            return text
        found = begin.search(text)
        kept = 0 if self._in_exit_report else found.start() if found else len(text)
        self._in_exit_report |= found is not None
        for named in signal.finditer(text, kept):
            self._signal = int(named["signal"], 16)
        return text[:kept]

    async def _publish(self, body: EventBody) -> None:
        """Publish an event of our own, then wait for room, so that the program's pipe is not read faster than its
        output is taken."""
        self._deliver(body)
        await self.events.wait_for_room()

    async def _final_events(self, *, gone: bool) -> list[EventBody]:
        """Events that only we can send: how a program that we started ended, and what an adapter printed before it
        ended."""
        events: list[EventBody] = []
        if self._quirks.exit_code_from_process and not self._exit_reported:
            exit = await self._process.wait_for_program_exit(_EXIT_TIMEOUT_S)
            self._exit_reported = exit is not None
            events += exited_events(exit) if exit is not None else []
        if gone:
            await self._process.wait_for_output_end()
            events += [make_output_event(self._process.last_output, "stderr")] if self._process.last_output else []
        return events


def _process_event(pid: int) -> EventBody:
    return ProcessBody(name="", system_process_id=pid)


def _resident_bytes(pid: int) -> int | None:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return None  # the process has ended in the meantime
