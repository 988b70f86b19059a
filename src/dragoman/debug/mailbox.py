"""What callers ask of a session, one after the other, in the order it came. A caller that goes only stops waiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from dragoman.debug import faults
from dragoman.errors import DragomanError, RemoteProtocolError

_ROOM = 32  # a caller beyond it waits for its turn


@dataclass(slots=True)
class _Command:
    perform: Callable[[], Awaitable[Any]]
    settled: anyio.Event = field(default_factory=anyio.Event)
    error: DragomanError | None = None


class Mailbox:
    def __init__(self) -> None:
        self._mail, self._commands = anyio.create_memory_object_stream[_Command](_ROOM)
        self._closed = anyio.Event()

    def end(self) -> None:
        """Nobody waits any longer. What was accepted is not an error now: its outcome is the session's end."""
        self._closed.set()
        self._mail.close()

    def close(self) -> None:
        """Once nobody obeys any more: who still waits for room is told."""
        self.end()
        self._commands.close()

    async def perform(self, action: Callable[[], Awaitable[Any]]) -> None:
        """A caller that is cancelled here leaves its command behind, to be performed."""
        command = _Command(action)
        try:
            await self._mail.send(command)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise faults.already_ended() from None
        await first_of(command.settled, self._closed)
        if command.error is not None:
            raise command.error

    async def obey(self) -> None:
        async for command in self._commands:
            try:
                await command.perform()
            except DragomanError as error:
                command.error = error
            except RemoteProtocolError as error:
                command.error = faults.adapter_confused(error)
            finally:
                command.settled.set()


async def first_of(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as group:
        for event in events:
            group.start_soon(_then_cancel, event, group.cancel_scope)


async def _then_cancel(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel("one is enough")
