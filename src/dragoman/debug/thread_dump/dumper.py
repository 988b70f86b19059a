"""Takes a thread dump of a session: by code inside the program while it runs, by its stacks where it stands."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from dragoman.debug.backend import Answering
from dragoman.debug.dialect import Dialect
from dragoman.debug.member_requests import EVALUATE_IN_EACH
from dragoman.debug.model import Frame, ThreadSeen
from dragoman.debug.own_code import is_library as is_of_a_library
from dragoman.debug.snapshot import Looking
from dragoman.debug.thread_dump import kernel, model, outside
from dragoman.debug.thread_dump.frame_waits import first_own, wait_of
from dragoman.debug.thread_dump.model import DumpedThread, ThreadDump
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.wire.dap import read_body

log = logging.getLogger(__name__)

_ANSWERED_WITHIN_S = 0.8
_STACKS_WITHIN_S = 1.5
_STACKS = 64  # each costs a question
_LEVELS = 12
_HOLDER_WITHIN_S = 0.3


class ThreadDumper:
    def __init__(self, backend: Answering, dialect: Dialect, pid: Callable[[], int | None]) -> None:
        """`pid` is the program's, where it is known and of this machine."""
        self._backend = backend
        self._pid = pid
        self._dialect = dialect

    @property
    def sees_running(self) -> bool:
        """Whether a program can be looked at without being halted."""
        return bool(self._dialect.thread_dump) or self._dialect.is_seen_from_outside

    @property
    def sees_stopped(self) -> bool:
        return self._dialect.is_asked_beside

    async def running(self, *, is_to_halt: bool = False) -> ThreadDump:
        """Of every process of the session; empty where nothing can be learned in time."""
        can_ask = bool(self._dialect.thread_dump) and (self._dialect.is_asked_beside or not is_to_halt)
        found = await self._told_inside() if can_ask else ThreadDump()
        pid = self._pid() if not found else None
        return found if pid is None else await anyio.to_thread.run_sync(self._seen_outside, pid)

    def _seen_outside(self, pid: int) -> ThreadDump:
        found = outside.dump_of(pid)
        return found or kernel.dump_of(pid, self._dialect.kernel_waits)

    async def _told_inside(self) -> ThreadDump:
        # Not `repl`: for as long as that is evaluated debugpy 1.8 also sends what the program prints, a second time.
        asked = {"expression": self._dialect.thread_dump, "context": "watch"}
        try:
            response = await self._backend.request(EVALUATE_IN_EACH, asked, timeout_s=_ANSWERED_WITHIN_S)
            answers = read_body(response, _Answers).answers
        except (DragomanError, RemoteProtocolError) as error:
            log.info("no thread dump: %s", error)
            return ThreadDump()
        return model.together(_read(answer, self._dialect) for answer in answers)

    async def stopped(self, threads: Sequence[ThreadSeen], looking: Looking) -> ThreadDump:
        """By the stacks of a program that stands; of what the time did not suffice for, the names alone."""
        found = [_of_name(it) for it in threads]
        holders: dict[int, int] = {}
        with anyio.move_on_after(_STACKS_WITHIN_S):
            for place, thread in enumerate(threads[:_STACKS]):
                try:
                    frames, _ = await looking.stack(thread.id, _LEVELS)
                    found[place] = _of_frames(thread, frames)
                    if found[place].kind == "lock" and self._dialect.holder:
                        holders[thread.id] = await self._holder(frames[0], looking)
                except (DragomanError, RemoteProtocolError, ValueError):
                    continue
        told = model.with_holders(found[:_STACKS], holders)
        shown = sorted(told, key=lambda it: is_of_a_library(it.path))  # a runtime's own come last
        return ThreadDump(threads=tuple(shown), total=len(threads), deadlocks=model.deadlocks(told, holders))

    async def _holder(self, top: Frame, looking: Looking) -> int:
        """By the number that the system has for it. Raises where that cannot be read."""
        expression = self._dialect.holder
        answer = await looking.evaluate(expression, top.id, "watch", timeout_s=_HOLDER_WITHIN_S)
        return int(answer.result)


class _Answer(msgspec.Struct):
    result: str
    threads: dict[int, int] = msgspec.field(default_factory=dict)


class _Answers(msgspec.Struct):
    answers: list[_Answer]


def _read(answer: _Answer, dialect: Dialect) -> ThreadDump:
    try:
        return model.of_process(dialect.thread_dump_of(answer.result), answer.threads)
    except ValueError as error:
        log.info("a thread dump cannot be read: %s", error)
        return ThreadDump()


_PLACE_IN_NAME = re.compile(r"#\d+ (?P<path>/.*):(?P<line>\d+):in [`'](?P<function>.*)'")


def _of_name(thread: ThreadSeen) -> DumpedThread:
    """rdbg does not stop threads that wait, and says where they are in their names."""
    place = _PLACE_IN_NAME.fullmatch(thread.name)
    if place is None:
        return DumpedThread(name=thread.name, id=thread.id)
    path, line, function = place["path"], int(place["line"]), place["function"]
    return DumpedThread(name=thread.name, id=thread.id, path=path, line=line, function=function)


def _of_frames(thread: ThreadSeen, frames: Sequence[Frame]) -> DumpedThread:
    own = first_own(frames)
    place: dict[str, Any] = {"path": own.path, "line": own.line, "function": own.name} if own else {}
    return DumpedThread(name=thread.name, id=thread.id, kind=wait_of(frames), **place)
