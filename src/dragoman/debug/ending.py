"""How a session ends: told by its adapter, asked for by somebody, or seen when the adapter is gone without a word."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from dragoman.debug.backend import Backend
from dragoman.debug.hearing import Hearing
from dragoman.debug.life import Life
from dragoman.debug.model import Ended
from dragoman.debug.states import Happening, State
from dragoman.debug.telling import signal_of
from dragoman.errors import DragomanError

log = logging.getLogger(__name__)

ENDS_WITHIN_S = 5.0
_WHY_WITHIN_S = 0.5
# How long the other half of an end is waited for: the exit code after `terminated`, `terminated` after the exit code.
_EXIT_CODE_WITHIN_S = 1.0
_TERMINATED_WITHIN_S = 1.0
_SENT_ON_WITHIN_S = 2.0
_DETACHED_WITHIN_S = 0.1  # of what was attached to, few adapters tell a code


async def _nothing() -> None:
    pass


class Ending:
    """`before` is done before the adapter is dismissed, `told` the moment the end is; `output` takes what was printed
    and not yet told."""

    def __init__(
        self, backend: Backend, hearing: Hearing, life: Life, *, is_launch: bool, output: Callable[[], tuple[str, int]]
    ) -> None:
        self.is_asked_for = False
        self.told: Callable[[], None] = lambda: None
        self.before: Callable[[], Awaitable[None]] = _nothing
        self._by = ""
        self._backend = backend
        self._hearing = hearing
        self._life = life
        self._is_launch = is_launch
        self._output = output
        self._is_politely = False
        self._arguments: dict[str, Any] = {}
        self._begun = anyio.Event()

    def ask(self, by: str) -> None:
        """An end that the adapter told of before is the program's own."""
        if not self._hearing.has_ended:
            self.is_asked_for, self._by = True, by
            self._is_politely = self._is_launch and self._life.state is State.RUNNING
        self._begin({"terminateDebuggee": self._is_launch})

    async def see(self) -> None:
        """Told as soon as it is known, not when the adapter has tidied up after itself."""
        await self._hearing.an_end()
        with anyio.move_on_after(_TERMINATED_WITHIN_S):
            await self._hearing.terminated.wait()
        self._begin({})
        await self._hear_exit_code()
        self.tell()

    async def dismiss(self) -> None:
        """In a task of its own: neither a command under way nor an unfinished start holds up an end, and what the
        adapter still says is read. One that does not answer is dismissed all the same."""
        await self._begun.wait()
        if self._is_politely and self._hearing.program.is_known:
            await self._let_it_tidy_up()
        try:
            with anyio.move_on_after(_SENT_ON_WITHIN_S):
                await self.before()
        except DragomanError as error:
            log.info("the program may stand where it stopped: %s", error)
        try:
            await self._backend.request("disconnect", self._arguments, timeout_s=ENDS_WITHIN_S)
        except DragomanError:
            log.debug("the adapter left before it was dismissed")
        if not self.is_asked_for:
            await self._hear_exit_code()
        self.tell()

    async def _let_it_tidy_up(self) -> None:
        """Adapters kill. One that runs is asked to end first; one that is stopped must not go on to do so, and one that
        stops on its way out is done for."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._hearing.program.ask_to_end)
            with anyio.move_on_after(ENDS_WITHIN_S):
                await self._hearing.an_end_or_a_stop()

    async def adapter_has_gone(self) -> None:
        """One that broke the protocol did not simply end; one that said nothing does not say how the program ended."""
        if self._begun.is_set() or self._hearing.has_ended:
            self.tell()
        else:
            self.tell(await self._fault_of_backend(), is_untold=True)

    def tell(self, message: str = "", *, is_untold: bool = False) -> None:
        """Once. What our own end of a program did to its exit code is nobody's news."""
        if self._life.ended is not None:
            return
        code = None if self.is_asked_for else self._hearing.exit_code
        output, lines = self._output()
        self._life.end(
            Ended(
                exit_code=code,
                signal=signal_of(code),
                message=message,
                output=output,
                output_lines=lines,
                by=self._by,
                is_untold=is_untold and code is None and not message,
            )
        )
        self.told()

    def _begin(self, arguments: dict[str, Any]) -> None:
        self._life.move(Happening.ENDING)
        if not self._begun.is_set():
            self._arguments = arguments
            self._begun.set()

    async def _hear_exit_code(self) -> None:
        with anyio.move_on_after(_EXIT_CODE_WITHIN_S if self._is_launch else _DETACHED_WITHIN_S):
            await self._hearing.exited.wait()

    async def _fault_of_backend(self) -> str:
        """Whoever asks a backend that has gone is told why."""
        try:
            await self._backend.request("threads", timeout_s=_WHY_WITHIN_S)
        except DragomanError as error:
            return str(error) if error.code == "adapter_broke_protocol" else ""
        return ""
