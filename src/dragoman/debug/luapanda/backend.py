"""A Lua program as a backend: DAP in and out, LuaPanda's lines on the other side."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dragoman.debug import faults
from dragoman.debug.backend import AdapterRefusedError, Owns
from dragoman.debug.luapanda.bridge import Bridge
from dragoman.debug.luapanda.places import Place
from dragoman.debug.luapanda.settings import LuaSettings
from dragoman.debug.messages import answer, made, output
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import say, spoken
from dragoman.transport.luapanda_driver import LuaPandaDriver, silent
from dragoman.wire.dap import Event, Response

log = logging.getLogger(__name__)

_HELD_EVENTS = 64
_DETACHED_WITHIN_S = 3.0

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
    """`run` belongs into the daemon's group; it ends when the program has gone, or with `end`."""

    owns = Owns()

    def __init__(
        self,
        stack: AsyncExitStack,
        place: Place,
        bridge: Bridge,
        settings: LuaSettings,
        newcomers: AsyncIterator[LuaBackend] | None = None,
    ) -> None:
        self.newcomers = newcomers
        """Further Lua states that come to the same port: each is a session of its own."""
        self.takes_its_time = settings.way != "started"
        """Nobody knows when a program comes that somebody else starts."""
        self._stack = stack
        self._place = place
        self._bridge = bridge
        self._settings = settings
        self._life = anyio.CancelScope()
        self._no_debug = False
        self._wanted = anyio.Event()
        self._ready = anyio.Event()
        self._failure: DragomanError | None = None
        self._told, self._taken = anyio.create_memory_object_stream[Event](_HELD_EVENTS)
        self._serve: dict[str, Callable[[Mapping[str, Any], float], Awaitable[Any]]] = {
            "initialize": self._initialize,
            "launch": self._open,
            "attach": self._open,
            "disconnect": self._disconnect,
            **bridge.served,
        }
        bridge.tell = self._tell

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command not in self._serve:
            raise AdapterRefusedError(command, spoken(say("`{command}` is not served.", command=command)))
        try:
            with anyio.fail_after(timeout_s):
                return answer(command, await self._serve[command](arguments or {}, timeout_s) or {})
        except TimeoutError as error:
            raise silent(command, timeout_s) from error
        except RemoteProtocolError as error:
            raise AdapterRefusedError(command, str(error)) from error

    async def events(self) -> AsyncIterator[Event]:
        with contextlib.suppress(anyio.ClosedResourceError):
            async for event in self._taken:
                yield event

    def keeps(self, stack: AsyncExitStack) -> None:
        """What ends with it."""
        self._stack = stack

    async def end(self) -> None:
        self._life.cancel("the session has ended")
        self._told.close()
        self._taken.close()
        await self._stack.aclose()

    def memory_bytes(self) -> int | None:
        """What the Lua state itself counts: of a game, that is the part that its scripts are answerable for."""
        return self._bridge.memory_bytes

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        try:
            with self._life:
                task_status.started()
                await self._wanted.wait()
                async with anyio.create_task_group() as group:
                    await self._live(group)
                    group.cancel_scope.cancel("the program has gone")
        except* DragomanError as errors:
            self._failure = faults.of_group(errors)
        except* Exception as errors:
            log.error("the pump of a Lua program failed", exc_info=errors)
        finally:
            self._ready.set()
            self._bridge.close()
            self._told.close()

    async def _live(self, group: TaskGroup) -> None:
        if self._no_debug:
            await self._place.run(group, self._tell)
            self._ready.set()
        else:
            driver = await self._met(group)
            await self._bridge.open(driver, group)
            await self._tell(made("initialized"))
            self._ready.set()
            await driver.closed.wait()
        for event in await self._place.ended():
            await self._tell(event)

    async def _met(self, group: TaskGroup) -> LuaPandaDriver:
        """Where programs come to us, a stranger may as well: one that does not speak LuaPanda is sent away."""
        while True:
            driver = LuaPandaDriver(await self._place.connect(group, self._tell), self._bridge.hear)
            group.start_soon(driver.run)
            try:
                await self._bridge.greet(driver, within_s=self._place.greeted_within_s)
            except DragomanError as error:
                await driver.close()
                if not self._place.others_may_come:
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
            await self._tell(output(f"{self._settings.warning}\n", "important"))
        self._wanted.set()
        await self._ready.wait()
        if self._failure is not None:
            raise self._failure

    async def _disconnect(self, arguments: Mapping[str, Any], _: float) -> None:
        """The program goes on where it is not ours to end. One that is ends before it is let go: not a line more."""
        with anyio.move_on_after(_DETACHED_WITHIN_S):
            if arguments.get("terminateDebuggee") is not True or not await self._place.terminated():
                await self._bridge.detach()

    async def _tell(self, event: Event) -> None:
        try:
            await self._told.send(event)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("an event of a session that has ended was passed over")
