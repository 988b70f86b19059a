"""Lists of breakpoints for several debuggers: each gets every list, also one that comes later."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
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
ADMIT = "dragomanAdmit"
"""A field of ours in a list: expressions that each process evaluates before it gets the list, and what it answers with
is why its debugger cannot stop there."""
_ROOT = 0
_ADMITTED_WITHIN_S = 2.0
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
        command, arguments = self._asked[key]
        asked = {name: value for name, value in arguments.items() if name != ADMIT}
        reason = await _refusal(link, arguments.get(ADMIT, ()))
        response = await link.request(command, asked, timeout_s=timeout_s)
        told = read_body(response, _BreakpointsBody).breakpoints or ()
        refused = {"verified": False, "message": reason} if reason else {}
        self.breakpoints.answered(key, place, [{**it, **refused} for it in told])
        return response


async def _refusal(link: Link, expressions: Iterable[str]) -> str:
    """A process that cannot be asked gets its list all the same, and says itself what it makes of it."""
    for expression in expressions:
        try:
            asked = {"expression": expression, "context": "watch"}
            response = await link.request("evaluate", asked, timeout_s=_ADMITTED_WITHIN_S)
        except (DragomanError, RemoteProtocolError) as error:
            log.info("breakpoints in a library may not bind: %s", error)
            return ""
        if reason := read_body(response, _EvaluateBody).result.strip("'\""):
            return reason
    return ""


class _EvaluateBody(msgspec.Struct):
    result: str = ""


class _BreakpointsBody(msgspec.Struct):
    breakpoints: list[dict[str, Any]] | None = None


def _key_of(command: str, arguments: Mapping[str, Any]) -> str:
    source = arguments.get("source") or {}
    return f"{command} {source.get('path') or source.get('sourceReference') or ''}"
