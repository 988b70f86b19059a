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
from dragoman.debug.threads import LISTED_AT_MOST
from dragoman.debug.turns import Turns
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.transport.time_slice import in_turns
from dragoman.wire.dap import Response, answers, read_body

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
        return response if member is self._members.root else await _raised(response, member.place)

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

        every = list(self._members.present.values())
        programs = [it for it in every if self._threads.of(it.place)]  # a root that only asks for children answers late
        async with anyio.create_task_group() as group:
            for member in programs or every:
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
        return [
            {"id": self._threads.ours(member.place, it.id), "name": _name_of(it, member)}
            async for it in in_turns(read_body(response, answers.ThreadsAnswer).threads[:LISTED_AT_MOST])
        ]


class _EvaluateBody(msgspec.Struct):
    result: str = ""


class _Row(msgspec.Struct, rename="camel"):
    variables_reference: int | None = 0


def _name_of(thread: answers.Thread, member: Member) -> str:
    """Of a child: with its title, which holds the process id in every adapter that has children."""
    is_told = not member.title or member.title in thread.name
    return thread.name if is_told else f"{thread.name} ({member.title})"


async def _raised(response: Response, place: int) -> Response:
    """Row by row: js-debug answers for an object with as many as it has properties."""
    if response.body is UNSET:
        return response
    told: dict[str, Any] = {}
    for name, value in read_body(response, dict[str, msgspec.Raw]).items():
        has_frames = response.command == "stackTrace" and name == "stackFrames"
        if bytes(value)[:1] == b"[":
            rows = in_turns(_decoded(value, list[msgspec.Raw]))
            told[name] = [_raised_row(it, place, has_frames=has_frames) async for it in rows]
        else:
            told[name] = _raised_value({name: value}, place)[name]
    return answer(response.command, told)


def _raised_row(row: msgspec.Raw, place: int, *, has_frames: bool) -> Any:
    """Most variables hold nothing: such a row stays the bytes that it is."""
    text = bytes(row)
    is_plain = not has_frames and text[:1] == b"{" and text.count(b"variablesReference") < 2
    if is_plain and b"sourceReference" not in text and not _decoded(row, _Row).variables_reference:
        return row
    return _raised_value(row, place, frames=has_frames)


def _raised_value(value: msgspec.Raw | dict[str, msgspec.Raw], place: int, *, frames: bool = False) -> Any:
    plain = {name: _decoded(it, Any) for name, it in value.items()} if isinstance(value, dict) else _decoded(value, Any)
    try:
        return raised(plain, place, frames=frames)
    except RecursionError as error:
        raise RemoteProtocolError("nested_too_deeply", "An answer is nested too deeply.") from error


def _decoded(value: msgspec.Raw, kind: Any) -> Any:
    return read_body(Response(request_seq=0, success=True, body=value), kind)
