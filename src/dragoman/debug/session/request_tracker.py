"""Tracks requests that a backend has not answered yet: a debugger that hangs in one inspection answers nothing after
it.

A caller that gives up only stops waiting: the request stays open until it is answered. Until then, commands that
would queue up behind it are refused, so that nothing runs by surprise when the debugger comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.debug.backends.port import RUN_COMMANDS, TIME_LIMIT_ARGUMENT, Backend
from dragoman.debug.errors import adapter_busy, adapter_silent, already_ended
from dragoman.protocols.dap import Response

INSPECTION_COMMANDS = frozenset({"variables", "scopes", "evaluate", "setVariable", "setExpression"})
"""They may run the program's own code, which may never end."""

_RESPONSE_TIMEOUT_S = 600.0
_IDLE_TIMEOUT_S = 2.5
_BUSY_PERIOD_S = 30.0  # then the request is repeated, because an adapter may have lost it


@dataclass(slots=True, eq=False)
class TrackedRequest:
    """A request that was sent and may outlive the caller that waited for it."""

    command: str
    sent_at_s: float
    settled: anyio.Event = field(default_factory=anyio.Event)
    is_abandoned: bool = False
    response: Response | None = None
    error: Exception | None = None

    def result(self) -> Response:
        if self.response is None:
            raise self.error or already_ended()
        return self.response


InterruptRequest = Callable[[TrackedRequest], Coroutine[Any, Any, None]]
OnLateResponse = Callable[[TrackedRequest], None]


class RequestTracker:
    """The requests of a session to its backend, and those that are still unanswered."""

    def __init__(self, backend: Backend, *, takes_time_limit: bool = False) -> None:
        """With `takes_time_limit` a look says how long its caller waits: the debugger then ends it itself."""
        self._backend = backend
        self._takes_time_limit = takes_time_limit
        self._pending: list[TrackedRequest] = []
        self._group: TaskGroup | None = None
        self._interrupt_request: InterruptRequest
        self._on_late_response: OnLateResponse

    def start(self, group: TaskGroup, *, interrupt_request: InterruptRequest, on_late_response: OnLateResponse) -> None:
        """Requests run in this group, not in the task of the caller. An abandoned one may be interrupted."""
        self._group, self._interrupt_request, self._on_late_response = group, interrupt_request, on_late_response

    def close(self) -> None:
        self._group = None

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        group = self._group
        if group is None or command not in INSPECTION_COMMANDS | RUN_COMMANDS:
            return await self._backend.request(command, arguments, timeout_s=timeout_s)
        await self.wait_until_idle(timeout_s)
        if _is_ending(group):
            raise already_ended()
        tracked = TrackedRequest(command, anyio.current_time())
        if self._takes_time_limit and command in INSPECTION_COMMANDS:
            arguments = {**(arguments or {}), TIME_LIMIT_ARGUMENT: timeout_s}
        self._pending.append(tracked)
        group.start_soon(self._send, tracked, arguments)
        try:
            with anyio.move_on_after(timeout_s):
                await tracked.settled.wait()
        finally:
            if not tracked.settled.is_set():
                self._abandon(tracked)
        if tracked.is_abandoned:
            raise adapter_silent(command=command, seconds=timeout_s)
        return tracked.result()

    async def wait_until_idle(self, within_s: float) -> None:
        """At once, as a rule; otherwise soon, or what it is busy with is the error."""
        if not self._pending:
            return
        with anyio.move_on_after(min(within_s, _IDLE_TIMEOUT_S)):
            while (busy := self._busy()) is not None:
                await busy.settled.wait()
        if (busy := self._busy()) is not None:
            raise adapter_busy(command=busy.command, seconds=anyio.current_time() - busy.sent_at_s)

    def _busy(self) -> TrackedRequest | None:
        since_s = anyio.current_time() - _BUSY_PERIOD_S
        return next((it for it in self._pending if it.is_abandoned and it.sent_at_s > since_s), None)

    async def _send(self, tracked: TrackedRequest, arguments: dict[str, Any] | None) -> None:
        """Errors are raised to the caller of the request."""
        try:
            tracked.response = await self._backend.request(tracked.command, arguments, timeout_s=_RESPONSE_TIMEOUT_S)
        except Exception as error:  # noqa: BLE001  see above
            tracked.error = error
        finally:
            self._pending.remove(tracked)
            tracked.settled.set()
        if tracked.is_abandoned:
            self._on_late_response(tracked)

    def _abandon(self, tracked: TrackedRequest) -> None:
        tracked.is_abandoned = True
        if self._group is not None and not _is_ending(self._group):
            self._group.start_soon(self._interrupt_request, tracked)


def _is_ending(group: TaskGroup) -> bool:
    """Requests that began now would delay the end."""
    return group.cancel_scope.cancel_called
