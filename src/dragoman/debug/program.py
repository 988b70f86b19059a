"""The process under the debugger, where its adapter or whoever started it tells which one that is."""

from __future__ import annotations

import anyio.to_thread
import psutil

from dragoman.transport.processes import ask_to_end, is_running, started_s
from dragoman.wire.dap import bodies


class Program:
    def __init__(self) -> None:
        self._process: tuple[int, float] | None = None

    @property
    def is_known(self) -> bool:
        return self._process is not None

    def learn(self, body: bodies.ProcessBody) -> None:
        """With its start: a number that another process got meanwhile must not be taken for it."""
        pid = body.system_process_id
        if not pid or body.is_local_process is False:
            return
        try:
            self._process = (pid, started_s(pid))
        except (psutil.Error, ValueError, OverflowError):
            self._process = None  # it has ended already, or there never was such a process

    @property
    def pid(self) -> int | None:
        """Of a process that is there."""
        return self._process[0] if self._process is not None and not self.has_gone else None

    @property
    def has_gone(self) -> bool:
        """Seen in the process table, before the adapter has told of it."""
        return self._process is not None and not is_running(*self._process)

    async def ask_to_end(self) -> None:
        if self._process is not None:
            await anyio.to_thread.run_sync(ask_to_end, *self._process)
