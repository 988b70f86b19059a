"""An adapter that hangs in one request: what it is busy with is reported at once, and nothing runs late by surprise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import ProgramEnd, SessionState
from dragoman.debug.session import debuggee_process, request_tracker, run_control
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.session.session import DebugSession
from dragoman.debug.session.threads import ThreadStates
from dragoman.protocols.dap import bodies
from tests.debug.fake_sessions import code_of, running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_tracker, "_IDLE_TIMEOUT_S", 0.05)


PYTHON = AdapterQuirks(is_interruptible=True)


async def evaluated(session: DebugSession, expression: str = "value") -> str:
    found = await session.inspection.evaluate(expression, None, "repl", timeout_s=0.05, thread_id=None)
    return found.result


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110  what is waited for happens in another process
            await anyio.sleep(0.01)


async def given_up(session: DebugSession, adapter: FakeAdapter) -> anyio.Event:
    """An evaluation that nobody waits for any longer; set, it is answered."""
    answered = anyio.Event()
    adapter.answers["evaluate"] = lambda _: answered
    assert await code_of(lambda: evaluated(session)) == "adapter_silent"
    return answered


async def test_what_would_queue_up_behind_a_look_without_an_answer_is_refused_with_its_name() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        await given_up(session, adapter)
        with pytest.raises(DragomanError) as caught:
            await session.inspection.evaluate("other", None, "repl", timeout_s=20, thread_id=None)
        assert caught.value.code == "adapter_busy"
        assert "`evaluate`" in str(caught.value)
        assert await code_of(lambda: session.run_control.step("over")) == "adapter_busy"
        assert await code_of(session.run_control.resume) == "adapter_busy"
        assert (session.state, adapter.sent("next"), adapter.sent("continue")) == (SessionState.STOPPED, [], [])
        assert [it["expression"] for it in adapter.sent("evaluate")] == ["value"]


async def test_a_look_that_is_answered_after_all_makes_way_for_the_next() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        (await given_up(session, adapter)).set()
        await anyio.wait_all_tasks_blocked()
        adapter.answers["evaluate"] = lambda _: {"result": "3"}
        assert await evaluated(session) == "3"


async def test_an_adapter_that_lost_a_question_is_asked_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_tracker, "_BUSY_PERIOD_S", 0.0)
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        await given_up(session, adapter)
        adapter.answers["evaluate"] = lambda _: {"result": "3"}
        assert await evaluated(session) == "3"


async def test_a_session_in_a_look_that_never_ends_can_be_ended() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        await given_up(session, adapter)
        await session.terminate()
        assert isinstance(await session.outcome(1, 2), ProgramEnd)


async def test_the_program_counts_as_stopped_until_the_debugger_confirms_that_it_resumed() -> None:
    adapter, confirmed = FakeAdapter(), anyio.Event()
    async with running_session(session_of(adapter)) as session, anyio.create_task_group() as group:
        adapter.stop()
        await stopped(session)
        adapter.answers["next"] = lambda _: confirmed
        group.start_soon(session.run_control.step, "over")
        await anyio.wait_all_tasks_blocked()
        assert session.state is SessionState.STOPPED
        assert await code_of(lambda: evaluated(session)) == "not_stopped"
        confirmed.set()
        await until(lambda: session.state is SessionState.RUNNING)


async def test_a_step_confirmed_after_its_caller_timed_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_control, "_RESPONSE_TIMEOUT_S", 0.05)
    adapter, confirmed = FakeAdapter(), anyio.Event()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        adapter.answers["next"] = lambda _: confirmed
        assert await code_of(lambda: session.run_control.step("over")) == "adapter_silent"
        assert session.state is SessionState.STOPPED
        assert await code_of(lambda: evaluated(session)) == "adapter_busy"
        confirmed.set()
        await until(lambda: session.state is SessionState.RUNNING)
        adapter.stop("step")
        assert (await stopped(session, after=1)).number == 2


async def test_a_stop_at_the_same_place_that_is_faster_than_the_confirmation_is_a_stop() -> None:
    """A loop on one line: nothing but the order of things tells it from a stop that is told twice."""
    adapter, confirmed = FakeAdapter(), anyio.Event()
    async with running_session(session_of(adapter)) as session, anyio.create_task_group() as group:
        adapter.stop("step")
        await stopped(session)
        adapter.answers["next"] = lambda _: confirmed
        group.start_soon(session.run_control.step, "over")
        await anyio.wait_all_tasks_blocked()
        adapter.stop("step")
        assert (await stopped(session, after=1)).number == 2
        confirmed.set()
        await anyio.wait_all_tasks_blocked()
        assert session.state is SessionState.STOPPED
        assert [it.state for it in await session.inspection.threads()] == ["stopped"]


async def test_a_program_that_ends_before_the_debugger_confirms_is_reported_as_its_end() -> None:
    adapter = FakeAdapter()
    gone = DragomanError("adapter_gone", localize("{text}", text="gone"))
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)

        def ends(_: object) -> DragomanError:
            adapter.emit("exited", exitCode=0)
            adapter.emit("terminated")
            return gone

        adapter.answers["continue"] = ends
        await session.run_control.resume()
        outcome = await session.outcome(1, 2)
        assert isinstance(outcome, ProgramEnd)
        assert outcome.exit_code == 0


async def look_given_up(session: DebugSession, adapter: FakeAdapter) -> anyio.Event:
    answered = anyio.Event()
    adapter.answers["variables"] = lambda _: answered
    assert await code_of(lambda: session._requests.request("variables", {}, timeout_s=0.05)) == "adapter_silent"
    return answered


class Interrupted:
    """A process that counts how often it was interrupted."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "interrupts"
        program = (
            "import pathlib, signal, sys\n"
            f"file = pathlib.Path({str(self._file)!r})\n"
            "def note(*_):\n"
            "    with file.open('a') as it: it.write('x')\n"
            "signal.signal(signal.SIGINT, note)\n"
            "print('ready', flush=True)\n"
            "while True: signal.pause()\n"
        )
        self.process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    @property
    def count(self) -> int:
        return len(self._file.read_text()) if self._file.exists() else 0

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interrupted:
    monkeypatch.setattr(debuggee_process, "_INTERRUPT_INTERVAL_S", 0.05)
    return Interrupted(tmp_path)


async def test_a_look_that_never_ends_is_interrupted_until_it_is_answered_and_that_is_reported(
    interrupted: Interrupted,
) -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter, quirks=PYTHON)) as session:
        adapter.emit("thread", reason="started", threadId=1)
        adapter.emit("process", name="p", systemProcessId=interrupted.process.pid)
        adapter.stop()
        await stopped(session)
        answered = await look_given_up(session, adapter)
        await until(lambda: interrupted.count >= 2)
        answered.set()
        await until(lambda: "SIGINT" in session.output.since(0, most=1000)[0])
        assert interrupted.count <= debuggee_process._MAX_INTERRUPTS
    interrupted.end()


async def test_a_program_that_interrupts_do_not_free_is_left_alone_after_a_few(interrupted: Interrupted) -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter, quirks=PYTHON)) as session:
        adapter.emit("thread", reason="started", threadId=1)
        adapter.emit("process", name="p", systemProcessId=interrupted.process.pid)
        adapter.stop()
        await stopped(session)
        await look_given_up(session, adapter)
        await until(lambda: "(4 times)" in session.output.since(0, most=1000)[0])
        assert await code_of(lambda: evaluated(session)) == "adapter_busy"
    interrupted.end()
    assert interrupted.count <= debuggee_process._MAX_INTERRUPTS


@pytest.mark.parametrize(
    ("thread", "quirks", "is_launch", "command"),
    [
        (2, PYTHON, True, "variables"),
        (1, AdapterQuirks(), True, "variables"),
        (1, PYTHON, False, "variables"),
        (1, PYTHON, True, "evaluate"),
        (1, PYTHON, True, "next"),
    ],
)
async def test_nothing_is_interrupted_where_that_would_not_reach_the_look_or_is_not_ours(
    thread: int, quirks: AdapterQuirks, is_launch: bool, command: str, interrupted: Interrupted
) -> None:
    adapter = FakeAdapter()
    threads = ThreadStates(adapter)
    threads.changed(bodies.ThreadBody(reason="started", thread_id=1))
    output = SessionOutput()
    tried = debuggee_process.InspectionInterrupter(quirks, threads, output, is_launch=is_launch)
    tried.record_process(bodies.ProcessBody(name="p", system_process_id=interrupted.process.pid))
    await tried.interrupt_request(request_tracker.TrackedRequest(command, 0.0), thread)
    await adapter.end()
    interrupted.end()
    assert (interrupted.count, output.end) == (0, 0)


async def test_what_an_exception_says_is_kept_in_part() -> None:
    adapter = FakeAdapter()
    sentence = "x" * 4_000_000
    adapter.answers["exceptionInfo"] = lambda _: {
        "exceptionId": "ValueError",
        "breakMode": "always",
        "details": {"message": sentence, "stackTrace": sentence},
    }
    async with running_session(session_of(adapter)) as session:
        adapter.stop("exception", description=sentence, text=sentence)
        stop = await stopped(session)
        assert stop.raised is not None
        kept = (stop.description or "", stop.text or "", stop.raised.message, stop.raised.where)
        assert {len(it) for it in kept} == {65_536}


async def test_a_request_while_an_inspection_ends_gets_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_tracker, "_IDLE_TIMEOUT_S", 2.0)
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session, anyio.create_task_group() as group:
        adapter.stop()
        await stopped(session)
        answered = await given_up(session, adapter)
        adapter.when("next", lambda: adapter.stop("step"))
        group.start_soon(session.run_control.step, "over")
        await anyio.wait_all_tasks_blocked()
        assert adapter.sent("next") == []
        answered.set()
        assert (await stopped(session, after=1)).number == 2


@pytest.mark.parametrize("pid", [2**22 + 1, 2**70, -1])
async def test_a_process_that_there_is_not_hurts_no_session(pid: int) -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter, quirks=PYTHON)) as session:
        adapter.emit("process", name="p", systemProcessId=pid)
        adapter.stop()
        assert (await stopped(session)).number == 1
