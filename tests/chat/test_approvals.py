"""Leave to act: for exactly what a person saw, in the conversation in which it was given, and never by silence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import pytest

from dragoman.chat.approvals import ANSWERED_WITHIN_S, APPROVED_AT_MOST, Approvals, PendingApproval
from dragoman.core.errors import DragomanError
from tests.chat.gateway_client.scripted_connection import until

pytestmark = pytest.mark.anyio


class Ahead:
    """The event loop's clock, set forward by the test."""

    def __init__(self) -> None:
        self.by_s = 0.0


@contextmanager
def clock_ahead() -> Iterator[Ahead]:
    loop, ahead = asyncio.get_running_loop(), Ahead()
    real = loop.time
    loop.time = lambda: real() + ahead.by_s  # type: ignore[method-assign]
    try:
        yield ahead
    finally:
        loop.time = real  # type: ignore[method-assign]


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def test_no_answer_in_five_minutes_is_a_refusal() -> None:
    wanted: list[PendingApproval] = []
    settled: list[tuple[str, bool]] = []
    approvals = Approvals(wanted.append, lambda it, allowed: settled.append((it.id, allowed)))
    answers: list[bool] = []

    async def ask() -> None:
        answers.append(await approvals.ask("main", "r", "run_in_terminal", "make"))

    with clock_ahead() as ahead:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await turns()
            ahead.by_s = ANSWERED_WITHIN_S - 1
            await turns()
            assert (answers, len(approvals.waiting())) == ([], 1)
            ahead.by_s = ANSWERED_WITHIN_S + 1
    assert (answers, settled) == ([False], [(wanted[0].id, False)])
    assert ANSWERED_WITHIN_S == 300
    assert not approvals.answer(wanted[0].id, allowed=True)


async def decided(approvals: Approvals, wanted: list[PendingApproval], subject: str, session: str = "main") -> int:
    """How often a person was asked; every question is answered with yes."""
    before = len(wanted)
    async with anyio.create_task_group() as group:
        group.start_soon(approvals.ask, session, "r", "run_in_terminal", subject)
        with anyio.move_on_after(0.02):
            await until(lambda: len(wanted) > before)
        for it in approvals.waiting():
            approvals.answer(it.id, allowed=True)
    return len(wanted) - before


async def test_leave_is_for_the_whole_text_however_long_and_both_its_ends_are_shown() -> None:
    wanted: list[PendingApproval] = []
    approvals = Approvals(wanted.append)
    harmless, other = "echo " + "x" * 25_000 + " done", "echo " + "x" * 25_000 + "; rm -r ~"
    assert await decided(approvals, wanted, harmless) == 1
    assert await decided(approvals, wanted, harmless) == 0
    assert await decided(approvals, wanted, other) == 1
    assert wanted[-1].subject.startswith("echo x")
    assert wanted[-1].subject.endswith("; rm -r ~")
    assert "characters" in wanted[-1].subject


async def test_what_would_turn_or_hide_text_is_shown_as_what_it_is() -> None:
    wanted: list[PendingApproval] = []
    approvals = Approvals(wanted.append)
    assert await decided(approvals, wanted, "echo \u202e# ~ r- mr\u2066\u200b\x1b[8m\n\tmake") == 1
    assert wanted[-1].subject == "echo \\x202e# ~ r- mr\\x2066\\x200b\\x1b[8m\n\tmake"
    assert await decided(approvals, wanted, "ls\u3164\u2800\ufe0f \u115f\U000e0041") == 1
    assert wanted[-1].subject == "ls\\x3164\\x2800\\xfe0f \\x115f\\xe0041"
    assert await decided(approvals, wanted, "echo " + "x" * 10_000 + "; rm -r ~; " + "x" * 5_000) == 1
    assert "; rm -r ~; " in wanted[-1].subject


async def test_leave_ends_with_its_conversation_and_the_oldest_is_forgotten() -> None:
    wanted: list[PendingApproval] = []
    approvals = Approvals(wanted.append)
    assert await decided(approvals, wanted, "make", "one") == 1
    assert await decided(approvals, wanted, "make", "two") == 1
    approvals.forget("one")
    assert await decided(approvals, wanted, "make", "one") == 1
    assert await decided(approvals, wanted, "make", "two") == 0
    for number in range(APPROVED_AT_MOST):
        approvals._approved["many", "tool", number.to_bytes(4)] = None
    assert await decided(approvals, wanted, "last", "two") == 1
    assert len(approvals._approved) == APPROVED_AT_MOST


async def test_leave_that_does_not_last_is_asked_for_each_time() -> None:
    wanted: list[PendingApproval] = []
    approvals = Approvals(wanted.append)
    for _ in range(2):
        async with anyio.create_task_group() as group:
            group.start_soon(approvals.ask, "main", "r", "debug_last_failure", "the last", False)
            await until(lambda: bool(approvals.waiting()))
            approvals.answer(approvals.waiting()[0].id, allowed=True)
    assert len(wanted) == 2


async def test_permission_for_a_tool_is_not_trust_in_a_folder() -> None:
    wanted: list[PendingApproval] = []
    approvals = Approvals(wanted.append)
    given: list[bool] = []

    async def trust() -> None:
        given.append(await approvals.ask_trust("main", "r", "/home/me/shop"))

    async with anyio.create_task_group() as group:
        for tool in ("", "trust"):
            group.start_soon(approvals.ask, "main", "r", tool, "/home/me/shop")
        await until(lambda: len(approvals.waiting()) == 2)
        for it in approvals.waiting():
            approvals.answer(it.id, allowed=True)
    for allowed in (True, False):
        async with anyio.create_task_group() as group:
            group.start_soon(trust)
            await until(lambda: bool(approvals.waiting()))
            with pytest.raises(DragomanError, match="Only a person"):
                approvals.answer(approvals.waiting()[0].id, allowed=True)
            approvals.answer(approvals.waiting()[0].id, allowed=allowed, by_person=True)
    assert given == [True, False], "a word for it once is not a word for it again"
