"""Work that goes to a thread together: in order, each with its own result, and nobody's cancellation is another's."""

from __future__ import annotations

import threading

import anyio
import anyio.lowlevel
import pytest

from dragoman.journal.write_batcher import AT_ONCE, WriteBatcher
from tests.io.processes.supervised_support import until

pytestmark = pytest.mark.anyio


class Gate:
    """Work that stays in the thread until it may go."""

    def __init__(self) -> None:
        self.entered, self.may_go = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.entered.set()
        assert self.may_go.wait(20)
        return "gate"


async def test_what_waits_is_done_in_order_in_as_few_changes_of_thread_as_can_be() -> None:
    batcher, gate = WriteBatcher(), Gate()
    done: list[tuple[int, int]] = []

    def work(number: int) -> int:
        done.append((number, threading.get_ident()))
        return number * 10

    results: dict[int, int] = {}

    async def ask(number: int) -> None:
        results[number] = await batcher.run(lambda: work(number))

    async with anyio.create_task_group() as group:
        group.start_soon(batcher.run, gate)
        await until(gate.entered.is_set)
        for number in range(2 * AT_ONCE):
            group.start_soon(ask, number)
        await anyio.lowlevel.checkpoint()
        gate.may_go.set()
    assert [number for number, _ in done] == list(range(2 * AT_ONCE))
    assert results == {number: number * 10 for number in range(2 * AT_ONCE)}
    assert threading.get_ident() not in {thread for _, thread in done}


async def test_an_error_reaches_its_own_caller_and_nobody_else() -> None:
    batcher, gate = WriteBatcher(), Gate()
    outcomes: list[object] = []

    async def ask(divisor: int) -> None:
        try:
            outcomes.append(await batcher.run(lambda: 6 // divisor))
        except ZeroDivisionError as error:
            outcomes.append(type(error))

    async with anyio.create_task_group() as group:
        group.start_soon(batcher.run, gate)
        await until(gate.entered.is_set)
        for divisor in (2, 0, 3):
            group.start_soon(ask, divisor)
        await anyio.lowlevel.checkpoint()
        gate.may_go.set()
    assert outcomes == [3, ZeroDivisionError, 2]


async def test_a_cancelled_caller_takes_its_own_work_back_and_the_rest_continues() -> None:
    batcher, gate = WriteBatcher(), Gate()
    done: list[str] = []
    scope = anyio.CancelScope()

    async def ask(name: str, within: anyio.CancelScope) -> None:
        with within:
            await batcher.run(lambda: done.append(name))

    async with anyio.create_task_group() as group:
        group.start_soon(batcher.run, gate)
        await until(gate.entered.is_set)
        group.start_soon(ask, "cancelled", scope)
        group.start_soon(ask, "kept", anyio.CancelScope())
        await anyio.lowlevel.checkpoint()
        scope.cancel()
        await anyio.lowlevel.checkpoint()
        gate.may_go.set()
    assert done == ["kept"]
    assert await batcher.run(lambda: "after") == "after"


async def test_a_leader_that_is_cancelled_finishes_what_others_wait_for() -> None:
    batcher, gate = WriteBatcher(), Gate()
    scope, results = anyio.CancelScope(), []

    async def lead() -> None:
        with scope:
            await batcher.run(gate)

    async def ask() -> None:
        results.append(await batcher.run(lambda: 1))

    async with anyio.create_task_group() as group:
        group.start_soon(lead)
        await until(gate.entered.is_set)
        group.start_soon(ask)
        scope.cancel()
        gate.may_go.set()
    assert results == [1]
