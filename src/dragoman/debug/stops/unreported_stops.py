"""Stops that are not reported: repeated hits in one pass over a line, and steps that such a stop interrupted.

DAP cannot resume a step: `continue` would run away with it. So the program is led back to the depth at which the step
began, and the step is made again from there. A line with a macro or an inlined call has several addresses, each with
the breakpoint: the first address that is reached again begins the next pass.
"""

from __future__ import annotations

from dragoman.debug.model import FrameInfo

_STEPS = frozenset({"next", "stepIn", "stepOut"})


class StepTracker:
    """The step that the caller made from the last reported stop, resumed when an unreported stop interrupts it."""

    def __init__(self, *, step_out_ends_inside: bool = False) -> None:
        """Some debuggers end a step out on the last line of the function: one over it leads out of it."""
        self._step_out_ends_inside = step_out_ends_inside
        self._thread = 0
        self._depth = 0
        self._line = 0
        self._unfinished = ""

    def mark_reported(self, thread_id: int, depth: int, line: int) -> None:
        self._thread, self._depth, self._line, self._unfinished = thread_id, depth, line, ""

    def command_after_interruption(self, command: str, thread_id: int, depth: int) -> str:
        """The command to resume with. None: the step has arrived."""
        if command not in _STEPS or thread_id != self._thread or not self._depth:
            return "continue"
        if command == "stepIn" or depth <= self._goal(command):
            return ""
        self._unfinished = command
        return "stepOut"

    def command_after_step(self, made: str, thread_id: int, depth: int, line: int) -> str:
        """At the end of a step out: the next step on the way back, or the step itself. None: it has arrived.

        If nothing is left to do in the line after the call, a step out may end on the next line already.
        """
        of_callers = "stepOut" if made == "stepOut" and self._step_out_ends_inside else ""
        command = (self._unfinished or of_callers) if thread_id == self._thread else ""
        if not command:
            return ""
        if depth > self._goal(command):
            return "next" if self._step_out_ends_inside else "stepOut"
        self._unfinished = ""
        is_on_its_way = command == "next" and line == self._line and not self._step_out_ends_inside
        return "next" if is_on_its_way else ""

    def _goal(self, command: str) -> int:
        return self._depth - (command == "stepOut")


class HitDeduplicator:
    def __init__(self) -> None:
        self._where: tuple[object, ...] | None = None
        self._seen: set[str] = set()

    def is_same_pass(self, thread_id: int, frames: tuple[FrameInfo, ...], depth: int) -> bool:
        """Whether a hit belongs to the pass that was already reported; also records it."""
        if not frames or not frames[0].address:
            return False
        where = (thread_id, depth, *((frame.name, frame.path, frame.line) for frame in frames[:2]))
        address = frames[0].address
        if where == self._where and address not in self._seen:
            self._seen.add(address)
            return True
        self._where, self._seen = where, {address}
        return False
