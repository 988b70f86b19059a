"""Count the files that a debug step passes through: `python tools/step_path.py`.

Starts a small Python program under debugpy through the tools layer, stops it at a breakpoint, and profiles one
`step_execution`. "Down" is every file of src/dragoman that runs from the tool call until the bytes of the step are
written. "Back" is every file that runs from the first bytes that the adapter sends after that until the tool's answer:
first until the session handles the stop, then the inspection of the stop and the answer. Modules of which no function
runs are not counted.
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
_DRIVER = SOURCE / "io" / "drivers" / "dap_adapter_driver.py"
_HANDLED = (str(SOURCE / "debug" / "session" / "events.py"), "handle")


@dataclass
class StepPath:
    """The files by how many of their functions ran, in the order in which they were reached first."""

    down: dict[str, int] = field(default_factory=dict)
    delivery: dict[str, int] = field(default_factory=dict)
    """Back, from the bytes to the session's event handler."""
    back: dict[str, int] = field(default_factory=dict)
    """Back, from the bytes to the answer."""
    waiting: dict[str, int] = field(default_factory=dict)
    """Between the two: tasks that go to sleep while the adapter works."""


class StepProfiler:
    """A profile function that sorts calls by where the step is: on its way down, with the adapter, or on its way back.

    The driver marks both ends. It sends the bytes of the step in `_write`, and the first call of its `_take` or of a
    response's `settle` after that is the adapter's first word. The session's event handler ends the delivery.
    """

    def __init__(self) -> None:
        self.path = StepPath()
        self._files = self.path.down
        self._is_delivering = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        file = frame.f_code.co_filename
        if not file.startswith(str(SOURCE)):
            return
        if file == str(_DRIVER):
            self._mark(frame.f_code.co_name)
        name = file.removeprefix(f"{SOURCE}{os.sep}")
        self._files[name] = self._files.get(name, 0) + 1
        if self._is_delivering:
            self.path.delivery[name] = self.path.delivery.get(name, 0) + 1
            self._is_delivering = (file, frame.f_code.co_name) != _HANDLED

    def _mark(self, function: str) -> None:
        if function in {"_take", "settle"} and self._files is self.path.waiting:
            self._files, self._is_delivering = self.path.back, True
        elif function == "_write" and self._files is self.path.down:
            self._files = self.path.waiting


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
    return profiler.path


def _print(title: str, files: dict[str, int]) -> None:
    print(f"{title}: {len(files)} files")
    for name, calls in files.items():
        print(f"  {calls:5}  {name}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = anyio.run(measure, Path(folder))
    _print("Down, from the tool call to the bytes", path.down)
    _print("Back, from the bytes to the session", path.delivery)
    _print("Back, from the bytes to the answer", path.back)


if __name__ == "__main__":
    main()
