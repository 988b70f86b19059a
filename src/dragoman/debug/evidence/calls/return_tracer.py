"""Writes a row at each return of a function inside the running program, with the value that it returns.

No breakpoint can do that: before the `return` statement its value is not there yet, to compute it twice may change the
program, and a function may end without the statement. It takes the events of the engines that the call tracer uses.
"""

from __future__ import annotations

import sys
from typing import Any

from .call_monitor import MonitoringEngine
from .call_settrace import SettraceEngine
from .call_target import CallTarget, UnpatchedFunctions
from .call_values import error_text, is_of_program

RETURN_NAME = "__return__"
_MOST_ACTIVE = 10_000


class ReturnTracer:
    """One function whose returns are written. It never stops the program, and keeps a frame only until it is left."""

    error_text = staticmethod(error_text)

    def __init__(self, target: CallTarget, write_row: Any) -> None:
        self.target = target
        self.active: dict[int, Any] = {}
        # What the engines ask of any tracer: there are no recordings and no callees here.
        self.recordings: dict[int, Any] = {}
        self.callees: dict[int, Any] = {}
        self.is_done = False
        self._write_row = write_row
        self._pid = UnpatchedFunctions.getpid()
        self.engine: Any = (MonitoringEngine if sys.version_info >= (3, 12) else SettraceEngine)(self)

    def start(self) -> None:
        try:
            self.engine.start()
        except RuntimeError:  # other tools hold all that `sys.monitoring` has
            self.engine = SettraceEngine(self)
            self.engine.start()

    def stop(self) -> None:
        self.engine.stop()

    def drop(self, error: Exception) -> None:
        """A row could not be written. What the program itself raised meanwhile goes on in the program."""
        if is_of_program(error):
            raise error

    def started(self, frame: Any) -> None:
        if self.is_done or len(self.active) >= _MOST_ACTIVE:
            return
        if not self.active:
            self.engine.recording_began()  # from now on, frames that an exception leaves are seen too
        self.active[id(frame)] = frame

    def returned(self, frame: Any, value: Any) -> None:
        self.active.pop(id(frame), None)
        if self.is_done or UnpatchedFunctions.getpid() != self._pid:
            return
        values = dict(frame.f_locals)
        values[RETURN_NAME] = value
        self.is_done = bool(self._write_row(frame.f_globals, values))

    def unwound(self, frame: Any, _: Any) -> None:
        self.active.pop(id(frame), None)

    def ignored(self, *_: Any) -> None:
        """Of a generator that yields, for example: it has not returned."""

    suspended = resumed = line = raised = callee_started = callee_ended = ignored


_running: list[ReturnTracer] = []


def start(evidence: Any, points: tuple[dict[str, Any], ...], path: str, most: int) -> str:
    """`evidence` is the module that writes rows of tracepoints; each point has its arguments for it."""
    for it in points:

        def write_row(names: Any, values: Any, point: dict[str, Any] = it) -> Any:
            return evidence.stops(
                path, most, point["number"], point["condition"], False, point["frame"], point["texts"], names, values
            )

        tracer = ReturnTracer(CallTarget(it["function"], it["file"]), write_row)
        tracer.start()
        _running.append(tracer)
    return "ok"


def stop() -> str:
    while _running:
        _running.pop().stop()
    return "ok"
