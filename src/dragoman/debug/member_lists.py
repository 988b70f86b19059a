"""Lists of breakpoints for several debuggers: each gets every list, also one that comes later."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec

from dragoman.debug.link import Link
from dragoman.debug.member_breakpoints import MemberBreakpoints
from dragoman.debug.messages import answer
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.wire.dap import Response, read_body

log = logging.getLogger(__name__)

LISTS = frozenset({"setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"})
_ROOT = 0
_CHILDREN_WITHIN_S = 2.0  # one that hangs must not take the caller's time


class MemberLists:
    def __init__(self) -> None:
        self.breakpoints = MemberBreakpoints()
        self._asked: dict[str, tuple[str, dict[str, Any]]] = {}
        self._setting = anyio.Lock()

    async def set(
        self, links: Mapping[int, Link], command: str, arguments: dict[str, Any], timeout_s: float
    ) -> Response:
        """The root's refusal is the answer; a child that cannot take it is not the program."""
        key = _key_of(command, arguments)
        async with self._setting:
            self._asked[key] = (command, arguments)
            self.breakpoints.asked(key, len(arguments.get("breakpoints") or ()))
            response = await self._set_at(_ROOT, links[_ROOT], key, timeout_s)
            async with anyio.create_task_group() as group:
                for place in links.keys() - {_ROOT}:
                    group.start_soon(self._set_tolerantly, place, links[place], key)
        if command == "setExceptionBreakpoints":
            return response
        return answer(command, {"breakpoints": self.breakpoints.told(key)})

    @asynccontextmanager
    async def told_to(self, place: int, link: Link, *, within_s: float) -> AsyncIterator[list[dict[str, Any]]]:
        """Everything set so far. Inside, nothing else is set: whoever joins here misses no list, and gets none twice.

        What became bound by it is in the list afterwards.
        """
        news: list[dict[str, Any]] = []
        async with self._setting:
            before = self.breakpoints.all_told()
            for key in self._asked:
                await self._set_at(place, link, key, within_s)
            yield news
            news += [told for told in self.breakpoints.all_told() if told not in before]

    async def _set_tolerantly(self, place: int, link: Link, key: str) -> None:
        try:
            await self._set_at(place, link, key, _CHILDREN_WITHIN_S)
        except (DragomanError, RemoteProtocolError) as error:
            log.info("a child session did not take the breakpoints: %s", error)

    async def _set_at(self, place: int, link: Link, key: str, timeout_s: float) -> Response:
        response = await link.request(*self._asked[key], timeout_s=timeout_s)
        self.breakpoints.answered(key, place, read_body(response, _BreakpointsBody).breakpoints or ())
        return response


class _BreakpointsBody(msgspec.Struct):
    breakpoints: list[dict[str, Any]] | None = None


def _key_of(command: str, arguments: Mapping[str, Any]) -> str:
    source = arguments.get("source") or {}
    return f"{command} {source.get('path') or source.get('sourceReference') or ''}"
