"""From a configuration to a backend."""

from __future__ import annotations

from contextlib import AsyncExitStack

from anyio.abc import TaskGroup

from dragoman.debug.adapters.spec import Situation
from dragoman.debug.luapanda.backend import LuaBackend
from dragoman.debug.luapanda.bridge import Bridge
from dragoman.debug.luapanda.harbour import Harbour
from dragoman.debug.luapanda.paths import PathMap
from dragoman.debug.luapanda.places import Connecting, Listening, Place, Started
from dragoman.debug.luapanda.settings import LuaSettings, read_settings
from dragoman.transport.supervisors import Supervisors

_GRACE_S = 2.0
_HARBOUR = Harbour()


async def open_lua(supervisors: Supervisors, group: TaskGroup, situation: Situation) -> LuaBackend:
    settings = read_settings(situation.request, situation.arguments, situation.workspace)
    async with AsyncExitStack() as stack:
        place = await _place(stack, supervisors, group, settings, situation)
        backend = LuaBackend(stack, place, Bridge(settings, PathMap(settings, situation.workspace)), settings)
        await group.start(backend.run)
        backend.keeps(stack.pop_all())
        return backend
    raise AssertionError("unreachable")


async def _place(
    stack: AsyncExitStack, supervisors: Supervisors, group: TaskGroup, settings: LuaSettings, situation: Situation
) -> Place:
    if settings.way == "connecting":
        return Connecting(settings)
    starts = settings.program is not None and situation.request == "launch"
    tree = await stack.enter_async_context(supervisors.tree(grace_s=_GRACE_S)) if starts else None
    if settings.way == "started" and tree is not None:
        return Started(tree, settings, situation)
    berth = _HARBOUR.berth(group, settings.host, settings.port)
    stack.callback(berth.leave)
    return Listening(berth, tree, settings, situation)
