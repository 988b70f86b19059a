"""Several sessions begun together, one begun again under its id, and what is done when one is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.debug.model import LaunchRequest, ProgramEnd, SessionState, Stop
from dragoman.debug.service import DebugService
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.launch_request import PreparedLaunch, PreparedSession
from dragoman.debug.session.outcome import DebugOutcome
from dragoman.debug.session.session import DebugSession
from dragoman.journal import Journal, Statement
from dragoman.workspace.breakpoints import STORE, Breakpoint, BreakpointRegistry
from dragoman.workspace.caller import Caller
from tests.debug.fake_sessions import NothingToDisclose, code_of
from tests.support.clocks import VirtualClock
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

AGENT = Caller(id="agent", workspace=Path("/p"), cwd=Path("/p"))
PERSON = Caller(id="person", workspace=Path("/p"), cwd=Path("/p"))
AT_5 = Breakpoint(id=0, path="/p/a.py", line=5)


class Record:
    def __init__(self) -> None:
        self.events: list[Event] = []

    async def append(self, events: list[Event], *, writes: Sequence[Statement] = ()) -> int:
        await anyio.lowlevel.checkpoint()
        self.events += events
        return len(self.events)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


class Starter(NothingToDisclose):
    """Hands out what it was given, one preparation a wish."""

    def __init__(self, *preparations: tuple[FakeAdapter, ...], **how: Any) -> None:
        self.preparations = list(preparations)
        self.requests: list[LaunchRequest] = []
        self.request = str(how.pop("request", "launch"))
        self.post_debug: Callable[[], Awaitable[None]] | None = how.pop("post_debug", None)
        self.stop_all = bool(how.pop("stop_all", False))

    async def prepare(self, client: Caller, launch_request: LaunchRequest) -> PreparedLaunch:
        await anyio.lowlevel.checkpoint()
        self.requests.append(launch_request)
        if not self.preparations:
            raise DragomanError("no_more", localize("{text}", text="no more"))
        launch = AdapterLaunch(self.request, {}, "fake")
        made = [
            PreparedSession(
                f"{number}.py",
                adapter,
                launch,
                LaunchRequest(program=f"{number}.py"),
                {"adapter": "fake 1"},
                post_debug=self.post_debug,
            )
            for number, adapter in enumerate(self.preparations.pop(0))
        ]
        return PreparedLaunch(tuple(made), stop_all=self.stop_all)


def stopping() -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.when("configurationDone", adapter.stop)
    return adapter


@asynccontextmanager
async def service_of(tmp_path: Path, starter: Starter, record: Record | None = None) -> AsyncIterator[DebugService]:
    clock = VirtualClock()
    async with Journal.open(tmp_path / "journal", stores=[STORE]) as journal, anyio.create_task_group() as group:
        with anyio.fail_after(10):
            yield DebugService(group, BreakpointRegistry(journal, clock), starter, record or Record(), clock)
        group.cancel_scope.cancel()


def stop_of(happened: DebugOutcome) -> Stop:
    assert isinstance(happened.outcome, Stop), happened.outcome
    return happened.outcome


# Together.


async def test_all_of_a_compound_are_begun_and_the_first_outcome_is_reported_with_the_others_named(
    tmp_path: Path,
) -> None:
    server, browser = FakeAdapter(), stopping()
    async with service_of(tmp_path, Starter((server, browser))) as service:
        happened = await service.start(AGENT, LaunchRequest(), within_s=2)
        assert (happened.session.title, stop_of(happened).number) == ("1.py", 1)
        assert [(it.title, it.state) for it in happened.others] == [("0.py", SessionState.RUNNING)]
        assert happened.session.facts == {"adapter": "fake 1"}
        server.stop()
        later = await service.wait_for_first_outcome(AGENT, [*happened.others, happened.session], within_s=2)
        assert later.session.title == "0.py"


async def test_a_compound_that_times_out_is_reported_by_its_first_session(tmp_path: Path) -> None:
    async with service_of(tmp_path, Starter((FakeAdapter(), FakeAdapter()))) as service:
        happened = await service.start(AGENT, LaunchRequest(), within_s=0.05)
        assert (happened.outcome, happened.session.title, len(happened.others)) == (None, "0.py", 1)


async def test_one_that_cannot_be_started_ends_the_others_and_is_the_error(tmp_path: Path) -> None:
    good, bad = FakeAdapter(), FakeAdapter()
    bad.refuse("launch", "no such program")
    async with service_of(tmp_path, Starter((good, bad))) as service:
        with pytest.raises(DragomanError, match="no such program"):
            await service.start(AGENT, LaunchRequest(), within_s=2)
        assert {session.state for session in service.registry.sessions(AGENT)} == {SessionState.TERMINATED}
    assert (good.ended, bad.ended) == (True, True)


@pytest.mark.parametrize("stop_all", [True, False])
async def test_the_end_of_one_ends_the_others_where_the_compound_says_so(tmp_path: Path, stop_all: bool) -> None:
    first, second = FakeAdapter(), FakeAdapter()
    async with service_of(tmp_path, Starter((first, second), stop_all=stop_all)) as service:
        happened = await service.start(AGENT, LaunchRequest(), within_s=0)
        first.emit("exited", exitCode=0)
        first.emit("terminated")
        await happened.session.outcome(0, 2)
        await anyio.wait_all_tasks_blocked()
        (other,) = happened.others
        assert (other.ended is not None) is stop_all


async def test_more_sessions_than_there_is_room_for_are_released_again(tmp_path: Path) -> None:
    adapters = tuple(FakeAdapter() for _ in range(65))
    async with service_of(tmp_path, Starter(adapters)) as service:
        assert await code_of(lambda: service.start(AGENT, LaunchRequest(), within_s=0)) == "too_many_sessions"
    assert all(adapter.ended for adapter in adapters)


# Again.


async def test_a_restart_keeps_the_id_the_breakpoints_and_the_output_and_counts_stops_on(tmp_path: Path) -> None:
    old, new = stopping(), stopping()
    starter = Starter((old,), (new,))
    async with service_of(tmp_path, starter) as service:
        await service.set_breakpoint(AGENT, AT_5)
        first = await service.start(AGENT, LaunchRequest(), within_s=2)
        old.emit("output", output="before\n", category="stdout")
        again = await service.restart(AGENT, first.session.id, within_s=2)
        assert (again.session.id, stop_of(again).number) == (first.session.id, 2)
        assert service.find(AGENT, first.session.id) is again.session
        assert again.session.output.since(0, most=100)[0] == "before\n"
        assert stop_of(again).output == ""
        assert isinstance(first.session.ended, ProgramEnd)
        step = await code_of(lambda: service.find(AGENT).inspection.scopes(stop_of(first).frames[0].id, None))
        assert step == "stale_reference"
    assert old.ended
    assert [it["line"] for it in new.sent("setBreakpoints")[0]["breakpoints"]] == [5]
    assert starter.requests == [LaunchRequest(), LaunchRequest(program="0.py")]


async def test_one_that_has_ended_can_be_restarted_also_without_its_id(tmp_path: Path) -> None:
    old, new = FakeAdapter(), stopping()
    async with service_of(tmp_path, Starter((old,), (new,))) as service:
        first = await service.start(AGENT, LaunchRequest(), within_s=0)
        old.die()
        await service.wait(AGENT, first.session.id, within_s=2)
        again = await service.restart(AGENT, "", within_s=2)
        assert (again.session.id, stop_of(again).number) == (first.session.id, 1)


async def test_a_caller_that_waits_for_a_restarted_session_gets_its_next_stop(tmp_path: Path) -> None:
    old, new = FakeAdapter(), stopping()
    received: list[DebugOutcome] = []
    async with service_of(tmp_path, Starter((old,), (new,))) as service:
        id = (await service.start(AGENT, LaunchRequest(), within_s=0)).session.id
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                received.append(await service.wait(PERSON, id, within_s=5))

            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await service.restart(AGENT, id, within_s=2)
    assert [stop_of(it).number for it in received] == [1]


async def test_a_restart_that_cannot_be_prepared_is_an_error_and_leaves_the_session_as_it_is(tmp_path: Path) -> None:
    old = stopping()
    async with service_of(tmp_path, Starter((old,))) as service:
        first = await service.start(AGENT, LaunchRequest(), within_s=2)
        assert await code_of(lambda: service.restart(AGENT, first.session.id, within_s=2)) == "no_more"
        assert (service.find(AGENT).state, old.ended) == (SessionState.STOPPED, False)
        old.when("next", lambda: old.stop("step"))
        stepped = await service.step(AGENT, first.session.id, "over", thread_id=None, within_s=2)
        assert stop_of(stepped).number == 2


async def test_a_debugger_that_is_slow_to_get_ready_takes_no_more_time_than_the_caller_gave(tmp_path: Path) -> None:
    slow, ready = stopping(), anyio.Event()
    slow.answers["initialize"] = lambda _: ready
    async with service_of(tmp_path, Starter((slow,))) as service:
        begun = anyio.current_time()
        happened = await service.start(AGENT, LaunchRequest(), within_s=0.1)
        assert anyio.current_time() - begun < 2
        assert (happened.outcome, happened.session.state) == (None, SessionState.STARTING)
        ready.set()
        slow.answers["configurationDone"] = lambda _: {}
        slow.stop()
        assert stop_of(await service.wait(AGENT, happened.session.id, within_s=2)).number == 1


async def test_a_slow_start_that_fails_is_reported_to_its_waiter(tmp_path: Path) -> None:
    slow, ready = stopping(), anyio.Event()
    slow.answers["initialize"] = lambda _: ready
    slow.refuse("launch", "no such program")
    async with service_of(tmp_path, Starter((slow,))) as service:
        happened = await service.start(AGENT, LaunchRequest(), within_s=0.05)
        ready.set()
        assert await code_of(lambda: service.wait(AGENT, happened.session.id, within_s=2)) == "adapter_refused"
        assert (happened.session.state, slow.ended) == (SessionState.TERMINATED, True)


async def test_a_caller_that_does_not_wait_still_learns_that_it_could_not_start(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    adapter.refuse("launch", "no such program")
    async with service_of(tmp_path, Starter((adapter,))) as service:
        assert await code_of(lambda: service.start(AGENT, LaunchRequest(), within_s=0)) == "adapter_refused"


async def test_what_was_prepared_is_released_when_it_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stopping(), stopping()

    def broken(*_: Any, **__: Any) -> DebugSession:
        raise AttributeError

    async with service_of(tmp_path, Starter((first, second))) as service:
        monkeypatch.setattr("dragoman.debug.session.supervisor.DebugSession", broken)
        with pytest.raises(AttributeError):
            await service.start(AGENT, LaunchRequest(), within_s=2)
        assert (first.ended, second.ended) == (True, True)


async def test_what_was_attached_to_is_restarted_by_its_adapter_or_not_at_all(tmp_path: Path) -> None:
    able, unable = FakeAdapter(), FakeAdapter()
    able.when("attach", lambda: able.emit("initialized"))
    unable.when("attach", lambda: unable.emit("initialized"))
    able.can("supportsRestartRequest")
    able.when("restart", able.stop)
    async with service_of(tmp_path, Starter((able,), (unable,), request="attach")) as service:
        first = await service.start(AGENT, LaunchRequest(), within_s=0)
        assert stop_of(await service.restart(AGENT, first.session.id, within_s=2)).number == 1
        second = await service.start(AGENT, LaunchRequest(), within_s=0)
        assert await code_of(lambda: service.restart(AGENT, second.session.id, within_s=2)) == "not_supported"
        assert second.session.state is SessionState.RUNNING


# Over.


async def test_what_is_to_be_done_afterwards_is_done_when_the_session_has_ended(tmp_path: Path) -> None:
    adapter, done = FakeAdapter(), anyio.Event()

    async def post_debug() -> None:
        assert adapter.ended
        done.set()

    async with service_of(tmp_path, Starter((adapter,), post_debug=post_debug)) as service:
        await service.start(AGENT, LaunchRequest(), within_s=0)
        adapter.die()
        await done.wait()


async def test_it_is_done_also_when_the_daemon_ends(tmp_path: Path) -> None:
    done: list[str] = []

    async def post_debug() -> None:
        await anyio.lowlevel.checkpoint()
        done.append("it")

    async with service_of(tmp_path, Starter((FakeAdapter(),), post_debug=post_debug)) as service:
        await service.start(AGENT, LaunchRequest(), within_s=0)
    assert done == ["it"]


@pytest.mark.parametrize(
    "error", [DragomanError("task_failed", localize("{text}", text="make: no rule")), OSError("disk")]
)
async def test_post_debug_tasks_that_fail_are_reported_in_the_output_and_harm_nothing(
    tmp_path: Path, error: Exception
) -> None:
    adapter = FakeAdapter()

    async def post_debug() -> None:
        raise error

    async with service_of(tmp_path, Starter((adapter,), (FakeAdapter(),), post_debug=post_debug)) as service:
        session = (await service.start(AGENT, LaunchRequest(), within_s=0)).session
        adapter.die()
        await session.outcome(0, 2)
        await anyio.wait_all_tasks_blocked()
        assert ("make: no rule" in session.output.since(0, most=500)[0]) is isinstance(error, DragomanError)
        assert (await service.start(AGENT, LaunchRequest(), within_s=0)).session.state is SessionState.RUNNING


async def test_a_session_that_has_reported_its_end_is_no_longer_listed_as_running(tmp_path: Path) -> None:
    adapter, running_session = FakeAdapter(), list[str]()
    adapter.answers["disconnect"] = lambda _: None

    @contextmanager
    def lived(session: DebugSession) -> Any:
        running_session.append(session.id)
        yield
        running_session.remove(session.id)

    async with Journal.open(tmp_path / "journal", stores=[STORE]) as journal, anyio.create_task_group() as group:
        clock = VirtualClock()
        service = DebugService(group, BreakpointRegistry(journal, clock), Starter((adapter,)), Record(), clock, lived)
        session = (await service.start(AGENT, LaunchRequest(), within_s=0)).session
        assert running_session == [session.id]
        adapter.emit("exited", exitCode=0)
        adapter.emit("terminated")
        await session.outcome(0, 2)
        assert (running_session, adapter.ended) == ([], False)
        group.cancel_scope.cancel()
    assert adapter.ended


async def test_the_record_has_actions_clients_and_places_but_no_values(tmp_path: Path) -> None:
    record, adapter = Record(), stopping()
    adapter.can("supportsSetVariable")
    adapter.when("next", lambda: adapter.stop("step"))
    async with service_of(tmp_path, Starter((adapter,)), record) as service:
        id = (await service.start(AGENT, LaunchRequest(), within_s=2)).session.id
        await service.evaluate(AGENT, id, "n", frame=None, context="repl", within_s=1)
        await service.set_variable(AGENT, id, name="n", value="secret", reference=None, frame=None)
        await service.step(AGENT, id, "over", thread_id=None, within_s=2)
    kinds = ["started", "running", "stopped", "evaluated", "variable_set", "resumed", "stopped", "ended"]
    assert record.kinds() == [f"debug.{kind}" for kind in kinds]
    assert {event.session for event in record.events} == {id}
    assert "secret" not in repr(record.events)


async def test_a_breakpoint_on_data_goes_with_its_session(tmp_path: Path) -> None:
    adapter = stopping()
    adapter.can("supportsDataBreakpoints")
    async with service_of(tmp_path, Starter((adapter,))) as service:
        session = (await service.start(AGENT, LaunchRequest(), within_s=2)).session
        made, binding = await service.set_breakpoint(AGENT, Breakpoint(id=0, kind="data", variable="n"))
        assert (made.session, made.data_id, binding.verified) == (session.id, "at n", True)
        adapter.die()
        await session.outcome(1, 2)
        with anyio.fail_after(3):
            while service.breakpoints(AGENT):
                await anyio.lowlevel.checkpoint()


async def test_a_breakpoint_is_switched_off_and_on_again_in_every_session(tmp_path: Path) -> None:
    adapter = FakeAdapter()
    async with service_of(tmp_path, Starter((adapter,))) as service:
        await service.start(AGENT, LaunchRequest(), within_s=0)
        made, _ = await service.set_breakpoint(AGENT, AT_5)
        off, _ = await service.change_breakpoint(AGENT, made.id, enabled=False)
        on, binding = await service.change_breakpoint(AGENT, made.id, enabled=True)
        assert (off.enabled, on.enabled, binding.verified) == (False, True, True)
        assert await code_of(lambda: service.change_breakpoint(AGENT, 99, enabled=True)) == "unknown_breakpoint"
    assert [len(it["breakpoints"]) for it in adapter.sent("setBreakpoints")] == [1, 0, 1]
