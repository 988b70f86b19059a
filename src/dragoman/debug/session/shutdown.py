"""Ends a session: on request, when the adapter reports the end, or when the adapter disappears."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.port import Backend
from dragoman.debug.model import ProgramEnd, SessionState
from dragoman.debug.session.event_log import signal_name
from dragoman.debug.session.events import AdapterEventReader
from dragoman.debug.session.lifecycle import SessionLifecycle, Transition

log = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_S = 5.0
_FAULT_TIMEOUT_S = 0.5
# An end has two events, `exited` with the exit code and `terminated`, in either order. After the first, wait this
# long for the other.
_EXIT_CODE_TIMEOUT_S = 1.0
_TERMINATED_TIMEOUT_S = 1.0
_RESUME_TIMEOUT_S = 2.0
_DETACH_TIMEOUT_S = 0.1  # few adapters report an exit code after an attach


async def _no_preparation() -> None:
    pass


class SessionShutdown:
    """Ends the session once. `prepare` runs before the adapter is disconnected, `on_ended` as soon as the end is
    known; `output` returns what was printed and not reported yet.
    """

    def __init__(
        self,
        backend: Backend,
        events: AdapterEventReader,
        lifecycle: SessionLifecycle,
        *,
        is_launch: bool,
        output: Callable[[], tuple[str, int]],
    ) -> None:
        self.is_requested = False
        self.on_ended: Callable[[], None] = lambda: None
        self.prepare: Callable[[], Awaitable[None]] = _no_preparation
        self._by = ""
        self._backend = backend
        self._events = events
        self._lifecycle = lifecycle
        self._is_launch = is_launch
        self._output = output
        self._asks_program_first = False
        self._arguments: dict[str, Any] = {}
        self._started = anyio.Event()

    def request_end(self, by: str) -> None:
        """An end that the adapter reported before this is the program's own."""
        if not self._events.has_ended:
            self.is_requested, self._by = True, by
            self._asks_program_first = self._is_launch and self._lifecycle.state is SessionState.RUNNING
        self._start({"terminateDebuggee": self._is_launch})

    async def watch_for_end(self) -> None:
        """Reported as soon as it is known, before the adapter has cleaned up."""
        await self._events.wait_for_end()
        with anyio.move_on_after(_TERMINATED_TIMEOUT_S):
            await self._events.terminated.wait()
        self._start({})
        await self._wait_for_exit_code()
        self.finish()

    async def disconnect(self) -> None:
        """Runs in a task of its own, so that neither a running command nor an unfinished start delays the end, and
        events of the adapter are still read. An adapter that does not answer is closed all the same."""
        await self._started.wait()
        if self._asks_program_first and self._events.program.is_known:
            await self._ask_program_to_end()
        try:
            with anyio.move_on_after(_RESUME_TIMEOUT_S):
                await self.prepare()
        except DragomanError as error:
            log.info("the program may stand where it stopped: %s", error)
        try:
            await self._backend.request("disconnect", self._arguments, timeout_s=SHUTDOWN_TIMEOUT_S)
        except DragomanError:
            log.debug("the adapter left before it was dismissed")
        if not self.is_requested:
            await self._wait_for_exit_code()
        self.finish()

    async def _ask_program_to_end(self) -> None:
        """Adapters kill the program. A running program is asked to end first. A stopped one must not be resumed for
        that, and one that stops while it ends is killed."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._events.program.ask_to_end)
            with anyio.move_on_after(SHUTDOWN_TIMEOUT_S):
                await self._events.wait_for_end_or_stop()

    async def handle_adapter_gone(self) -> None:
        """An adapter that broke the protocol did not just end. One that closed without a word does not say how the
        program ended."""
        if self._started.is_set() or self._events.has_ended:
            self.finish()
        else:
            self.finish(await self._backend_fault(), is_unreported=True)

    def finish(self, message: str = "", *, is_unreported: bool = False) -> None:
        """Once. What our own end of a program did to its exit code is nobody's news."""
        if self._lifecycle.ended is not None:
            return
        code = None if self.is_requested else self._events.exit_code
        output, lines = self._output()
        self._lifecycle.end(
            ProgramEnd(
                exit_code=code,
                signal=signal_name(code),
                message=message,
                output=output,
                output_lines=lines,
                by=self._by,
                is_unreported=is_unreported and code is None and not message,
            )
        )
        self.on_ended()

    def _start(self, arguments: dict[str, Any]) -> None:
        self._lifecycle.transition(Transition.ENDING)
        if not self._started.is_set():
            self._arguments = arguments
            self._started.set()

    async def _wait_for_exit_code(self) -> None:
        with anyio.move_on_after(_EXIT_CODE_TIMEOUT_S if self._is_launch else _DETACH_TIMEOUT_S):
            await self._events.exited.wait()

    async def _backend_fault(self) -> str:
        """Requests to a closed backend fail with the reason."""
        try:
            await self._backend.request("threads", timeout_s=_FAULT_TIMEOUT_S)
        except DragomanError as error:
            return str(error) if error.code == "adapter_broke_protocol" else ""
        return ""
