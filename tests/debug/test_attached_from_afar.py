"""A program that ran before us, attached to from another machine: it is traced, and never halted without leave."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.evidence.run import EvidenceService, EvidenceSource
from dragoman.debug.evidence.trace import run_check, run_trace
from dragoman.debug.evidence.tracepoints import TraceLimits, Tracepoint
from dragoman.debug.model import LaunchRequest, ProgramEnd, RunTarget, SessionState, Stop
from dragoman.debug.service import DebugService
from dragoman.debug.session import countdown
from dragoman.debug.session.countdown import COUNTDOWN_ID, HaltLimits
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.launch_request import PreparedLaunch, PreparedSession
from dragoman.debug.session.session import DebugSession
from dragoman.journal import Journal
from dragoman.workspace.breakpoints import STORE, Breakpoint, BreakpointRegistry
from dragoman.workspace.caller import Caller, RemoteCaller
from tests.conformance.test_python import client_of, service_in
from tests.daemons import eventually
from tests.debug.fake_sessions import NothingToDisclose, code_of
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

PROGRAM = """\
import pathlib, time
import debugpy
_, port = debugpy.listen(("127.0.0.1", 0))
pathlib.Path("port").write_text(str(port))
beats = pathlib.Path("beats")
count = 0
while True:
    count += 1
    beats.write_text(str(count))
    if count % 50 == 0:
        debugpy.breakpoint()
    time.sleep(0.01)
"""
LINE_OF_BEAT = 9


class Program:
    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self.process = process

    @property
    def request(self) -> LaunchRequest:
        port = int((self.folder / "port").read_text())
        where = {"host": "127.0.0.1", "port": port}
        return LaunchRequest(configuration={"type": "debugpy", "request": "attach", "name": "a", "connect": where})

    @property
    def beats(self) -> int:
        return int((self.folder / "beats").read_text() or 0)

    def goes_on(self) -> bool:
        before = self.beats
        return bool(eventually(lambda: self.beats > before + 2, within_s=5))


@pytest.fixture
def program(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Program]:
    (tmp_path / "main.py").write_text(getattr(request, "param", PROGRAM))
    with subprocess.Popen([sys.executable, "main.py"], cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        try:
            eventually((tmp_path / "beats").exists)
            yield Program(tmp_path, process)
        finally:
            process.kill()


def afar(workspace: Path, *, allows_stop: bool = False) -> Caller:
    return replace(client_of(workspace), remote=RemoteCaller("ssh:build1", allows_stop=allows_stop))


class Attaching(NothingToDisclose):
    """Hands out one scripted debugger, which is attached to a program."""

    def __init__(
        self,
        adapter: FakeAdapter,
        quirks: AdapterQuirks | None = None,
        arguments: Mapping[str, object] | None = None,
        request: str = "attach",
    ) -> None:
        adapter.when("attach", lambda: adapter.emit("initialized"))
        self.adapter = adapter
        quirks = quirks or AdapterQuirks(logs_without_halt=True)
        self.launch = AdapterLaunch(request, arguments or {}, "fake", quirks, exception_filters=("uncaught",))

    async def prepare(self, client: Caller, launch_request: LaunchRequest) -> PreparedLaunch:
        await anyio.lowlevel.checkpoint()
        return PreparedLaunch((PreparedSession("a.py", self.adapter, self.launch, launch_request),))


@asynccontextmanager
async def scripted(tmp_path: Path, starter: Attaching, limits: HaltLimits | None = None) -> AsyncIterator[DebugService]:
    clock = SystemClock()
    async with Journal.open(tmp_path / "journal", stores=[STORE]) as journal, anyio.create_task_group() as group:
        with anyio.fail_after(10):
            yield DebugService(group, BreakpointRegistry(journal, clock), starter, journal, clock, limits=limits)
        group.cancel_scope.cancel()


def on_beat(program: Program, **fields: object) -> Breakpoint:
    fields = {"path": str(program.folder / "main.py"), "line": LINE_OF_BEAT, **fields}
    return Breakpoint(id=0, **fields)  # type: ignore[arg-type]


async def attached(service: DebugService, client: Caller, program: Program) -> DebugSession:
    session = (await service.start(client, program.request, within_s=0)).session
    assert session.state is SessionState.RUNNING
    return session


async def printed(session: DebugSession, text: str) -> None:
    with anyio.fail_after(10):
        while text not in session.output.since(0, most=4000)[0]:
            await session.changes.wait_for_change(session.changes.change_count)


async def test_it_is_traced_and_goes_on_past_every_halt_that_was_asked_for_before_or_by_its_own_code(
    tmp_path: Path, program: Program
) -> None:
    client, here = afar(tmp_path), client_of(tmp_path)
    async with service_in(tmp_path) as service:
        earlier, _ = await service.set_breakpoint(here, on_beat(program, owner="person"))
        raised, _ = await service.set_breakpoint(here, Breakpoint(id=0, kind="exception", filter="raised"))
        session = await attached(service, client, program)
        why = {it.id: binding.message for it, binding in session.breakpoint_sync.unbound()}
        assert set(why) == {earlier.id, raised.id}
        assert all("`--allow-stop`" in it for it in why.values())
        _, binding = await service.set_breakpoint(client, on_beat(program, log_message="beat {count}"))
        assert binding.verified
        await printed(session, "beat ")
        halted_itself = program.beats // 50 * 50 + 50
        assert await anyio.to_thread.run_sync(
            lambda: eventually(lambda: program.beats > halted_itself + 2, within_s=10)
        )
        assert (session.state, session.last_stop) == (SessionState.RUNNING, 0)
        await session.terminate(by=client.id)
        await session.outcome(0, 5)
        assert program.process.poll() is None
        assert program.goes_on()


@pytest.mark.parametrize(
    "fields",
    [{}, {"condition": "count > 3"}, {"hit_condition": "3"},
     {"log_message": "a", "hit_condition": "3", "condition": "1"},
     {"kind": "function", "path": "", "line": 0, "function": "f"},
     {"kind": "exception", "path": "", "line": 0, "filter": "raised"}],
)  # fmt: skip
async def test_no_kind_of_breakpoint_halts_it(tmp_path: Path, fields: dict[str, str]) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path)
    async with scripted(tmp_path, Attaching(adapter)) as service:
        await service.start(client, LaunchRequest(program="a.py"), within_s=0)
        wanted = Breakpoint(id=0, **{"path": str(tmp_path / "a.py"), "line": 5, **fields})  # type: ignore[arg-type]
        assert await code_of(lambda: service.set_breakpoint(client, wanted)) == "halt_refused"
        (made,) = await service.replace_breakpoints(client, lambda _: False, [wanted])
        binding = service.binding(client, made.id)
        assert not binding.verified
        assert "--allow-stop" in binding.message
        assert not any(it["breakpoints"] for it in adapter.sent("setBreakpoints"))
        assert not adapter.sent("setFunctionBreakpoints")


async def test_every_command_that_halts_is_refused_for_whoever_joins(tmp_path: Path) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path)
    async with scripted(tmp_path, Attaching(adapter)) as service:
        id = (await service.start(client, LaunchRequest(program="a.py"), within_s=0)).session.id
        await refused_everything(service, client, id)
        await refused_everything(service, replace(afar(tmp_path, allows_stop=True), id="other"), id)
        await refused_everything(service, client_of(tmp_path), id)
        adapter.stop("exception")
        while not adapter.sent("continue"):
            await anyio.lowlevel.checkpoint()
        assert service.find_in_any_workspace(id).session.last_stop == 0
        await service.stop(client, id)
        assert isinstance(await service.find_in_any_workspace(id).session.outcome(0, 5), ProgramEnd)
        assert adapter.sent("disconnect") == [{"terminateDebuggee": False}]


async def refused_everything(service: DebugService, client: Caller, id: str) -> None:
    until = RunTarget(path="/a.py", line=1)
    for act in (
        lambda: service.pause(client, id, within_s=1),
        lambda: service.step(client, id, "over", thread_id=None, within_s=1),
        lambda: service.resume(client, id, thread_id=None, within_s=1, until=until),
        lambda: service.restart(client, id, within_s=1),
        lambda: service.evaluate(client, id, "1", frame=None, context="repl", within_s=1),
        lambda: service.set_variable(client, id, name="a", value="1", reference=None, frame=None),
    ):
        assert await code_of(act) == "halt_refused"


async def test_a_client_without_leave_halts_nothing_in_a_session_that_may_be_halted(tmp_path: Path) -> None:
    adapter, allowed, traces = FakeAdapter(), afar(tmp_path, allows_stop=True), replace(afar(tmp_path), id="other")
    async with scripted(tmp_path, Attaching(adapter)) as service:
        id = (await service.start(allowed, LaunchRequest(program="a.py"), within_s=0)).session.id
        await refused_everything(service, traces, id)
        wanted = Breakpoint(id=0, path=str(tmp_path / "a.py"), line=5, owner="other")
        (mine,) = await service.replace_breakpoints(traces, lambda it: it.owner == "other", [wanted])
        assert "--allow-stop" in service.binding(traces, mine.id).message
        theirs, binding = await service.set_breakpoint(allowed, Breakpoint(id=0, path=str(tmp_path / "a.py"), line=6))
        assert binding.verified
        await service.change_breakpoint(traces, theirs.id, enabled=False)
        await service.change_breakpoint(traces, theirs.id, enabled=True)
        assert "--allow-stop" in service.binding(traces, theirs.id).message
        assert not adapter.sent("setBreakpoints")[-1]["breakpoints"]


async def test_programs_that_we_launch_may_stop_for_a_client_on_another_machine(tmp_path: Path) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path)
    async with scripted(tmp_path, Attaching(adapter, request="launch")) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "a.py"), line=5))
        session = (await service.start(client, LaunchRequest(program="a.py"), within_s=0)).session
        assert session.breakpoint_sync.binding_of(1).verified
        adapter.stop("breakpoint")
        assert isinstance(await session.outcome(0, 5), Stop)


@pytest.mark.parametrize(
    ("quirks", "arguments"), [(AdapterQuirks(), {}), (AdapterQuirks(logs_without_halt=True), {"stopOnEntry": True})]
)
async def test_a_debugger_that_cannot_trace_without_halting_is_not_attached(
    tmp_path: Path, quirks: AdapterQuirks, arguments: dict[str, object]
) -> None:
    adapter = FakeAdapter()
    async with scripted(tmp_path, Attaching(adapter, quirks, arguments)) as service:
        start = lambda: service.start(afar(tmp_path), LaunchRequest(program="a.py"), within_s=0)  # noqa: E731
        assert await code_of(start) == "halt_refused"
        assert adapter.requests == []
        assert adapter.ended


async def test_a_trace_ends_at_its_limits_and_at_a_broken_claim_without_a_halt(
    tmp_path: Path, program: Program
) -> None:
    client, file = afar(tmp_path), str(program.folder / "main.py")
    async with service_in(tmp_path) as service:
        evidence, subject = EvidenceService(service, SystemClock()), EvidenceSource(program.request)
        point = Tracepoint(path=file, line=LINE_OF_BEAT, expressions=("count",))
        trace = await run_trace(evidence, client, subject, [point], TraceLimits(hits=3, seconds=20))
        assert (trace.end.limit, len(trace.table.rows)) == ("hits", 3)
        point = Tracepoint(path=file, line=LINE_OF_BEAT)
        check = await run_check(
            evidence, client, subject, [point], f"count < {program.beats + 20}", TraceLimits(seconds=20)
        )
        assert check.verdict == "broken"
        trace = await run_trace(evidence, client, subject, [Tracepoint(path=file, line=1)], TraceLimits(seconds=0.5))
        assert (trace.end.limit, trace.end.stop) == ("seconds", None)
        assert program.goes_on()


# The countdown of a halt.


@asynccontextmanager
async def halted(
    tmp_path: Path, limits: HaltLimits, adapter: FakeAdapter, client: Caller
) -> AsyncIterator[tuple[DebugService, DebugSession]]:
    async with scripted(tmp_path, Attaching(adapter), limits) as service:
        session = (await service.start(client, LaunchRequest(program="a.py"), within_s=0)).session
        await service.set_breakpoint(client, Breakpoint(id=0, path="/p/a.py", line=5))
        adapter.stop("breakpoint")
        assert isinstance((await service.wait(client, session.id, within_s=5)).outcome, Stop)
        yield service, session


async def runs_on(session: DebugSession, state: SessionState = SessionState.RUNNING) -> None:
    with anyio.fail_after(5):
        while session.state is not state:
            await session.changes.wait_for_change(session.changes.change_count)


async def test_a_halt_is_over_by_itself_and_the_next_call_is_told_so(tmp_path: Path) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path, allows_stop=True)
    async with halted(tmp_path, HaltLimits(halt_s=0.2), adapter, client) as (service, session):
        assert 0 < (session.countdown.remaining_s or 0) <= 0.2
        await runs_on(session)
        assert adapter.sent("continue") == [{"threadId": 1}]
        assert session.run_control.by == COUNTDOWN_ID
        assert session.countdown.remaining_s is None
        with pytest.raises(DragomanError, match=r"the countdown resumed it at \d\d:\d\d:\d\d") as error_text:
            await service.step(client, session.id, "over", thread_id=None, within_s=1)
        assert error_text.value.code == "not_stopped"
        adapter.stop("breakpoint")
        assert isinstance((await service.wait(client, session.id, within_s=5)).outcome, Stop)
        assert await code_of(lambda: service.pause(client, session.id, within_s=1)) == "not_running_program"
        await runs_on(session)


async def test_a_halt_is_put_off_but_not_for_ever_and_never_made_shorter(tmp_path: Path) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path, allows_stop=True)
    async with halted(tmp_path, HaltLimits(halt_s=5), adapter, client) as (service, session):
        service.hold(client, session.id, 100)
        assert 99 < (session.countdown.remaining_s or 0) <= 100
        service.hold(client, session.id, 1)
        assert 99 < (session.countdown.remaining_s or 0) <= 100
        service.hold(client, session.id, 5000)
        assert 599 < (session.countdown.remaining_s or 0) <= 600
        with pytest.raises(DragomanError):
            service.hold(replace(afar(tmp_path), id="other"), session.id, 100)


async def test_when_the_last_link_is_lost_the_program_runs_on_and_nothing_halts_it_until_somebody_comes(
    tmp_path: Path,
) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path, allows_stop=True)
    limits = HaltLimits(halt_s=60, unattended_s=0.2)
    async with halted(tmp_path, limits, adapter, client) as (service, session):
        other = replace(client, id="other")
        service.find(other, session.id)
        service.registry.drop_holder(client.id)
        assert (session.countdown.remaining_s or 0) > 50, "another client holds it"
        service.registry.drop_holder(other.id)
        assert (session.countdown.remaining_s or 60) <= 0.2
        await runs_on(session)
        while adapter.sent("setBreakpoints")[-1]["breakpoints"]:
            await anyio.lowlevel.checkpoint()
        adapter.stop("breakpoint")
        while len(adapter.sent("continue")) < 2:
            await anyio.lowlevel.checkpoint()
        assert session.last_stop == 1
        service.find(replace(client, id="back"), session.id)
        with anyio.fail_after(5):
            while not adapter.sent("setBreakpoints")[-1]["breakpoints"]:
                await session.changes.wait_for_change(session.changes.change_count)
        adapter.stop("breakpoint")
        await runs_on(session, SessionState.STOPPED)


@pytest.mark.parametrize("is_alone", [False, True])
async def test_a_debugger_that_does_not_resume_the_program_is_asked_again_less_and_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_alone: bool
) -> None:
    monkeypatch.setattr(countdown, "_FIRST_RETRY_S", 0.1)
    adapter, client = FakeAdapter(), afar(tmp_path, allows_stop=True)
    adapter.refuse("continue", "not now")
    async with halted(tmp_path, HaltLimits(halt_s=0.05, unattended_s=0.05), adapter, client) as (service, session):
        if is_alone:
            service.registry.drop_holder(client.id)
        await anyio.sleep(0.8)
        assert 2 <= len(adapter.sent("continue")) <= 4
        assert 0 < (session.countdown.remaining_s or 0) <= 0.8
        adapter.answers["continue"] = lambda _: {}
        await runs_on(session)


async def test_a_resume_that_failed_does_not_end_the_countdown(tmp_path: Path) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path, allows_stop=True)
    adapter.refuse("continue", "not now")
    async with halted(tmp_path, HaltLimits(halt_s=0.5), adapter, client) as (service, session):
        resume = lambda: service.resume(client, session.id, thread_id=None, within_s=1)  # noqa: E731
        assert await code_of(resume) == "adapter_refused"
        assert 0 < (session.countdown.remaining_s or 0) <= 0.5
        adapter.answers["continue"] = lambda _: {}
        await runs_on(session)


async def test_threads_that_stopped_one_by_one_are_let_go_together_at_the_deadline_of_the_first(tmp_path: Path) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path, allows_stop=True)
    adapter.answers["continue"] = lambda _: {"allThreadsContinued": False}
    async with halted(tmp_path, HaltLimits(halt_s=0.6), adapter, client) as (_, session):
        began = session.countdown.remaining_s
        assert began is not None
        await anyio.sleep(0.3)
        for thread in (2, 3, 4):
            adapter.emit("stopped", reason="breakpoint", threadId=thread)
        while session.last_stop < 4:
            await session.changes.wait_for_change(session.changes.change_count)
        left = session.countdown.remaining_s
        assert left is not None
        assert left < began - 0.2
        await runs_on(session)
        assert sorted(it["threadId"] for it in adapter.sent("continue")) == [1, 2, 3, 4]
        await anyio.sleep(0.1)
        assert (session.state, session.last_stop) == (SessionState.RUNNING, 4)


FAMILY = """\
import multiprocessing, os, pathlib, time
import debugpy

def beat(name, parent):
    for count in range(100000 if parent == os.getppid() else 0):
        pathlib.Path(name).write_text(str(count))
        time.sleep(0.01 if parent == os.getppid() else os._exit(0))

if __name__ == "__main__":
    _, port = debugpy.listen(("127.0.0.1", 0))
    pathlib.Path("port").write_text(str(port))
    pathlib.Path("beats").write_text("0")
    debugpy.wait_for_client()
    children = [multiprocessing.Process(target=beat, args=(f"beats{it}", os.getpid()), daemon=True) for it in range(3)]
    for child in children:
        child.start()
    beat("beats", os.getppid())
"""


@pytest.mark.parametrize("program", [FAMILY], indirect=True)
async def test_a_program_of_several_processes_is_let_go_as_a_whole(tmp_path: Path, program: Program) -> None:
    client = afar(tmp_path, allows_stop=True)
    names = [tmp_path / it for it in ("beats", "beats0", "beats1", "beats2")]
    async with service_in(tmp_path, limits=HaltLimits(halt_s=2)) as service:
        session = await attached(service, client, program)
        await anyio.to_thread.run_sync(lambda: eventually(lambda: all(it.exists() for it in names), within_s=30))
        made, _ = await service.set_breakpoint(client, on_beat(program, line=6))
        assert isinstance((await service.wait(client, session.id, within_s=10)).outcome, Stop)
        await anyio.sleep(0.5)  # now all of them stand
        await service.remove_breakpoints(client, lambda it: it.id == made.id)
        stood = [it.read_text() for it in names]
        began = anyio.current_time()
        while any(it.read_text() in {"", before} for it, before in zip(names, stood, strict=True)):
            await anyio.sleep(0.02)
            assert anyio.current_time() < began + 5, "one after another"
        assert anyio.current_time() > began + 1
        await session.terminate(by=client.id)
        await session.outcome(session.last_stop, 5)


async def test_in_a_program_that_somebody_here_attached_to_only_halts_from_another_machine_end(tmp_path: Path) -> None:
    adapter, here, away = FakeAdapter(), client_of(tmp_path), replace(afar(tmp_path, allows_stop=True), id="away")
    async with scripted(tmp_path, Attaching(adapter), HaltLimits(halt_s=0.3)) as service:
        session = (await service.start(here, LaunchRequest(program="a.py"), within_s=0)).session
        await service.set_breakpoint(here, Breakpoint(id=0, path="/p/a.py", line=5))
        adapter.stop("breakpoint")
        assert isinstance((await service.wait(here, session.id, within_s=5)).outcome, Stop)
        assert not is_limited(session)
        await service.step(away, session.id, "over", thread_id=None, within_s=0)
        adapter.stop("step")
        assert isinstance((await service.wait(away, session.id, within_s=5)).outcome, Stop)
        assert is_limited(session)
        await runs_on(session)
        adapter.when("pause", lambda: adapter.stop("pause"))
        assert isinstance((await service.pause(here, session.id, within_s=5)).outcome, Stop)
        assert not is_limited(session)
        await service.resume(here, session.id, thread_id=None, within_s=0)
        await service.remove_breakpoints(here, lambda _: True)
        await service.set_breakpoint(away, Breakpoint(id=0, path="/p/a.py", line=5))
        adapter.stop("breakpoint")
        assert isinstance((await service.wait(here, session.id, within_s=5)).outcome, Stop)
        assert is_limited(session)
        await runs_on(session)


def is_limited(session: DebugSession) -> bool:
    return session.countdown.remaining_s is not None


@pytest.mark.parametrize("who", ["launched", "here"])
async def test_no_other_halt_ends_by_itself(tmp_path: Path, who: str) -> None:
    adapter, client = FakeAdapter(), afar(tmp_path) if who == "launched" else client_of(tmp_path)
    starter = Attaching(adapter, request="launch" if who == "launched" else "attach")
    async with scripted(tmp_path, starter, HaltLimits(halt_s=0.05, unattended_s=0.05)) as service:
        session = (await service.start(client, LaunchRequest(program="a.py"), within_s=0)).session
        adapter.stop("breakpoint")
        await session.outcome(0, 5)
        service.registry.drop_holder(client.id)
        await anyio.sleep(0.3)
        assert (session.state, session.countdown.remaining_s) == (SessionState.STOPPED, None)
