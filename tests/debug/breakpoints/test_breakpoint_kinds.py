"""Breakpoints at functions, exceptions and data; logpoints that we answer; conditions that fail."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dragoman.debug.backends.adapters import PYTHON
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import SessionState, Stop
from dragoman.workspace.breakpoints import Breakpoint
from tests.debug.fake_sessions import code_of, running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

MAIN = Breakpoint(id=4, kind="function", function="main", condition="n > 1")
DEBUGPY = [{"filter": name, "label": name} for name in ("raised", "uncaught", "userUnhandled")]
JS = [{"filter": name, "label": name, "supportsCondition": True} for name in ("all", "uncaught")]


def exception(id: int, filter: str, **fields: Any) -> Breakpoint:
    return Breakpoint(id=id, kind="exception", filter=filter, **fields)


def offering(filters: list[dict[str, Any]], *flags: str) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.can(*flags, exceptionBreakpointFilters=filters)
    return adapter


# Functions.


async def test_a_function_is_sent_with_its_condition_and_its_hit_is_reported_under_our_id() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsFunctionBreakpoints")
    async with running_session(session_of(adapter), MAIN) as session:
        assert adapter.sent("setFunctionBreakpoints") == [{"breakpoints": [{"name": "main", "condition": "n > 1"}]}]
        assert session.breakpoint_sync.binding_of(4).verified
        adapter.stop("function breakpoint", hitBreakpointIds=[1000])
        assert (await stopped(session)).hit_breakpoints == (4,)


async def test_a_function_that_was_hit_is_found_by_its_name_where_the_adapter_sends_no_ids() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsFunctionBreakpoints")
    adapter.answers["stackTrace"] = lambda _: {"stackFrames": [{"id": 1, "name": "pkg.main", "line": 1}]}
    async with running_session(
        session_of(adapter), MAIN, Breakpoint(id=5, kind="function", function="other")
    ) as session:
        adapter.stop("function breakpoint")
        assert (await stopped(session)).hit_breakpoints == (4,)


async def test_functions_of_one_last_name_are_sent_as_one_to_an_adapter_that_keeps_the_last() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsFunctionBreakpoints")
    adapter.answers["stackTrace"] = lambda _: {"stackFrames": [{"id": 1, "name": "run", "line": 1}]}
    adapter.answers["evaluate"] = lambda it: {"result": str("B.run" in it["expression"]), "variablesReference": 0}
    both = [Breakpoint(id=number, kind="function", function=name) for number, name in ((4, "A.run"), (5, "B.run"))]
    quirks = AdapterQuirks(qualified_expression="is_in({name!r})", or_word="or")
    async with running_session(session_of(adapter, quirks=quirks), *both) as session:
        (asked,) = adapter.sent("setFunctionBreakpoints")
        assert asked["breakpoints"] == [{"name": "run", "condition": "(is_in('A.run')) or (is_in('B.run'))"}]
        assert [session.breakpoint_sync.binding_of(id).verified for id in (4, 5)] == [True, True]
        adapter.stop("function breakpoint")
        assert (await stopped(session)).hit_breakpoints == (5,)


async def test_a_function_is_reported_as_not_bound_where_the_adapter_cannot_and_nothing_is_sent() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter), MAIN) as session:
        ((breakpoint, binding),) = session.breakpoint_sync.unbound()
        assert (breakpoint.id, "does not support function breakpoints" in binding.message) == (4, True)
    assert adapter.sent("setFunctionBreakpoints") == []


async def test_the_last_function_that_goes_is_taken_from_the_adapter_too() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsFunctionBreakpoints")
    async with running_session(session_of(adapter), MAIN) as session:
        await session.update_breakpoints([])
    assert adapter.sent("setFunctionBreakpoints")[-1] == {"breakpoints": []}


@pytest.mark.parametrize("command", ["setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"])
async def test_a_list_that_the_adapter_refuses_ends_no_start_and_is_reported_with_its_words(command: str) -> None:
    adapter = offering(DEBUGPY, "supportsFunctionBreakpoints")
    adapter.refuse(command, "not today")
    wanted = [Breakpoint(id=3, path="/p/a.py", line=5), MAIN, exception(5, "raised")]
    async with running_session(session_of(adapter), *wanted) as session:
        assert [binding.message for _, binding in session.breakpoint_sync.unbound()] == ["not today"]


# Exceptions.


@pytest.mark.parametrize(
    ("offered", "word", "sent"),
    [
        (DEBUGPY, "uncaught", ["uncaught"]),
        (DEBUGPY, "raised", ["raised", "uncaught"]),
        (DEBUGPY, "userUnhandled", ["uncaught", "userUnhandled"]),
        (DEBUGPY, "all", ["raised", "uncaught"]),
        (JS, "raised", ["all", "uncaught"]),
        (JS, "all", ["all", "uncaught"]),
        ([{"filter": "cpp_throw"}, {"filter": "cpp_catch"}], "raised", ["cpp_throw"]),
        ([{"filter": "any"}, {"filter": "RuntimeError"}], "uncaught", ["RuntimeError"]),
    ],
)
async def test_one_word_for_exceptions_is_what_each_adapter_calls_it(
    offered: list[dict[str, Any]], word: str, sent: list[str]
) -> None:
    adapter = offering(offered)
    async with running_session(session_of(adapter, exception_filters=("uncaught",)), exception(1, word)) as session:
        assert adapter.sent("setExceptionBreakpoints")[-1] == {"filters": sent}
        assert session.breakpoint_sync.binding_of(1).verified


async def test_uncaught_exceptions_stop_until_a_client_switches_that_off() -> None:
    adapter = offering(DEBUGPY)
    async with running_session(session_of(adapter, exception_filters=("uncaught",))) as session:
        await session.update_breakpoints([exception(1, "uncaught", enabled=False)])
        await session.update_breakpoints([])
    assert [it["filters"] for it in adapter.sent("setExceptionBreakpoints")] == [["uncaught"], [], ["uncaught"]]


async def test_a_filter_that_the_adapter_has_not_is_reported_with_those_it_has() -> None:
    adapter = offering(JS)
    async with running_session(session_of(adapter), exception(1, "cpp_throw")) as session:
        ((_, binding),) = session.breakpoint_sync.unbound()
        assert "all, uncaught" in binding.message


async def test_an_adapter_without_filters_is_never_asked() -> None:
    adapter = FakeAdapter()
    async with running_session(
        session_of(adapter, exception_filters=("uncaught",)), exception(1, "uncaught")
    ) as session:
        assert not session.breakpoint_sync.binding_of(1).verified
    assert adapter.sent("setExceptionBreakpoints") == []


async def test_a_condition_goes_with_its_filter_where_the_adapter_takes_one() -> None:
    adapter = offering(JS, "supportsExceptionFilterOptions")
    condition = "error.name == 'MyError'"
    async with running_session(session_of(adapter), exception(1, "raised", condition=condition)):
        assert adapter.sent("setExceptionBreakpoints") == [
            {"filters": [], "filterOptions": [{"filterId": "all", "condition": condition}]}
        ]


async def test_a_condition_of_type_names_becomes_exception_options_beside_the_plain_filters() -> None:
    adapter = offering(DEBUGPY, "supportsExceptionOptions")
    session = session_of(adapter, quirks=PYTHON.quirks, exception_filters=("uncaught",))
    async with running_session(session, exception(1, "raised", condition="ValueError, KeyError")):
        root = {"names": ["Python Exceptions"]}
        assert adapter.sent("setExceptionBreakpoints")[-1]["exceptionOptions"] == [
            {"path": [root], "breakMode": "unhandled"},
            {"path": [root, {"names": ["ValueError", "KeyError"]}], "breakMode": "always"},
        ]


@pytest.mark.parametrize("quirks", [PYTHON.quirks, AdapterQuirks()])
async def test_a_condition_that_the_adapter_cannot_check_is_reported_and_not_sent(quirks: AdapterQuirks) -> None:
    adapter = offering(DEBUGPY, "supportsExceptionOptions")
    async with running_session(
        session_of(adapter, quirks=quirks), exception(1, "raised", condition="x > 1")
    ) as session:
        assert adapter.sent("setExceptionBreakpoints") == [{"filters": []}]
        assert "condition" in session.breakpoint_sync.binding_of(1).message


@pytest.mark.parametrize(
    ("mode", "type", "hit"),
    [
        ("unhandled", "KeyError", (1,)),
        ("always", "KeyError", (2,)),
        ("always", "ValueError", (2, 3)),
        ("unhandled", "pkg.ValueError", (1,)),
    ],
)
async def test_an_exception_stop_names_the_breakpoints_that_ask_for_it(
    mode: str, type: str, hit: tuple[int, ...]
) -> None:
    adapter = offering(DEBUGPY, "supportsExceptionOptions")
    adapter.answers["exceptionInfo"] = lambda _: {"exceptionId": type, "breakMode": mode}
    wanted = [exception(1, "uncaught"), exception(2, "raised"), exception(3, "raised", condition="ValueError")]
    session = session_of(adapter, quirks=PYTHON.quirks, exception_filters=("uncaught",))
    async with running_session(session, *wanted):
        adapter.stop("exception")
        assert (await stopped(session)).hit_breakpoints == hit


# Data.


def watched(**fields: Any) -> Breakpoint:
    return Breakpoint(id=0, kind="data", variable="n", **fields)


async def test_data_is_watched_by_the_adapters_own_name_for_it() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsDataBreakpoints")
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        found = await session.inspection.resolve_data_breakpoint(watched(access="readWrite"))
        assert (found.data_id, found.frame, found.reference) == ("at n", None, None)
        await session.update_breakpoints([Breakpoint(id=7, kind="data", data_id="at n", session="s1")])
        assert adapter.sent("setDataBreakpoints") == [{"breakpoints": [{"dataId": "at n", "accessType": "write"}]}]
        await session.run_control.resume()
        adapter.stop("data breakpoint")
        assert (await stopped(session, 1)).hit_breakpoints == (7,)
    assert adapter.sent("dataBreakpointInfo") == [{"name": "n", "variablesReference": 9}]


async def test_data_of_another_session_is_nothing_to_this_one() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsDataBreakpoints")
    async with running_session(
        session_of(adapter), Breakpoint(id=7, kind="data", data_id="x", session="s2")
    ) as session:
        assert session.breakpoint_sync.unbound() == []
    assert adapter.sent("setDataBreakpoints") == []


@pytest.mark.parametrize(
    ("can", "answer", "code"),
    [
        (False, {}, "not_supported"),
        (True, {"dataId": None, "description": "a register"}, "cannot_watch"),
        (True, {"dataId": "x", "description": "", "accessTypes": ["read"]}, "not_supported"),
    ],
)
async def test_data_that_cannot_be_watched_is_reported_with_the_reason(can: bool, answer: Any, code: str) -> None:
    adapter = FakeAdapter()
    adapter.can(supportsDataBreakpoints=can)
    adapter.answers["dataBreakpointInfo"] = lambda _: answer
    async with running_session(session_of(adapter)) as session:
        adapter.stop()
        await stopped(session)
        assert await code_of(lambda: session.inspection.resolve_data_breakpoint(watched())) == code


# Logpoints.

LOGPOINT = Breakpoint(id=1, path="/p/a.py", line=5, log_message="n is {n} of {f(g)}", condition="n > 1")


async def until_printed(session: Any, text: str) -> None:
    """Until the session's output has it: logpoints are answered while nobody waits."""
    with anyio.fail_after(3):
        while text not in session.output.since(0, most=1000)[0]:
            await anyio.lowlevel.checkpoint()


@pytest.mark.requirement("debug:set-breakpoint:logpoint-ignores-conditions")
async def test_a_logpoint_keeps_its_condition_and_is_answered_here_where_the_adapter_cannot() -> None:
    adapter = FakeAdapter()
    async with running_session(
        session_of(adapter, quirks=AdapterQuirks(takes_log_messages=False)), LOGPOINT
    ) as session:
        assert adapter.sent("setBreakpoints")[0]["breakpoints"] == [{"line": 5, "condition": "n > 1"}]
        adapter.stop(hitBreakpointIds=[105])
        await until_printed(session, "n is n of f(g)\n")
        await anyio.wait_all_tasks_blocked()
        assert (session.state, session.last_stop) == (SessionState.RUNNING, 0)
    assert adapter.sent("continue") == [{"threadId": 1}]


async def test_a_logpoint_with_a_hit_condition_is_logged_by_us_so_that_it_logs_only_those() -> None:
    adapter = FakeAdapter()
    second = Breakpoint(id=1, path="/p/a.py", line=5, log_message="x", hit_condition="== 2")
    async with running_session(session_of(adapter, quirks=AdapterQuirks(hit_forms=frozenset())), second) as session:
        assert adapter.sent("setBreakpoints")[0]["breakpoints"] == [{"line": 5}]
        for _ in range(3):
            adapter.stop(hitBreakpointIds=[105])
        await until_printed(session, "x\n")
        await anyio.wait_all_tasks_blocked()
        assert (session.output.since(0, most=100)[0], len(adapter.sent("continue"))) == ("x\n", 3)


async def test_an_expression_of_a_logpoint_that_fails_says_so_in_its_place_and_does_not_stop() -> None:
    adapter = FakeAdapter()
    adapter.refuse("evaluate", "NameError: q")
    async with running_session(
        session_of(adapter, quirks=AdapterQuirks(takes_log_messages=False)), LOGPOINT
    ) as session:
        adapter.stop(hitBreakpointIds=[105])
        await until_printed(session, "n is <NameError: q>")
        assert session.state is SessionState.RUNNING


async def test_what_an_adapter_writes_before_a_logpoints_text_is_not_the_users() -> None:
    adapter = FakeAdapter()
    async with running_session(session_of(adapter, quirks=AdapterQuirks(log_prefix=r"> \[Go \d+\]: "))) as session:
        adapter.emit("output", output="> [Go 1]: n is 3\n", category="stdout")
        adapter.emit("output", output="a > [Go 1]: b\n", category="stdout")
        await until_printed(session, "b\n")
        assert session.output.since(0, most=100)[0] == "n is 3\na > [Go 1]: b\n"


# What adapters do unasked.


@pytest.mark.parametrize("wanted", [False, True])
async def test_a_stop_at_the_start_that_nobody_asked_for_is_sent_on(wanted: bool) -> None:
    adapter = FakeAdapter()
    quirks = AdapterQuirks(stops_unasked=frozenset({"pause"}))
    async with running_session(session_of(adapter, quirks=quirks, arguments={"stopOnEntry": wanted})) as session:
        adapter.stop("pause")
        adapter.stop("step")
        stop = await stopped(session)
        assert (stop.number, stop.reason) == (1, "pause" if wanted else "step")
    assert len(adapter.sent("continue")) == (0 if wanted else 1)


async def test_a_condition_that_failed_is_reported_with_its_breakpoint_and_not_as_output() -> None:
    adapter = FakeAdapter()
    adapter.can("supportsDebuggerProperties")
    wrong = Breakpoint(id=1, path="/p/a.py", line=5, condition="nope == 3")
    async with running_session(session_of(adapter, quirks=PYTHON.quirks), wrong) as session:
        sentence = (
            "Error while evaluating expression in conditional breakpoint: nope == 3\nTraceback\n\nNameError: nope\n"
        )
        adapter.emit("output", output=sentence, category="stderr")
        adapter.stop()
        assert (await stopped(session)).output == ""
        assert session.breakpoint_sync.binding_of(1).message == "The condition failed: NameError: nope"
        await session.update_breakpoints([wrong, Breakpoint(id=2, path="/p/a.py", line=9)])
        assert not session.breakpoint_sync.binding_of(1).verified
        await session.update_breakpoints([Breakpoint(id=1, path="/p/a.py", line=5, condition="n == 3")])
        assert session.breakpoint_sync.binding_of(1).verified
    assert adapter.sent("setDebuggerProperty") == [{"skipPrintBreakpointException": []}]


async def test_an_evaluation_that_says_by_its_type_that_it_failed_has_failed() -> None:
    adapter = FakeAdapter()
    adapter.answers["evaluate"] = lambda _: {"result": "undefined q", "type": "NameError"}
    async with running_session(
        session_of(adapter, quirks=AdapterQuirks(failure_types=frozenset({"NameError"})))
    ) as session:
        adapter.stop()
        stop = await stopped(session)
        assert isinstance(stop, Stop)
        inspection = session.inspection
        assert (
            await code_of(lambda: inspection.evaluate("q", None, "repl", timeout_s=1, thread_id=None))
            == "adapter_refused"
        )
