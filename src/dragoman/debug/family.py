"""Several debuggers as one program: a parent and the child sessions that it asks for.

js-debug opens a session for every node process, debugpy one for every child. Above, one program with many threads is
seen: breakpoints go to all members, also to those who join later, events are merged, and one stop is told at a time.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import UNSET

from dragoman.debug.backend import Owns
from dragoman.debug.changed_values import ChangedValues
from dragoman.debug.link import Link
from dragoman.debug.member_ids import Threads, lowered, named_member, raised
from dragoman.debug.member_lists import LISTS, MemberLists
from dragoman.debug.messages import answer, fields, made
from dragoman.debug.turns import Turns
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import say
from dragoman.wire.dap import Event, Response, read_body

log = logging.getLogger(__name__)

_JOINED_WITHIN_S = 20.0
_LEFT_WITHIN_S = 1.0
_MEMBERS_AT_MOST = 1_000
_ROOT = 0

_STEPS = frozenset({"next", "stepIn", "stepOut", "stepBack", "goto", "restartFrame"})
_RUNS = _STEPS | {"continue", "reverseContinue"}
_ROOTS = frozenset({"launch", "attach", "configurationDone", "disconnect", "terminate", "restart"})
_SERVED = {"supportsRunInTerminalRequest": True, "supportsStartDebuggingRequest": True}


Join = Callable[[Mapping[str, Any]], Awaitable[Link]]


class Last(Protocol):
    """What is to be told before the end, or when the root has simply gone."""

    async def __call__(self, *, gone: bool) -> list[Event]: ...


@dataclass(frozen=True, slots=True)
class Traits:
    """As in `AdapterSpec`."""

    ends_with_its_children: bool = False
    shows_old_values: bool = False


class _Member:
    def __init__(self, place: int, link: Link, title: str) -> None:
        self.place = place
        self.link = link
        self.title = title
        self.initialized = anyio.Event()
        self.left = False


class Family:
    """`run` belongs into a task group. `join` opens another connection for a child's configuration."""

    owns = Owns()

    def __init__(self, root: Link, join: Join, last: Last, traits: Traits) -> None:
        self._join = join
        self._last = last
        self._traits = traits
        self._changed = ChangedValues()
        self._root = _Member(_ROOT, root, "")
        self._members: dict[int, _Member] = {_ROOT: self._root}
        self._links = [root]
        self._taken_places = {_ROOT}
        self._hello: dict[str, Any] = {}
        self._configured = anyio.Event()
        self._lists = MemberLists()
        self._threads = Threads()
        self._turns = Turns()
        self._told, self._taken = anyio.create_memory_object_stream[Event](0)
        self._group: TaskGroup | None = None
        self._take_by_event: dict[str, Callable[[_Member, Event], Awaitable[None]]] = {
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

    # The life.

    async def run(self) -> None:
        """Until the root has gone."""
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                await self._read(self._root)
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
        for link in self._links:
            await link.end()

    async def tell(self, event: Event) -> None:
        try:
            await self._told.send(event)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("an event of a session that has ended was passed over")

    def welcome(self, request: str, configuration: Mapping[str, Any]) -> None:
        """A child session is asked for. It joins in its own time: who asked waits for our answer first."""
        if self._group is None or len(self._taken_places) >= _MEMBERS_AT_MOST:
            raise DragomanError("not_served", say("`{command}` is not served.", command="startDebugging"))
        place = next(place for place in itertools.count(1) if place not in self._taken_places)
        self._taken_places.add(place)
        self._group.start_soon(self._welcome, place, request, dict(configuration))

    async def _welcome(self, place: int, request: str, configuration: dict[str, Any]) -> None:
        """One that has gone before it joined is no loss: its program ended, or was ended."""
        try:
            link = await self._join(configuration)
            self._links.append(link)
            member = _Member(place, link, str(configuration.get("name", "")))
            self._spawn(self._read, member)
            await self._introduced(member, request, configuration)
        except DragomanError as error:
            log.info("a child session was not reached: %s", error)
            self._taken_places.discard(place)

    async def _introduced(self, member: _Member, request: str, configuration: dict[str, Any]) -> None:
        try:
            with anyio.fail_after(_JOINED_WITHIN_S):
                await self._introduce(member, request, configuration)
        except* (DragomanError, RemoteProtocolError, TimeoutError) as errors:
            log.info("a child session did not join: %s", errors.exceptions[0])
            await self._leave(member)

    async def _introduce(self, member: _Member, request: str, configuration: dict[str, Any]) -> None:
        """As a session does with its root; what was set so far it gets before its program runs."""
        await member.link.request("initialize", self._hello, timeout_s=_JOINED_WITHIN_S)
        async with anyio.create_task_group() as group:
            group.start_soon(self._started, member, request, configuration)
            await member.initialized.wait()
            await self._configured.wait()
            await self._catch_up(member)
            await member.link.request("configurationDone", timeout_s=_JOINED_WITHIN_S)

    async def _catch_up(self, member: _Member) -> None:
        """What it makes of the breakpoints is news where nobody had bound them before."""
        async with self._lists.told_to(member.place, member.link, within_s=_JOINED_WITHIN_S) as news:
            self._members[member.place] = member
        for told in news:
            await self.tell(made("breakpoint", reason="changed", breakpoint=told))

    async def _started(self, member: _Member, request: str, configuration: dict[str, Any]) -> None:
        await member.link.request(request, configuration, timeout_s=_JOINED_WITHIN_S)

    async def _leave(self, member: _Member) -> None:
        """Its threads are gone, and so is a stop of it that was told or waits to be told."""
        if member.left or member is self._root:
            return
        member.left = True
        self._members.pop(member.place, None)
        for thread in self._threads.of(member.place):
            self._threads.forget(thread)
            await self.tell(made("thread", reason="exited", threadId=thread))
            if self._turns.is_front(member.place):
                await self.tell(made("continued", threadId=thread, allThreadsContinued=False))
        self._turns.left(member.place)
        self._lists.breakpoints.left(member.place)
        self._taken_places.discard(member.place)
        await self._next_turn()
        self._spawn(self._see_off, member)

    async def _see_off(self, member: _Member) -> None:
        """What it was asked last it may yet answer."""
        await self._dismiss(member, None)
        await member.link.end()
        self._links.remove(member.link)
        await self._end_with_the_last()

    async def _end_with_the_last(self) -> None:
        """js-debug says so itself, as a rule at once."""
        await anyio.sleep(_LEFT_WITHIN_S)
        if self._traits.ends_with_its_children and self._taken_places == {_ROOT}:
            await self._take_terminated(self._root, made("terminated"))

    def _spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        if self._group is not None and not self._group.cancel_scope.cancel_called:
            self._group.start_soon(work, *arguments)

    # What members say.

    async def _read(self, member: _Member) -> None:
        with contextlib.suppress(anyio.ClosedResourceError):
            async for event in member.link.events():
                await self._take(member, event)
        await self._leave(member)

    async def _take(self, member: _Member, event: Event) -> None:
        if member.left:  # its place may be another's by now
            return
        take = self._take_by_event.get(event.event)
        try:
            await (take(member, event) if take else self.tell(event))
        except (RemoteProtocolError, DragomanError) as error:
            log.warning("an event of a member was skipped: %s", error)

    async def _take_initialized(self, member: _Member, event: Event) -> None:
        """js-debug says it twice, and each member to us alone."""
        is_news = not member.initialized.is_set()
        member.initialized.set()
        if member is self._root and is_news:
            await self.tell(event)

    async def _take_stopped(self, member: _Member, event: Event) -> None:
        body = self._with_our_thread(member, event)
        if body.get("hitBreakpointIds"):
            ours = (self._lists.breakpoints.number(member.place, it) for it in body["hitBreakpointIds"])
            body["hitBreakpointIds"] = [number for number in ours if number is not None]
        if self._turns.stopped(member.place, told := made("stopped", **body)):
            await self.tell(told)

    async def _take_continued(self, member: _Member, event: Event) -> None:
        """Of a member whose stop was not the one told, it says nothing about the program that is seen above."""
        if self._turns.continued(member.place):
            await self.tell(made("continued", **self._with_our_thread(member, event)))
            await self._next_turn()

    async def _take_thread(self, member: _Member, event: Event) -> None:
        body = self._with_our_thread(member, event)
        if body.get("reason") == "exited":
            self._threads.forget(body["threadId"])
        await self.tell(made("thread", **body))

    async def _take_breakpoint(self, member: _Member, event: Event) -> None:
        body = fields(event)
        told = self._lists.breakpoints.changed(member.place, body.get("breakpoint") or {})
        if told is not None:
            await self.tell(made("breakpoint", reason="changed", breakpoint=told))

    async def _take_terminated(self, member: _Member, event: Event) -> None:
        if member is not self._root:
            await self._leave(member)
            return
        await self._tell_last(gone=False)
        await self.tell(event)

    async def _take_roots(self, member: _Member, event: Event) -> None:
        """A child's exit code is not the program's."""
        if member is self._root:
            await self.tell(event)

    async def _take_attach(self, _: _Member, event: Event) -> None:
        self.welcome("attach", fields(event))

    async def _tell_last(self, *, gone: bool) -> None:
        for event in await self._last(gone=gone):
            await self.tell(event)

    async def _next_turn(self) -> None:
        if (held := self._turns.next()) is not None:
            await self.tell(held)

    def _with_our_thread(self, member: _Member, event: Event) -> dict[str, Any]:
        body = fields(event)
        if isinstance(body.get("threadId"), int):
            body["threadId"] = self._threads.ours(member.place, body["threadId"])
        return body

    # What is asked of them.

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in LISTS:
            links = {place: member.link for place, member in self._members.items()}
            return await self._lists.set(links, command, arguments or {}, timeout_s)
        if command == "initialize":
            self._hello = {**(arguments or {}), **_SERVED}
            return await self._root.link.request(command, self._hello, timeout_s=timeout_s)
        if command == "threads":
            return await self._all_threads(timeout_s)
        if command == "disconnect":
            await self._dismiss_children(arguments)
        if command in _RUNS:
            return await self._run_on(command, arguments or {}, timeout_s)
        if command not in _ROOTS:
            return await self._asked(command, arguments, timeout_s)
        response = await self._root.link.request(command, arguments, timeout_s=timeout_s)
        if command == "configurationDone":
            self._configured.set()
        return response

    async def _asked(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        member, own = self._addressed(arguments or {})
        response = await member.link.request(command, own if arguments is not None else None, timeout_s=timeout_s)
        told = response if member is self._root else _raised(response, member.place)
        return self._changed.seen(command, arguments or {}, told) if self._traits.shows_old_values else told

    def _addressed(self, arguments: dict[str, Any]) -> tuple[_Member, dict[str, Any]]:
        """By the thread, frame or reference that is named; otherwise the one whose stop was told."""
        own = lowered(arguments)
        place = named_member(arguments)
        thread = self._threads.theirs(arguments["threadId"]) if isinstance(arguments.get("threadId"), int) else None
        if thread is not None:
            place, own["threadId"] = thread
        if place is None:
            place = self._turns.front if self._turns.front is not None else self._first_with_threads()
        return self._members.get(place, self._root), own

    def _first_with_threads(self) -> int:
        """A root that only asks for children has nothing to evaluate in."""
        return next((place for place in self._members if self._threads.of(place)), _ROOT)

    async def _run_on(self, command: str, arguments: dict[str, Any], timeout_s: float) -> Response:
        """Noted before it is sent: the next stop may come before the answer."""
        member, own = self._addressed(arguments)
        self._changed.forget()
        was_front = self._turns.sent_on(member.place, stepping=command in _STEPS)
        try:
            response = await member.link.request(command, own, timeout_s=timeout_s)
        except DragomanError as error:
            if error.code == "adapter_gone":  # it went on, to its end, which is told as such
                return answer(command, {})
            self._turns.stays(member.place, was_front=was_front)
            raise
        self._spawn(self._turn_after, member.place)
        return response

    async def _turn_after(self, place: int) -> None:
        """In a task: who sent it on may be the one who reads our events. A step's own stop comes first, if it comes."""
        await self._turns.step_is_over(place)
        await self._next_turn()

    async def _all_threads(self, timeout_s: float) -> Response:
        found: list[dict[str, Any]] = []
        for member in list(self._members.values()):
            found += await self._threads_of(member, timeout_s)
        return answer("threads", {"threads": found})

    async def _threads_of(self, member: _Member, timeout_s: float) -> list[dict[str, Any]]:
        try:
            response = await member.link.request("threads", timeout_s=timeout_s)
        except DragomanError:
            if member is self._root and len(self._members) == 1:
                raise
            return []
        threads = read_body(response, _ThreadsBody).threads
        return [
            {**it, "id": self._threads.ours(member.place, it["id"]), "name": _name_of(it, member)} for it in threads
        ]

    async def _dismiss_children(self, arguments: dict[str, Any] | None) -> None:
        with anyio.move_on_after(_LEFT_WITHIN_S):
            async with anyio.create_task_group() as group:
                for member in list(self._members.values())[1:]:
                    group.start_soon(self._dismiss, member, arguments)

    async def _dismiss(self, member: _Member, arguments: dict[str, Any] | None) -> None:
        try:
            await member.link.request("disconnect", arguments, timeout_s=_LEFT_WITHIN_S)
        except DragomanError:
            log.debug("a child session left before it was dismissed")


class _ThreadsBody(msgspec.Struct):
    threads: list[dict[str, Any]] = msgspec.field(default_factory=list)


def _name_of(thread: dict[str, Any], member: _Member) -> str:
    """Of a child: with its title, which holds the process id in every adapter that has children."""
    name = str(thread.get("name", ""))
    return name if not member.title or member.title in name else f"{name} ({member.title})"


def _raised(response: Response, place: int) -> Response:
    if response.body is UNSET:
        return response
    body = raised(msgspec.json.decode(response.body), place, frames=response.command == "stackTrace")
    return answer(response.command, body)
