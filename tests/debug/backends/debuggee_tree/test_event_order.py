"""`continued`, `stopped` and answers of many threads in orders that debugpy shows only on a busy machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import SessionState
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.session import DebugSession
from tests.debug.backends.debuggee_tree.test_debuggee_tree import Scene, scene
from tests.debug.fake_sessions import running_session, stopped
from tests.support.clocks import VirtualClock
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

AS_DEBUGPY = AdapterQuirks(continues_only_on_request=True)
ALL: dict[str, Any] = {"allThreadsStopped": True}


def all_go_on(adapter: FakeAdapter, thread: int) -> None:
    adapter.emit("continued", threadId=thread, allThreadsContinued=True)


async def until_received(it: Scene, adapter: FakeAdapter) -> None:
    """All that was said before."""
    before = len(it.bodies("output"))
    adapter.emit("output", output="x")
    await it.until(lambda: len(it.bodies("output")) > before)


@asynccontextmanager
async def session_over(root: FakeAdapter) -> AsyncIterator[DebugSession]:
    async with scene(AS_DEBUGPY, root, started=False) as it:
        launch = AdapterLaunch("launch", {}, "fake")
        async with running_session(DebugSession("s1", "a.py", it.backend, launch, VirtualClock())) as session:
            yield session


async def test_a_thread_that_leaves_the_last_stop_late_does_not_send_a_session_on_from_this() -> None:
    root = FakeAdapter()
    async with session_over(root) as session:
        root.stop(**ALL)
        await stopped(session)
        root.when("continue", lambda: all_go_on(root, 1))
        await session.run_control.resume()
        root.emit("stopped", reason="breakpoint", threadId=2, **ALL)
        stop = await stopped(session, 1)
        all_go_on(root, 3)
        await anyio.wait_all_tasks_blocked()
        assert (session.state, session.stop, session.is_at_stop) == (SessionState.STOPPED, stop, True)
        assert {it.state for it in await session.inspection.threads(placed=False)} == {"stopped"}


async def test_the_stop_may_be_looked_at_still_when_the_late_one_comes() -> None:
    root, looked = FakeAdapter(), anyio.Event()
    async with session_over(root) as session:
        root.answers["scopes"] = lambda _: looked
        root.stop("step", **ALL)
        all_go_on(root, 3)
        await anyio.wait_all_tasks_blocked()
        looked.set()
        await stopped(session)
        await anyio.wait_all_tasks_blocked()
        assert session.is_at_stop


@pytest.mark.parametrize("first", ["continued", "answer", "stopped"])
async def test_a_requested_run_is_recognised_by_whatever_comes_first(first: str) -> None:
    root, answered = FakeAdapter(), anyio.Event()
    data: dict[str, Callable[[], object]] = {
        "continued": lambda: all_go_on(root, 2),
        "answer": answered.set,
        "stopped": lambda: root.stop("step"),
    }
    async with session_over(root) as session:
        root.stop(**ALL)
        await stopped(session)
        root.answers["continue"] = lambda _: answered
        async with anyio.create_task_group() as group:
            group.start_soon(session.run_control.resume)
            await anyio.wait_all_tasks_blocked()
            data[first]()
            await anyio.wait_all_tasks_blocked()
            assert session.state is (SessionState.STOPPED if first == "stopped" else SessionState.RUNNING)
            assert session.last_stop == (2 if first == "stopped" else 1)
            answered.set()
        assert session.is_at_stop is (first == "stopped")


@pytest.mark.parametrize("first", ["continued", "stopped"])
async def test_a_continue_is_answered_by_what_follows_where_a_thread_that_left_late_took_its_answer(first: str) -> None:
    """The thread leaves while the request is on its way, so nothing warns of it before."""
    root = FakeAdapter()
    async with session_over(root) as session:
        root.stop(**ALL)
        await stopped(session)
        root.when("continue", lambda: all_go_on(root, 3) if first == "continued" else root.stop("step"), answers=False)
        with anyio.fail_after(5):
            await session.run_control.resume()
        if first == "continued":
            assert session.state is SessionState.RUNNING
            root.stop("step")
        await stopped(session, 1)
        assert session.is_at_stop


async def test_the_run_after_a_late_one_is_not_waited_for_and_the_next_is_again() -> None:
    root = FakeAdapter()
    async with session_over(root) as session:
        root.stop(**ALL)
        await stopped(session)
        all_go_on(root, 3)
        await anyio.wait_all_tasks_blocked()
        root.answers["continue"] = lambda _: None
        with anyio.fail_after(1):
            await session.run_control.resume()
        await anyio.wait_all_tasks_blocked()
        assert (session.state, root.sent("continue")) == (SessionState.RUNNING, [{"threadId": 1}])
        root.emit("stopped", reason="breakpoint", threadId=2, **ALL)
        await stopped(session, 1)
        root.refuse("continue", "not now")
        with pytest.raises(DragomanError, match="not now"):
            await session.run_control.resume()
        assert session.is_at_stop


async def test_a_step_after_a_late_one_is_answered_and_may_be_refused() -> None:
    root = FakeAdapter()
    async with session_over(root) as session:
        root.stop(**ALL)
        await stopped(session)
        all_go_on(root, 3)
        root.refuse("next", "not now")
        with pytest.raises(DragomanError, match="not now"):
            await session.run_control.step("over")
        all_go_on(root, 3)
        await anyio.wait_all_tasks_blocked()
        assert session.is_at_stop


async def test_a_late_one_neither_loses_a_waiting_stop_nor_reports_it_early() -> None:
    async with scene(AS_DEBUGPY) as it:
        child = await it.child()
        it.root.stop()
        (first,) = await it.reported_stops(1)
        child.stop()
        for adapter in (child, it.root):
            all_go_on(adapter, 9)
        await until_received(it, child)
        await until_received(it, it.root)
        assert (len(it.bodies("stopped")), it.bodies("continued")) == (1, [])
        await it.ask("continue", {"threadId": first})
        assert (await it.reported_stops(2))[1] != first


async def test_an_adapter_that_somebody_else_commands_is_believed() -> None:
    async with scene(AdapterQuirks()) as it:
        it.root.stop()
        (thread,) = await it.reported_stops(1)
        all_go_on(it.root, 1)
        await until_received(it, it.root)
        result: list[dict[str, Any]] = it.bodies("continued")
        assert result == [{"threadId": thread, "allThreadsContinued": True}]


BY_DEBUGPY = """\
import os, sys, debugpy
sys.path.insert(0, os.path.join(os.path.dirname(debugpy.__file__), "_vendored", "pydevd"))
from types import SimpleNamespace
from pydevd import ThreadsSuspendedSingleNotification
from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK, CMD_THREAD_SUSPEND

said = []
commands = SimpleNamespace(
    make_thread_resume_single_notification=lambda thread: "continued " + thread,
    make_thread_suspend_single_notification=lambda _, thread, *__: "stopped " + thread,
)

class Debugger:
    writer = SimpleNamespace(add_command=said.append)
    cmd_factory = commands

debugger = Debugger()  # it is held weakly
seen = ThreadsSuspendedSingleNotification(debugger)
seen.multi_threads_single_notification = True

def stops(thread):
    seen.increment_suspend_time()
    seen.on_thread_suspend(thread, None, CMD_SET_BREAK)

def is_asked_to_continue():
    seen.add_on_resumed_callback(lambda: said.append("answer"))

stops("A")
seen.on_thread_suspend("B", None, CMD_THREAD_SUSPEND)
is_asked_to_continue()
seen.on_thread_resume("A", None)
stops("C")
seen.on_thread_resume("B", None)
is_asked_to_continue()
seen.on_thread_resume("C", None)
print(*said, sep=", ")
"""


def test_debugpy_itself_does_so() -> None:
    """Its own bookkeeping, with the threads' moments chosen by us. When this fails, `latecomers` is not needed."""
    command = [sys.executable, "-X", "frozen_modules=off", "-c", BY_DEBUGPY]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "stopped A, continued A, answer, stopped C, continued B"
