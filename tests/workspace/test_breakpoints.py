"""The breakpoint book: ids that last, one transaction, and a crash that loses no acknowledged change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.journal import Journal
from dragoman.workspace.breakpoints import MAX_BREAKPOINTS, STORE, Breakpoint, BreakpointRegistry

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[BreakpointRegistry]:
    async with Journal.open(folder, stores=[STORE]) as journal:
        book = BreakpointRegistry(journal, SystemClock())
        await book.load()
        yield book


def at(line: int, **fields: str) -> Breakpoint:
    return Breakpoint(id=0, path="/p/a.py", line=line, **fields)  # type: ignore[arg-type]


async def test_ids_last_over_restarts_and_are_never_used_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        first = await book.add("/p", at(1))
        second = await book.add("/p", at(2, condition="x > 1"))
    async with opened(tmp_path) as book:
        assert book.of("/p") == [first, second]
        await book.remove("/p", lambda it: it.id == second.id)
    async with opened(tmp_path) as book:
        assert book.of("/p") == [first]
        third = await book.add("/p", at(3))
    assert (first.id, second.id, third.id) == (1, 2, 3)


async def test_the_same_place_by_the_same_owner_keeps_its_id_and_takes_the_new_condition(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        first = await book.add("/p", at(1, owner="a"))
        again = await book.add("/p", at(1, owner="a", condition="n == 3"))
        other = await book.add("/p", at(1, owner="b"))
        assert (again.id, again.condition) == (first.id, "n == 3")
        assert other.id != first.id


async def test_a_workspace_sees_its_own_alone(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        mine = await book.add("/p", at(1))
        await book.add("/q", at(1))
        assert book.of("/p") == [mine]
        with pytest.raises(DragomanError) as caught:
            await book.change("/q", mine.id, enabled=False)
        assert caught.value.code == "unknown_breakpoint"
        assert await book.remove("/q", lambda it: it.id == mine.id) == []


async def test_changing_one_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        made = await book.add("/p", at(1))
        await book.change("/p", made.id, enabled=False)
    async with opened(tmp_path) as book:
        assert [it.enabled for it in book.of("/p")] == [False]


async def test_a_workspace_holds_a_thousand_and_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        for line in range(MAX_BREAKPOINTS):
            await book.add("/p", at(line + 1))
        with pytest.raises(DragomanError) as caught:
            await book.add("/p", at(5000))
        assert caught.value.code == "too_many_breakpoints"
        assert (await book.add("/p", at(1, condition="x"))).id == 1


async def test_one_place_asked_for_twice_at_once_is_one_breakpoint(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        async with anyio.create_task_group() as group:
            for condition in ("n == 1", "n == 2"):
                group.start_soon(book.add, "/p", at(1, owner="a", condition=condition))
        assert [(it.id, it.condition) for it in book.of("/p")] == [(1, "n == 2")]


async def test_a_change_that_meets_a_removal_does_not_bring_the_breakpoint_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        made = await book.add("/p", at(1))
        async with anyio.create_task_group() as group:
            group.start_soon(book.remove, "/p", lambda it: it.id == made.id)
            await anyio.lowlevel.checkpoint()
            with pytest.raises(DragomanError):
                await book.change("/p", made.id, enabled=False)
        assert book.of("/p") == []
    async with opened(tmp_path) as book:
        assert book.of("/p") == []


async def test_exceptions_are_distinguished_by_their_filter_and_functions_by_their_name(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        raised = await book.add("/p", Breakpoint(id=0, kind="exception", filter="raised"))
        await book.add("/p", Breakpoint(id=0, kind="exception", filter="uncaught"))
        await book.add("/p", Breakpoint(id=0, kind="function", function="main"))
        again = await book.add("/p", Breakpoint(id=0, kind="exception", filter="raised", condition="KeyError"))
        assert again.id == raised.id
        assert [it.id for it in book.of("/p")] == [1, 2, 3]


async def test_what_belongs_to_a_session_is_not_there_for_the_next_daemon(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        await book.add("/p", at(1))
        await book.add("/p", Breakpoint(id=0, kind="data", data_id="at n", session="debug-1"))
    for _ in range(2):
        async with opened(tmp_path) as book:
            assert [it.kind for it in book.of("/p")] == ["line"]
