"""An adapter that does anything, in any order, at any moment: the session's state stays true, and it ends.

Each run is a script of what callers ask and of what the adapter does: events early, twice, garbled or never, answers
that are wrong or missing, death.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import localize
from dragoman.debug.backends.port import AdapterRefusedError
from dragoman.debug.model import LIVE_STATES, ProgramEnd, SessionState, Stop
from dragoman.debug.session.output import RETAINED_CHARACTERS
from dragoman.debug.session.session import DebugSession
from dragoman.protocols.dap import Event
from dragoman.workspace.breakpoints import Breakpoint
from tests.debug.fake_sessions import running_session, session_of
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

AT_5 = Breakpoint(id=1, path="/p/a.py", line=5)
ENDED_WITHIN_S = 5.0

GARBLED = [b"{}", b"null", b"[]", b'"x"', b'{"reason": 5}', b'{"threadId": "one"}', b'{"exitCode": null}', b"{"]
EVENTS = [
    "stopped",
    "continued",
    "output",
    "exited",
    "terminated",
    "thread",
    "breakpoint",
    "initialized",
    "capabilities",
]
COMMANDS = ["threads", "stackTrace", "scopes", "variables", "continue", "next", "setBreakpoints", "evaluate", "pause"]


def refused(command: str) -> Any:
    return AdapterRefusedError(command, "no")


ANSWERS: dict[str, Callable[[str], Any]] = {
    "refuses": refused,
    "says nothing useful": lambda _: {},
    "garbles": lambda _: {"threads": 5, "stackFrames": "x", "scopes": [{}], "variables": {}, "breakpoints": [1]},
    "breaks the protocol": lambda _: RemoteProtocolError("bad_body", "broken"),
    "fails": lambda command: DragomanError("adapter_silent", localize("{text}", text=command)),
}

act = st.one_of(
    st.tuples(st.just("event"), st.sampled_from(EVENTS), st.sampled_from([1, 2, 0, None])),
    st.tuples(st.just("garbled"), st.sampled_from(EVENTS), st.sampled_from(GARBLED)),
    st.tuples(st.just("answers"), st.sampled_from(COMMANDS), st.sampled_from(sorted(ANSWERS))),
    st.tuples(st.just("honest"), st.sampled_from(COMMANDS), st.none()),
    st.tuples(st.just("asked"), st.sampled_from(["continue", "over", "out", "pause", "evaluate", "set"]), st.none()),
)


class Script:
    """One run, and what must be true after each act."""

    def __init__(self, adapter: FakeAdapter, session: DebugSession) -> None:
        self.adapter = adapter
        self.session = session
        self.honest = dict(adapter.answers)
        self.stops_seen = 0
        self.was_ended: ProgramEnd | None = None

    async def perform(self, kind: str, what: str, how: Any) -> None:
        if self.adapter.ended and kind in {"event", "garbled"}:
            return
        acts: dict[str, Callable[[], Awaitable[None] | None]] = {
            "event": lambda: self.emit(what, how),
            "garbled": lambda: self.adapter.receive(Event(event=what, body=msgspec.Raw(how))),
            "answers": lambda: self.adapter.answers.update({what: lambda _: ANSWERS[how](what)}),
            "honest": lambda: self.adapter.answers.update({what: self.honest.get(what, lambda _: {})}),
            "asked": lambda: self.ask(what),
        }
        done = acts[kind]()
        if done is not None:
            await done
        await self.settle()
        self.check()

    def emit(self, event: str, thread: int | None) -> None:
        bodies: dict[str, dict[str, Any]] = {
            "stopped": {"reason": "breakpoint", "allThreadsStopped": thread == 1, "hitBreakpointIds": [105, 7]},
            "continued": {"threadId": thread or 0, "allThreadsContinued": thread != 2},
            "output": {"output": "x", "category": "stdout"},
            "exited": {"exitCode": thread or 0},
            "thread": {"reason": "started", "threadId": thread or 0},
            "breakpoint": {"reason": "changed", "breakpoint": {"id": 105, "verified": thread == 1, "line": 6}},
            "capabilities": {"capabilities": {"supportsSetVariable": thread == 1}},
        }
        body = bodies.get(event, {}) | ({"threadId": thread} if event == "stopped" and thread is not None else {})
        self.adapter.emit(event, **body)

    async def ask(self, what: str) -> None:
        """A refusal is an answer; anything else that is raised is not."""
        session, inspection = self.session, self.session.inspection
        asked: dict[str, Callable[[], Awaitable[object]]] = {
            "continue": session.run_control.resume,
            "over": lambda: session.run_control.step("over"),
            "out": lambda: session.run_control.step("out", thread_id=2),
            "pause": session.run_control.pause,
            "evaluate": lambda: inspection.evaluate("n", None, "repl", timeout_s=0.2, thread_id=None),
            "set": lambda: session.update_breakpoints([AT_5, Breakpoint(id=2, path="/p/a.py", line=8)]),
        }
        with anyio.fail_after(ENDED_WITHIN_S):
            try:
                await asked[what]()
            except (DragomanError, RemoteProtocolError):
                return

    async def settle(self) -> None:
        with anyio.move_on_after(0.05):
            await anyio.wait_all_tasks_blocked()

    def check(self) -> None:
        session = self.session
        assert (session.ended is not None) is (session.state is SessionState.TERMINATED)
        assert session.state is not SessionState.STOPPED or session.stop is not None
        assert session.last_stop >= self.stops_seen
        assert self.was_ended is None or session.ended is self.was_ended
        self.stops_seen, self.was_ended = session.last_stop, session.ended


async def run(script: list[tuple[str, str, Any]], ending: str) -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter), AT_5) as session:
        made = Script(adapter, session)
        for kind, what, how in script:
            await made.perform(kind, what, how)
        waiter_result: list[Stop | ProgramEnd | None] = []

        async def wait() -> None:
            waiter_result.append(await session.outcome(10_000, ENDED_WITHIN_S))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await end(adapter, session, ending)
        assert waiter_result == [session.ended]
        assert session.ended is not None
    assert adapter.ended


async def end(adapter: FakeAdapter, session: DebugSession, how: str) -> None:
    if how == "asked" and session.state in LIVE_STATES:
        await session.terminate()
    elif how == "terminated" and not adapter.ended:
        adapter.emit("terminated")
    elif how == "breaks off" and not adapter.ended:
        adapter.break_off(DragomanError("adapter_broke_protocol", localize("{text}", text="x")))
    elif not adapter.ended:
        adapter.die()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=st.lists(act, max_size=10), ending=st.sampled_from(["asked", "terminated", "dies", "breaks off"]))
def test_whatever_an_adapter_does_the_state_is_true_and_the_session_ends(
    script: list[tuple[str, str, Any]], ending: str
) -> None:
    anyio.run(run, script, ending)


async def reach(session: DebugSession, adapter: FakeAdapter, state: str) -> None:
    if state in {"stopped", "stepping", "evaluating"}:
        adapter.stop()
        await session.outcome(0, 2)
    if state == "looking":
        adapter.answers["stackTrace"] = lambda _: None
        adapter.stop()
        await anyio.wait_all_tasks_blocked()
    if state == "terminating":
        adapter.answers["disconnect"] = lambda _: None
        await session.terminate()


@pytest.mark.parametrize("fault", ["dies", "breaks off", "terminated", "exited alone"])
@pytest.mark.parametrize("state", ["running", "stopped", "looking", "stepping", "evaluating", "terminating"])
async def test_each_way_to_go_is_an_end_in_each_state_and_leaves_no_waiter(state: str, fault: str) -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        await reach(session, adapter, state)
        adapter.answers |= {"next": lambda _: None, "evaluate": lambda _: None}

        async def busy() -> None:
            try:
                if state == "stepping":
                    await session.run_control.step("over")
                if state == "evaluating":
                    await session.inspection.evaluate("n", None, "repl", timeout_s=1, thread_id=None)
            except DragomanError:
                return

        async with anyio.create_task_group() as group:
            group.start_soon(busy)
            await anyio.wait_all_tasks_blocked()
            if fault == "exited alone":
                adapter.emit("exited", exitCode=0)
            else:
                await end(adapter, session, fault)
            outcome = await session.outcome(10_000, ENDED_WITHIN_S)
        assert isinstance(outcome, ProgramEnd)
        assert session.state is SessionState.TERMINATED


async def test_an_output_event_of_any_size_is_kept_within_bounds() -> None:
    """A gigabyte is refused by the reader of frames; what it lets through is bounded here."""
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.emit("output", output="x" * (8 * RETAINED_CHARACTERS), category="stdout")
        adapter.stop()
        outcome = await session.outcome(0, 3)
        assert isinstance(outcome, Stop)
        assert len(outcome.output) < 10_000
        assert session.output.end - session.output.start <= RETAINED_CHARACTERS
        assert session.output.end == 8 * RETAINED_CHARACTERS


async def test_a_silent_adapter_keeps_nobody_longer_than_the_caller_allows() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.answers |= dict.fromkeys([*COMMANDS, "disconnect"], lambda _: None)
        begun = anyio.current_time()
        assert await session.outcome(0, 0.1) is None
        await session.terminate()
        assert session.state is SessionState.TERMINATING
        assert anyio.current_time() - begun < 2
