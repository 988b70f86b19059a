"""Breakpoints at an adapter: several at one place, conditions that cannot be read, lines without code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from dragoman.debug.backends.adapters import BUILT_IN, PYTHON
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.breakpoints.hit_conditions import parse_hit_condition
from dragoman.debug.breakpoints.sync import BreakpointSync
from dragoman.protocols.dap import bodies
from dragoman.workspace.breakpoints import Breakpoint
from tests.support.fake_adapter import FakeAdapter

pytestmark = pytest.mark.anyio


def at(id: int, line: int = 5, **fields: Any) -> Breakpoint:
    return Breakpoint(id=id, owner=f"client {id}", path="/p/a.py", line=line, **fields)


@pytest.fixture
async def adapter() -> AsyncIterator[FakeAdapter]:
    fake = FakeAdapter()
    yield fake
    await fake.end()


async def sent(adapter: FakeAdapter, *breakpoints: Breakpoint) -> BreakpointSync:
    breakpoint_sync = BreakpointSync(adapter, PYTHON.quirks)
    await breakpoint_sync.send(breakpoints)
    return breakpoint_sync


def asked(adapter: FakeAdapter) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = adapter.sent("setBreakpoints")[-1]["breakpoints"]
    return found


async def test_two_clients_conditions_at_one_line_are_sent_as_one_that_holds_for_either(adapter: FakeAdapter) -> None:
    breakpoint_sync = await sent(adapter, at(1, condition="n == 3"), at(2, condition="n == 5 or m"))
    assert asked(adapter) == [{"line": 5, "condition": "(n == 3) or (n == 5 or m)"}]
    assert breakpoint_sync.find_hits("breakpoint", [105], None) == (1, 2)
    assert [breakpoint_sync.binding_of(id).verified for id in (1, 2)] == [True, True]


async def test_where_one_client_stops_always_all_breakpoints_there_may_have_been_hit(adapter: FakeAdapter) -> None:
    breakpoint_sync = await sent(adapter, at(1, condition="n == 3"), at(2), at(3))
    assert asked(adapter) == [{"line": 5}]
    assert breakpoint_sync.find_hits("breakpoint", [105], None) == (1, 2, 3)


async def test_the_same_condition_twice_is_sent_once(adapter: FakeAdapter) -> None:
    await sent(adapter, at(1, condition="n"), at(2, condition="n"))
    assert asked(adapter) == [{"line": 5, "condition": "n"}]


@pytest.mark.parametrize(
    ("fields", "quirks"),
    [({"log_message": "n is {n}"}, AdapterQuirks()), ({"hit_condition": "> 3"}, PYTHON.quirks)],
)
async def test_what_cannot_be_joined_with_a_breakpoint_at_its_place_is_reported_as_not_bound(
    adapter: FakeAdapter, fields: dict[str, Any], quirks: AdapterQuirks
) -> None:
    breakpoint_sync = BreakpointSync(adapter, quirks)
    await breakpoint_sync.send([at(1), at(2, **fields)])
    assert asked(adapter) == [{"line": 5}]
    ((breakpoint, binding),) = breakpoint_sync.unbound()
    assert breakpoint.id == 2
    assert "Another breakpoint" in binding.message


async def test_what_was_left_out_is_sent_once_its_place_is_free(adapter: FakeAdapter) -> None:
    breakpoint_sync = await sent(adapter, at(1), at(2, hit_condition="> 300"))
    await breakpoint_sync.send([at(2, hit_condition="> 300")])
    assert asked(adapter) == [{"line": 5, "hitCondition": "> 300"}]
    assert breakpoint_sync.binding_of(2).verified


async def test_a_logpoint_that_we_log_and_a_breakpoint_at_its_place_are_sent_as_one(adapter: FakeAdapter) -> None:
    breakpoint_sync = await sent(adapter, at(1), at(2, log_message="x", condition="n"))
    assert asked(adapter) == [{"line": 5}]
    assert (breakpoint_sync.messages_to_log((1, 2)), breakpoint_sync.messages_to_log((1,))) == (["x"], [])
    assert [breakpoint_sync.binding_of(id).verified for id in (1, 2)] == [True, True]


async def test_those_that_the_adapter_moves_to_one_line_are_sent_as_one(adapter: FakeAdapter) -> None:
    """debugpy moves one from a blank line to the line before, and would forget what stands there."""
    moved = [{"verified": True, "id": 105, "line": 5}, {"verified": True, "id": 106, "line": 5}]
    adapter.answers["setBreakpoints"] = lambda it: {"breakpoints": moved[: len(it["breakpoints"])]}
    breakpoint_sync = await sent(adapter, at(1, log_message="x"), at(2, 6, condition="n == 3"))
    assert asked(adapter) == [{"line": 5}]
    assert [breakpoint_sync.binding_of(id).line for id in (1, 2)] == [5, 5]
    assert breakpoint_sync.find_hits("breakpoint", [105], None) == (1, 2)


async def test_breakpoints_in_other_columns_of_a_line_stay_their_own(adapter: FakeAdapter) -> None:
    await sent(adapter, at(1), at(2, column=9))
    assert asked(adapter) == [{"line": 5}, {"line": 5, "column": 9}]


async def test_a_condition_that_cannot_be_read_is_reported_and_spoils_no_other(adapter: FakeAdapter) -> None:
    breakpoint_sync = await sent(
        adapter, at(1, condition="n =="), at(2, condition="n == 5"), at(3, line=9, condition="((")
    )
    assert asked(adapter) == [{"line": 5, "condition": "n == 5"}, {"line": 9, "condition": "(("}]
    assert [(it.id, binding.message.split(":")[0]) for it, binding in breakpoint_sync.unbound()] == [
        (1, "SyntaxError"),
        (3, "SyntaxError"),
    ]


async def test_a_bad_condition_stays_reported_when_the_adapter_says_that_it_has_bound(adapter: FakeAdapter) -> None:
    breakpoint_sync = await sent(adapter, at(1, condition="n =="))
    breakpoint_sync.update_binding(
        bodies.BreakpointBody(reason="changed", breakpoint=bodies.ChangedBreakpoint(id=105, verified=True, line=5))
    )
    assert not breakpoint_sync.binding_of(1).verified


@pytest.mark.parametrize("condition", ["n is 3", "'\\d' in s", "  n == 1", "(" * 5000 + "1" + ")" * 5000])
async def test_strange_conditions_neither_warn_nor_fail(adapter: FakeAdapter, condition: str) -> None:
    await sent(adapter, at(1, condition=condition))
    assert asked(adapter) == [{"line": 5, "condition": condition}]


async def test_line_zero_is_a_line_without_code(adapter: FakeAdapter) -> None:
    adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"id": 7, "verified": True, "line": 0}]}
    breakpoint_sync = BreakpointSync(adapter, PYTHON.quirks)
    await breakpoint_sync.send([at(1)])
    assert breakpoint_sync.binding_of(1).line is None
    assert [binding.message for _, binding in breakpoint_sync.unbound()] == ["No code at this line."]


async def test_an_unbound_breakpoint_has_a_reason_even_if_the_adapter_gives_none(adapter: FakeAdapter) -> None:
    adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"id": 7, "verified": False}]}
    breakpoint_sync = await sent(adapter, at(1))
    assert [bool(binding.message) for _, binding in breakpoint_sync.unbound()] == [True]


async def test_hits_are_counted_here_where_there_is_a_condition_as_well(adapter: FakeAdapter) -> None:
    """debugpy would stop where either holds."""
    every_other: dict[str, Any] = {"hit_condition": "% 200 == 0"}
    await sent(adapter, at(1, condition="n > 3", **every_other), at(2, line=9, **every_other))
    assert asked(adapter) == [{"line": 5, "condition": "n > 3"}, {"line": 9, "hitCondition": "% 200 - 0"}]


async def test_few_hits_are_counted_here_where_the_adapter_forgets_them_when_a_file_changes(
    adapter: FakeAdapter,
) -> None:
    few = at(1, hit_condition="== 3")
    breakpoint_sync = await sent(adapter, few)
    assert asked(adapter) == [{"line": 5}]
    assert [await breakpoint_sync.record_hit([1]), await breakpoint_sync.record_hit([1])] == [False, False]
    await breakpoint_sync.send([few, at(2, line=9)])
    assert await breakpoint_sync.record_hit([1]) is True


async def test_a_hit_condition_that_never_holds_again_is_taken_from_the_adapter_and_stays_bound(
    adapter: FakeAdapter,
) -> None:
    breakpoint_sync = await sent(adapter, at(1, hit_condition="== 1"), at(2, line=9))
    assert await breakpoint_sync.record_hit([1]) is True
    assert asked(adapter) == [{"line": 9}]
    assert breakpoint_sync.binding_of(1).verified
    assert len(adapter.sent("setBreakpoints")) == 2


async def test_a_large_hit_count_that_the_adapter_restarts_is_reported(adapter: FakeAdapter) -> None:
    many = at(1, hit_condition="== 5000")
    breakpoint_sync = await sent(adapter, many)
    assert (asked(adapter), breakpoint_sync.binding_of(1).message) == ([{"line": 5, "hitCondition": "== 5000"}], "")
    await breakpoint_sync.send([many, at(2, line=9)])
    binding = breakpoint_sync.binding_of(1)
    assert (binding.verified, "restarted its hit count" in binding.message) == (True, True)


@pytest.mark.parametrize(
    ("condition", "spent_at"),
    [("== 3", 3), ("3", 3), ("<= 3", 3), ("< 3", 2), ("> 3", None), (">= 3", None), ("% 3", None)],
)
def test_a_hit_condition_knows_when_it_never_holds_again(condition: str, spent_at: int | None) -> None:
    parsed = parse_hit_condition(condition)
    assert next((count for count in range(1, 50) if parsed.is_spent(count)), None) == spent_at


async def test_breakpoints_in_files_of_another_language_are_not_sent_and_not_reported_as_unbound(
    adapter: FakeAdapter,
) -> None:
    paths = ["/p/a.rb", "/p/list.c", "/p/page.tmpl", "/p/a.py"]
    breakpoints = [Breakpoint(id=id, path=path, line=5) for id, path in enumerate(paths, 1)]
    breakpoint_sync = await sent(adapter, *breakpoints)
    assert [it["source"]["path"] for it in adapter.sent("setBreakpoints")] == ["/p/a.py", "/p/page.tmpl"]
    assert [breakpoint_sync.binding_of(id).verified for id in (1, 2, 3, 4)] == [False, False, True, True]
    assert breakpoint_sync.unbound() == []


def test_every_built_in_adapter_says_in_which_files_it_can_stop() -> None:
    assert [spec.name for spec in BUILT_IN if not spec.quirks.suffixes] == []


async def test_what_a_program_stops_at_is_bound_before_its_adapter_says_so(adapter: FakeAdapter) -> None:
    unbound = {"id": 7, "verified": False, "message": "not loaded yet"}
    adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [unbound]}
    breakpoint_sync = await sent(adapter, at(1))
    assert (breakpoint_sync.binding_of(1).verified, breakpoint_sync.binding_of(1).message != "") == (False, True)
    assert breakpoint_sync.find_hits("breakpoint", [7], None) == (1,)
    assert (breakpoint_sync.binding_of(1).verified, breakpoint_sync.binding_of(1).message) == (True, "")
