"""A backend that we start ourselves: an adapter in a supervised tree, and the pump that speaks to it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskGroup
from msgspec import UNSET

from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.debug.backend import AdapterRefusedError, Owns
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.dap_driver import DapDriver
from dragoman.transport.dap_events import Delivered, OutputLeftOut
from dragoman.transport.nodelay import NoDelay
from dragoman.transport.streams import connect_stdio
from dragoman.transport.supervised import Child, Tree
from dragoman.transport.supervisors import Supervisors
from dragoman.wire.dap import Event, Request, Response

log = logging.getLogger(__name__)

_GRACE_S = 2.0
# Adapters write a message in two pieces and wait 44 ms for the first one's acknowledgement: looked for often while the
# connections of a session come up, seldom later, when only new child processes bring new ones.
_CURE_EVERY_S = 0.015
_CURE_OFTEN_FOR_S = 4.0
_CURE_SELDOM_S = 0.5
_LAST_WORDS = 4000
_LAST_WORDS_WITHIN_S = 0.5  # a child of the adapter may hold its standard error open


class SpawnedAdapter:
    """Owns the tree: ending it ends the adapter, the program and whatever that started."""

    owns = Owns()

    def __init__(self, stack: AsyncExitStack, tree: Tree, child: Child, group: TaskGroup) -> None:
        self._stack = stack
        self._tree = tree
        self._child = child
        self._told, self._taken = anyio.create_memory_object_stream[Sequence[Delivered]](0)
        self._driver = DapDriver(connect_stdio(child), on_events=self._tell, on_request=_refuse)
        self._last_words = ""
        self._life = anyio.CancelScope()
        group.start_soon(self._run)

    @classmethod
    async def open(
        cls, supervisors: Supervisors, group: TaskGroup, spec: AdapterSpec, situation: Situation
    ) -> SpawnedAdapter:
        async with AsyncExitStack() as stack:
            tree = await stack.enter_async_context(supervisors.tree(grace_s=_GRACE_S))
            child = await tree.start(spec.command(situation))
            return cls(stack.pop_all(), tree, child, group)
        raise AssertionError("unreachable")

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        answer = await self._driver.request(command, UNSET if arguments is None else arguments, timeout_s=timeout_s)
        if not answer.success:
            raise AdapterRefusedError(command, answer.message or "")
        return answer

    async def events(self) -> AsyncIterator[Event]:
        async for batch in self._taken:
            for one in batch:
                yield _left_out(one) if isinstance(one, OutputLeftOut) else one

    async def end(self) -> None:
        self._life.cancel("the session has ended")
        self._told.close()
        self._taken.close()
        await self._stack.aclose()

    async def _run(self) -> None:
        """In the daemon's own group: a fault of ours ends this session, never the others."""
        try:
            with self._life:
                await self._pump()
        except* Exception as errors:
            log.error("the pump of an adapter failed", exc_info=errors)
        finally:
            self._told.close()

    async def _pump(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._cure)
            await self._until_gone()
            group.cancel_scope.cancel("the adapter has gone")

    async def _until_gone(self) -> None:
        """What it wrote to its standard error before it went is told as the last of its output."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._hear_last_words)
            await self._driver.run()
            group.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS_WITHIN_S
        if self._last_words:
            await self._tell([_output(self._last_words, "stderr")])

    async def _tell(self, batch: Sequence[Delivered]) -> None:
        try:
            await self._told.send(batch)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("events of a session that has ended were passed over")

    async def _cure(self) -> None:
        cure, begun = NoDelay(), anyio.current_time()
        while True:
            await anyio.to_thread.run_sync(lambda: cure.cure(self._tree.pids()))
            early = anyio.current_time() - begun < _CURE_OFTEN_FOR_S
            await anyio.sleep(_CURE_EVERY_S if early else _CURE_SELDOM_S)

    async def _hear_last_words(self) -> None:
        """An adapter's standard error must be read, or it waits; its end is the reason when it dies at once."""
        if self._child.stderr is None:
            return
        async for piece in self._child.stderr:
            self._last_words = (self._last_words + piece.decode(errors="replace"))[-_LAST_WORDS:]


def _left_out(gap: OutputLeftOut) -> Event:
    return _output(f"[{gap.bytes} bytes of output were left out]\n", "console")


def _output(text: str, category: str) -> Event:
    return Event(event="output", body=msgspec.Raw(msgspec.json.encode({"output": text, "category": category})))


async def _refuse(request: Request) -> Any:
    raise DragomanError("not_served", say("`{command}` is not served.", command=request.command))
