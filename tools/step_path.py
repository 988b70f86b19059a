"""Print the files that a debug step passes through: `python tools/step_path.py`.

Starts a small Python program under debugpy through the tools layer, stops it at a breakpoint, and profiles one
`step_execution`. It starts at `tools/registry.py`: what comes before that (the MCP server, or the page) is the same for
every tool. Two measures are printed for the way down (from the tool call to the bytes) and for the way back (from the
bytes to the tool's answer).

*Hops* are the files of the frames that are on the await stack, each waiting for the next, where the step changes
hands. Down: a command is put into the mailbox; the mailbox's task makes the request; the request's task hands the
message to the driver; the driver writes the bytes. Back: the `stopped` event is put into the queue; the task that
empties the queue gives it to the stop pipeline, which decides whether it is reported; the stop is published; the waiter
finds it; the tool's answer is made of it. A helper that is called and returns is not a hop, nor is a file that only
starts one of the tasks: a task's stack begins where it takes its work (`TASK_BODIES`).

*Touched* is every file of which any function runs, helpers included, whatever task it runs in. "Delivery" is the part
of the way back until the session handles the stop.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import anyio

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dragoman"
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))

_PROGRAM = "def main():\n    total = 0\n    for n in range(9):\n        total += n\n    return total\n\nmain()\n"
_BREAKPOINT_LINE = 4
_CALL_TIMEOUT_S = 60.0
_DRIVER = "io/drivers/dap_adapter_driver.py"
_RUN_CONTROL = "debug/session/run_control.py"
_TRACKER = "debug/session/request_tracker.py"
_EVENTS = "debug/session/events.py"
_LIFECYCLE = "debug/session/lifecycle.py"
_QUEUE = "debug/backends/event_queue.py"
_HANDLED = (_EVENTS, "handle")

TASK_BODIES = frozenset(
    {
        (_RUN_CONTROL, "run_commands"),
        (_TRACKER, "_send"),
        (_DRIVER, "_write"),
        (_DRIVER, "_read"),
        (_EVENTS, "handle_all"),
    }
)
"""The functions in which the tasks of a step take their work. What is above them on the stack only starts the task."""
_DOWN = {
    (_RUN_CONTROL, "_run"): "command",
    (_RUN_CONTROL, "_resume"): "request",
    (_DRIVER, "_send"): "message",
}
_BACK = {
    ("debug/stops/pipeline.py", "process"): "pipeline",
    (_LIFECYCLE, "stopped_at"): "published",
    ("tools/debug/wait_results.py", "_stopped"): "answer",
}


@dataclass
class StepPath:
    """Files in the order in which they were reached first; those that were touched, by how many functions ran."""

    down_hops: list[str] = field(default_factory=list)
    back_hops: list[str] = field(default_factory=list)
    down: dict[str, int] = field(default_factory=dict)
    delivery: dict[str, int] = field(default_factory=dict)
    """Touched on the way back, from the bytes to the session's event handler."""
    back: dict[str, int] = field(default_factory=dict)
    """Touched on the way back, from the bytes to the answer."""
    waiting: dict[str, int] = field(default_factory=dict)
    """Touched between the two: tasks that go to sleep while the adapter works."""


class StepProfiler:
    """A profile function that sorts calls by where the step is: on its way down, with the adapter, or on its way back.

    The driver marks both ends. It sends the bytes of the step in `_write`, and the first call of its `_take` or of a
    response's `settle` after that is the adapter's first word. The session's event handler ends the delivery.
    """

    def __init__(self) -> None:
        self.path = StepPath()
        self._files = self.path.down
        self._is_delivering = False
        self._stacks: dict[str, list[str]] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(str(SOURCE)):
            return
        name = _name_of(frame)
        call = (name, frame.f_code.co_name)
        self._take_stack(frame, call)
        if name == _DRIVER:
            self._mark(frame.f_code.co_name)
        self._files[name] = self._files.get(name, 0) + 1
        if self._is_delivering:
            self.path.delivery[name] = self.path.delivery.get(name, 0) + 1
            self._is_delivering = call != _HANDLED

    def finish(self) -> StepPath:
        stacks = self._stacks
        down = ("command", "request", "message", "bytes")
        self.path.down_hops = _in_order(*(stacks.get(mark, [_DRIVER]) for mark in down))
        waiter, answer = stacks["waiter"][::-1], stacks["answer"]
        fork = next(index for index, file in enumerate(waiter) if file in answer)
        way_out = [*waiter[: fork + 1], *answer[answer.index(waiter[fork]) + 1 :], *waiter[fork + 1 :]]
        self.path.back_hops = _in_order(stacks["queued"], stacks["pipeline"], stacks["published"], way_out)
        return self.path

    def _take_stack(self, frame: FrameType, call: tuple[str, str]) -> None:
        if self._files is self.path.down and call in _DOWN:
            self._stacks.setdefault(_DOWN[call], _stack(frame))
        elif self._files is self.path.waiting and call[1] == "send":  # the stream's, unless that is anyio's own
            self._stacks.setdefault("bytes", _stack(frame))
        elif self._files is not self.path.back:
            return
        elif call in _BACK:
            self._stacks.setdefault(_BACK[call], _stack(frame))
        elif call == (_QUEUE, "_append") and type(frame.f_locals["body"]).__name__ == "StoppedBody":
            self._stacks.setdefault("queued", _stack(frame))
        elif call == (_LIFECYCLE, "current_outcome") and "published" in self._stacks:
            self._stacks.setdefault("waiter", _stack(frame))

    def _mark(self, function: str) -> None:
        if function in {"_take", "settle"} and self._files is self.path.waiting:
            self._files, self._is_delivering = self.path.back, True
        elif function == "_write" and self._files is self.path.down:
            self._files = self.path.waiting


def _name_of(frame: FrameType | None) -> str:
    return frame.f_code.co_filename.removeprefix(f"{SOURCE}{os.sep}") if frame is not None else ""


def _stack(innermost: FrameType) -> list[str]:
    """The files of src/dragoman on the await stack of this task, outermost first, without those that only start it."""
    files: list[str] = []
    frame: FrameType | None = innermost
    while frame is not None:
        if frame.f_code.co_filename.startswith(str(SOURCE)):
            files.append(_name_of(frame))
            if (files[-1], frame.f_code.co_name) in TASK_BODIES:
                break
        frame = frame.f_back
    return files[::-1]


def _in_order(*stacks: list[str]) -> list[str]:
    return list(dict.fromkeys(file for stack in stacks for file in stack))


@asynccontextmanager
async def _stopped_program(workspace: Path) -> AsyncIterator[Any]:
    """A caller of the tools, with a program that stands at its breakpoint."""
    from dragoman.core.clock import SystemClock
    from dragoman.debug.backends.starter import AdapterStarter
    from dragoman.debug.launch import list_configurations
    from dragoman.debug.service import DebugService
    from dragoman.io.processes.supervisor_pool import SupervisorPool
    from dragoman.journal import Journal
    from dragoman.tools import ToolRegistry
    from dragoman.tools.debug import OpenWaits, debug_tools
    from dragoman.workspace.breakpoints import STORE, BreakpointRegistry
    from dragoman.workspace.caller import Caller

    (workspace / "program.py").write_text(_PROGRAM)
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    caller = Caller("agent", workspace, workspace, environment={"PATH": path, "LANG": "C.UTF-8"}, trusts_workspace=True)
    clock = SystemClock()
    async with (
        Journal.open(workspace / "journal", stores=[STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointRegistry(journal, clock)
        await book.load()
        service = DebugService(group, book, AdapterStarter(supervisors, group), journal, clock)
        tools = ToolRegistry(debug_tools(service, list_configurations, OpenWaits(clock), clock))

        async def call(tool: str, **arguments: Any) -> Any:
            with anyio.fail_after(_CALL_TIMEOUT_S):
                return (await tools.call(tool, arguments, caller)).data.model_dump(mode="json")

        await call("set_breakpoint", file_path="program.py", line_number=_BREAKPOINT_LINE)
        await call("start_debugging", program="program.py")
        await call("step_execution", step_type="over")  # what is imported or cached at the first step is not its path
        yield call
        await call("stop_debugging")
        group.cancel_scope.cancel()


async def measure(workspace: Path) -> StepPath:
    """One step of a real program; tasks that have nothing to do with it do not run meanwhile."""
    profiler = StepProfiler()
    async with _stopped_program(workspace) as call:
        await anyio.sleep(0.5)  # the last events of the step before
        sys.setprofile(profiler)
        try:
            answer = await call("step_execution", step_type="over")
        finally:
            sys.setprofile(None)
        if answer["status"] != "stopped":
            raise SystemExit(f"The step did not end in a stop: {answer}")
    return profiler.finish()


def _print(title: str, files: list[str] | dict[str, int]) -> None:
    print(f"{title}: {len(files)} files")
    for name in files:
        print(f"  {files[name]:5}  {name}" if isinstance(files, dict) else f"  {name}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = anyio.run(measure, Path(folder))
    _print("Hops down, from the tool call to the bytes", path.down_hops)
    _print("Hops back, from the bytes to the answer", path.back_hops)
    _print("Touched on the way down", path.down)
    _print("Touched on the way back until the session handles the stop", path.delivery)
    _print("Touched on the way back until the answer", path.back)


if __name__ == "__main__":
    main()
