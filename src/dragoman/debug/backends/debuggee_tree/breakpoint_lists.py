"""Breakpoint lists for all debuggees of a tree, also for those that join later. A breakpoint is bound when one of
them has bound it.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.port import DebuggeeConnection, make_response
from dragoman.protocols.dap import Response, read_body

log = logging.getLogger(__name__)
ADMIT_ARGUMENT = "dragomanAdmit"
"""A field of ours in a list: expressions that each process evaluates before it gets the list, and what it answers with
is why its debugger cannot stop there."""
_ROOT = 0
_ADMIT_TIMEOUT_S = 2.0
_CHILD_TIMEOUT_S = 2.0  # one that hangs must not take the caller's time

BreakpointAnswer = Mapping[str, Any]  # a DAP breakpoint


@dataclass(slots=True)
class _TreeBreakpoint:
    """A breakpoint that was asked for: our number, and each member's own with what it last said."""

    number: int
    said: dict[tuple[int, int | None], BreakpointAnswer] = field(default_factory=dict)

    def reported(self) -> dict[str, Any]:
        best = next((it for it in self.said.values() if it.get("verified")), None)
        worded = next((it for it in self.said.values() if it.get("message")), None)
        chosen = best or worded or next(iter(self.said.values()), {"verified": False})
        return {**chosen, "id": self.number}


class TreeBreakpoints:
    """Entries by list: a file's path, or the command of a list that is not a file's."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._lists: dict[str, list[_TreeBreakpoint]] = {}

    def asked(self, key: str, count: int) -> None:
        """A list replaces the one before it."""
        self._lists[key] = [_TreeBreakpoint(next(self._numbers)) for _ in range(count)]

    def answered(self, key: str, debuggee: int, answers: Sequence[BreakpointAnswer]) -> None:
        for entry, answer in zip(self._lists.get(key, ()), answers, strict=False):
            entry.said[debuggee, _id_of(answer)] = answer

    def reported(self, key: str) -> list[dict[str, Any]]:
        return [entry.reported() for entry in self._lists.get(key, ())]

    def all_reported(self) -> list[dict[str, Any]]:
        return [reported for key in self._lists for reported in self.reported(key)]

    def changed(self, debuggee: int, answer: BreakpointAnswer) -> dict[str, Any] | None:
        """After a `breakpoint` event: what is to be told, if it is one of ours."""
        number = _id_of(answer)
        entry = self._entry(debuggee, number)
        if entry is None:
            return None
        before, said = entry.reported(), entry.said[debuggee, number]
        entry.said[debuggee, number] = {**_without_reason(said), **answer}
        return entry.reported() if entry.reported() != before else None

    def left(self, debuggee: int) -> None:
        for entry in itertools.chain.from_iterable(self._lists.values()):
            entry.said = {key: answer for key, answer in entry.said.items() if key[0] != debuggee}

    def number(self, debuggee: int, theirs: int) -> int | None:
        entry = self._entry(debuggee, theirs)
        return entry.number if entry else None

    def _entry(self, debuggee: int, theirs: int | None) -> _TreeBreakpoint | None:
        """None also where it gave several the same id, as js-debug does in a list that it is sent again: then the id
        tells nothing."""
        entries = itertools.chain.from_iterable(self._lists.values())
        found = [entry for entry in entries if (debuggee, theirs) in entry.said] if theirs is not None else []
        return found[0] if len(found) == 1 else None


def _id_of(answer: BreakpointAnswer) -> int | None:
    number = answer.get("id")
    return number if isinstance(number, int) else None


def _without_reason(said: BreakpointAnswer) -> BreakpointAnswer:
    """Why it was not bound is over once it is; a reason that still holds is told again."""
    return {name: value for name, value in said.items() if name != "message"}


LIST_COMMANDS = frozenset({"setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"})


class BreakpointLists:
    def __init__(self) -> None:
        self.breakpoints = TreeBreakpoints()
        self._asked: dict[str, tuple[str, dict[str, Any]]] = {}
        self._setting = anyio.Lock()

    async def set(
        self, links: Mapping[int, DebuggeeConnection], command: str, arguments: dict[str, Any], timeout_s: float
    ) -> Response:
        """The root's refusal is the answer; a child that cannot take it is not the program."""
        key = _key_of(command, arguments)
        async with self._setting:
            self._asked[key] = (command, arguments)
            self.breakpoints.asked(key, len(arguments.get("breakpoints") or ()))
            response = await self._set_at(_ROOT, links[_ROOT], key, timeout_s)
            async with anyio.create_task_group() as group:
                for slot in links.keys() - {_ROOT}:
                    group.start_soon(self._set_tolerantly, slot, links[slot], key)
        if command == "setExceptionBreakpoints":
            return response
        return make_response(command, {"breakpoints": self.breakpoints.reported(key)})

    @asynccontextmanager
    async def send_all(
        self, slot: int, link: DebuggeeConnection, *, within_s: float
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Everything set so far. Inside, nothing else is set: whoever joins here misses no list, and gets none twice.

        What became bound by it is in the list afterwards.
        """
        news: list[dict[str, Any]] = []
        async with self._setting:
            before = self.breakpoints.all_reported()
            for key in self._asked:
                await self._set_at(slot, link, key, within_s)
            yield news
            news += [reported for reported in self.breakpoints.all_reported() if reported not in before]

    async def _set_tolerantly(self, slot: int, link: DebuggeeConnection, key: str) -> None:
        try:
            await self._set_at(slot, link, key, _CHILD_TIMEOUT_S)
        except (DragomanError, RemoteProtocolError) as error:
            log.info("a child session did not take the breakpoints: %s", error)

    async def _set_at(self, slot: int, link: DebuggeeConnection, key: str, timeout_s: float) -> Response:
        command, arguments = self._asked[key]
        asked = {name: value for name, value in arguments.items() if name != ADMIT_ARGUMENT}
        reason = await _refusal(link, arguments.get(ADMIT_ARGUMENT, ()))
        response = await link.request(command, asked, timeout_s=timeout_s)
        reported = read_body(response, _BreakpointsBody).breakpoints or ()
        refused = {"verified": False, "message": reason} if reason else {}
        self.breakpoints.answered(key, slot, [{**it, **refused} for it in reported])
        return response


async def _refusal(link: DebuggeeConnection, expressions: Iterable[str]) -> str:
    """A process that cannot be asked gets its list all the same, and says itself what it makes of it."""
    for expression in expressions:
        try:
            asked = {"expression": expression, "context": "watch"}
            response = await link.request("evaluate", asked, timeout_s=_ADMIT_TIMEOUT_S)
        except (DragomanError, RemoteProtocolError) as error:
            log.info("breakpoints in a library may not bind: %s", error)
            return ""
        if reason := read_body(response, _AdmitResult).result.strip("'\""):
            return reason
    return ""


class _AdmitResult(msgspec.Struct):
    result: str = ""


class _BreakpointsBody(msgspec.Struct):
    breakpoints: list[dict[str, Any]] | None = None


def _key_of(command: str, arguments: Mapping[str, Any]) -> str:
    source = arguments.get("source") or {}
    return f"{command} {source.get('path') or source.get('sourceReference') or ''}"
