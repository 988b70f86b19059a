"""The commands of callers, run one after another in the order they arrived. A caller that goes away only stops
waiting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.errors import already_ended, invalid_adapter_response

_QUEUE_SIZE = 32  # a caller beyond it waits for its turn


@dataclass(slots=True)
class _MailboxCommand:
    perform: Callable[[], Awaitable[Any]]
    settled: anyio.Event = field(default_factory=anyio.Event)
    error: DragomanError | None = None


class Mailbox:
    def __init__(self) -> None:
        self._sender, self._receiver = anyio.create_memory_object_stream[_MailboxCommand](_QUEUE_SIZE)
        self._closed = anyio.Event()

    def end(self) -> None:
        """Nobody waits any longer. What was accepted is not an error now: its outcome is the session's end."""
        self._closed.set()
        self._sender.close()

    def close(self) -> None:
        """Once nobody obeys any more: who still waits for room is told."""
        self.end()
        self._receiver.close()

    async def perform(self, action: Callable[[], Awaitable[Any]]) -> None:
        """A caller that is cancelled here leaves its command behind, to be performed."""
        command = _MailboxCommand(action)
        try:
            await self._sender.send(command)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise already_ended() from None
        await wait_for_first(command.settled, self._closed)
        if command.error is not None:
            raise command.error

    async def run_commands(self) -> None:
        async for command in self._receiver:
            try:
                await command.perform()
            except DragomanError as error:
                command.error = error
            except RemoteProtocolError as error:
                command.error = invalid_adapter_response(reason=error)
            finally:
                command.settled.set()


async def wait_for_first(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as group:
        for event in events:
            group.start_soon(_then_cancel, event, group.cancel_scope)


async def _then_cancel(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel("one is enough")
