"""What a stop costs that is none for anybody: one question, and no look at values."""

from __future__ import annotations

import pytest

from dragoman.debug.dialect import Dialect
from dragoman.testing.fake_adapter import FakeAdapter
from dragoman.workspace.breakpoints import Breakpoint
from tests.domain.debug.living import living, session_of, stopped

pytestmark = pytest.mark.anyio

COUNTED_HERE = Dialect(hit_forms=frozenset())


async def test_a_hit_that_does_not_count_yet_costs_one_question_and_the_last_has_its_locals() -> None:
    adapter = FakeAdapter()
    adapter.when("continue", lambda: adapter.stop(hitBreakpointIds=[105]))
    wanted = Breakpoint(id=7, path="/p/a.py", line=5, hit_condition="== 20")
    async with living(session_of(adapter, dialect=COUNTED_HERE), wanted) as session:
        adapter.stop(hitBreakpointIds=[105])
        stop = await stopped(session)
    assert stop.hit_breakpoints == (7,)
    assert stop.top_locals is not None
    assert [it.name for it in stop.top_locals.variables] == ["n"]
    assert [len(adapter.sent(name)) for name in ("continue", "stackTrace", "scopes", "variables")] == [19, 20, 1, 1]
