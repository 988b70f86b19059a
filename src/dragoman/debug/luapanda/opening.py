"""From a configuration to a backend."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.debug.adapters.spec import Situation
from dragoman.debug.luapanda.backend import LuaBackend
from dragoman.debug.luapanda.bridge import Bridge
from dragoman.debug.luapanda.harbour import Berth, Harbour
from dragoman.debug.luapanda.paths import PathMap
from dragoman.debug.luapanda.places import Connecting, Listening, Place, Started
from dragoman.debug.luapanda.settings import LuaSettings, read_settings
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.supervised import Tree
from dragoman.transport.supervisors import Supervisors

_GRACE_S = 2.0
_HARBOUR = Harbour()


async def open_lua(supervisors: Supervisors, group: TaskGroup, situation: Situation) -> LuaBackend:
    settings = read_settings(situation.request, situation.arguments, situation.workspace)
    async with AsyncExitStack() as stack:
        if settings.way == "connecting":
            return await _opened(stack, group, settings, situation, Connecting(settings, situation.port_users))
        starts = settings.program is not None and situation.request == "launch"
        tree = await stack.enter_async_context(supervisors.tree(grace_s=_GRACE_S)) if starts else None
        if settings.way == "started" and tree is not None:
            return await _opened(stack, group, settings, situation, Started(tree, settings, situation))
        return await _at_port(stack, group, settings, situation, tree=tree)
    raise AssertionError("unreachable")


async def _at_port(
    stack: AsyncExitStack,
    group: TaskGroup,
    settings: LuaSettings,
    situation: Situation,
    *,
    tree: Tree | None = None,
    stream: ByteStream | None = None,
) -> LuaBackend:
    try:
        users = situation.port_users
        berth = _HARBOUR.berth(group, settings.host, settings.port, users=users, stream=stream)
    except DragomanError as error:
        hint = say("Another debugger may listen there: end it, or choose another `connectionPort` on both sides.")
        raise DragomanError(error.code, error.message, hint=hint) from error
    stack.push_async_callback(berth.leave)
    newcomers = _newcomers(group, settings, situation, berth)
    return await _opened(stack, group, settings, situation, Listening(berth, tree, settings, situation), newcomers)


async def _newcomers(
    group: TaskGroup, settings: LuaSettings, situation: Situation, berth: Berth
) -> AsyncIterator[LuaBackend]:
    with contextlib.suppress(anyio.ClosedResourceError):
        async for stream in berth.newcomers:
            async with AsyncExitStack() as stack:
                yield await _at_port(stack, group, settings, situation, stream=stream)


async def _opened(
    stack: AsyncExitStack,
    group: TaskGroup,
    settings: LuaSettings,
    situation: Situation,
    place: Place,
    newcomers: AsyncIterator[LuaBackend] | None = None,
) -> LuaBackend:
    bridge = Bridge(settings, PathMap(settings, situation.workspace))
    backend = LuaBackend(stack, place, bridge, settings, newcomers)
    await group.start(backend.run)
    backend.keeps(stack.pop_all())
    return backend
