"""The operating system process of the program: its pid, asking it to end, and interrupting an inspection that hangs
in it.
"""

from __future__ import annotations

import contextlib

import anyio
import anyio.to_thread
import psutil

from dragoman.core.localization import localize
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.session.request_tracker import TrackedRequest
from dragoman.debug.session.threads import ThreadStates
from dragoman.io.processes.process_info import interrupt_process, is_process_running, process_start_s, terminate
from dragoman.protocols.dap import bodies

_INTERRUPT_INTERVAL_S = 1.0
_MAX_INTERRUPTS = 4  # some debuggers swallow the interrupt and repeat the evaluation, so several are sent


class DebuggeeProcess:
    def __init__(self) -> None:
        self._process: tuple[int, float] | None = None

    @property
    def is_known(self) -> bool:
        return self._process is not None

    def record_process(self, body: bodies.ProcessBody) -> None:
        """Kept with its start time, so that another process that gets the same number is not taken for it."""
        pid = body.system_process_id
        if not pid or body.is_local_process is False:
            return
        try:
            self._process = (pid, process_start_s(pid))
        except (psutil.Error, ValueError, OverflowError):
            self._process = None  # the process has ended or never existed

    @property
    def pid(self) -> int | None:
        """The id of a process that exists."""
        return self._process[0] if self._process is not None and not self.has_exited else None

    @property
    def has_exited(self) -> bool:
        """Read from the process table, before the adapter reports the process."""
        return self._process is not None and not is_process_running(*self._process)

    async def ask_to_end(self) -> None:
        if self._process is not None:
            await anyio.to_thread.run_sync(terminate, *self._process)


# Not `evaluate`, which debugpy interrupts itself: two interrupts at once would end the program.
_INTERRUPTIBLE_COMMANDS = frozenset({"variables", "scopes"})


class InspectionInterrupter:
    """Interrupts an inspection that never ends, where SIGINT reaches the code that hangs, and only in a program that
    we started.
    """

    def __init__(self, quirks: AdapterQuirks, threads: ThreadStates, output: SessionOutput, *, is_launch: bool) -> None:
        self._is_allowed = quirks.is_interruptible and is_launch
        self._threads = threads
        self._output = output
        self._process: tuple[int, float] | None = None

    def record_process(self, body: bodies.ProcessBody) -> None:
        """Kept with its start time, so that another process that gets the same number is not taken for it."""
        pid = body.system_process_id
        if not self._is_allowed or not pid or body.is_local_process is False:
            return
        with contextlib.suppress(psutil.Error, ValueError, OverflowError):  # the process has ended or never existed
            self._process = (pid, process_start_s(pid))

    async def interrupt_request(self, tracked: TrackedRequest, thread_id: int) -> None:
        """The output says what this costs: the interrupt may reach the program itself once the debugger resumes it."""
        if tracked.command not in _INTERRUPTIBLE_COMMANDS or self._process is None or thread_id != self._threads.first:
            return
        sent = 0
        while sent < _MAX_INTERRUPTS and not await _is_answered(tracked):
            sent += 1
            await anyio.to_thread.run_sync(interrupt_process, *self._process)
        if sent:
            message = localize(
                "Inspecting the program hung and was interrupted with SIGINT ({count} times). The program may "
                "see a KeyboardInterrupt from this.",
                count=sent,
            )
            self._output.append("console", f"{message}\n")


async def _is_answered(tracked: TrackedRequest) -> bool:
    with anyio.move_on_after(_INTERRUPT_INTERVAL_S):
        await tracked.settled.wait()
    return tracked.settled.is_set()
