"""The backend for Lua programs: DAP on one side, LuaPanda's lines on the other."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup, TaskStatus

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import localize, localized_str
from dragoman.debug import errors as session_errors
from dragoman.debug.backends.adapters.spec import LaunchContext
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.luapanda.bridge import LuaPandaBridge
from dragoman.debug.backends.luapanda.path_map import LuaPathMap
from dragoman.debug.backends.luapanda.settings import LuaSettings, read_settings
from dragoman.debug.backends.luapanda.shared_ports import PortLease, SharedPorts
from dragoman.debug.backends.luapanda.targets import IncomingTarget, LaunchedTarget, LuaTarget, OutgoingTarget
from dragoman.debug.backends.port import (
    AdapterRefusedError,
    BackendOwnership,
    make_event,
    make_output_event,
    make_response,
)
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver
from dragoman.io.errors import runtime_silent
from dragoman.io.processes.process_tree import ProcessTree
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.protocols.dap import Response

log = logging.getLogger(__name__)
_DETACH_TIMEOUT_S = 3.0
_TERMINATION_GRACE_S = 2.0

CAPABILITIES: Mapping[str, Any] = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsDataBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsEvaluateForHovers": True,
    "supportsSetVariable": True,
    "supportsSetExpression": True,
    "supportsExceptionInfoRequest": True,
    "supportsDelayedStackTraceLoading": True,
    "supportsLoadedSourcesRequest": True,
    "supportTerminateDebuggee": True,
    "supportsCollectGarbageRequest": True,  # a request of LuaPanda's own, not of DAP
    "exceptionBreakpointFilters": [
        {"filter": "uncaught", "label": "Uncaught errors", "default": True},
        {"filter": "raised", "label": "All errors"},
    ],
}


class LuaBackend:
    """The backend of one Lua program. `run` belongs in the daemon's task group and ends with the program or with
    `end`.
    """

    ownership = BackendOwnership()

    def __init__(
        self,
        stack: AsyncExitStack,
        target: LuaTarget,
        bridge: LuaPandaBridge,
        settings: LuaSettings,
        later_backends: AsyncIterator[LuaBackend] | None = None,
    ) -> None:
        self.later_backends = later_backends
        """Further Lua states that come to the same port: each is a session of its own."""
        self.may_start_late = settings.mode != "started"
        """Nobody knows when a program comes that somebody else starts."""
        self._stack = stack
        self._target = target
        self._bridge = bridge
        self._settings = settings
        self._scope = anyio.CancelScope()
        self._no_debug = False
        self._wanted = anyio.Event()
        self._ready = anyio.Event()
        self._failure: DragomanError | None = None
        self.events = AdapterEventQueue()
        self._serve: dict[str, Callable[[Mapping[str, Any], float], Awaitable[Any]]] = {
            "initialize": self._initialize,
            "launch": self._open,
            "attach": self._open,
            "disconnect": self._disconnect,
            **bridge.served,
        }
        bridge.publish = self.events.send

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command not in self._serve:
            raise AdapterRefusedError(
                command, localized_str(localize("`{command}` is not supported.", command=command))
            )
        try:
            with anyio.fail_after(timeout_s):
                return make_response(command, await self._serve[command](arguments or {}, timeout_s) or {})
        except TimeoutError as error:
            raise runtime_silent(command=command, seconds=timeout_s) from error
        except RemoteProtocolError as error:
            raise AdapterRefusedError(command, str(error)) from error

    def adopt_stack(self, stack: AsyncExitStack) -> None:
        """All processes that end with it."""
        self._stack = stack

    async def end(self) -> None:
        self._scope.cancel("the session has ended")
        self.events.close()
        await self._stack.aclose()

    def memory_bytes(self) -> int | None:
        """The memory that the Lua state counts: for a game, the part that its scripts use."""
        return self._bridge.memory_bytes

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        try:
            with self._scope:
                task_status.started()
                await self._wanted.wait()
                async with anyio.create_task_group() as group:
                    await self._serve_program(group)
                    group.cancel_scope.cancel("the program has gone")
        except* DragomanError as errors:
            self._failure = session_errors.first_cause(errors)
        except* Exception as errors:
            log.error("the pump of a Lua program failed", exc_info=errors)
        finally:
            self._ready.set()
            self._bridge.close()
            self.events.close()

    async def _serve_program(self, group: TaskGroup) -> None:
        if self._no_debug:
            await self._target.run(group, self.events.send)
            self._ready.set()
        else:
            driver = await self._wait_for_runtime(group)
            await self._bridge.open(driver, group)
            await self.events.send(make_event("initialized"))
            self._ready.set()
            await driver.closed.wait()
        for event in await self._target.wait_for_exit_events():
            await self.events.send(event)

    async def _wait_for_runtime(self, group: TaskGroup) -> LuaPandaDriver:
        """Where programs connect to us, a stranger may connect too: one that does not speak LuaPanda is
        disconnected."""
        while True:
            driver = LuaPandaDriver(await self._target.connect(group, self.events.send), self._bridge.receive)
            group.start_soon(driver.run)
            try:
                await self._bridge.handshake(driver, within_s=self._target.handshake_timeout_s)
            except DragomanError as error:
                await driver.close()
                if not self._target.accepts_other_peers:
                    raise
                log.info("who came to a port for Lua programs was sent away: %s", error)
            else:
                return driver

    async def _initialize(self, _: Mapping[str, Any], __: float) -> Mapping[str, Any]:
        return CAPABILITIES

    async def _open(self, arguments: Mapping[str, Any], _: float) -> None:
        """Waits for the program, as long as the session lives: nobody knows when a game gets so far."""
        self._no_debug = arguments.get("noDebug") is True
        if self._settings.warning is not None:
            await self.events.send(make_output_event(f"{self._settings.warning}\n", "important"))
        self._wanted.set()
        await self._ready.wait()
        if self._failure is not None:
            raise self._failure

    async def _disconnect(self, arguments: Mapping[str, Any], _: float) -> None:
        """A program that is not ours continues. Our own is ended before it is released: it does not run one more
        line."""
        with anyio.move_on_after(_DETACH_TIMEOUT_S):
            if arguments.get("terminateDebuggee") is not True or not await self._target.terminate_program():
                await self._bridge.detach()


_SHARED_PORTS = SharedPorts()


async def open_lua_backend(supervisors: SupervisorPool, group: TaskGroup, context: LaunchContext) -> LuaBackend:
    settings = read_settings(context.request, context.arguments, context.workspace)
    async with AsyncExitStack() as stack:
        if settings.mode == "connecting":
            return await _start_backend(stack, group, settings, context, OutgoingTarget(settings, context.port_users))
        starts = settings.program is not None and context.request == "launch"
        tree = await stack.enter_async_context(supervisors.tree(grace_s=_TERMINATION_GRACE_S)) if starts else None
        if settings.mode == "started" and tree is not None:
            return await _start_backend(stack, group, settings, context, LaunchedTarget(tree, settings, context))
        return await _open_at_port(stack, group, settings, context, tree=tree)
    raise AssertionError("unreachable")


async def _open_at_port(
    stack: AsyncExitStack,
    group: TaskGroup,
    settings: LuaSettings,
    context: LaunchContext,
    *,
    tree: ProcessTree | None = None,
    stream: ByteStream | None = None,
) -> LuaBackend:
    try:
        users = context.port_users
        lease = _SHARED_PORTS.lease(group, settings.host, settings.port, users=users, stream=stream)
    except DragomanError as error:
        hint = localize(
            "Another debugger may be listening there. Stop it, or use another `connectionPort` on both sides."
        )
        raise DragomanError(error.code, error.message, hint=hint) from error
    stack.push_async_callback(lease.release)
    later_backends = _further_backends(group, settings, context, lease)
    return await _start_backend(
        stack, group, settings, context, IncomingTarget(lease, tree, settings, context), later_backends
    )


async def _further_backends(
    group: TaskGroup, settings: LuaSettings, context: LaunchContext, lease: PortLease
) -> AsyncIterator[LuaBackend]:
    with contextlib.suppress(anyio.ClosedResourceError):
        async for stream in lease.later_connections:
            async with AsyncExitStack() as stack:
                yield await _open_at_port(stack, group, settings, context, stream=stream)


async def _start_backend(
    stack: AsyncExitStack,
    group: TaskGroup,
    settings: LuaSettings,
    context: LaunchContext,
    target: LuaTarget,
    later_backends: AsyncIterator[LuaBackend] | None = None,
) -> LuaBackend:
    bridge = LuaPandaBridge(settings, LuaPathMap(settings, context.workspace))
    backend = LuaBackend(stack, target, bridge, settings, later_backends)
    await group.start(backend.run)
    backend.adopt_stack(stack.pop_all())
    return backend
