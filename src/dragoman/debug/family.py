"""Several debuggers as one program: a parent and the child sessions that it asks for.

js-debug opens a session for every node process, debugpy one for every child. Above, one program with many threads is
seen: breakpoints go to all members, also to those who join later, events are merged, and one stop is told at a time.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import msgspec

from dragoman.debug.backend import Owns
from dragoman.debug.changed_values import ChangedValues
from dragoman.debug.latecomers import Latecomers
from dragoman.debug.link import Link
from dragoman.debug.member_ids import Threads
from dragoman.debug.member_lists import LISTS, MemberLists
from dragoman.debug.member_requests import EVALUATE_IN_EACH, MemberRequests
from dragoman.debug.members import Join, Member, Members
from dragoman.debug.messages import answer, fields, made
from dragoman.debug.turns import Turns
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.wire.dap import Event, Response, read_body, typed_body

log = logging.getLogger(__name__)

_ENDED_WITHIN_S = 1.0

_STEPS = frozenset({"next", "stepIn", "stepOut", "stepBack", "goto", "restartFrame"})
RUNS = _STEPS | {"continue", "reverseContinue"}
_ROOTS = frozenset({"launch", "attach", "configurationDone", "disconnect", "terminate", "restart"})
_TYPED = frozenset({"stopped", "continued", "thread"})
"""What is changed here before anybody reads it as what it should be."""
_SERVED = {"supportsRunInTerminalRequest": True, "supportsStartDebuggingRequest": True}


class _BreakpointBody(msgspec.Struct):
    """As much as is looked at here: some adapters leave out the rest."""

    breakpoint: dict[str, Any] = msgspec.field(default_factory=dict)


class Last(Protocol):
    """What is to be told before the end, or when the root has simply gone."""

    async def __call__(self, *, gone: bool) -> list[Event]: ...


@dataclass(frozen=True, slots=True)
class Traits:
    """As in `AdapterSpec`."""

    ends_with_its_children: bool = False
    shows_old_values: bool = False
    goes_on_only_when_asked: bool = False


class Family:
    """`run` belongs into a task group. `join` opens another connection for a child's configuration."""

    owns = Owns()

    def __init__(self, root: Link, join: Join, last: Last, traits: Traits) -> None:
        self._last = last
        self._traits = traits
        self._changed = ChangedValues()
        self._lists = MemberLists()
        self._members = Members(root, join, self._lists, self)
        self._root = self._members.root
        self._threads = Threads()
        self._turns = Turns()
        self._late = Latecomers()
        self._requests = MemberRequests(self._members, self._threads, self._turns)
        self._told, self._taken = anyio.create_memory_object_stream[Event](0)
        self._take_by_event: dict[str, Callable[[Member, Event], Awaitable[None]]] = {
            "initialized": self._take_initialized,
            "stopped": self._take_stopped,
            "continued": self._take_continued,
            "thread": self._take_thread,
            "breakpoint": self._take_breakpoint,
            "terminated": self._take_terminated,
            "exited": self._take_roots,
            "process": self._take_roots,
            "debugpyAttach": self._take_attach,
        }

    @property
    def is_configurable(self) -> bool:
        """Whether the adapter has reached the program."""
        return self._root.initialized.is_set()

    # The life.

    async def run(self) -> None:
        """Until the root has gone."""
        try:
            async with anyio.create_task_group() as group:
                self._members.live_in(group)
                await self.hear(self._root)
                await self._tell_last(gone=True)
                group.cancel_scope.cancel("the root has gone")
        finally:
            self._told.close()

    async def events(self) -> AsyncIterator[Event]:
        with contextlib.suppress(anyio.ClosedResourceError):
            async for event in self._taken:
                yield event

    async def end(self) -> None:
        self._told.close()
        self._taken.close()
        await self._members.end()

    async def tell(self, event: Event) -> None:
        try:
            await self._told.send(event)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("an event of a session that has ended was passed over")

    def welcome(self, request: str, configuration: Mapping[str, Any]) -> None:
        self._members.welcome(request, configuration)

    async def part(self, member: Member) -> None:
        """Its threads are gone, and so is a stop of it that was told or waits to be told."""
        if member.left or member is self._root:
            return
        self._members.leave(member)
        for thread in self._threads.of(member.place):
            self._threads.forget(thread)
            await self.tell(made("thread", reason="exited", threadId=thread))
            if self._turns.is_front(member.place):
                await self.tell(made("continued", threadId=thread, allThreadsContinued=False))
        self._turns.left(member.place)
        self._late.left(member.place)
        await self._next_turn()
        self._members.spawn(self._see_off, member)

    async def _see_off(self, member: Member) -> None:
        """js-debug says itself that all has ended, as a rule at once."""
        await self._members.see_off(member)
        await anyio.sleep(_ENDED_WITHIN_S)
        if self._traits.ends_with_its_children and self._members.is_root_alone:
            await self._take_terminated(self._root, made("terminated"))

    # What members say.

    async def hear(self, member: Member) -> None:
        with contextlib.suppress(anyio.ClosedResourceError):
            async for event in member.link.events():
                await self._take(member, event)
        await self.part(member)

    async def _take(self, member: Member, event: Event) -> None:
        is_silenced = not member.is_debugged and event.event != "initialized"
        if member.left or is_silenced:  # its place may be another's by now
            return
        take = self._take_by_event.get(event.event)
        try:
            if event.event in _TYPED:
                typed_body(event)
            await (take(member, event) if take else self.tell(event))
        except (RemoteProtocolError, DragomanError) as error:
            log.warning("an event of a member was skipped: %s", error)

    async def _take_initialized(self, member: Member, event: Event) -> None:
        """js-debug says it twice, and each member to us alone."""
        is_news = not member.initialized.is_set()
        member.initialized.set()
        if member is self._root and is_news:
            await self.tell(event)

    async def _take_stopped(self, member: Member, event: Event) -> None:
        body = self._with_our_thread(member, event)
        if body.get("hitBreakpointIds"):
            ours = [self._lists.breakpoints.number(member.place, it) for it in body["hitBreakpointIds"]]
            body["hitBreakpointIds"] = [] if None in ours else ours  # else the place tells it better than half of them
        self._late.stopped(member.place)
        if self._turns.stopped(member.place, told := made("stopped", **body)):
            await self.tell(told)

    async def _take_continued(self, member: Member, event: Event) -> None:
        """Of a member whose stop was not the one told, it says nothing about the program that is seen above."""
        if self._traits.goes_on_only_when_asked and self._late.is_late(member.place):
            return
        if self._turns.continued(member.place):
            await self.tell(made("continued", **self._with_our_thread(member, event)))
            await self._next_turn()

    async def _take_thread(self, member: Member, event: Event) -> None:
        body = self._with_our_thread(member, event)
        if body.get("reason") == "exited":
            self._threads.forget(body["threadId"])
        await self.tell(made("thread", **body))

    async def _take_breakpoint(self, member: Member, event: Event) -> None:
        told = self._lists.breakpoints.changed(member.place, read_body(event, _BreakpointBody).breakpoint)
        if told is not None:
            await self.tell(made("breakpoint", reason="changed", breakpoint=told))

    async def _take_terminated(self, member: Member, event: Event) -> None:
        if member is not self._root:
            await self.part(member)
            return
        await self._tell_last(gone=False)
        await self.tell(event)

    async def _take_roots(self, member: Member, event: Event) -> None:
        """A child's exit code is not the program's."""
        if member is self._root:
            await self.tell(event)

    async def _take_attach(self, _: Member, event: Event) -> None:
        self.welcome("attach", fields(event))

    async def _tell_last(self, *, gone: bool) -> None:
        for event in await self._last(gone=gone):
            await self.tell(event)

    async def _next_turn(self) -> None:
        if (held := self._turns.next()) is not None:
            await self.tell(held)

    def _with_our_thread(self, member: Member, event: Event) -> dict[str, Any]:
        body = fields(event)
        if isinstance(body.get("threadId"), int):
            body["threadId"] = self._threads.ours(member.place, body["threadId"])
        return body

    # What is asked of them.

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in LISTS:
            return await self._lists.set(self._members.links(), command, arguments or {}, timeout_s)
        if command == "initialize":
            self._members.hello = {**(arguments or {}), **_SERVED}
            return await self._root.link.request(command, self._members.hello, timeout_s=timeout_s)
        if command == EVALUATE_IN_EACH:
            return await self._requests.in_each(arguments or {}, timeout_s)
        if command == "threads":
            return await self._requests.all_threads(timeout_s)
        if command == "disconnect":
            await self._members.dismiss_children(arguments)
        if command in RUNS:
            return await self._run_on(command, arguments or {}, timeout_s)
        if command not in _ROOTS:
            return await self._asked(command, arguments, timeout_s)
        response = await self._root.link.request(command, arguments, timeout_s=timeout_s)
        if command == "configurationDone":
            self._members.configured.set()
        return response

    async def _asked(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        told = await self._requests.asked(command, arguments, timeout_s)
        return self._changed.seen(command, arguments or {}, told) if self._traits.shows_old_values else told

    async def _run_on(self, command: str, arguments: dict[str, Any], timeout_s: float) -> Response:
        """Noted before it is sent: the next stop may come before the answer."""
        member, own = self._requests.addressed(arguments)
        self._changed.forget()
        was_front = self._turns.sent_on(member.place, stepping=command in _STEPS)
        self._late.sent_on(member.place)
        try:
            response = await self._sent_on(member, command, own, timeout_s)
        except DragomanError as error:
            if error.code == "adapter_gone":  # it went on, to its end, which is told as such
                return answer(command, {})
            self._turns.stays(member.place, was_front=was_front)
            self._late.stays(member.place)
            raise
        if self._turns.is_awaited(member.place):
            self._members.spawn(self._turn_after, member.place)
        return response

    async def _sent_on(self, member: Member, command: str, own: dict[str, Any], timeout_s: float) -> Response:
        if self._late.answers(member.place, command):
            return await member.link.request(command, own, timeout_s=timeout_s)
        self._members.spawn(self._unanswered, member, command, own, timeout_s)
        return answer(command, {})

    async def _unanswered(self, member: Member, command: str, own: dict[str, Any], timeout_s: float) -> None:
        with contextlib.suppress(DragomanError, RemoteProtocolError):
            await member.link.request(command, own, timeout_s=timeout_s)

    async def _turn_after(self, place: int) -> None:
        """In a task: who sent it on may be the one who reads our events. A step's own stop comes first, if it comes."""
        await self._turns.step_is_over(place)
        await self._next_turn()
