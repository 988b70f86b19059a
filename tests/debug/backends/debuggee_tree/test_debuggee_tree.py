"""Several debuggers as one program, in orders that real ones seldom show. Each begins as a program without children."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any, cast

import anyio
import anyio.abc
import msgspec
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends import debuggee_tree
from dragoman.debug.backends.adapters.adapter_process import ExternalAdapter
from dragoman.debug.backends.adapters.connection import DebuggeeConnection
from dragoman.debug.backends.adapters.dap_backend import DapBackend
from dragoman.debug.backends.adapters.spec import AdapterSpec, Address, LaunchContext
from dragoman.debug.backends.debuggee_tree import debuggees
from dragoman.debug.backends.debuggee_tree.request_router import ThreadIds, debuggee_of, to_own_ids, to_tree_ids
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.io.processes.command import ProcessCommand
from dragoman.io.processes.nodelay import NoDelayScheduler
from dragoman.protocols.dap import Response
from dragoman.protocols.dap.bodies import EventBody, ExitedBody
from tests.support.fake_adapter import FakeAdapter

pytestmark = pytest.mark.anyio

OLD_VALUES = AdapterQuirks(shows_stale_values=True)
FILE = {"source": {"path": "/p/a.py"}, "breakpoints": [{"line": 5}]}


class FakeConnection(DebuggeeConnection):
    """The real one, with a fake adapter in place of bytes."""

    def __init__(self, adapter: FakeAdapter, quirks: AdapterQuirks) -> None:
        super().__init__(quirks)
        self._adapter = adapter

    async def run(self) -> None:
        self._adapter.events.attach(self._pass_on, into=self.events)
        await self._adapter.events.closed.wait()
        self.events.close()

    async def end(self) -> None:
        await super().end()
        await self._adapter.end()

    async def _send(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        return await self._adapter.request(command, arguments, timeout_s=timeout_s)

    def _pass_on(self, body: EventBody) -> bool:
        self.receive(body)
        return True


class FakeBackend(DapBackend):
    """The real one, whose adapter and children are fakes. `last` are the events that only we know at the end."""

    def __init__(self, quirks: AdapterQuirks, root: FakeAdapter) -> None:
        watched = SimpleNamespace(
            unwatch=lambda: None, program_resumed=lambda: None, program_stopped=lambda: None,
            connections_expected=lambda: None,
        )  # fmt: skip
        spec = AdapterSpec(
            name="fake", types=frozenset({"fake"}), adapter_id="fake", transport="stdio", quirks=quirks,
            command=lambda _: ProcessCommand(["true"], {}, Path("/")), arguments=lambda _: {},
        )  # fmt: skip
        process = ExternalAdapter(Address("127.0.0.1", 1), frozenset())
        scheduler = cast("NoDelayScheduler", SimpleNamespace(watch=lambda _: watched))
        context = LaunchContext("launch", {}, {}, Path("/"))
        super().__init__(AsyncExitStack(), process, scheduler, spec, context)
        self.last: list[EventBody] = []
        self._fake_root = root

    async def _connect(self, configuration: Mapping[str, Any] | None = None) -> DebuggeeConnection:
        adapter = self._fake_root if configuration is None else configuration["fake"]
        connection = FakeConnection(adapter, self._quirks)
        self._connections.start_soon(connection.run)
        return connection

    async def _final_events(self, *, gone: bool) -> list[EventBody]:
        return self.last if not gone else []

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        await self._run(task_status=task_status)


class Scene:
    """A program of fakes, and what its backend reports."""

    def __init__(self, quirks: AdapterQuirks, root: FakeAdapter) -> None:
        self.root = root
        self.children: list[FakeAdapter] = []
        self.reported: list[EventBody] = []
        self.backend = FakeBackend(quirks, root)

    async def listen(self) -> None:
        def take(body: EventBody) -> bool:
            self.reported.append(body)
            return True

        self.backend.events.attach(take)

    async def start(self) -> None:
        await self.ask("initialize", {"adapterID": "x"})
        await self.ask("launch", {})
        await self.ask("setBreakpoints", FILE)
        await self.ask("configurationDone")

    async def child(self, name: str = "Subprocess 77") -> FakeAdapter:
        child = FakeAdapter()
        self.children.append(child)
        self.backend.add_child("launch", {"name": name, "fake": child})
        await self.until(lambda: bool(child.sent("configurationDone")))
        return child

    async def ask(self, command: str, arguments: dict[str, Any] | None = None) -> Any:
        response = await self.backend.request(command, arguments, timeout_s=2)
        return msgspec.json.decode(response.body) if isinstance(response.body, msgspec.Raw) else None

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(5):
            while not condition():
                await anyio.wait_all_tasks_blocked()

    def bodies(self, event: str) -> list[dict[str, Any]]:
        return [msgspec.json.decode(msgspec.json.encode(it)) for it in self.reported if it.event == event]

    async def reported_stops(self, count: int) -> list[int]:
        await self.until(lambda: len(self.bodies("stopped")) >= count)
        return [body["threadId"] for body in self.bodies("stopped")]


@asynccontextmanager
async def scene(
    quirks: AdapterQuirks = OLD_VALUES, root: FakeAdapter | None = None, *, started: bool = True
) -> AsyncIterator[Scene]:
    """One that is not started is for a session, which starts and reads it."""
    made = Scene(quirks, root or FakeAdapter())
    async with anyio.create_task_group() as group:
        await group.start(made.backend.run)
        if started:
            group.start_soon(made.listen)
            await anyio.wait_all_tasks_blocked()
            await made.start()
        try:
            yield made
        finally:
            await made.backend.end()
            group.cancel_scope.cancel()


async def test_a_child_gets_the_breakpoints_that_were_set_before_it_came_and_those_set_later() -> None:
    async with scene() as it:
        await it.ask("setExceptionBreakpoints", {"filters": ["uncaught"]})
        child = await it.child()
        assert child.sent("setBreakpoints") == [FILE]
        assert child.sent("setExceptionBreakpoints") == [{"filters": ["uncaught"]}]
        assert [name for name, _ in child.requests].index("configurationDone") == len(child.requests) - 1
        later = {**FILE, "breakpoints": [{"line": 9}]}
        await it.ask("setBreakpoints", later)
        assert child.sent("setBreakpoints")[-1] == it.root.sent("setBreakpoints")[-1] == later


async def test_what_is_served_is_said_to_the_root_and_to_every_child() -> None:
    async with scene() as it:
        child = await it.child()
        for adapter in (it.root, child):
            (hello,) = adapter.sent("initialize")
            assert (hello["adapterID"], hello["supportsStartDebuggingRequest"]) == ("x", True)


async def test_a_breakpoint_is_bound_when_one_member_has_bound_it() -> None:
    async with scene() as it:
        it.root.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"id": 7, "verified": False, "message": "no"}]}
        unbound = (await it.ask("setBreakpoints", FILE))["breakpoints"][0]
        assert (unbound["verified"], unbound["message"]) == (False, "no")
        await it.child()
        await it.until(lambda: bool(it.bodies("breakpoint")))
        result = it.bodies("breakpoint")[0]["breakpoint"]
        assert (result["id"], result["verified"], result["line"]) == (unbound["id"], True, 5)
        again = (await it.ask("setBreakpoints", FILE))["breakpoints"][0]
        assert again["verified"]


async def test_a_members_change_of_a_breakpoint_is_reported_under_our_number() -> None:
    async with scene() as it:
        child = await it.child()
        number = (await it.ask("setBreakpoints", FILE))["breakpoints"][0]["id"]
        child.emit("breakpoint", reason="changed", breakpoint={"id": 105, "verified": True, "line": 6})
        it.root.emit("breakpoint", reason="changed", breakpoint={"id": 105, "verified": False})
        it.root.emit("breakpoint", reason="changed", breakpoint={"id": 999, "verified": True})
        child.stop(hitBreakpointIds=[105])
        await it.reported_stops(1)
        assert it.bodies("stopped")[0]["hitBreakpointIds"] == [number]
        assert [body["breakpoint"]["id"] for body in it.bodies("breakpoint")] in ([number], [number, number])


async def test_an_id_that_a_member_gave_twice_says_nothing_and_changes_nothing() -> None:
    async with scene() as it:
        child = await it.child()
        child.answers["setBreakpoints"] = lambda asked: {
            "breakpoints": [{"id": 1, "verified": True, "line": wanted["line"]} for wanted in asked["breakpoints"]]
        }
        await it.ask("setBreakpoints", {**FILE, "breakpoints": [{"line": 9}, {"line": 4}]})
        child.emit("breakpoint", reason="changed", breakpoint={"id": 1, "verified": True, "line": 4})
        child.stop(hitBreakpointIds=[1])
        await it.reported_stops(1)
        assert it.bodies("stopped")[0]["hitBreakpointIds"] == []
        assert it.bodies("breakpoint") == []


async def test_why_a_breakpoint_was_not_bound_is_over_once_it_is() -> None:
    async with scene() as it:
        child = await it.child()
        unbound = {"breakpoints": [{"id": 3, "verified": False, "message": "not yet"}]}
        it.root.answers["setBreakpoints"] = child.answers["setBreakpoints"] = lambda _: unbound
        await it.ask("setBreakpoints", {**FILE, "breakpoints": [{"line": 5}]})
        child.emit("breakpoint", reason="changed", breakpoint={"id": 3, "verified": True, "line": 5})
        await it.until(lambda: bool(it.bodies("breakpoint")))
        assert "message" not in it.bodies("breakpoint")[-1]["breakpoint"]


async def test_threads_of_a_child_have_numbers_of_their_own_and_its_process_in_their_names() -> None:
    async with scene() as it:
        child = await it.child()
        threads = (await it.ask("threads"))["threads"]
        assert [thread["name"] for thread in threads] == ["main", "main (Subprocess 77)"]
        first, second = (thread["id"] for thread in threads)
        assert first != second
        await it.ask("pause", {"threadId": second})
        assert (child.sent("pause"), it.root.sent("pause")) == ([{"threadId": 1}], [])


async def test_frames_and_variables_of_a_child_are_asked_of_the_child() -> None:
    async with scene() as it:
        child = await it.child()
        child.stop()
        (thread,) = await it.reported_stops(1)
        frame = (await it.ask("stackTrace", {"threadId": thread}))["stackFrames"][0]["id"]
        reference = (await it.ask("scopes", {"frameId": frame}))["scopes"][0]["variablesReference"]
        await it.ask("variables", {"variablesReference": reference})
        await it.ask("evaluate", {"expression": "1"})
        assert child.sent("scopes") == [{"frameId": 1}]
        assert child.sent("variables") == [{"variablesReference": 9}]
        assert child.sent("evaluate") == [{"expression": "1"}]
        assert not it.root.sent("stackTrace")


async def test_a_second_members_stop_is_held_back_until_the_first_is_sent_on() -> None:
    async with scene() as it:
        child = await it.child()
        it.root.stop()
        (first,) = await it.reported_stops(1)
        child.stop()
        await anyio.wait_all_tasks_blocked()
        assert len(it.bodies("stopped")) == 1
        await it.ask("continue", {"threadId": first})
        _, second = await it.reported_stops(2)
        assert second != first
        assert not child.sent("continue")


async def test_a_steps_own_stop_comes_before_one_that_was_held_back() -> None:
    async with scene() as it:
        child = await it.child()
        it.root.stop()
        (first,) = await it.reported_stops(1)
        child.stop()
        await it.ask("next", {"threadId": first})
        it.root.emit("continued", threadId=1)
        await anyio.wait_all_tasks_blocked()
        assert len(it.bodies("stopped")) == 1
        it.root.stop("step")
        assert await it.reported_stops(2) == [first, first]
        await it.ask("continue", {"threadId": first})
        assert (await it.reported_stops(3))[-1] != first


async def test_a_run_that_is_refused_leaves_the_stop_in_front() -> None:
    async with scene() as it:
        child = await it.child()
        it.root.stop()
        (first,) = await it.reported_stops(1)
        child.stop()
        it.root.refuse("continue", "not now")
        with pytest.raises(DragomanError, match="not now"):
            await it.ask("continue", {"threadId": first})
        await anyio.wait_all_tasks_blocked()
        assert len(it.bodies("stopped")) == 1


async def test_another_members_continued_is_not_reported_while_one_is_stopped() -> None:
    async with scene() as it:
        child = await it.child()
        it.root.stop()
        await it.reported_stops(1)
        child.emit("continued", threadId=1)
        child.emit("output", output="x")
        await it.until(lambda: bool(it.bodies("output")))
        assert it.bodies("continued") == []


@pytest.mark.parametrize("way", ["terminated", "death"])
async def test_a_child_that_ends_takes_its_threads_and_its_stop_with_it(way: str) -> None:
    async with scene() as it:
        child = await it.child()
        child.stop()
        (thread,) = await it.reported_stops(1)
        it.root.stop()
        child.emit("terminated") if way == "terminated" else child.die()
        _, next_thread = await it.reported_stops(2)
        assert {"reason": "exited", "threadId": thread} in it.bodies("thread")
        assert next_thread != thread
        assert it.bodies("terminated") == []
        assert len((await it.ask("threads"))["threads"]) == 1


async def test_the_roots_end_is_the_end_and_a_childs_exit_code_is_not_the_programs() -> None:
    async with scene() as it:
        child = await it.child()
        it.backend.last = [ExitedBody(exit_code=4)]
        child.emit("exited", exitCode=9)
        it.root.emit("terminated")
        await it.until(lambda: bool(it.bodies("terminated")))
        assert it.bodies("exited") == [{"exitCode": 4}]


async def test_initialized_is_reported_once() -> None:
    async with scene() as it:
        it.root.emit("initialized")
        child = await it.child()
        child.emit("initialized")
        child.emit("output", output="x")
        await it.until(lambda: bool(it.bodies("output")))
        assert len(it.bodies("initialized")) == 1


async def test_a_child_that_never_joins_is_not_a_loss() -> None:
    async with scene() as it:
        child = FakeAdapter()
        child.refuse("initialize", "gone")
        it.backend.add_child("attach", {"name": "x", "fake": child})
        await it.until(lambda: child.ended)
        it.root.stop()
        await it.reported_stops(1)


async def test_children_beyond_the_limit_are_resumed_without_a_debugger_and_reported_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(debuggees, "MAX_DEBUGGEES", 1)
    async with scene() as it:
        debugged, *free = [await it.child() for _ in range(4)]
        for child in free:
            await it.until(lambda child=child: child.ended)  # type: ignore[misc]
            assert child.sent("setBreakpoints") == []
            assert [name for name, _ in child.requests][-2:] == ["configurationDone", "disconnect"]
            assert child.sent("disconnect") == [{"terminateDebuggee": False}]
        assert [body["output"].count("1 child processes are debugged") for body in it.bodies("output")] == [1]
        assert len((await it.ask("threads"))["threads"]) == 2
        debugged.emit("terminated")
        await it.until(lambda: debugged.ended)
        assert (await it.child()).sent("setBreakpoints") == [FILE]


async def test_many_children_join_a_few_at_a_time() -> None:
    async with scene() as it:
        slow = [FakeAdapter() for _ in range(20)]
        for child in slow:
            child.answers["initialize"] = lambda _: None
            it.backend.add_child("attach", {"name": "x", "fake": child})
        await anyio.wait_all_tasks_blocked()
        assert sum(bool(child.requests) for child in slow) == 4
        for child in slow:
            await child.end()


async def test_a_silent_child_does_not_hold_up_the_breakpoints_of_the_root() -> None:
    async with scene() as it:
        child = await it.child()
        child.answers["setBreakpoints"] = lambda _: None
        response = await it.backend.request("setBreakpoints", FILE, timeout_s=0.2)
        assert b'"verified":true' in bytes(response.body)  # type: ignore[arg-type]


async def test_a_value_that_was_set_is_shown_until_the_program_runs_again() -> None:
    async with scene() as it:
        child = await it.child()
        child.answers["setVariable"] = lambda _: {"value": "7", "type": "int"}
        child.stop()
        (thread,) = await it.reported_stops(1)
        reference = to_tree_ids({"variablesReference": 9}, 1)["variablesReference"]
        await it.ask("setVariable", {"variablesReference": reference, "name": "n", "value": "7"})
        listed = (await it.ask("variables", {"variablesReference": reference}))["variables"]
        assert [(shown["name"], shown["value"]) for shown in listed] == [("n", "7")]
        await it.ask("next", {"threadId": thread})
        again = (await it.ask("variables", {"variablesReference": reference}))["variables"]
        assert again[0]["value"] == "3"


def test_thread_numbers_stay_as_they_are_where_they_can_and_are_never_zero() -> None:
    threads = ThreadIds()
    assert [threads.ours(0, 1), threads.ours(0, 2), threads.ours(1, 1), threads.ours(1, 0)] == [1, 2, 3, 4]
    assert (threads.ours(1, 1), threads.theirs(3), threads.theirs(9)) == (3, (1, 1), None)
    threads.forget(3)
    assert (threads.theirs(3), threads.of(1)) == (None, [4])


def test_references_go_up_and_come_down_again() -> None:
    body = {"stackFrames": [{"id": 0, "source": {"sourceReference": 0}}, {"id": 3}]}
    up = to_tree_ids(body, 2, frames=True)
    asked = {"frameId": up["stackFrames"][1]["id"]}
    assert (debuggee_of(asked), to_own_ids(asked)) == (2, {"frameId": 3})
    assert up["stackFrames"][0]["source"]["sourceReference"] == 0
    scope = to_tree_ids({"variables": [{"variablesReference": 0}, {"variablesReference": 8}]}, 1)["variables"]
    assert (scope[0]["variablesReference"], debuggee_of(scope[1]), to_own_ids(scope[1])["variablesReference"]) == (
        0,
        1,
        8,
    )
    assert debuggee_of({"expression": "x"}) is None


# A program without children, and the moment at which it gets its first.


@contextmanager
def calls_into(package: ModuleType) -> Iterator[list[str]]:
    """The functions of a package that run meanwhile. Its modules may be imported; they may not do anything."""
    folder, called = str(Path(str(package.__file__)).parent), []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            called.append(frame.f_code.co_qualname)

    sys.setprofile(profile)
    try:
        yield called
    finally:
        sys.setprofile(None)


async def _debug_alone(it: Scene) -> None:
    it.root.stop(hitBreakpointIds=[105])
    await it.reported_stops(1)
    for command, arguments in (
        ("threads", None), ("stackTrace", {"threadId": 1}), ("evaluate", {"expression": "1"}), ("next", {"threadId": 1})
    ):  # fmt: skip
        await it.ask(command, arguments)
    it.root.emit("breakpoint", reason="changed", breakpoint={"id": 105, "verified": False})
    it.root.stop("step")
    await it.reported_stops(2)


async def test_a_program_without_children_never_enters_the_tree() -> None:
    with calls_into(debuggee_tree) as called:
        async with scene() as it:
            await _debug_alone(it)
        assert called == []


async def test_a_child_enters_the_tree() -> None:
    with calls_into(debuggee_tree) as called:
        async with scene() as it:
            await it.child()
    assert "DebuggeeTree.request" not in called
    assert "DebuggeeTree.add_child" in called


async def test_an_adapter_with_programs_only_in_children_has_a_tree_from_the_start() -> None:
    with calls_into(debuggee_tree) as called:
        async with scene(AdapterQuirks(debuggees_are_children=True)):
            pass
    assert "DebuggeeTree.request" in called


async def test_breakpoints_keep_their_ids_when_the_first_child_comes() -> None:
    async with scene() as it:
        assert [body["id"] for body in (await it.ask("setBreakpoints", FILE))["breakpoints"]] == [105]
        await it.child()
        it.root.stop(hitBreakpointIds=[105])
        await it.reported_stops(1)
        assert it.bodies("stopped")[0]["hitBreakpointIds"] == [105]
        it.root.emit("breakpoint", reason="changed", breakpoint={"id": 105, "line": 6})
        assert it.bodies("breakpoint")[-1]["breakpoint"] == {"id": 105, "verified": True, "line": 6}


async def test_a_childs_hit_of_a_breakpoint_that_was_set_before_it_came_has_the_id_that_is_known() -> None:
    async with scene() as it:
        child = FakeAdapter()
        child.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"id": 0, "verified": True, "line": 5}]}
        it.backend.add_child("launch", {"name": "x", "fake": child})
        await it.until(lambda: bool(child.sent("configurationDone")))
        child.stop(hitBreakpointIds=[0])
        await it.reported_stops(1)
        assert it.bodies("stopped")[0]["hitBreakpointIds"] == [105]


async def test_threads_keep_their_ids_when_the_first_child_comes_and_its_own_get_others() -> None:
    async with scene() as it:
        it.root.answers["threads"] = lambda _: {"threads": [{"id": 1, "name": "main"}, {"id": 2, "name": "worker"}]}
        it.root.emit("thread", reason="started", threadId=3)
        before = [it["id"] for it in (await it.ask("threads"))["threads"]]
        child = await it.child()
        child.answers["threads"] = lambda _: {"threads": [{"id": 2, "name": "a"}, {"id": 3, "name": "b"}]}
        after = [it["id"] for it in (await it.ask("threads"))["threads"]]
        assert (before, after[:2], len(set(after) | {3})) == ([1, 2], [1, 2], 5)


@pytest.mark.parametrize("is_child_first", [False, True])
async def test_threads_that_are_on_their_way_when_the_first_child_comes_are_the_roots(is_child_first: bool) -> None:
    async with scene() as it:
        answered = anyio.Event()
        it.root.late_answers["threads"] = answered
        it.root.answers["threads"] = lambda _: {"threads": [{"id": 1, "name": "main"}, {"id": 2, "name": "worker"}]}
        listed: list[Any] = []

        async def list_threads() -> None:
            listed.extend((await it.ask("threads"))["threads"])

        async with anyio.create_task_group() as group:
            group.start_soon(list_threads)
            await anyio.wait_all_tasks_blocked()
            child = await it.child()
            if is_child_first:
                child.emit("thread", reason="started", threadId=2)
            answered.set()
        child.emit("stopped", reason="breakpoint", threadId=2)
        (stopped,) = await it.reported_stops(1)
        roots = [thread["id"] for thread in listed]
        assert roots == ([1, 3] if is_child_first else [1, 2])
        assert stopped not in roots
        await it.ask("stackTrace", {"threadId": roots[1]})
        assert it.root.sent("stackTrace") == [{"threadId": 2}]


async def test_a_stop_that_was_reported_before_the_first_child_came_is_the_current_one() -> None:
    async with scene() as it:
        it.root.stop()
        await it.reported_stops(1)
        child = await it.child()
        child.stop()
        await anyio.wait_all_tasks_blocked()
        assert len(it.bodies("stopped")) == 1
        await it.ask("continue", {"threadId": 1})
        assert len(await it.reported_stops(2)) == 2


async def test_a_step_that_is_under_way_when_the_first_child_comes_is_reported_first() -> None:
    async with scene() as it:
        it.root.stop()
        await it.reported_stops(1)
        await it.ask("next", {"threadId": 1})
        child = await it.child()
        child.stop()
        assert len(it.bodies("stopped")) == 1
        it.root.stop("step")
        assert await it.reported_stops(2) == [1, 1]


async def test_a_run_that_is_refused_after_the_first_child_came_leaves_the_stop_in_front() -> None:
    async with scene() as it:
        it.root.stop()
        await it.reported_stops(1)
        refused = anyio.Event()
        it.root.late_answers["continue"] = refused
        it.root.refuse("continue", "not now")
        async with anyio.create_task_group() as group:
            group.start_soon(_require_refusal, it)
            await anyio.wait_all_tasks_blocked()
            child = await it.child()
            refused.set()
        child.stop()
        await anyio.wait_all_tasks_blocked()
        assert len(it.bodies("stopped")) == 1


async def _require_refusal(it: Scene) -> None:
    with pytest.raises(DragomanError, match="not now"):
        await it.ask("continue", {"threadId": 1})


async def test_a_list_that_is_on_its_way_when_the_first_child_comes_reaches_the_child_once_with_the_same_ids() -> None:
    async with scene() as it:
        bound = anyio.Event()
        later = {**FILE, "breakpoints": [{"line": 9}]}
        it.root.late_answers["setBreakpoints"] = bound
        answers: list[Any] = []

        async def set_list() -> None:
            answers.append(await it.ask("setBreakpoints", later))

        async with anyio.create_task_group() as group:
            group.start_soon(set_list)
            await anyio.wait_all_tasks_blocked()
            child = FakeAdapter()
            it.backend.add_child("launch", {"name": "x", "fake": child})
            await anyio.wait_all_tasks_blocked()
            assert child.sent("setBreakpoints") == []
            bound.set()
        await it.until(lambda: bool(child.sent("configurationDone")))
        assert child.sent("setBreakpoints") == [later]
        assert answers[0]["breakpoints"][0]["id"] == 109
        child.stop(hitBreakpointIds=[109])
        await it.reported_stops(1)
        assert it.bodies("stopped")[0]["hitBreakpointIds"] == [109]


async def test_a_thread_with_the_id_0_gets_another_also_without_children() -> None:
    async with scene() as it:
        it.root.emit("stopped", reason="pause", threadId=0)
        (thread,) = await it.reported_stops(1)
        assert thread > 0
        await it.ask("continue", {"threadId": thread})
        assert it.root.sent("continue") == [{"threadId": 0}]
