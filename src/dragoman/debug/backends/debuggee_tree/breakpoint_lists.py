"""Breakpoint lists for all debuggees of a tree, also for those that join later. A breakpoint is bound when one of
them has bound it.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.adapters.connection import DebuggeeConnection, DebuggeeSetup, RequestedBreakpointList
from dragoman.debug.backends.port import make_response
from dragoman.protocols.dap import Response, read_body

log = logging.getLogger(__name__)
_ROOT = 0
_CHILD_TIMEOUT_S = 2.0  # a child that hangs must not delay the caller
_FIRST_NUMBER = 1 << 32
"""Above the ids of any adapter: those that the root gave before it had children stay as they are."""

BreakpointAnswer = Mapping[str, Any]  # a DAP breakpoint


@dataclass(slots=True)
class _TreeBreakpoint:
    """A breakpoint that was requested: our number, and the last report of each debuggee under its own id."""

    number: int
    reports: dict[tuple[int, int | None], BreakpointAnswer] = field(default_factory=dict)

    def merged(self) -> dict[str, Any]:
        bound = next((it for it in self.reports.values() if it.get("verified")), None)
        with_reason = next((it for it in self.reports.values() if it.get("message")), None)
        chosen = bound or with_reason or next(iter(self.reports.values()), {"verified": False})
        return {**chosen, "id": self.number}


class TreeBreakpoints:
    """Entries by list: a file's path, or the command of a list that is not a file's."""

    def __init__(self) -> None:
        self._numbers = itertools.count(_FIRST_NUMBER)
        self._lists: dict[str, list[_TreeBreakpoint]] = {}

    def replace(self, key: str, count: int) -> None:
        """A list replaces the one before it."""
        self._lists[key] = [_TreeBreakpoint(next(self._numbers)) for _ in range(count)]

    def adopt(self, key: str, count: int, answers: Sequence[BreakpointAnswer]) -> None:
        """A list that the root got before there was a tree: the session knows its breakpoints by the root's ids."""
        self.replace(key, count)
        self.record(key, _ROOT, answers)
        for entry, answer in zip(self._lists[key], answers, strict=False):
            if (number := _id_of(answer)) is not None:
                entry.number = number

    def record(self, key: str, debuggee: int, answers: Sequence[BreakpointAnswer]) -> None:
        for entry, answer in zip(self._lists.get(key, ()), answers, strict=False):
            entry.reports[debuggee, _id_of(answer)] = answer

    def merged(self, key: str) -> list[dict[str, Any]]:
        return [entry.merged() for entry in self._lists.get(key, ())]

    def all_merged(self) -> list[dict[str, Any]]:
        return [merged for key in self._lists for merged in self.merged(key)]

    def update(self, debuggee: int, answer: BreakpointAnswer) -> dict[str, Any] | None:
        """Apply a `breakpoint` event. Returns what to report, if it changed one of ours."""
        number = _id_of(answer)
        entry = self._entry(debuggee, number)
        if entry is None:
            return None
        before, last = entry.merged(), entry.reports[debuggee, number]
        entry.reports[debuggee, number] = {**_without_reason(last), **answer}
        return entry.merged() if entry.merged() != before else None

    def remove_debuggee(self, debuggee: int) -> None:
        for entry in itertools.chain.from_iterable(self._lists.values()):
            entry.reports = {key: answer for key, answer in entry.reports.items() if key[0] != debuggee}

    def number(self, debuggee: int, theirs: int) -> int | None:
        entry = self._entry(debuggee, theirs)
        return entry.number if entry else None

    def _entry(self, debuggee: int, theirs: int | None) -> _TreeBreakpoint | None:
        """None also for an id that several have, as js-debug gives it in a list that it is sent again: such an id
        identifies none of them."""
        entries = itertools.chain.from_iterable(self._lists.values())
        found = [entry for entry in entries if (debuggee, theirs) in entry.reports] if theirs is not None else []
        return found[0] if len(found) == 1 else None


def _id_of(answer: BreakpointAnswer) -> int | None:
    number = answer.get("id")
    return number if isinstance(number, int) else None


def _without_reason(report: BreakpointAnswer) -> BreakpointAnswer:
    """The reason why it was not bound is over once it is; one that still holds is sent again."""
    return {name: value for name, value in report.items() if name != "message"}


class BreakpointLists:
    """Sends each list to every debuggee, and everything that was set so far to one that joins."""

    def __init__(self, setup: DebuggeeSetup) -> None:
        self.breakpoints = TreeBreakpoints()
        self._lists = setup.lists
        self._setting = setup.setting
        for key in self._lists:
            self.adopt(key)

    def adopt(self, key: str) -> None:
        sent, answers = self._lists[key], None
        if sent.response is not None:
            with contextlib.suppress(RemoteProtocolError):  # the session could not read this response either
                answers = read_body(sent.response, _BreakpointsBody).breakpoints
        self.breakpoints.adopt(key, sent.count, answers or ())

    async def set(
        self, links: Mapping[int, DebuggeeConnection], command: str, arguments: dict[str, Any], timeout_s: float
    ) -> Response:
        """The root's refusal is the answer; a child that cannot take it is not the program."""
        sent = RequestedBreakpointList(command, arguments)
        async with self._setting:
            self._lists[sent.key] = sent
            self.breakpoints.replace(sent.key, sent.count)
            response = await self._send(_ROOT, links[_ROOT], sent, timeout_s)
            async with anyio.create_task_group() as group:
                for slot in links.keys() - {_ROOT}:
                    group.start_soon(self._send_tolerantly, slot, links[slot], sent)
        if command == "setExceptionBreakpoints":
            return response
        return make_response(command, {"breakpoints": self.breakpoints.merged(sent.key)})

    @asynccontextmanager
    async def send_all(
        self, slot: int, link: DebuggeeConnection, *, within_s: float
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Send everything that was set so far. No list is set inside, so a debuggee that joins there gets each list
        exactly once. Afterwards the yielded list has the breakpoints that became bound by it."""
        changed: list[dict[str, Any]] = []
        async with self._setting:
            before = self.breakpoints.all_merged()
            for sent in self._lists.values():
                await self._send(slot, link, sent, within_s)
            yield changed
            changed += [merged for merged in self.breakpoints.all_merged() if merged not in before]

    async def _send_tolerantly(self, slot: int, link: DebuggeeConnection, sent: RequestedBreakpointList) -> None:
        try:
            await self._send(slot, link, sent, _CHILD_TIMEOUT_S)
        except (DragomanError, RemoteProtocolError) as error:
            log.info("a child session did not take the breakpoints: %s", error)

    async def _send(
        self, slot: int, link: DebuggeeConnection, sent: RequestedBreakpointList, timeout_s: float
    ) -> Response:
        response = await link.request(sent.command, sent.arguments, timeout_s=timeout_s)
        self.breakpoints.record(sent.key, slot, read_body(response, _BreakpointsBody).breakpoints or ())
        return response


class _BreakpointsBody(msgspec.Struct):
    breakpoints: list[dict[str, Any]] | None = None
