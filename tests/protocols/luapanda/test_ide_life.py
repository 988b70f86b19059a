"""The IDE's side: time-outs, states, the budget of one stop, and the end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.luapanda import (
    COMMANDS,
    TRANSITIONS,
    Closed,
    CommandAnswered,
    CommandAnsweredLate,
    IdeConnection,
    LuaPandaState,
    NoticeReceived,
    PendingCommand,
    StopReceived,
    UnexpectedAnswer,
)
from dragoman.protocols.luapanda.commands import INITIALISED
from dragoman.protocols.luapanda.commands import STOP as STOP_HEARD
from tests.protocols.luapanda.ide_side import (
    INFOS,
    INIT,
    INIT_REPLY,
    LOCALS,
    WATCH,
    code_of,
    events_after,
    fresh,
    in_state,
    line,
    running,
    sent_message,
    stop,
    stopped,
)

# Time


@pytest.mark.requirement("luapanda:callback-id:deadline")
def test_a_deadline_is_the_moment_of_sending_and_the_limit() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=100.0, timeout_s=3)
    connection.send_command("getVariable", LOCALS, now=100.0, timeout_s=1)
    assert [command.deadline for command in connection.pending] == [103.0, 101.0]


@pytest.mark.requirement("luapanda:callback-id:no-deadline-by-default")
def test_without_a_limit_there_is_no_deadline() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=100.0)
    connection.send_command("getVariable", LOCALS, now=100.0, timeout_s=0)
    assert connection.expire(1e18) == ()


@pytest.mark.requirement("luapanda:callback-id:timeout-settles", "luapanda:callback-id:null-response")
def test_a_command_past_its_deadline_is_given_back_without_an_answer() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=0, timeout_s=3, context="a")
    connection.send_command("getVariable", LOCALS, now=0, timeout_s=5, context="b")
    assert connection.expire(2.9) == ()
    assert [command.context for command in connection.expire(3.0)] == ["a"]
    assert connection.expire(3.0) == ()
    assert [command.context for command in connection.pending] == ["b"]


@pytest.mark.requirement("luapanda:callback-id:timeout-settles")
def test_the_id_of_a_command_that_timed_out_is_free_again_where_no_other_can_be_had() -> None:
    connection = IdeConnection(lambda: 50)
    connection.send_command("initSuccess", INIT, now=0, timeout_s=1)
    connection.expire(1)
    assert sent_message(connection.send_command("setBreakPoint", INFOS["setBreakPoint"], now=1))["callbackId"] == "50"
    (answer,) = events_after(connection, line("setBreakPoint", "50"))
    assert isinstance(answer, CommandAnswered)


def test_a_late_answer_is_recognised_and_its_id_was_not_used_again() -> None:
    candidates = iter([10, 11, 11, 12])
    connection = IdeConnection(candidates.__next__)
    connection.send_command("initSuccess", INIT, now=0)
    events_after(connection, line("initSuccess", "10", INIT_REPLY), stop())
    connection.send_command("getVariable", LOCALS, now=0, timeout_s=3, context="late")
    connection.expire(3)
    assert sent_message(connection.send_command("getVariable", LOCALS, now=3))["callbackId"] == "12"
    (late,) = events_after(connection, line("getVariable", "11", []))
    assert isinstance(late, CommandAnsweredLate)
    assert late.command.context == "late"
    (again,) = events_after(connection, line("getVariable", "11", []))
    assert isinstance(again, UnexpectedAnswer)


def test_what_is_remembered_of_time_outs_is_bounded() -> None:
    connection = stopped(requests_per_stop=10_000)
    for _ in range(1_100):
        connection.send_command("getVariable", LOCALS, now=0, timeout_s=1)
    assert len(connection.expire(1)) == 1_100
    oldest, newest = events_after(connection, line("getVariable", "11", []), line("getVariable", "1110", []))
    assert isinstance(oldest, UnexpectedAnswer)
    assert isinstance(newest, CommandAnsweredLate)


# States


@pytest.mark.parametrize("state", LuaPandaState)
@pytest.mark.parametrize("cmd", sorted(INFOS.keys() | {"continue", "stopOnStep", "LuaGarbageCollect", "stopRun"}))
def test_a_command_is_sent_where_the_table_allows_it_and_refused_elsewhere(state: LuaPandaState, cmd: str) -> None:
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
    events_after(
        connection, line("initSuccess", "10", INIT_REPLY), line("setBreakPoint", "11"), stop("stopOnBreakpoint")
    )
    assert (connection.state, connection.pending) == (LuaPandaState.STOPPED, ())


def test_a_stop_that_crosses_our_stoprun_is_reported_and_changes_nothing() -> None:
    connection = in_state(LuaPandaState.CLOSED)
    (event,) = events_after(connection, stop())
    assert isinstance(event, StopReceived)
    assert connection.state is LuaPandaState.CLOSED


def test_the_table_names_only_states_commands_and_the_two_events() -> None:
    assert set(TRANSITIONS) == set(LuaPandaState)
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
    events_after(connection, stop("stopOnStep"))
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
    assert list(connection.events()) == [Closed((PendingCommand(11, "stopOnStep", None, "waiter"),))]
    assert (connection.state, connection.pending) == (LuaPandaState.CLOSED, ())
    assert code_of(lambda: connection.receive_data(b"x")) == "closed"


def test_half_a_message_and_then_the_end_is_an_error_in_the_last_event() -> None:
    connection = running()
    connection.receive_data(stop() + b'{"cmd":')
    connection.receive_eof()
    first, last = connection.events()
    assert isinstance(first, StopReceived)
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
    assert isinstance(next(events), NoticeReceived)
    with pytest.raises(RemoteProtocolError) as caught:
        next(events)
    assert caught.value.code == code
    assert events_after(connection, stop()) == []
    assert code_of(lambda: connection.send_command("stopRun", now=0)) == "wrong_state"
    connection.receive_eof()
    assert list(connection.events()) == [Closed((PendingCommand(11, "stopOnStep"),), caught.value)]


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
