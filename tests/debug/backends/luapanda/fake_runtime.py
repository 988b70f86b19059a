"""A backend over a recorded Lua program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import anyio
import msgspec
from anyio.abc import ByteStream, TaskGroup

from dragoman.debug.backends.adapters.program_io import PublishEvent
from dragoman.debug.backends.luapanda.backend import LuaBackend
from dragoman.debug.backends.luapanda.bridge import LuaPandaBridge
from dragoman.debug.backends.luapanda.path_map import LuaPathMap
from dragoman.debug.backends.luapanda.settings import LuaSettings, read_settings
from dragoman.debug.backends.port import make_event
from dragoman.protocols.dap import Response
from dragoman.protocols.dap.bodies import EventBody
from tests.support.fake_lua import FakeLua

WITHIN_S = 5.0


class AtHand:
    """A place where the program is already."""

    handshake_timeout_s = 1.0
    accepts_other_peers = False

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def run(self, group: TaskGroup, publish: PublishEvent) -> None:
        raise NotImplementedError

    async def connect(self, _: TaskGroup, __: PublishEvent) -> ByteStream:
        return self._stream

    async def wait_for_exit_events(self) -> list[EventBody]:
        return [make_event("terminated")]

    async def terminate_program(self) -> bool:
        return False


class Gone(EventBody, frozen=True):
    event: ClassVar[str] = "gone"


class Played:
    """What a client of the backend sees: answers, and events as they came."""

    def __init__(self, backend: LuaBackend, fake: FakeLua) -> None:
        self.backend = backend
        self.fake = fake
        self.events: list[EventBody] = []
        self._changed = anyio.Event()

    async def listen(self) -> None:
        def take(body: EventBody) -> bool:
            self.events.append(body)
            self._wake()
            return True

        self.backend.events.attach(take)
        await self.backend.events.closed.wait()
        self.events.append(Gone())
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def ask(self, command: str, **arguments: Any) -> Response:
        return await self.backend.request(command, arguments, timeout_s=WITHIN_S)

    async def until(self, name: str, count: int = 1) -> dict[str, Any]:
        """The body of the event of that name, the nth of its kind."""
        with anyio.fail_after(WITHIN_S):
            while len(self.named(name)) < count:
                await self._changed.wait()
        fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.named(name)[count - 1]))
        return fields

    def named(self, name: str) -> list[EventBody]:
        return [event for event in self.events if event.event == name]


def settings_of(**given: Any) -> LuaSettings:
    return read_settings("attach", given, Path("/proj"))


@asynccontextmanager
async def playing(fake: FakeLua, **given: Any) -> AsyncIterator[Played]:
    settings = settings_of(**given)
    bridge = LuaPandaBridge(settings, LuaPathMap(settings, Path("/proj")))
    backend = LuaBackend(AsyncExitStack(), AtHand(fake.near), bridge, settings)
    async with anyio.create_task_group() as group:
        played = Played(backend, fake)
        group.start_soon(fake.run)
        await group.start(backend.run)
        group.start_soon(played.listen)
        try:
            yield played
        finally:
            with anyio.CancelScope(shield=True):
                await backend.end()
                fake.close()
            group.cancel_scope.cancel()
