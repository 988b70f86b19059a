"""Routes requests to one debuggee or to each, and makes ids unique across all of them.

Thread ids are shown to people and stay as they are where they can. Frame ids and references get the slot of their
debuggee added, so those of the first debuggee stay the same and cost nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import anyio
import msgspec
from msgspec import UNSET

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.debuggee_tree.debuggees import ROOT, Debuggee, Debuggees, StopArbiter
from dragoman.debug.backends.port import EVALUATE_IN_EACH, make_response
from dragoman.debug.session.threads import MAX_LISTED_THREADS, MAX_LIVE_THREADS
from dragoman.io.event_loop import in_turns
from dragoman.protocols.dap import Response, bodies, read_body

ID_SPAN = 1 << 40  # above any adapter's own numbers, and 8,192 members below what JSON readers take as whole
_FRAME = "frameId"

_REFERENCES = frozenset({"variablesReference", "sourceReference"})  # in these fields, zero means "none"


class ThreadIds:
    """Maps thread ids of debuggees to ours and back. Ours are never 0, which means "no thread" to many clients."""

    def __init__(self) -> None:
        self._ours: dict[tuple[int, int], int] = {}
        self._theirs: dict[int, tuple[int, int]] = {}
        self._last = 0

    def ours(self, debuggee: int, theirs: int) -> int:
        key = (debuggee, theirs)
        if key not in self._ours:
            if len(self._ours) >= MAX_LIVE_THREADS:
                raise RemoteProtocolError("too_many_threads", f"More than {MAX_LIVE_THREADS} threads were reported.")
            number = theirs if theirs > 0 and theirs not in self._theirs else self._free()
            self._ours[key], self._theirs[number] = number, key
            self._last = max(self._last, number)
        return self._ours[key]

    def theirs(self, ours: int) -> tuple[int, int] | None:
        """The debuggee and its own id; None for a thread that was never reported."""
        return self._theirs.get(ours)

    def of(self, debuggee: int) -> list[int]:
        return [ours for ours, (owner, _) in self._theirs.items() if owner == debuggee]

    def numbers(self, debuggee: int) -> dict[int, int]:
        """Our ids by the debuggee's own."""
        return {theirs: ours for ours, (owner, theirs) in self._theirs.items() if owner == debuggee}

    def forget(self, ours: int) -> None:
        key = self._theirs.pop(ours, None)
        if key is not None:
            del self._ours[key]

    def _free(self) -> int:
        return self._last + 1


def to_tree_ids(value: Any, debuggee: int, *, frames: bool = False) -> Any:
    """A body with the debuggee's slot added to its references, and to its frame ids if it is a stack."""
    if isinstance(value, list):
        return [to_tree_ids(item, debuggee, frames=frames) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _to_tree_field(key, item, debuggee, frames=frames) for key, item in value.items()}


def _to_tree_field(key: str, item: Any, debuggee: int, *, frames: bool) -> Any:
    if isinstance(item, int):
        is_reference = key in _REFERENCES and item != 0
        is_frame = key == _FRAME or (frames and key == "id")
        return item + debuggee * ID_SPAN if is_reference or is_frame else item
    return to_tree_ids(item, debuggee, frames=frames and key == "stackFrames")


def debuggee_of(arguments: Mapping[str, Any]) -> int | None:
    """The debuggee of the frame or reference in a request; None without one."""
    for key, value in arguments.items():
        if isinstance(value, int) and (key == _FRAME or (key in _REFERENCES and value)):
            return value // ID_SPAN
        if key == "source" and isinstance(value, dict) and value.get("sourceReference"):
            return int(value["sourceReference"]) // ID_SPAN
    return None


def to_own_ids(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in the debuggee's own ids."""
    return {key: _to_own_field(key, value) for key, value in arguments.items()}


def _to_own_field(key: str, value: Any) -> Any:
    if isinstance(value, int) and key in _REFERENCES | {_FRAME}:
        return value % ID_SPAN
    return to_own_ids(value) if key == "source" and isinstance(value, dict) else value


class RequestRouter:
    def __init__(self, debuggees: Debuggees, threads: ThreadIds, stop_arbiter: StopArbiter) -> None:
        self._debuggees = debuggees
        self._threads = threads
        self._stop_arbiter = stop_arbiter

    async def request(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        debuggee, own = self.route(arguments or {})
        response = await debuggee.link.request(command, own if arguments is not None else None, timeout_s=timeout_s)
        return response if debuggee is self._debuggees.root else await _to_tree_response(response, debuggee.slot)

    def route(self, arguments: dict[str, Any]) -> tuple[Debuggee, dict[str, Any]]:
        """The debuggee of the thread, frame or reference in the arguments; otherwise the one with the current stop."""
        own = to_own_ids(arguments)
        slot = debuggee_of(arguments)
        thread = self._threads.theirs(arguments["threadId"]) if isinstance(arguments.get("threadId"), int) else None
        if thread is not None:
            slot, own["threadId"] = thread
        if slot is None:
            slot = self._stop_arbiter.current if self._stop_arbiter.current is not None else self._first_with_threads()
        return self._debuggees.connected.get(slot, self._debuggees.root), own

    async def all_threads(self, timeout_s: float) -> Response:
        found: list[dict[str, Any]] = []
        for debuggee in list(self._debuggees.connected.values()):
            found += await self._threads_of(debuggee, timeout_s)
        return make_response("threads", {"threads": found})

    async def evaluate_in_each(self, arguments: dict[str, Any], timeout_s: float) -> Response:
        """A debuggee that does not answer is left out."""
        found: list[dict[str, Any]] = []

        async def ask(debuggee: Debuggee) -> None:
            with contextlib.suppress(DragomanError, RemoteProtocolError):
                response = await debuggee.link.request("evaluate", arguments, timeout_s=timeout_s)
                result = read_body(response, _EvaluateInEachResult).result
                found.append({"result": result, "threads": self._threads.numbers(debuggee.slot)})

        every = list(self._debuggees.connected.values())
        programs = [it for it in every if self._threads.of(it.slot)]  # a root that only starts children responds late
        async with anyio.create_task_group() as group:
            for debuggee in programs or every:
                group.start_soon(ask, debuggee)
        return make_response(EVALUATE_IN_EACH, {"answers": found})

    def _first_with_threads(self) -> int:
        """A root that only opens child sessions has nothing to evaluate in."""
        return next((slot for slot in self._debuggees.connected if self._threads.of(slot)), ROOT)

    async def _threads_of(self, debuggee: Debuggee, timeout_s: float) -> list[dict[str, Any]]:
        try:
            response = await debuggee.link.request("threads", timeout_s=timeout_s)
        except DragomanError:
            if debuggee is self._debuggees.root and len(self._debuggees.connected) == 1:
                raise
            return []
        return await self._listed(debuggee, response)

    async def root_threads(self, response: Response) -> Response:
        """The root's own list under our ids, which from now on are the root's."""
        return make_response("threads", {"threads": await self._listed(self._debuggees.root, response)})

    async def _listed(self, debuggee: Debuggee, response: Response) -> list[dict[str, Any]]:
        return [
            {"id": self._threads.ours(debuggee.slot, it.id), "name": _name_of(it, debuggee)}
            async for it in in_turns(read_body(response, bodies.ThreadsResponse).threads[:MAX_LISTED_THREADS])
        ]


class _EvaluateInEachResult(msgspec.Struct):
    result: str = ""


class _VariableRow(msgspec.Struct, rename="camel"):
    variables_reference: int | None = 0


def _name_of(thread: bodies.DapThread, debuggee: Debuggee) -> str:
    """A child's threads get its title, which holds the process id with every adapter that has children."""
    is_named = not debuggee.title or debuggee.title in thread.name
    return thread.name if is_named else f"{thread.name} ({debuggee.title})"


async def _to_tree_response(response: Response, slot: int) -> Response:
    """Row by row: js-debug answers for an object with as many as it has properties."""
    if response.body is UNSET:
        return response
    body: dict[str, Any] = {}
    for name, value in read_body(response, dict[str, msgspec.Raw]).items():
        has_frames = response.command == "stackTrace" and name == "stackFrames"
        if bytes(value)[:1] == b"[":
            rows = in_turns(_decoded(value, list[msgspec.Raw]))
            body[name] = [_to_tree_row(it, slot, has_frames=has_frames) async for it in rows]
        else:
            body[name] = _to_tree_value({name: value}, slot)[name]
    return make_response(response.command, body)


def _to_tree_row(row: msgspec.Raw, slot: int, *, has_frames: bool) -> Any:
    """Most variables hold nothing: such a row stays the bytes that it is."""
    text = bytes(row)
    is_plain = not has_frames and text[:1] == b"{" and text.count(b"variablesReference") < 2
    if is_plain and b"sourceReference" not in text and not _decoded(row, _VariableRow).variables_reference:
        return row
    return _to_tree_value(row, slot, frames=has_frames)


def _to_tree_value(value: msgspec.Raw | dict[str, msgspec.Raw], slot: int, *, frames: bool = False) -> Any:
    plain = {name: _decoded(it, Any) for name, it in value.items()} if isinstance(value, dict) else _decoded(value, Any)
    try:
        return to_tree_ids(plain, slot, frames=frames)
    except RecursionError as error:
        raise RemoteProtocolError("nested_too_deeply", "An answer is nested too deeply.") from error


def _decoded(value: msgspec.Raw, kind: Any) -> Any:
    return read_body(Response(request_seq=0, success=True, body=value), kind)
