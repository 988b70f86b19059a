"""What callers ask of a stopped program: run to a place, change a variable, name a thread, look from there."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.model import ProgramEnd, RunTarget, SessionState
from dragoman.protocols.dap import Response
from dragoman.workspace.breakpoints import Breakpoint
from tests.debug.fake_sessions import RecordedEvents, code_of, running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

AT_5 = Breakpoint(id=1, path="/p/a.py", line=5)
LINE_9 = RunTarget(path="/p/a.py", line=9)


def lines_sent(adapter: FakeAdapter) -> list[list[int]]:
    return [[it["line"] for it in asked["breakpoints"]] for asked in adapter.sent("setBreakpoints")]


# Until.


async def test_a_run_to_a_place_has_a_breakpoint_that_no_list_shows_and_that_goes_at_the_stop() -> None:
    adapter = FakeAdapter()
    adapter.when("continue", lambda: adapter.stop(hitBreakpointIds=[109]))
    async with running_session(session_of(adapter), AT_5) as session:
        adapter.stop(hitBreakpointIds=[105])
        await stopped(session)
        await session.run_control.resume(until=LINE_9)
        stop = await stopped(session, 1)
        assert (stop.reason, stop.hit_breakpoints) == ("breakpoint", ())
        assert session.breakpoint_sync.unbound() == []
    assert lines_sent(adapter) == [[5], [5, 9], [5]]


async def test_a_run_that_stops_elsewhere_is_over_all_the_same() -> None:
    adapter = FakeAdapter()
    adapter.when("continue", lambda: adapter.stop(hitBreakpointIds=[105]))
    async with running_session(session_of(adapter), AT_5) as session:
        adapter.stop("pause")
        await stopped(session)
        await session.run_control.resume(until=LINE_9)
        assert (await stopped(session, 1)).hit_breakpoints == (1,)
        await session.update_breakpoints([])
    assert lines_sent(adapter) == [[5], [5, 9], [5], []]


async def test_a_run_to_a_place_that_is_not_stopped_sets_nothing() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        assert await code_of(lambda: session.run_control.resume(until=LINE_9)) == "not_stopped"
    assert adapter.sent("setBreakpoints") == []


async def test_the_place_of_a_run_may_have_a_breakpoint_with_a_condition_already() -> None:
    adapter = FakeAdapter()
    conditional = Breakpoint(id=3, path="/p/a.py", line=9, condition="never")
    adapter.when("continue", lambda: adapter.stop(hitBreakpointIds=[109]))
    async with running_session(session_of(adapter), conditional) as session:
        adapter.stop("pause")
        await stopped(session)
        await session.run_control.resume(until=LINE_9)
        assert (await stopped(session, 1)).hit_breakpoints == ()
    sent = [asked["breakpoints"] for asked in adapter.sent("setBreakpoints")]
    assert sent == [[{"line": 9, "condition": "never"}], [{"line": 9}], [{"line": 9, "condition": "never"}]]


# Variables.


async def test_a_variable_is_set_where_the_frame_has_it_and_the_stop_shows_it_from_then_on() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsSetVariable", "supportsSetExpression")
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        adapter.answers["variables"] = lambda _: {"variables": [{"name": "n", "value": "8"}]}
        found = await session.inspection.set_variable("n", "8", None, None)
        assert (found.result, found.type) == ("8", "int")
        assert session.stop is not None
        assert session.stop.top_locals is not None
        assert session.stop.top_locals.variables[0].value == "8"
    assert adapter.sent("setVariable") == [{"variablesReference": 9, "name": "n", "value": "8"}]


async def test_what_no_scope_has_is_set_as_an_expression() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsSetVariable", "supportsSetExpression")
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        await session.inspection.set_variable("n.x[0]", "8", None, None)
    assert adapter.sent("setExpression") == [{"expression": "n.x[0]", "value": "8", "frameId": 1}]


async def test_a_variable_is_set_in_what_holds_it_by_our_reference() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsSetVariable")
    adapter.answers["variables"] = lambda _: {"variables": [{"name": "p", "value": "{}", "variablesReference": 44}]}
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        stop = await stopped(session)
        assert stop.top_locals is not None
        await session.inspection.set_variable("x", "1", stop.top_locals.variables[0].reference, None)
    assert adapter.sent("setVariable") == [{"variablesReference": 44, "name": "x", "value": "1"}]


@pytest.mark.parametrize(("flags", "code"), [((), "not_supported"), (("supportsSetVariable",), "unknown_variable")])
async def test_a_variable_that_cannot_be_set_is_refused_with_what_is_missing(flags: tuple[str, ...], code: str) -> None:
    adapter = FakeAdapter()
    adapter.can(*flags)
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        assert await code_of(lambda: session.inspection.set_variable("nope", "1", None, None)) == code


async def test_evaluations_of_a_session_are_asked_one_after_another() -> None:
    open_now, most = 0, 0

    class Counting(FakeAdapter):
        async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
            nonlocal open_now, most
            open_now += command == "evaluate"
            most = max(most, open_now)
            response = await super().request(command, arguments, timeout_s=timeout_s)
            open_now -= command == "evaluate"
            return response

    adapter = Counting()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)

        async def evaluate(expression: str) -> None:
            await session.inspection.evaluate(expression, None, "repl", timeout_s=2, thread_id=None)

        async with anyio.create_task_group() as group:
            for number in range(5):
                group.start_soon(evaluate, str(number))
    assert (len(adapter.sent("evaluate")), most) == (5, 1)


async def test_a_caller_behind_an_evaluation_that_never_ends_gets_an_answer_in_time() -> None:
    adapter = FakeAdapter()
    adapter.answers["evaluate"] = lambda _: None
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)

        async def first() -> None:
            assert await code_of(lambda: ask(2)) == "adapter_silent"

        async def ask(timeout_s: float) -> None:
            await session.inspection.evaluate("x", None, "repl", timeout_s=timeout_s, thread_id=None)

        async with anyio.create_task_group() as group:
            group.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            assert await code_of(lambda: ask(0.05)) == "busy"


async def test_scopes_wait_for_an_evaluation_like_every_other_look() -> None:
    adapter, release = FakeAdapter(), anyio.Event()
    adapter.answers["evaluate"] = lambda _: release
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        before = len(adapter.sent("scopes"))

        async def evaluate() -> None:
            await session.inspection.evaluate("x", None, "repl", timeout_s=2, thread_id=None)

        async def scopes() -> None:
            await session.inspection.scopes(None, None)

        async with anyio.create_task_group() as group:
            group.start_soon(evaluate)
            await anyio.wait_all_tasks_blocked()
            group.start_soon(scopes)
            await anyio.wait_all_tasks_blocked()
            assert len(adapter.sent("scopes")) == before
            release.set()
        assert len(adapter.sent("scopes")) == before + 1


# Threads.


def two_threads() -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.answers["threads"] = lambda _: {"threads": [{"id": 1, "name": "main"}, {"id": 2, "name": "worker"}]}
    adapter.answers["stackTrace"] = lambda asked: {
        "stackFrames": [{"id": asked["threadId"], "name": f"f{asked['threadId']}", "line": 5}],
        "totalFrames": 1,
    }
    return adapter


@pytest.mark.requirement("debug:general:other-threads")
@pytest.mark.parametrize(("every", "state"), [(True, "stopped"), (False, "running")])
async def test_the_states_of_all_threads_are_reported_and_where_the_stopped_ones_are(every: bool, state: str) -> None:
    adapter = two_threads()
    async with running_session(session_of(adapter)) as session:
        adapter.stop(allThreadsStopped=every)
        await stopped(session)
        main, worker = await session.inspection.threads(placed=True)
        assert (main.state, main.function, worker.name, worker.state) == ("stopped", "f1", "worker", state)
        assert worker.function == ("f2" if every else "")
        await session.run_control.resume()
        assert {it.state for it in await session.inspection.threads(placed=True)} == {"running"}


@pytest.mark.requirement("debug:general:multi-threaded")
async def test_a_stop_of_another_thread_beside_a_stop_is_reported_and_left_over_when_the_other_continues() -> None:
    adapter = two_threads()
    adapter.answers["continue"] = lambda _: {"allThreadsContinued": False}
    async with running_session(session_of(adapter)) as session:
        adapter.stop(allThreadsStopped=False)
        await stopped(session)
        adapter.emit("stopped", reason="breakpoint", threadId=2, allThreadsStopped=False)
        assert (await stopped(session, 1)).thread_id == 2
        await session.run_control.resume()
        left = await stopped(session, 2)
        assert (left.number, left.thread_id) == (3, 1)
        await session.run_control.resume()
        assert session.state is SessionState.RUNNING
    assert adapter.sent("continue") == [{"threadId": 2}, {"threadId": 1}]


async def test_a_thread_that_continues_by_itself_leaves_the_stop_of_another_as_it_is() -> None:
    adapter = two_threads()
    async with running_session(session_of(adapter)) as session:
        adapter.stop(allThreadsStopped=False)
        await stopped(session)
        adapter.emit("continued", threadId=2, allThreadsContinued=False)
        await anyio.wait_all_tasks_blocked()
        states = [session.state]
        adapter.emit("continued", threadId=1)
        await anyio.wait_all_tasks_blocked()
        assert [*states, session.state] == [SessionState.STOPPED, SessionState.RUNNING]


async def test_a_stop_reported_twice_keeps_its_number_and_its_references() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        frame = (await stopped(session)).frames[0].id
        adapter.stop()
        await anyio.wait_all_tasks_blocked()
        assert session.last_stop == 1
        assert await session.inspection.scopes(frame, None)


@pytest.mark.requirement("debug:general:thread-id-demanded")
async def test_each_command_of_one_line_of_execution_takes_its_thread() -> None:
    adapter = two_threads()
    async with running_session(session_of(adapter)) as session:
        adapter.stop(allThreadsStopped=True)
        await stopped(session)
        await session.inspection.scopes(None, 2)
        await session.inspection.evaluate("x", None, "repl", timeout_s=1, thread_id=2)
        await session.run_control.step("over", thread_id=2)
        adapter.stop("step")
        await stopped(session, 1)
        await session.run_control.resume(thread_id=2)
    asked = [adapter.sent(command)[-1] for command in ("scopes", "evaluate", "next", "continue")]
    assert [it.get("threadId", it.get("frameId")) for it in asked[1:]] == [2, 2, 2]
    assert adapter.sent("scopes")[1] == {"frameId": 2}


@pytest.mark.parametrize("command", ["continue", "step", "scopes", "evaluate"])
async def test_a_thread_that_is_not_there_is_reported_with_those_that_are(command: str) -> None:
    adapter = two_threads()
    async with running_session(session_of(adapter)) as session:
        adapter.stop(allThreadsStopped=True)
        await stopped(session)
        acts: dict[str, Any] = {
            "continue": lambda: session.run_control.resume(thread_id=77),
            "step": lambda: session.run_control.step("over", thread_id=77),
            "scopes": lambda: session.inspection.scopes(None, 77),
            "evaluate": lambda: session.inspection.evaluate("x", None, "repl", timeout_s=1, thread_id=77),
        }
        with pytest.raises(DragomanError, match="No thread 77") as caught:
            await acts[command]()
        assert (caught.value.code, str(caught.value.hint)) == ("unknown_thread", "Threads: 1, 2.")
        assert session.state is SessionState.STOPPED


async def test_a_running_thread_cannot_be_looked_into() -> None:
    adapter = two_threads()
    async with running_session(session_of(adapter)) as session:
        adapter.stop(allThreadsStopped=False)
        await stopped(session)
        assert await code_of(lambda: session.inspection.scopes(None, 2)) == "thread_running"


async def test_an_adapter_that_reports_its_threads_is_not_asked_again_until_one_starts_or_exits() -> None:
    adapter = two_threads()
    async with running_session(session_of(adapter)) as session:
        adapter.emit("thread", reason="started", threadId=1)
        adapter.stop(allThreadsStopped=True)
        await stopped(session)
        for _ in range(3):
            await session.inspection.threads(placed=False)
        assert len(adapter.sent("threads")) == 1
        adapter.emit("thread", reason="started", threadId=2)
        await anyio.wait_all_tasks_blocked()
        await session.inspection.threads(placed=False)
        assert len(adapter.sent("threads")) == 2


# What is told of it all.


async def test_stops_and_commands_are_reported_with_places_and_names_and_without_values() -> None:
    adapter, entries = FakeAdapter(), RecordedEvents()
    async with running_session(session_of(adapter, recorded=entries)) as session:
        adapter.stop()
        await stopped(session)
        await session.run_control.step("over", by="agent")
    assert entries == [
        ("debug.running", {}),
        (
            "debug.stopped",
            {"stop": 1, "reason": "breakpoint", "thread": 1, "path": "/p/a.py", "line": 5, "function": "f"},
        ),
        ("debug.resumed", {"command": "next", "thread": 1, "by": "agent"}),
    ]


async def test_that_it_runs_is_reported_once_and_not_while_it_starts() -> None:
    adapter, entries = FakeAdapter(), RecordedEvents()
    adapter.when("configurationDone", lambda: entries.append(("configured", {})))
    async with running_session(session_of(adapter, recorded=entries)) as session:
        adapter.emit("continued", threadId=1)
        await anyio.wait_all_tasks_blocked()
        assert session.state is SessionState.RUNNING
    assert entries == [("configured", {}), ("debug.running", {})]


async def test_an_attached_program_is_restarted_by_its_adapter_alone() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsRestartRequest")
    adapter.when("attach", lambda: adapter.emit("initialized"))
    async with running_session(session_of(adapter, request="attach", arguments={"port": 5})) as session:
        adapter.stop()
        await stopped(session)
        await session.restart(by="agent")
        assert session.state is SessionState.RUNNING
    assert adapter.sent("restart") == [{"arguments": {"port": 5}}]


async def test_an_adapter_that_cannot_restart_says_so() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        assert await code_of(session.restart) == "not_supported"


# Ends.


@pytest.mark.parametrize("known", [{"exited", "terminated"}, {"terminated"}, {"exited"}])
async def test_an_end_is_reported_while_the_adapter_still_tidies_up(known: set[str]) -> None:
    adapter = FakeAdapter()
    adapter.answers["disconnect"] = lambda _: None
    async with running_session(session_of(adapter)) as session:
        if "exited" in known:
            adapter.emit("exited", exitCode=3)
        if "terminated" in known:
            adapter.emit("terminated")
        begun = anyio.current_time()
        outcome = await session.outcome(0, 3)
        assert isinstance(outcome, ProgramEnd)
        assert anyio.current_time() - begun < 2
        assert (session.state, adapter.ended) == (SessionState.TERMINATED, False)
        assert outcome.exit_code == (3 if "exited" in known else None)
    assert adapter.ended


async def test_an_end_by_a_signal_is_reported_by_the_signals_name() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter)) as session:
        adapter.emit("exited", exitCode=-11)
        adapter.emit("terminated")
        outcome = await session.outcome(0, 2)
    assert isinstance(outcome, ProgramEnd)
    assert (outcome.exit_code, outcome.signal) == (-11, "SIGSEGV")


async def test_what_was_printed_before_a_stop_is_reported_with_it_though_it_came_after() -> None:
    adapter = FakeAdapter()
    adapter.when("scopes", lambda: adapter.emit("output", output="late\n", category="stdout"))
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        assert (await stopped(session)).output == "late\n"
