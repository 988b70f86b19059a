"""A step that was interrupted by what is no stop for anyone, such as a logpoint in a callee, is taken up again.

DAP has no "go on with the step": `continue` would run away with it. So the program is led back out to where the step
began, by its depth, and the step is made again from there.
"""

from __future__ import annotations

_STEPS = frozenset({"next", "stepIn", "stepOut"})


class Steps:
    """Of the stop that was told last, from which the caller sent the program on."""

    def __init__(self, *, out_ends_inside: bool = False) -> None:
        """Some debuggers end a step out on the last line of the function: one over it leads out of it."""
        self._out_ends_inside = out_ends_inside
        self._thread = 0
        self._depth = 0
        self._line = 0
        self._unfinished = ""

    def told(self, thread_id: int, depth: int, line: int) -> None:
        self._thread, self._depth, self._line, self._unfinished = thread_id, depth, line, ""

    def interrupted(self, command: str, thread_id: int, depth: int) -> str:
        """What the program is sent on with; nothing: the step has arrived where it was going."""
        if command not in _STEPS or thread_id != self._thread or not self._depth:
            return "continue"
        if command == "stepIn" or depth <= self._goal(command):
            return ""
        self._unfinished = command
        return "stepOut"

    def taken_up(self, made: str, thread_id: int, depth: int, line: int) -> str:
        """At the end of a step out: the next one on the way back, or the step itself; nothing: it has arrived.

        Where nothing of the line is left to do after the call, a step out of it may end on the next line already.
        """
        of_callers = "stepOut" if made == "stepOut" and self._out_ends_inside else ""
        command = (self._unfinished or of_callers) if thread_id == self._thread else ""
        if not command:
            return ""
        if depth > self._goal(command):
            return "next" if self._out_ends_inside else "stepOut"
        self._unfinished = ""
        is_on_its_way = command == "next" and line == self._line and not self._out_ends_inside
        return "next" if is_on_its_way else ""

    def _goal(self, command: str) -> int:
        return self._depth - (command == "stepOut")
