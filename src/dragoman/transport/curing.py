"""When sockets of process trees are looked for: often while connections come up, seldom while programs run, else never.

One task for all sessions, which is there only while there is something to look for: what stands still costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.transport.nodelay import NoDelay
from dragoman.transport.streams import Pids

_OFTEN_S = 0.015
_OFTEN_FOR_S = 4.0
_SELDOM_S = 0.5
_AFTER_STOP_S = 0.1
_REST_TO_WORK = 4  # a look at hundreds of processes takes long, and is repeated the later for it


class Patient:
    """A process tree. `Curing.admit` makes one."""

    def __init__(self, curing: Curing, pids: Pids) -> None:
        self.due = math.inf
        self._curing = curing
        self._pids = pids
        self._cure = NoDelay()
        self._often_until = 0.0
        self._runs = True
        self.connects()

    def connects(self) -> None:
        """Connections are coming up."""
        self._often_until = anyio.current_time() + _OFTEN_FOR_S
        self._wants_look(0)

    def runs(self) -> None:
        """It may start others, whose debugger nobody announces."""
        self._runs = True
        self._wants_look(_SELDOM_S)

    def stops(self) -> None:
        """Its connections are all there, and looking for more costs what steps need."""
        now = anyio.current_time()
        self._runs = False
        self._often_until = min(self._often_until, now + _AFTER_STOP_S)
        if now >= self._often_until:
            self.due = math.inf

    def leaves(self) -> None:
        self._curing.dismiss(self)

    def look(self) -> int:
        """In a thread."""
        return self._cure.cure(self._pids())

    def looked(self, took_s: float) -> None:
        now = anyio.current_time()
        waits_s = _OFTEN_S if now < self._often_until else _SELDOM_S if self._runs else math.inf
        self.due = now + max(waits_s, _REST_TO_WORK * took_s)

    def _wants_look(self, after_s: float) -> None:
        self.due = min(self.due, anyio.current_time() + after_s)
        self._curing.wake()


class Curing:
    """`group` lives longer than any patient."""

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._patients: set[Patient] = set()
        self._woken = anyio.Event()
        self._is_running = False

    @property
    def is_idle(self) -> bool:
        return not self._is_running

    def admit(self, pids: Pids) -> Patient:
        patient = Patient(self, pids)
        self._patients.add(patient)
        return patient

    def dismiss(self, patient: Patient) -> None:
        self._patients.discard(patient)
        self._woken.set()

    def wake(self) -> None:
        self._woken.set()
        if not self._is_running:
            self._is_running = True
            self._group.start_soon(self._run)

    async def _run(self) -> None:
        try:
            while True:
                self._woken = anyio.Event()
                if (first := min((it.due for it in self._patients), default=math.inf)) == math.inf:
                    return
                with anyio.move_on_after(max(0.0, first - anyio.current_time())):
                    await self._woken.wait()
                await self._look_at([it for it in self._patients if it.due <= anyio.current_time()])
        finally:
            self._is_running = False

    async def _look_at(self, due: Sequence[Patient]) -> None:
        for patient in due:
            began = anyio.current_time()
            await anyio.to_thread.run_sync(patient.look)
            patient.looked(anyio.current_time() - began)
