"""Several debuggers as one program, in orders that real ones seldom show."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.debuggee_tree import debuggees
from dragoman.debug.backends.debuggee_tree.request_router import ThreadIds, debuggee_of, to_own_ids, to_tree_ids
from dragoman.debug.backends.debuggee_tree.tree import DebuggeeTree, DebuggeeTreeTraits
from dragoman.protocols.dap.bodies import EventBody, ExitedBody
from tests.support.fake_adapter import FakeAdapter

pytestmark = pytest.mark.anyio

OLD_VALUES = DebuggeeTreeTraits(shows_stale_values=True)
FILE = {"source": {"path": "/p/a.py"}, "breakpoints": [{"line": 5}]}


class Scene:
    """A family of fakes, and what it tells."""

    def __init__(self, traits: DebuggeeTreeTraits, root: FakeAdapter) -> None:
        self.root = root
        self.children: list[FakeAdapter] = []
        self.told: list[EventBody] = []
        self.last: list[EventBody] = []
        self.news = anyio.Event()
        self.family = DebuggeeTree(self.root, self._join, self._last, traits)

    async def _join(self, configuration: Mapping[str, Any]) -> FakeAdapter:
        child: FakeAdapter = configuration["fake"]
        return child

    async def _last(self, *, gone: bool) -> list[EventBody]:
        return self.last if not gone else []

    async def listen(self) -> None:
        def take(body: EventBody) -> bool:
            self.told.append(body)
            self._wake()
            return True

        self.family.events.attach(take)

    async def start(self) -> None:
        await self.ask("initialize", {"adapterID": "x"})
        await self.ask("launch", {})
        await self.ask("setBreakpoints", FILE)
        await self.ask("configurationDone")

    async def child(self, name: str = "Subprocess 77") -> FakeAdapter:
        child = FakeAdapter()
        self.children.append(child)
        self.family.add_child("launch", {"name": name, "fake": child})
        await self.until(lambda: bool(child.sent("configurationDone")))
        return child

    async def ask(self, command: str, arguments: dict[str, Any] | None = None) -> Any:
        response = await self.family.request(command, arguments, timeout_s=2)
        return msgspec.json.decode(response.body) if isinstance(response.body, msgspec.Raw) else None

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(5):
            while not condition():
                await anyio.wait_all_tasks_blocked()

    def bodies(self, event: str) -> list[dict[str, Any]]:
        return [msgspec.json.decode(msgspec.json.encode(it)) for it in self.told if it.event == event]

    async def told_stops(self, count: int) -> list[int]:
        await self.until(lambda: len(self.bodies("stopped")) >= count)
        return [body["threadId"] for body in self.bodies("stopped")]

    def _wake(self) -> None:
        news, self.news = self.news, anyio.Event()
        news.set()


@asynccontextmanager
async def scene(
    traits: DebuggeeTreeTraits = OLD_VALUES, root: FakeAdapter | None = None, *, started: bool = True
) -> AsyncIterator[Scene]:
    """One that is not started is for a session, which starts and hears it."""
    made = Scene(traits, root or FakeAdapter())
    async with anyio.create_task_group() as group:
        group.start_soon(made.family.run)
        if started:
            group.start_soon(made.listen)
            await anyio.wait_all_tasks_blocked()
            await made.start()
        try:
            yield made
        finally:
            await made.family.end()
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
        told = it.bodies("breakpoint")[0]["breakpoint"]
        assert (told["id"], told["verified"], told["line"]) == (unbound["id"], True, 5)
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
        await it.told_stops(1)
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
        await it.told_stops(1)
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
        (thread,) = await it.told_stops(1)
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
        (first,) = await it.told_stops(1)
        child.stop()
        await anyio.wait_all_tasks_blocked()
        assert len(it.bodies("stopped")) == 1
        await it.ask("continue", {"threadId": first})
        _, second = await it.told_stops(2)
        assert second != first
        assert not child.sent("continue")


async def test_a_steps_own_stop_comes_before_one_that_was_held_back() -> None:
    async with scene() as it:
        child = await it.child()
        it.root.stop()
        (first,) = await it.told_stops(1)
        child.stop()
        await it.ask("next", {"threadId": first})
        it.root.emit("continued", threadId=1)
        await anyio.wait_all_tasks_blocked()
        assert len(it.bodies("stopped")) == 1
        it.root.stop("step")
        assert await it.told_stops(2) == [first, first]
        await it.ask("continue", {"threadId": first})
        assert (await it.told_stops(3))[-1] != first


async def test_a_run_that_is_refused_leaves_the_stop_in_front() -> None:
    async with scene() as it:
        child = await it.child()
        it.root.stop()
        (first,) = await it.told_stops(1)
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
        await it.told_stops(1)
        child.emit("continued", threadId=1)
        child.emit("output", output="x")
        await it.until(lambda: bool(it.bodies("output")))
        assert it.bodies("continued") == []


@pytest.mark.parametrize("way", ["terminated", "death"])
async def test_a_child_that_ends_takes_its_threads_and_its_stop_with_it(way: str) -> None:
    async with scene() as it:
        child = await it.child()
        child.stop()
        (thread,) = await it.told_stops(1)
        it.root.stop()
        child.emit("terminated") if way == "terminated" else child.die()
        _, next_thread = await it.told_stops(2)
        assert {"reason": "exited", "threadId": thread} in it.bodies("thread")
        assert next_thread != thread
        assert it.bodies("terminated") == []
        assert len((await it.ask("threads"))["threads"]) == 1


async def test_the_roots_end_is_the_end_and_a_childs_exit_code_is_not_the_programs() -> None:
    async with scene() as it:
        child = await it.child()
        it.last = [ExitedBody(exit_code=4)]
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
        it.family.add_child("attach", {"name": "x", "fake": child})
        await it.until(lambda: child.ended)
        it.root.stop()
        await it.told_stops(1)


async def test_children_beyond_the_bound_are_sent_on_without_a_debugger_and_that_is_said_once(
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
            it.family.add_child("attach", {"name": "x", "fake": child})
        await anyio.wait_all_tasks_blocked()
        assert sum(bool(child.requests) for child in slow) == 4
        for child in slow:
            await child.end()


async def test_a_silent_child_does_not_hold_up_the_breakpoints_of_the_root() -> None:
    async with scene() as it:
        child = await it.child()
        child.answers["setBreakpoints"] = lambda _: None
        response = await it.family.request("setBreakpoints", FILE, timeout_s=0.2)
        assert b'"verified":true' in bytes(response.body)  # type: ignore[arg-type]


async def test_a_value_that_was_set_is_shown_until_the_program_runs_again() -> None:
    async with scene() as it:
        child = await it.child()
        child.answers["setVariable"] = lambda _: {"value": "7", "type": "int"}
        child.stop()
        (thread,) = await it.told_stops(1)
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
