"""What a single step changed, from the values that the debugger shows before and after it."""

from __future__ import annotations

from typing import cast

import pytest

from dragoman.debug.evidence.stepping.stepped_values import FrameValues, read_values
from dragoman.debug.model import Locals, Stop, VariableInfo, VariablePage
from dragoman.debug.session.session import DebugSession

pytestmark = pytest.mark.anyio


class Members:
    """Stands for the session: all that is asked of it are the members of a variable."""

    def __init__(self, *shown: str) -> None:
        self.inspection = self
        self._shown = shown

    async def page(self, reference: int, *, start: int, count: int) -> VariablePage:
        held = [VariableInfo(f"m{at}", value) for at, value in enumerate(self._shown)]
        return VariablePage(tuple(held[start : start + count]), len(held))


async def values_of(text: str, *members: str) -> FrameValues:
    held = (VariableInfo("text", text), VariableInfo("ring", "0x51", reference=3 if members else 0))
    stop = Stop(number=1, at_ns=1, reason="step", thread_id=1, top_locals=Locals("Locals", held))
    return await read_values(cast("DebugSession", Members(*members)), stop, {"text", "ring"}, None, ())


async def test_a_change_behind_the_cut_of_a_long_value_is_one() -> None:
    before, after = await values_of("x" * 170), await values_of("x" * 171)
    assert after.changes(before, ()) == [["text", "x" * 159 + "…"]]
    assert after.changes(after, ()) == []


async def test_a_change_behind_the_cut_of_a_long_member_is_one() -> None:
    before, after = await values_of("a", "1", "y" * 170), await values_of("a", "1", "y" * 171)
    assert after.changes(before, ()) == [["ring.m1", "y" * 159 + "…"]]
    assert after.shown("ring") == "{m0=1, m1=" + "y" * 159 + "…}"
