"""Who is in a family: the root, and children that join in their own time and leave in theirs."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from dragoman.debug.link import Link
from dragoman.debug.member_lists import MemberLists
from dragoman.debug.messages import made, output
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import say
from dragoman.wire.dap import Event

log = logging.getLogger(__name__)

ROOT = 0
DEBUGGED_AT_MOST = 32  # children; each is a connection, and threads to ask for at every stop
_JOINING_AT_MOST = 1_000
_JOINING_AT_ONCE = 4  # the adapter is one process, and others want to be heard too
_JOINED_WITHIN_S = 20.0
_LEFT_WITHIN_S = 1.0
_TITLE = 200  # characters: it stands behind the name of every thread

_FREE = {"terminateDebuggee": False}

Join = Callable[[Mapping[str, Any]], Awaitable[Link]]


class Member:
    """One whose place is beyond the bound has its program sent on at once: nothing of it is told."""

    def __init__(self, place: int, link: Link, title: str) -> None:
        self.place = place
        self.link = link
        self.title = title
        self.initialized = anyio.Event()
        self.left = False
        self.is_debugged = place <= DEBUGGED_AT_MOST


class Head(Protocol):
    """What members need of the family that they are in."""

    async def tell(self, event: Event) -> None: ...

    async def hear(self, member: Member) -> None:
        """To its end."""
        ...

    async def part(self, member: Member) -> None: ...


class Members:
    """`present` are those that can be asked."""

    def __init__(self, root: Link, join: Join, lists: MemberLists, head: Head) -> None:
        self.root = Member(ROOT, root, "")
        self.present: dict[int, Member] = {ROOT: self.root}
        self.hello: dict[str, Any] = {}
        self.configured = anyio.Event()
        self._join = join
        self._lists = lists
        self._head = head
        self._links = [root]
        self._places = {ROOT}
        self._joining = 0
        self._turn = anyio.CapacityLimiter(_JOINING_AT_ONCE)
        self._surplus_told = False
        self._group: TaskGroup | None = None

    @property
    def is_root_alone(self) -> bool:
        return self._places == {ROOT} and not self._joining

    def links(self) -> dict[int, Link]:
        return {place: member.link for place, member in self.present.items()}

    def live_in(self, group: TaskGroup) -> None:
        self._group = group

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        if self._group is not None and not self._group.cancel_scope.cancel_called:
            self._group.start_soon(work, *arguments)

    def welcome(self, request: str, configuration: Mapping[str, Any]) -> None:
        """A child session is asked for. It joins in its own time: who asked waits for our answer first."""
        if self._group is None or self._joining >= _JOINING_AT_MOST:
            raise DragomanError("not_served", say("`{command}` is not served.", command="startDebugging"))
        self._joining += 1
        self._group.start_soon(self._welcome, request, dict(configuration))

    def leave(self, member: Member) -> None:
        """Whoever is asked for its place from now on is another."""
        member.left = True
        self.present.pop(member.place, None)
        self._lists.breakpoints.left(member.place)
        self._places.discard(member.place)

    async def see_off(self, member: Member) -> None:
        """What it was asked last it may yet answer."""
        await self._dismiss(member, None if member.is_debugged else _FREE)
        await member.link.end()
        self._links.remove(member.link)

    async def dismiss_children(self, arguments: dict[str, Any] | None) -> None:
        with anyio.move_on_after(_LEFT_WITHIN_S):
            async with anyio.create_task_group() as group:
                for member in list(self.present.values())[1:]:
                    group.start_soon(self._dismiss, member, arguments)

    async def end(self) -> None:
        for link in self._links:
            await link.end()

    async def _welcome(self, request: str, configuration: dict[str, Any]) -> None:
        """One that has gone before it joined is no loss: its program ended, or was ended."""
        try:
            async with self._turn:
                link = await self._join(configuration)
                self._links.append(link)
                member = Member(self._place(), link, str(configuration.get("name", ""))[:_TITLE])
                self.spawn(self._head.hear, member)
                await self._introduced(member, request, configuration)
        except* (DragomanError, RemoteProtocolError) as errors:
            log.info("a child session was not reached: %s", errors.exceptions[0])
        finally:
            self._joining -= 1

    def _place(self) -> int:
        """The first that is free. Those beyond the bound share one, which nobody is looked for at."""
        place = next(place for place in itertools.count(1) if place not in self._places)
        if place <= DEBUGGED_AT_MOST:
            self._places.add(place)
        return place

    async def _introduced(self, member: Member, request: str, configuration: dict[str, Any]) -> None:
        try:
            with anyio.fail_after(_JOINED_WITHIN_S):
                await self._introduce(member, request, configuration)
        except* (DragomanError, RemoteProtocolError, TimeoutError) as errors:
            log.info("a child session did not join: %s", errors.exceptions[0])
            await self._head.part(member)
        if not member.is_debugged:
            await self._tell_surplus()
            await self._head.part(member)

    async def _introduce(self, member: Member, request: str, configuration: dict[str, Any]) -> None:
        """As a session does with its root; what was set so far it gets before its program runs."""
        await member.link.request("initialize", self.hello, timeout_s=_JOINED_WITHIN_S)
        async with anyio.create_task_group() as group:
            group.start_soon(self._started, member, request, configuration)
            await member.initialized.wait()
            await self.configured.wait()
            if member.is_debugged:
                await self._catch_up(member)
            await member.link.request("configurationDone", timeout_s=_JOINED_WITHIN_S)

    async def _catch_up(self, member: Member) -> None:
        """What it makes of the breakpoints is news where nobody had bound them before."""
        async with self._lists.told_to(member.place, member.link, within_s=_JOINED_WITHIN_S) as news:
            self.present[member.place] = member
        for told in news:
            await self._head.tell(made("breakpoint", reason="changed", breakpoint=told))

    async def _tell_surplus(self) -> None:
        if not self._surplus_told:
            self._surplus_told = True
            words = f"[{DEBUGGED_AT_MOST} child processes are debugged at a time; the others run without a debugger]"
            await self._head.tell(output(f"{words}\n", "console"))

    async def _started(self, member: Member, request: str, configuration: dict[str, Any]) -> None:
        await member.link.request(request, configuration, timeout_s=_JOINED_WITHIN_S)

    async def _dismiss(self, member: Member, arguments: dict[str, Any] | None) -> None:
        try:
            await member.link.request("disconnect", arguments, timeout_s=_LEFT_WITHIN_S)
        except DragomanError:
            log.debug("a child session left before it was dismissed")
