"""A backend that comes up once its tasks have run: until then the session is starting, and can be ended.

What the tasks write is told as output of the session; one that fails is why it did not start.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from dragoman.debug.backend import Backend, Owns
from dragoman.debug.task_running import SupervisedRunner, TaskTrees
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.wire.dap import Event, Response

if TYPE_CHECKING:
    from dragoman.debug.session import Session

log = logging.getLogger(__name__)

Prepare = Callable[[SupervisedRunner], Awaitable[None]]
Open = Callable[[], Awaitable[Backend]]
_HELD_EVENTS = 64


class AfterTasks:
    takes_its_time = True

    def __init__(
        self, group: TaskGroup, trees: TaskTrees, prepare: Prepare, open: Open, owns: Owns | None = None
    ) -> None:
        """`owns`: of the backend that is to come."""
        self.owns = owns or Owns()
        self._group = group
        self._trees = trees
        self._prepare = prepare
        self._open = open
        self._backend: Backend | None = None
        self._session: Session | None = None
        self._told, self._taken = anyio.create_memory_object_stream[Event](_HELD_EVENTS)
        self._has_ended = False
        self._settled = anyio.Event()
        self.newcomers = self._others()
        """Further programs that come to the same port, where the backend opens one."""

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        """The first question waits for the tasks, whose time is their own; any other before it has no one to ask."""
        if command == "initialize" and self._backend is None:
            await self._come_up()
        if self._backend is None:
            raise _not_up()
        return await self._backend.request(command, arguments, timeout_s=timeout_s)

    async def events(self) -> AsyncIterator[Event]:
        async for event in self._taken:
            yield event

    async def end(self) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self._settled.set()
        self._told.close()
        self._taken.close()
        try:
            if self._backend is not None:
                await self._backend.end()
        finally:
            with anyio.CancelScope(shield=True):
                await self._trees.leave()

    def made(self, session: Session) -> None:
        self._session = session

    def memory_bytes(self) -> int | None:
        """The debugger's and the program's; a server that a task left running is not theirs."""
        weigh: Callable[[], int | None] | None = getattr(self._backend, "memory_bytes", None)
        return weigh() if weigh else None

    async def _come_up(self) -> None:
        await self._prepare(self._trees.runner(self._hear))
        backend = await self._open()
        if self._has_ended:
            await backend.end()
            raise _not_up()
        made: Callable[[Session | None], None] | None = getattr(backend, "made", None)
        if made is not None:
            made(self._session)
        self._backend = backend
        self._settled.set()
        self._group.start_soon(self._pass_on, backend)

    async def _others(self) -> AsyncIterator[Backend]:
        await self._settled.wait()
        others: AsyncIterator[Backend] | None = getattr(self._backend, "newcomers", None)
        if others is not None:
            async for other in others:
                yield other

    async def _pass_on(self, backend: Backend) -> None:
        """In the daemon's own group: the end of the backend's events is the end of ours."""
        try:
            async for event in backend.events():
                await self._tell(event)
        except Exception:
            log.exception("the events of an adapter could not be passed on")
        finally:
            self._told.close()

    async def _hear(self, text: str) -> None:
        await self._tell(_output(text))

    async def _tell(self, event: Event) -> None:
        try:
            await self._told.send(event)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("what a session that has ended would have been told was passed over")


def _output(text: str) -> Event:
    return Event(event="output", body=msgspec.Raw(msgspec.json.encode({"output": text, "category": "console"})))


def _not_up() -> DragomanError:
    return DragomanError(
        "adapter_gone",
        say("The tasks before the program have not ended: there is no debugger yet."),
        hint=say("Wait for the session, or stop it."),
    )
