"""A look that never ends, such as at a value whose own text is an endless loop: the program is interrupted in it."""

from __future__ import annotations

import contextlib

import anyio
import anyio.to_thread
import psutil

from dragoman.debug.asking import Question
from dragoman.debug.dialect import Dialect
from dragoman.debug.output import Output
from dragoman.debug.threads import Threads
from dragoman.phrases import say
from dragoman.transport.processes import interrupt, started_s
from dragoman.wire.dap import bodies

_INTERRUPTED = frozenset({"variables", "scopes"})  # debugpy ends an evaluation itself: both at once end the program
_EVERY_S = 1.0
_AT_MOST = 4  # debuggers swallow some, and try the same again


class Interrupting:
    """Only where the interrupt reaches the code that hangs, and only a program that we started."""

    def __init__(self, dialect: Dialect, threads: Threads, output: Output, *, is_launch: bool) -> None:
        self._is_allowed = dialect.is_interrupted and is_launch
        self._threads = threads
        self._output = output
        self._process: tuple[int, float] | None = None

    def learn(self, body: bodies.ProcessBody) -> None:
        """With its start: a number that another process got meanwhile must not be taken for it."""
        pid = body.system_process_id
        if not self._is_allowed or not pid or body.is_local_process is False:
            return
        with contextlib.suppress(psutil.Error, ValueError, OverflowError):  # it has ended already, or never was
            self._process = (pid, started_s(pid))

    async def free(self, question: Question, thread_id: int) -> None:
        """What it costs is told: the interrupt may reach the program itself, once the debugger lets go of it."""
        if question.command not in _INTERRUPTED or self._process is None or thread_id != self._threads.first:
            return
        sent = 0
        while sent < _AT_MOST and not await _is_answered(question):
            sent += 1
            await anyio.to_thread.run_sync(interrupt, *self._process)
        if sent:
            told = say(
                "A look at the program did not end and was interrupted with SIGINT ({count} times). "
                "A KeyboardInterrupt that the program sees next may come from that.",
                count=sent,
            )
            self._output.append("console", f"{told}\n")


async def _is_answered(question: Question) -> bool:
    with anyio.move_on_after(_EVERY_S):
        await question.settled.wait()
    return question.settled.is_set()
