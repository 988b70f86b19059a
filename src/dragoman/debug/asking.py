"""What a backend was asked and has not answered: a debugger that hangs in one look answers nothing that comes after it.

Whoever gives up only stops waiting: the question stays the session's until it is answered. Until then what would queue
up behind it is refused, instead of being done by surprise when the debugger comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.debug import faults
from dragoman.debug.backend import Backend
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.wire.dap import Response

LOOKS = frozenset({"variables", "scopes", "evaluate", "setVariable", "setExpression"})
"""They may run the program's own code, which may never end."""
JUMPS = frozenset({"goto", "restartFrame", "stepBack", "reverseContinue"})
"""What only some debuggers can, and only editors ask for."""
RUNS = frozenset({"continue", "next", "stepIn", "stepOut"}) | JUMPS

LIMIT = "dragomanLimitSeconds"
"""An argument of ours, for backends that can end a look: how long who asked waits for it."""

_ANSWERED_AT_ALL_WITHIN_S = 600.0
_FREED_WITHIN_S = 2.5
_BUSY_FOR_S = 30.0  # then it is asked again: an adapter may also have lost a question


@dataclass(slots=True, eq=False)
class Question:
    command: str
    asked_at_s: float
    settled: anyio.Event = field(default_factory=anyio.Event)
    given_up: bool = False
    response: Response | None = None
    error: Exception | None = None

    def result(self) -> Response:
        if self.response is None:
            raise self.error or faults.already_ended()
        return self.response


Free = Callable[[Question], Coroutine[Any, Any, None]]
Late = Callable[[Question], None]


class Asking:
    """A backend's requests, as a session makes them."""

    def __init__(self, backend: Backend, *, passes_limits: bool = False) -> None:
        """With `passes_limits` a look says how long its caller waits: the debugger then ends it itself."""
        self._backend = backend
        self._passes_limits = passes_limits
        self._open: list[Question] = []
        self._group: TaskGroup | None = None
        self._free: Free
        self._late: Late

    def begin(self, group: TaskGroup, *, free: Free, late: Late) -> None:
        """Questions belong to this group, not to who asks. One that was given up is perhaps set `free`; its answer
        comes `late`."""
        self._group, self._free, self._late = group, free, late

    def close(self) -> None:
        self._group = None

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        group = self._group
        if group is None or command not in LOOKS | RUNS:
            return await self._backend.request(command, arguments, timeout_s=timeout_s)
        await self.freed(timeout_s)
        if _is_ending(group):
            raise faults.already_ended()
        question = Question(command, anyio.current_time())
        if self._passes_limits and command in LOOKS:
            arguments = {**(arguments or {}), LIMIT: timeout_s}
        self._open.append(question)
        group.start_soon(self._ask, question, arguments)
        try:
            with anyio.move_on_after(timeout_s):
                await question.settled.wait()
        finally:
            if not question.settled.is_set():
                self._give_up(question)
        if question.given_up:
            raise _silent(command, timeout_s)
        return question.result()

    async def freed(self, within_s: float) -> None:
        """At once, as a rule; otherwise soon, or what it is busy with is the error."""
        if not self._open:
            return
        with anyio.move_on_after(min(within_s, _FREED_WITHIN_S)):
            while (busy := self._busy()) is not None:
                await busy.settled.wait()
        if (busy := self._busy()) is not None:
            raise faults.adapter_busy(busy.command, anyio.current_time() - busy.asked_at_s)

    def _busy(self) -> Question | None:
        since_s = anyio.current_time() - _BUSY_FOR_S
        return next((it for it in self._open if it.given_up and it.asked_at_s > since_s), None)

    async def _ask(self, question: Question, arguments: dict[str, Any] | None) -> None:
        """What fails is raised where it was asked."""
        try:
            question.response = await self._backend.request(
                question.command, arguments, timeout_s=_ANSWERED_AT_ALL_WITHIN_S
            )
        except Exception as error:  # noqa: BLE001  see above
            question.error = error
        finally:
            self._open.remove(question)
            question.settled.set()
        if question.given_up:
            self._late(question)

    def _give_up(self, question: Question) -> None:
        question.given_up = True
        if self._group is not None and not _is_ending(self._group):
            self._group.start_soon(self._free, question)


def _is_ending(group: TaskGroup) -> bool:
    """What is begun in it now would hold up its end."""
    return group.cancel_scope.cancel_called


def _silent(command: str, timeout_s: float) -> DragomanError:
    return DragomanError(
        "adapter_silent",
        say(
            "The debug adapter did not answer `{command}` within {seconds} seconds.",
            command=command,
            seconds=f"{timeout_s:g}",
        ),
        hint=say("It is busy with it still: ask again in a few seconds. stop_debugging ends the session at any time."),
    )
