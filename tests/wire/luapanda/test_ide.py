"""The IDE's side: ids, answers, stops, time-outs, states, budget and the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import LocalProtocolError, RemoteProtocolError
from dragoman.wire.luapanda import (
    MAX_ID,
    MIN_ID,
    TRANSITIONS,
    Answered,
    AnsweredLate,
    AnsweredUnasked,
    Closed,
    IdeConnection,
    IdeEvent,
    Noticed,
    Pending,
    Runtime,
    State,
    Stopped,
    classify,
)
from dragoman.wire.luapanda.states import INITIALISED
from dragoman.wire.luapanda.states import STOP as STOP_HEARD

INIT = {"stopOnEntry": True, "luaFileExtension": "", "cwd": "/w", "TempFilePath": "/tmp"}
FRAME = {"file": "/w/a.lua", "oPath": "a.lua", "line": "4", "index": "2", "name": "文件名"}
LOCALS = {"varRef": 10000, "stackId": 2}
WATCH = {"varName": "x", "stackId": 2}
INFOS: dict[str, Any] = {
    "initSuccess": INIT,
    "setBreakPoint": {"path": "/w/a.lua", "bks": []},
    "getVariable": LOCALS,
    "setVariable": LOCALS | {"newValue": "1", "varName": "x"},
    "getWatchedVariable": WATCH,
    "runREPLExpression": {"Expression": "x", "stackId": 2},
}


def line(cmd: str, callback_id: Any, info: Any = (), **more: Any) -> bytes:
    return json.dumps({"cmd": cmd, "callbackId": callback_id, "info": info, **more}).encode() + b"|*|\n"


def stop(cmd: str = "stopOnEntry", callback_id: Any = 0) -> bytes:
    return line(cmd, callback_id, stack=[FRAME])


INIT_REPLY = {"debuggerVer": "3.3.1", "UseHookLib": "0", "UseLoadstring": "1", "isNeedB64EncodeStr": "false"}


def heard(connection: IdeConnection, *lines: bytes) -> list[IdeEvent]:
    for data in lines:
        connection.receive_data(data)
    return list(connection.events())


def said(data: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(data.removesuffix(b" |*|\n"))
    return message


def fresh(**options: int) -> IdeConnection:
    return IdeConnection(count(10).__next__, **options)


def running(**options: int) -> IdeConnection:
    """Initialised under the id 10; the next one is 11."""
    connection = fresh(**options)
    connection.send_command("initSuccess", INIT, now=0)
    heard(connection, line("initSuccess", "10", INIT_REPLY))
    return connection


def stopped(**options: int) -> IdeConnection:
    connection = running(**options)
    heard(connection, stop())
    return connection


def in_state(state: State) -> IdeConnection:
    connection = {State.IDLE: fresh, State.RUNNING: running, State.STOPPED: stopped}.get(state, fresh)()
    if state in (State.INIT, State.CLOSED):
        connection.send_command("initSuccess", INIT, now=0)
    if state is State.CLOSED:
        connection.send_command("stopRun", now=0)
    assert connection.state is state
    return connection


def code_of(misuse: Callable[[], object]) -> str:
    with pytest.raises(LocalProtocolError) as caught:
        misuse()
    return caught.value.code


# Ids


@pytest.mark.requirement(
    "luapanda:message:json-object",
    "luapanda:message:cmd",
    "luapanda:message:info",
    "luapanda:message:callback-id",
    "luapanda:message:command-and-info",
    "luapanda:callback-id:decimal-text",
    "luapanda:callback-id:made-by-transport",
)
def test_a_command_is_its_name_its_info_and_an_id_of_the_connections_own_as_text() -> None:
    assert said(stopped().send_command("getWatchedVariable", WATCH, now=0)) == {
        "callbackId": "11",
        "cmd": "getWatchedVariable",
        "info": {"varName": "x", "stackId": "2"},
    }


@pytest.mark.requirement("luapanda:callback-id:ten-and-up", "luapanda:callback-id:reserved-below-ten")
@pytest.mark.parametrize(("candidate", "taken"), [(9, False), (10, True), (999_999_999, True), (1_000_000_000, False)])
def test_ids_go_from_ten_to_nine_nines(candidate: int, taken: bool) -> None:
    connection = IdeConnection(lambda: candidate)
    if taken:
        assert said(connection.send_command("initSuccess", INIT, now=0))["callbackId"] == str(candidate)
    else:
        assert code_of(lambda: connection.send_command("initSuccess", INIT, now=0)) == "bad_callback_id"
        assert (connection.state, connection.pending) == (State.IDLE, ())
    assert (MIN_ID, MAX_ID) == (10, 999_999_999)


@pytest.mark.requirement("luapanda:callback-id:unique")
def test_the_source_is_asked_again_while_its_candidate_is_in_use() -> None:
    candidates = iter([50, 50, 50, 51])
    connection = IdeConnection(candidates.__next__)
    connection.send_command("initSuccess", INIT, now=0)
    assert said(connection.send_command("setBreakPoint", INFOS["setBreakPoint"], now=0))["callbackId"] == "51"


def test_a_source_that_has_only_used_ids_is_not_asked_for_ever() -> None:
    connection = IdeConnection(lambda: 50)
    connection.send_command("initSuccess", INIT, now=0)
    assert code_of(lambda: connection.send_command("stopRun", now=0)) == "no_free_id"


@pytest.mark.requirement(
    "luapanda:callback-id:only-with-waiter",
    "luapanda:callback-id:absent-without-waiter",
    "luapanda:command:control-id",
)
def test_a_command_that_is_never_answered_carries_no_id_and_waits_for_nothing() -> None:
    connection = stopped()
    assert said(connection.send_command("LuaGarbageCollect", now=0)) == {"cmd": "LuaGarbageCollect", "info": {}}
    assert connection.pending == ()


CONFIRMED = [
    *(pytest.param(cmd, marks=pytest.mark.requirement("luapanda:command:step-id", "luapanda:step:real-id"))
      for cmd in ("stopOnStep", "stopOnStepIn", "stopOnStepOut")),
    pytest.param("setBreakPoint", marks=pytest.mark.requirement("luapanda:command:breakpoint-id")),
    *(pytest.param(cmd, marks=pytest.mark.requirement("luapanda:command:variable-id"))
      for cmd in ("getVariable", "setVariable", "getWatchedVariable", "runREPLExpression")),
    pytest.param("continue", marks=pytest.mark.requirement("luapanda:command:confirmed-commands-get-real-ids")),
    "stopRun",
]  # fmt: skip


@pytest.mark.parametrize("cmd", CONFIRMED)
def test_a_command_that_is_answered_always_carries_a_real_id(cmd: str) -> None:
    connection = stopped()
    sent = said(connection.send_command(cmd, INFOS.get(cmd, {}), now=0))
    assert sent["callbackId"] == "11"
    assert connection.pending == (Pending(11, cmd),)


@pytest.mark.requirement(
    "luapanda:callback-id:waiter-kept",
    "luapanda:callback-id:waiter-context",
    "luapanda:callback-id:registered-before-sending",
)
def test_a_waiter_is_kept_before_the_line_leaves_and_comes_back_with_its_answer() -> None:
    connection, waiter, other = stopped(), object(), object()
    connection.send_command("getVariable", LOCALS, now=0, context=waiter)
    connection.send_command("getWatchedVariable", WATCH, now=0, context=other)
    assert [command.context for command in connection.pending] == [waiter, other]
    (answer,) = heard(connection, line("getWatchedVariable", "12", [{"name": "x", "value": "1"}]))
    assert isinstance(answer, Answered)
    assert answer.command.context is other
    assert connection.pending == (Pending(11, "getVariable", None, waiter),)


@pytest.mark.requirement("luapanda:callback-id:nobodys-ack")
@pytest.mark.parametrize("callback_id", ["0", "", 0, None, "77", 2**63, "abc", [1]])
def test_an_answer_under_nobodys_id_disturbs_no_waiter(callback_id: Any) -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    pending = connection.pending
    (event,) = heard(connection, line("stopOnStep", callback_id, []))
    assert isinstance(event, AnsweredUnasked)
    assert connection.pending == pending


def test_an_answer_without_any_id_disturbs_no_waiter() -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    (event,) = heard(connection, b'{"cmd":"stopOnStep","info":[]}|*|\n')
    assert isinstance(event, AnsweredUnasked)
    assert len(connection.pending) == 1


def test_a_stale_id_under_another_cmd_settles_nothing() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=0)
    (event,) = heard(connection, line("setBreakPoint", "11"))
    assert isinstance(event, AnsweredUnasked)
    assert [command.callback_id for command in connection.pending] == [11]


@pytest.mark.parametrize(
    ("cmd", "info"),
    [
        pytest.param("continue", [], marks=pytest.mark.requirement("luapanda:reply:continue")),
        pytest.param("stopOnStep", [], marks=pytest.mark.requirement("luapanda:reply:stop-on-step")),
        pytest.param("stopOnStepIn", [], marks=pytest.mark.requirement("luapanda:reply:stop-on-step-in")),
        pytest.param("stopOnStepOut", [], marks=pytest.mark.requirement("luapanda:reply:stop-on-step-out")),
        pytest.param("setBreakPoint", [], marks=pytest.mark.requirement("luapanda:reply:set-breakpoint")),
        pytest.param("stopRun", [], marks=pytest.mark.requirement("luapanda:reply:stop-run")),
        pytest.param("setVariable", {"success": "true"}, marks=pytest.mark.requirement("luapanda:reply:set-variable")),
        pytest.param("getVariable", [], marks=pytest.mark.requirement("luapanda:reply:get-variable")),
        pytest.param(
            "getWatchedVariable", [{"name": "x"}], marks=pytest.mark.requirement("luapanda:reply:get-watched-variable")
        ),
        pytest.param(
            "runREPLExpression", [{"name": "x"}], marks=pytest.mark.requirement("luapanda:reply:run-repl-expression")
        ),
    ],
)
def test_a_reply_settles_the_command_whose_id_it_returns(cmd: str, info: Any) -> None:
    connection = stopped()
    connection.send_command(cmd, INFOS.get(cmd, {}), now=0)
    (event,) = heard(connection, line(cmd, "11", info))
    assert isinstance(event, Answered)
    assert event.command == Pending(11, cmd)
    acknowledged = cmd in ("continue", "setBreakPoint", "stopRun") or cmd.startswith("stopOnStep")
    assert classify(event.message) == ("ack" if acknowledged else "reply")


@pytest.mark.requirement("luapanda:reply:init-success")
def test_the_reply_to_initsuccess_says_what_the_runtime_is() -> None:
    connection = fresh()
    connection.send_command("initSuccess", INIT, now=0)
    (event,) = heard(connection, line("initSuccess", "10", INIT_REPLY | {"isNeedB64EncodeStr": "true"}))
    assert isinstance(event, Answered)
    assert connection.runtime == Runtime(
        version="3.3.1", has_hook_library=False, has_loadstring=True, encodes_strings=True
    )
    assert connection.state is State.RUNNING


def test_an_initsuccess_that_echoes_no_id_initialises_all_the_same() -> None:
    connection = fresh()
    connection.send_command("initSuccess", INIT, now=0)
    heard(connection, line("initSuccess", "", []))
    assert (connection.state, connection.runtime) == (State.RUNNING, Runtime())


# Kinds


@pytest.mark.requirement("luapanda:stop:told-from-ack", "luapanda:message:stack")
def test_a_stop_is_told_from_an_acknowledgement_by_its_stack_and_not_by_its_id() -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    ack, stopped_again = heard(connection, line("stopOnStep", "11"), stop("stopOnStep", "11"))
    assert isinstance(ack, Answered)
    assert isinstance(stopped_again, Stopped)
    assert (classify(ack.message), classify(stopped_again.message)) == ("ack", "stop")


@pytest.mark.parametrize(
    "cmd",
    [
        pytest.param("stopOnCodeBreakpoint", marks=pytest.mark.requirement("luapanda:stop:code-breakpoint")),
        pytest.param("stopOnBreakpoint", marks=pytest.mark.requirement("luapanda:stop:breakpoint")),
        pytest.param("stopOnStep", marks=pytest.mark.requirement("luapanda:stop:step")),
        pytest.param("stopOnEntry", marks=pytest.mark.requirement("luapanda:stop:entry")),
        pytest.param("stopOnStepIn", marks=pytest.mark.requirement("luapanda:stop:step-in")),
        pytest.param("stopOnStepOut", marks=pytest.mark.requirement("luapanda:stop:step-out")),
        "stopOnSomethingNew",
    ],
)
@pytest.mark.parametrize("callback_id", [0, "0", "", "11", None])
def test_whatever_has_a_stack_is_a_stop(cmd: str, callback_id: Any) -> None:
    connection = running()
    (event,) = heard(connection, stop(cmd, callback_id))
    assert isinstance(event, Stopped)
    assert event.message.stack is not None
    assert (event.message.stack[0].file, event.message.stack[0].line, event.message.stack[0].index) == (
        "/w/a.lua",
        4,
        2,
    )
    assert connection.state is State.STOPPED


@pytest.mark.parametrize(
    ("cmd", "field"),
    [
        pytest.param("output", "logInfo", marks=pytest.mark.requirement("luapanda:notice:output")),
        pytest.param("tip", "logInfo", marks=pytest.mark.requirement("luapanda:notice:tip")),
        pytest.param("debug_console", "logInfo", marks=pytest.mark.requirement("luapanda:notice:debug-console")),
        pytest.param(
            "refreshLuaMemory", "memInfo", marks=pytest.mark.requirement("luapanda:notice:refresh-lua-memory")
        ),
    ],
)
@pytest.mark.parametrize("callback_id", ["0", "11"])
def test_a_notice_answers_nothing_whatever_its_id(cmd: str, field: str, callback_id: str) -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    (event,) = heard(connection, line(cmd, callback_id, {field: "12.5"}))
    assert isinstance(event, Noticed)
    assert event.message.text == "12.5"
    assert len(connection.pending) == 1


def test_a_message_that_nobody_knows_is_a_notice_without_an_id_and_a_reply_with_one() -> None:
    notice, reply = heard(running(), line("novelty", "0", {"a": 1}), line("novelty", "55"))
    assert isinstance(notice, Noticed)
    assert isinstance(reply, AnsweredUnasked)
    assert (classify(notice.message), notice.message.text) == ("notice", "")
    assert (classify(reply.message), reply.message.fields["callbackId"]) == ("reply", "55")


# Steps


@pytest.mark.requirement("luapanda:step:over", "luapanda:step:default-over", "luapanda:step:empty-info")
def test_a_step_is_a_step_over_unless_another_is_named() -> None:
    sent = said(stopped().send_step(now=0))
    assert (sent["cmd"], sent["info"]) == ("stopOnStep", {})
    assert said(stopped().send_step("over", now=0))["cmd"] == "stopOnStep"


@pytest.mark.requirement("luapanda:step:in", "luapanda:step:out")
def test_steps_in_and_out_have_their_own_commands() -> None:
    assert said(stopped().send_step("in", now=0))["cmd"] == "stopOnStepIn"
    assert said(stopped().send_step("out", now=0))["cmd"] == "stopOnStepOut"


# Time


@pytest.mark.requirement("luapanda:callback-id:deadline")
def test_a_deadline_is_the_moment_of_sending_and_the_limit() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=100.0, timeout_s=3)
    connection.send_command("getVariable", LOCALS, now=100.0, timeout_s=1)
    assert [command.deadline for command in connection.pending] == [103.0, 101.0]
    assert connection.next_deadline == 101.0


@pytest.mark.requirement("luapanda:callback-id:no-deadline-by-default")
def test_without_a_limit_there_is_no_deadline() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=100.0)
    connection.send_command("getVariable", LOCALS, now=100.0, timeout_s=0)
    assert connection.next_deadline is None
    assert connection.expire(1e18) == ()


@pytest.mark.requirement("luapanda:callback-id:timeout-settles", "luapanda:callback-id:null-response")
def test_a_command_whose_deadline_has_passed_is_given_back_without_an_answer() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=0, timeout_s=3, context="a")
    connection.send_command("getVariable", LOCALS, now=0, timeout_s=5, context="b")
    assert connection.expire(2.9) == ()
    assert [command.context for command in connection.expire(3.0)] == ["a"]
    assert connection.expire(3.0) == ()
    assert [command.context for command in connection.pending] == ["b"]


def test_an_answer_that_comes_late_is_told_apart_and_its_id_was_not_used_again() -> None:
    candidates = iter([10, 11, 11, 12])
    connection = IdeConnection(candidates.__next__)
    connection.send_command("initSuccess", INIT, now=0)
    heard(connection, line("initSuccess", "10", INIT_REPLY), stop())
    connection.send_command("getVariable", LOCALS, now=0, timeout_s=3, context="late")
    connection.expire(3)
    assert said(connection.send_command("getVariable", LOCALS, now=3))["callbackId"] == "12"
    (late,) = heard(connection, line("getVariable", "11", []))
    assert isinstance(late, AnsweredLate)
    assert late.command.context == "late"
    (again,) = heard(connection, line("getVariable", "11", []))
    assert isinstance(again, AnsweredUnasked)


def test_what_is_remembered_of_time_outs_is_bounded() -> None:
    connection = stopped(requests_per_stop=10_000)
    for _ in range(1_100):
        connection.send_command("getVariable", LOCALS, now=0, timeout_s=1)
    assert len(connection.expire(1)) == 1_100
    oldest, newest = heard(connection, line("getVariable", "11", []), line("getVariable", "1110", []))
    assert isinstance(oldest, AnsweredUnasked)
    assert isinstance(newest, AnsweredLate)


# States


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("cmd", sorted(INFOS.keys() | {"continue", "stopOnStep", "LuaGarbageCollect", "stopRun"}))
def test_a_command_is_sent_where_the_table_allows_it_and_refused_elsewhere(state: State, cmd: str) -> None:
    connection = in_state(state)
    before = connection.pending
    if cmd in TRANSITIONS[state]:
        connection.send_command(cmd, INFOS.get(cmd, {}), now=0)
        assert connection.state is TRANSITIONS[state][cmd]
    else:
        assert code_of(lambda: connection.send_command(cmd, INFOS.get(cmd, {}), now=0)) == "wrong_state"
        assert (connection.state, connection.pending) == (state, before)


@pytest.mark.parametrize("cmd", ["getVariable", "setVariable"])
def test_what_a_running_program_would_drop_is_refused_with_that_reason(cmd: str) -> None:
    connection = stopped()
    connection.send_command("continue", now=0)
    with pytest.raises(LocalProtocolError, match="drop it without an answer"):
        connection.send_command(cmd, INFOS[cmd], now=0)


def test_an_unknown_command_is_refused_since_it_would_resume_the_program() -> None:
    with pytest.raises(LocalProtocolError, match="resume the program"):
        stopped().send_command("pause", now=0)


def test_breakpoints_may_follow_initsuccess_at_once() -> None:
    connection = fresh()
    connection.send_command("initSuccess", INIT | {"stopOnEntry": False}, now=0)
    connection.send_command("setBreakPoint", INFOS["setBreakPoint"], now=0)
    heard(connection, line("initSuccess", "10", INIT_REPLY), line("setBreakPoint", "11"), stop("stopOnBreakpoint"))
    assert (connection.state, connection.pending) == (State.STOPPED, ())


def test_a_stop_that_crosses_our_stoprun_is_told_and_changes_nothing() -> None:
    connection = in_state(State.CLOSED)
    (event,) = heard(connection, stop())
    assert isinstance(event, Stopped)
    assert connection.state is State.CLOSED


def test_the_table_names_only_states_commands_and_the_two_things_heard() -> None:
    from dragoman.wire.luapanda import COMMANDS

    assert set(TRANSITIONS) == set(State)
    assert {what for row in TRANSITIONS.values() for what in row} == {*COMMANDS, INITIALISED, STOP_HEARD}


# The budget of one stop


def test_requests_in_one_stop_are_counted_and_a_step_or_a_new_stop_gives_them_back() -> None:
    connection = stopped(requests_per_stop=3)
    connection.send_command("getVariable", LOCALS, now=0)
    connection.send_command("LuaGarbageCollect", now=0)
    connection.send_command("setBreakPoint", INFOS["setBreakPoint"], now=0)
    assert connection.requests_left == 1
    connection.send_command("getWatchedVariable", WATCH, now=0)
    assert code_of(lambda: connection.send_command("getVariable", LOCALS, now=0)) == "stop_budget_spent"
    assert len(connection.pending) == 3
    connection.send_command("stopOnStep", now=0)
    connection.send_command("getWatchedVariable", WATCH, now=0)
    heard(connection, stop("stopOnStep"))
    assert connection.requests_left == 3


def test_the_budget_is_two_thousand() -> None:
    connection = stopped()
    for _ in range(2_000):
        connection.send_command("getVariable", LOCALS, now=0)
    assert code_of(lambda: connection.send_command("getVariable", LOCALS, now=0)) == "stop_budget_spent"
    assert connection.send_command("stopRun", now=0)


# The end, and the runtime's faults


@pytest.mark.requirement("luapanda:callback-id:errors-settle")
def test_the_end_lists_the_commands_that_will_never_be_answered() -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0, context="waiter")
    connection.receive_eof()
    connection.receive_eof()
    assert list(connection.events()) == [Closed((Pending(11, "stopOnStep", None, "waiter"),))]
    assert (connection.state, connection.pending) == (State.CLOSED, ())
    assert code_of(lambda: connection.receive_data(b"x")) == "closed"


def test_half_a_message_and_then_the_end_is_an_error_in_the_last_event() -> None:
    connection = running()
    connection.receive_data(stop() + b'{"cmd":')
    connection.receive_eof()
    first, last = connection.events()
    assert isinstance(first, Stopped)
    assert isinstance(last, Closed)
    assert last.error is not None
    assert last.error.code == "truncated"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "missing_separator"),
        (b"{|*|\n", "bad_json"),
        (b"{}|*|\n", "missing_cmd"),
        (b'{"cmd":7}|*|\n', "missing_cmd"),
        (b'{"cmd":"stopOnStep","stack":7}|*|\n', "bad_message"),
        (b'{"cmd":"stopOnStep","stack":[{"line":"x","index":"2"}]}|*|\n', "bad_message"),
        (b'{"cmd":"stopOnStep","stack":[{"line":"\xff","index":"2"}]}|*|\n', "bad_message"),
        (b'{"cmd":"initSuccess","info":{"UseHookLib":"maybe"}}|*|\n', "bad_message"),
        (b"x" * 1_001, "line_too_long"),
    ],
)
def test_a_fault_comes_after_everything_before_it_and_ends_the_connection(bad: bytes, code: str) -> None:
    connection = stopped(max_line=1_000)
    connection.send_command("stopOnStep", now=0)
    connection.receive_data(line("output", "0", {"logInfo": "x"}) + bad + stop())
    events = connection.events()
    assert isinstance(next(events), Noticed)
    with pytest.raises(RemoteProtocolError) as caught:
        next(events)
    assert caught.value.code == code
    assert heard(connection, stop()) == []
    assert code_of(lambda: connection.send_command("stopRun", now=0)) == "wrong_state"
    connection.receive_eof()
    assert list(connection.events()) == [Closed((Pending(11, "stopOnStep"),), caught.value)]


MESSAGES = st.sampled_from(
    [
        stop(),
        line("stopOnStep", "11"),
        line("output", "0", {"logInfo": "|*|\x01é"}),
        line("initSuccess", "10", INIT_REPLY | {"isNeedB64EncodeStr": "true"}),
        line("getVariable", "12", [{"type": "string", "name": "s", "value": "IsOpIg=="}]),
        b'{"cmd":"output","info":{"logInfo":"\xff\x1b"}} |*|\r\n',
        b"\n",
        b"oops",
    ]
)


def outcome(chunks: list[bytes]) -> tuple[list[str], str]:
    """What is heard, and how it ended; a stop, a step and a late answer included."""
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    events: list[str] = []
    for chunk in chunks:
        connection.receive_data(chunk)
        try:
            events.extend(map(repr, connection.events()))
        except RemoteProtocolError as fault:
            events.append(fault.code)
    connection.receive_eof()
    return events, repr(list(connection.events()))


@given(st.lists(MESSAGES, max_size=6), st.lists(st.integers(0, 700), max_size=10))
def test_any_split_of_the_bytes_gives_the_same_events_and_the_same_fault(
    messages: list[bytes], cuts: list[int]
) -> None:
    data = b"".join(messages)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    assert outcome([data[begin:end] for begin, end in pairwise(places)]) == outcome([data])
