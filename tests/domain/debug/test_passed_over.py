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


def sharing(**conditions: str) -> list[Breakpoint]:
    named = {"one": 1, "two": 2, "three": 3}
    return [Breakpoint(id=named[name], path="/p/a.py", line=5, condition=it) for name, it in conditions.items()]


@pytest.mark.parametrize(
    ("true", "told"), [({"!!(n > 1)"}, (1,)), ({"!!(n > 1)", "!!(n > 2)"}, (1, 2)), (set[str](), (1, 2))]
)
async def test_of_breakpoints_that_share_a_line_those_are_told_whose_conditions_hold(
    true: set[str], told: tuple[int, ...]
) -> None:
    adapter = FakeAdapter()
    adapter.answers["evaluate"] = lambda asked: {"result": str(asked["expression"] in true).lower()}
    async with living(session_of(adapter), *sharing(one="n > 1", two="n > 2")) as session:
        adapter.stop(hitBreakpointIds=[105])
        assert (await stopped(session)).hit_breakpoints == told


async def test_one_that_stops_always_is_told_and_of_the_others_those_that_hold() -> None:
    adapter = FakeAdapter()
    adapter.answers["evaluate"] = lambda asked: {"result": str("n > 2" in asked["expression"]).lower()}
    async with living(session_of(adapter), *sharing(one="", two="n > 2", three="n > 3")) as session:
        adapter.stop()
        assert (await stopped(session)).hit_breakpoints == (1, 2)
