"""The commands of our own runtime: sent to no other, whatever its state."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.protocols.luapanda import COMMANDS, EXTENDED, IdeConnection, LuaPandaState
from tests.protocols.luapanda.ide_side import (
    INIT,
    INIT_REPLY,
    code_of,
    events_after,
    fresh,
    line,
    sent_message,
    stop,
    stopped,
)

EXAMPLES: dict[str, dict[str, Any]] = {
    "pause": {},
    "stack": {"start": 0, "count": 10, "coroutine": "main"},
    "coroutines": {},
    "scopes": {"frame": 2},
    "variables": {"reference": 3, "start": 100, "count": 50, "depth": 2},
    "evaluate": {"expression": "a | b", "frame": 2, "timeout": 250},
    "assign": {"reference": 3, "position": 1, "expression": "1"},
    "watchable": {"reference": 3, "position": 1},
    "setDataBreakpoints": {"data": [{"id": "7", "condition": "x > 1", "hitCondition": ""}]},
    "setExceptions": {"filter": "uncaught"},
    "sources": {},
    "heartbeat": {},
}


def extended(**options: int) -> IdeConnection:
    connection = fresh(**options)
    connection.send_command("initSuccess", {**INIT, "dragoman": "1"}, now=0)
    events_after(connection, line("initSuccess", "10", {**INIT_REPLY, "dragoman": "1", "lua": "Lua 5.4"}))
    return connection


def test_every_command_of_the_extension_has_an_example() -> None:
    assert set(EXAMPLES) == set(EXTENDED)
    assert COMMANDS.keys().isdisjoint(EXTENDED)


@pytest.mark.parametrize("cmd", sorted(EXTENDED))
def test_a_runtime_that_did_not_say_so_is_never_sent_one(cmd: str) -> None:
    """It would resume the program, which is then deaf to its end."""
    assert code_of(lambda: stopped().send_command(cmd, EXAMPLES[cmd], now=0)) == "unknown_command"


@pytest.mark.parametrize("cmd", sorted(EXTENDED))
@pytest.mark.parametrize("state", [LuaPandaState.RUNNING, LuaPandaState.STOPPED])
def test_our_own_is_sent_them_in_every_state_and_stays_in_it(cmd: str, state: LuaPandaState) -> None:
    connection = extended()
    if state is LuaPandaState.STOPPED:
        events_after(connection, stop())
    message = sent_message(connection.send_command(cmd, EXAMPLES[cmd], now=0))
    assert (message["cmd"], message["callbackId"], connection.state) == (cmd, "11", state)


def test_before_the_answer_to_init_nothing_of_it_is_sent() -> None:
    connection = fresh()
    assert code_of(lambda: connection.send_command("pause", now=0)) == "unknown_command"


def test_our_own_runtime_has_no_budget_of_requests() -> None:
    connection = extended(requests_per_stop=1)
    events_after(connection, stop())
    for _ in range(5):
        connection.send_command("evaluate", EXAMPLES["evaluate"], now=0)
    assert connection.requests_left == 1


def test_a_breakpoint_may_have_a_condition_hits_and_a_message_together() -> None:
    node = {"line": 3, "condition": "x", "hitCondition": "% 2", "logMessage": "{x}"}
    asked = {"path": "/w/a.lua", "bks": [node, {"line": 4}, {"line": 5, "hitCondition": "> 1"}]}
    first, plain, counted = sent_message(extended().send_command("setBreakPoint", asked, now=0))["info"]["bks"]
    assert first == {**node, "verified": True, "type": 1}
    assert (plain["type"], counted["type"]) == (2, 0)
    assert code_of(lambda: stopped().send_command("setBreakPoint", asked, now=0)) == "bad_field"


@pytest.mark.parametrize("bks", ["x", [{"line": 0}], [{"line": 1, "nope": 1}], [3], None])
def test_what_is_not_a_breakpoint_is_refused_here_too(bks: object) -> None:
    asked = {"path": "/w/a.lua", "bks": bks}
    assert code_of(lambda: extended().send_command("setBreakPoint", asked, now=0)) == "bad_field"


def test_data_breakpoints_are_sent_with_what_they_have_alone() -> None:
    sent = sent_message(extended().send_command("setDataBreakpoints", EXAMPLES["setDataBreakpoints"], now=0))
    assert sent["info"] == {"data": [{"id": "7", "condition": "x > 1"}]}


@pytest.mark.parametrize("data", ["x", [{}], [{"id": 7}], [{"id": "7", "line": 1}], None])
def test_what_is_not_a_data_breakpoint_is_refused(data: object) -> None:
    assert code_of(lambda: extended().send_command("setDataBreakpoints", {"data": data}, now=0)) == "bad_field"
