"""Run control: each command taken in its turn, decided on the stop its caller knew of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from dragoman.debug import faults
from dragoman.debug.asking import RUNS, Asking, Question
from dragoman.debug.life import Life
from dragoman.debug.mailbox import Mailbox
from dragoman.debug.model import StepKind, Until
from dragoman.debug.opening import Launch
from dragoman.debug.states import Happening, State
from dragoman.debug.threads import Threads
from dragoman.errors import DragomanError
from dragoman.wire.dap import Response, answers, bodies, read_body

_ANSWERED_WITHIN_S = 10.0

_BEFORE_ITS_FIRST_STOP = frozenset({State.IDLE, State.STARTING})
_NO_MORE: Mapping[str, Any] = {}
_STEPS: Mapping[StepKind, str] = {"over": "next", "into": "stepIn", "out": "stepOut"}

SetUntil = Callable[[Until | None], Awaitable[None]]
Tell = Callable[[str, str, dict[str, Any]], None]
Again = Callable[[bodies.StoppedBody], Awaitable[None]]


class Running:
    """`by` is who caused what the program does now, by which `command`; `sent_on` counts how often it was made to go
    on."""

    def __init__(
        self,
        asking: Asking,
        life: Life,
        threads: Threads,
        mailbox: Mailbox,
        *,
        again: Again,
        tell: Tell,
        is_core: bool = False,
    ) -> None:
        self.by = ""
        self.names: dict[str, str] = {}
        """What those who acted call themselves."""
        self.sent_on = 0
        self.command = "continue"
        self._asking = asking
        self._left = 0
        self._life = life
        self._threads = threads
        self._mailbox = mailbox
        self._again = again
        self._tell = tell
        self._is_core = is_core

    async def resume(
        self, *, thread_id: int | None, seen_stop: int | None, by: str, until: Until | None, set_until: SetUntil
    ) -> None:
        async def prepare() -> None:
            if until is not None:
                await set_until(until)

        await self._run("continue", thread_id, seen_stop, by, prepare)

    async def step(
        self,
        kind: StepKind,
        *,
        thread_id: int | None,
        seen_stop: int | None,
        by: str,
        more: Mapping[str, Any] = _NO_MORE,
    ) -> None:
        await self._run(_STEPS[kind], thread_id, seen_stop, by, _nothing, more)

    async def jump(
        self, command: str, more: Mapping[str, Any], *, thread_id: int | None, seen_stop: int | None, by: str
    ) -> None:
        """Answered first, and told as a stop of its own when it is there."""
        await self._run(command, thread_id, seen_stop, by, _nothing, more)

    def went_on_by(self, by: str) -> None:
        """Past us: by whom the session really is."""
        self.by = by
        self.sent_on += 1
        self.command = "continue"
        self._tell("debug.resumed", self.command, {"command": self.command, "by": by})

    async def pause(self, by: str) -> None:
        async def perform() -> None:
            if self._life.state is not State.RUNNING:
                raise faults.not_running(self._life.state)
            self.by = by
            self.command = "pause"
            self._tell("debug.paused", "", {"by": by})
            await self._asking.request("pause", {"threadId": await self._threads.any()}, timeout_s=_ANSWERED_WITHIN_S)

        await self._mailbox.perform(perform)

    async def restart(self, launch: Launch, by: str) -> None:
        """By the adapter itself: what we did not start we cannot start again."""

        async def perform() -> None:
            self.by = by
            self.sent_on += 1
            asked = {"arguments": {**launch.arguments}}
            await self._asking.request("restart", asked, timeout_s=_ANSWERED_WITHIN_S)
            self._threads.went_on(0, everything=True)
            self._life.move(Happening.RESUMED)

        await self._mailbox.perform(perform)

    async def _run(
        self,
        command: str,
        thread_id: int | None,
        seen_stop: int | None,
        by: str,
        prepare: Callable[[], Awaitable[None]],
        more: Mapping[str, Any] = _NO_MORE,
    ) -> None:
        async def perform() -> None:
            if self._is_core:  # lldb-dap says yes to it, and then nothing happens
                raise faults.core_dump()
            thread = await self._decided(thread_id, seen_stop)
            await prepare()
            self.by = by
            self.sent_on += 1
            self.command = command
            self._tell("debug.resumed", command, {"command": command, "thread": thread, "by": by})
            await self._send_on(command, thread, more)

        if self._life.state in _BEFORE_ITS_FIRST_STOP:
            raise faults.not_stopped(self._life.state)  # else it would lie in the mailbox until the start is over
        await self._mailbox.perform(perform)

    async def _decided(self, thread_id: int | None, seen_stop: int | None) -> int:
        stop = self._life.require_stopped()
        await self._asking.freed(_ANSWERED_WITHIN_S)
        if seen_stop is not None and seen_stop != stop.number:
            raise faults.moved_on(stop, self.by, self.names.get(self.by, ""), self.command)
        if thread_id is not None and thread_id != stop.thread_id:
            await self._threads.require(thread_id)
        return stop.thread_id if thread_id is None else thread_id

    async def _send_on(self, command: str, thread: int, more: Mapping[str, Any]) -> None:
        """A thread that stands by itself is the next to be told of, when only another was sent on."""
        together, stops = self._threads.go_together, self._threads.stops_of(thread)
        self._left = self._life.stops
        self._life.leave()
        try:
            whom = {} if "frameId" in more else {"threadId": thread}
            response = await self._asking.request(command, {**whom, **more}, timeout_s=_ANSWERED_WITHIN_S)
        except DragomanError as error:
            if error.code == "adapter_gone":
                return  # it went on, to its end, which is the outcome
            self._life.stay()
            raise
        if self._threads.stops_of(thread) != stops:
            self._went_on()
            return  # its next stop came before the answer: it is looked at already
        self._threads.went_on(thread, everything=_everything(response) if command == "continue" else together)
        self._went_on()
        left = self._threads.still_stopped
        if left is not None and self._life.state is State.RUNNING:
            await self._again(left)

    def answered_late(self, question: Question) -> None:
        """A debugger that was busy has sent the program on after all."""
        stop = self._life.stop
        if question.command in RUNS and question.error is None and stop is not None and stop.number == self._left:
            self._life.leave()
            self._threads.went_on(stop.thread_id, everything=self._threads.go_together)
            self._went_on()

    def _went_on(self) -> None:
        if self._life.is_leaving:
            self._life.move(Happening.RESUMED)


def _everything(response: Response) -> bool:
    """The protocol takes silence for a yes."""
    return read_body(response, answers.ContinueAnswer).all_threads_continued is not False


async def _nothing() -> None:
    return
