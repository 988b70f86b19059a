"""A step through code that has breakpoints of ours to count or to log ends where the step ends."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import ProgramEnd, StepKind
from dragoman.workspace.breakpoints import Breakpoint
from tests.debug.fake_sessions import running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

NEVER = Breakpoint(id=1, path="/p/a.py", line=5, hit_condition="> 100")
COUNTED_HERE = AdapterQuirks(hit_forms=frozenset())


class SteppingAdapter(FakeAdapter):
    """Goes where a script says: for each command, the reason of its stop, how deep the stack is then, and the line."""

    def __init__(self, *script: tuple[str, str, int] | tuple[str, str, int, int]) -> None:
        super().__init__()
        self.depth = 2
        self.line = 5
        self.script = list(script)
        for command in ("next", "stepIn", "stepOut", "continue"):
            self.answers[command] = lambda _, command=command: self._walk(command)  # type: ignore[misc]
        self.answers["stackTrace"] = lambda _: {
            "stackFrames": [{"id": 1, "name": "f", "line": self.line, "source": {"path": "/p/a.py"}}],
            "totalFrames": self.depth,
        }

    def _walk(self, command: str) -> dict[str, Any]:
        expected, reason, self.depth, *line = self.script.pop(0)
        self.line = line[0] if line else 5
        assert command == expected
        self.stop(reason, **({"hitBreakpointIds": [105]} if reason == "breakpoint" else {}))
        return {}


@pytest.mark.parametrize(
    ("kind", "script"),
    [
        ("over", [("next", "breakpoint", 4), ("stepOut", "step", 3), ("stepOut", "step", 2), ("next", "step", 2)]),
        ("over", [("next", "breakpoint", 2)]),
        ("over", [("next", "breakpoint", 3), ("stepOut", "step", 2, 6)]),
        ("out", [("stepOut", "breakpoint", 3), ("stepOut", "step", 2), ("stepOut", "step", 1)]),
        ("into", [("stepIn", "breakpoint", 3)]),
        (
            "over",
            [
                ("next", "breakpoint", 3),
                ("stepOut", "breakpoint", 3),
                ("stepOut", "step", 2),
                ("next", "breakpoint", 3),
                ("stepOut", "step", 2),
                ("next", "step", 2),
            ],
        ),
    ],
)
async def test_a_step_that_a_hit_that_does_not_count_interrupts_is_taken_up_again(
    kind: StepKind, script: list[tuple[str, str, int]]
) -> None:
    adapter = SteppingAdapter(*script)
    async with running_session(session_of(adapter, quirks=COUNTED_HERE), NEVER) as session:
        adapter.stop("pause")
        await stopped(session)
        await session.run_control.step(kind)
        stop = await stopped(session, 1)
        assert (stop.reason, stop.number, stop.hit_breakpoints) == ("step", 2, None)
        await anyio.wait_all_tasks_blocked()
    assert adapter.script == []


async def test_a_run_is_only_sent_on() -> None:
    adapter = SteppingAdapter(("continue", "breakpoint", 4), ("continue", "pause", 4))
    async with running_session(session_of(adapter, quirks=COUNTED_HERE), NEVER) as session:
        adapter.stop("pause")
        await stopped(session)
        await session.run_control.resume()
        assert (await stopped(session, 1)).reason == "pause"


async def test_a_step_into_an_end_on_purpose_is_an_end_and_no_stop() -> None:
    adapter = SteppingAdapter(("next", "exception", 2))
    adapter.answers["exceptionInfo"] = lambda _: {"exceptionId": "SystemExit", "breakMode": "unhandled"}
    adapter.when("continue", lambda: adapter.emit("terminated"))
    async with running_session(
        session_of(adapter, quirks=AdapterQuirks(ways_to_end=frozenset({"SystemExit"})))
    ) as session:
        adapter.stop("pause")
        await stopped(session)
        await session.run_control.step("over")
        assert isinstance(await session.outcome(1, 2), ProgramEnd)
