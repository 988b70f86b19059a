"""Requests that go to one member, or to each: whom they mean, and answers in numbers that are unique over all."""

from __future__ import annotations

import contextlib
from typing import Any

import anyio
import msgspec
from msgspec import UNSET

from dragoman.debug.member_ids import Threads, lowered, named_member, raised
from dragoman.debug.members import ROOT, Member, Members
from dragoman.debug.messages import answer
from dragoman.debug.turns import Turns
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.wire.dap import Response, read_body

EVALUATE_IN_EACH = "dragomanEvaluateInEach"
"""A request of ours: the same expression in every process, with our numbers of its threads."""


class MemberRequests:
    def __init__(self, members: Members, threads: Threads, turns: Turns) -> None:
        self._members = members
        self._threads = threads
        self._turns = turns

    async def asked(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        member, own = self.addressed(arguments or {})
        response = await member.link.request(command, own if arguments is not None else None, timeout_s=timeout_s)
        return response if member is self._members.root else _raised(response, member.place)

    def addressed(self, arguments: dict[str, Any]) -> tuple[Member, dict[str, Any]]:
        """By the thread, frame or reference that is named; otherwise the one whose stop was told."""
        own = lowered(arguments)
        place = named_member(arguments)
        thread = self._threads.theirs(arguments["threadId"]) if isinstance(arguments.get("threadId"), int) else None
        if thread is not None:
            place, own["threadId"] = thread
        if place is None:
            place = self._turns.front if self._turns.front is not None else self._first_with_threads()
        return self._members.present.get(place, self._members.root), own

    async def all_threads(self, timeout_s: float) -> Response:
        found: list[dict[str, Any]] = []
        for member in list(self._members.present.values()):
            found += await self._threads_of(member, timeout_s)
        return answer("threads", {"threads": found})

    async def in_each(self, arguments: dict[str, Any], timeout_s: float) -> Response:
        """One that does not answer is left out; the others have answered meanwhile."""
        found: list[dict[str, Any]] = []

        async def ask(member: Member) -> None:
            with contextlib.suppress(DragomanError, RemoteProtocolError):
                response = await member.link.request("evaluate", arguments, timeout_s=timeout_s)
                result = read_body(response, _EvaluateBody).result
                found.append({"result": result, "threads": self._threads.numbers(member.place)})

        async with anyio.create_task_group() as group:
            for member in list(self._members.present.values()):
                group.start_soon(ask, member)
        return answer(EVALUATE_IN_EACH, {"answers": found})

    def _first_with_threads(self) -> int:
        """A root that only asks for children has nothing to evaluate in."""
        return next((place for place in self._members.present if self._threads.of(place)), ROOT)

    async def _threads_of(self, member: Member, timeout_s: float) -> list[dict[str, Any]]:
        try:
            response = await member.link.request("threads", timeout_s=timeout_s)
        except DragomanError:
            if member is self._members.root and len(self._members.present) == 1:
                raise
            return []
        threads = read_body(response, _ThreadsBody).threads
        return [
            {**it, "id": self._threads.ours(member.place, it["id"]), "name": _name_of(it, member)} for it in threads
        ]


class _EvaluateBody(msgspec.Struct):
    result: str = ""


class _ThreadsBody(msgspec.Struct):
    threads: list[dict[str, Any]] = msgspec.field(default_factory=list)


def _name_of(thread: dict[str, Any], member: Member) -> str:
    """Of a child: with its title, which holds the process id in every adapter that has children."""
    name = str(thread.get("name", ""))
    return name if not member.title or member.title in name else f"{name} ({member.title})"


def _raised(response: Response, place: int) -> Response:
    if response.body is UNSET:
        return response
    body = raised(msgspec.json.decode(response.body), place, frames=response.command == "stackTrace")
    return answer(response.command, body)
