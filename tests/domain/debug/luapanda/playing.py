"""A backend over a recorded Lua program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.debug.adapters.run_in_terminal import Tell
from dragoman.debug.luapanda.backend import LuaBackend
from dragoman.debug.luapanda.bridge import Bridge
from dragoman.debug.luapanda.paths import PathMap
from dragoman.debug.luapanda.settings import LuaSettings, read_settings
from dragoman.debug.messages import fields, made
from dragoman.testing.fake_lua import FakeLua
from dragoman.wire.dap import Event, Response

WITHIN_S = 5.0


class AtHand:
    """A place where the program is already."""

    greeted_within_s = 1.0
    others_may_come = False

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def run(self, group: TaskGroup, tell: Tell) -> None:
        raise NotImplementedError

    async def connect(self, _: TaskGroup, __: Tell) -> ByteStream:
        return self._stream

    async def ended(self) -> list[Event]:
        return [made("terminated")]

    async def terminated(self) -> bool:
        return False


class Played:
    """What a client of the backend sees: answers, and events as they came."""

    def __init__(self, backend: LuaBackend, fake: FakeLua) -> None:
        self.backend = backend
        self.fake = fake
        self.events: list[Event] = []
        self._changed = anyio.Event()

    async def listen(self) -> None:
        async for event in self.backend.events():
            self.events.append(event)
            self._wake()
        self.events.append(made("gone"))
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
        return fields(self.named(name)[count - 1]) if name != "gone" else {}

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event.event == name]


def settings_of(**given: Any) -> LuaSettings:
    return read_settings("attach", given, Path("/proj"))


@asynccontextmanager
async def playing(fake: FakeLua, **given: Any) -> AsyncIterator[Played]:
    settings = settings_of(**given)
    bridge = Bridge(settings, PathMap(settings, Path("/proj")))
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
