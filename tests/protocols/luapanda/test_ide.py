"""The IDE's side: ids, answers, stops, notices and steps."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.protocols.luapanda import (
    MAX_ID,
    MIN_ID,
    CommandAnswered,
    IdeConnection,
    LuaPandaState,
    NoticeReceived,
    PendingCommand,
    RuntimeInfo,
    StopReceived,
    UnexpectedAnswer,
    classify,
)
from tests.protocols.luapanda.ide_side import (
    INFOS,
    INIT,
    INIT_REPLY,
    LOCALS,
    WATCH,
    code_of,
    events_after,
    fresh,
    line,
    running,
    sent_message,
    stop,
    stopped,
)

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
    assert sent_message(stopped().send_command("getWatchedVariable", WATCH, now=0)) == {
        "callbackId": "11",
        "cmd": "getWatchedVariable",
        "info": {"varName": "x", "stackId": "2"},
    }


@pytest.mark.requirement("luapanda:callback-id:ten-and-up", "luapanda:callback-id:reserved-below-ten")
@pytest.mark.parametrize(("candidate", "taken"), [(9, False), (10, True), (999_999_999, True), (1_000_000_000, False)])
def test_ids_go_from_ten_to_nine_nines(candidate: int, taken: bool) -> None:
    connection = IdeConnection(lambda: candidate)
    if taken:
        assert sent_message(connection.send_command("initSuccess", INIT, now=0))["callbackId"] == str(candidate)
    else:
        assert code_of(lambda: connection.send_command("initSuccess", INIT, now=0)) == "bad_callback_id"
        assert (connection.state, connection.pending) == (LuaPandaState.IDLE, ())
    assert (MIN_ID, MAX_ID) == (10, 999_999_999)


@pytest.mark.requirement("luapanda:callback-id:unique")
def test_the_source_is_asked_again_while_its_candidate_is_in_use() -> None:
    candidates = iter([50, 50, 50, 51])
    connection = IdeConnection(candidates.__next__)
    connection.send_command("initSuccess", INIT, now=0)
    assert sent_message(connection.send_command("setBreakPoint", INFOS["setBreakPoint"], now=0))["callbackId"] == "51"


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
    assert sent_message(connection.send_command("LuaGarbageCollect", now=0)) == {"cmd": "LuaGarbageCollect", "info": {}}
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
    sent = sent_message(connection.send_command(cmd, INFOS.get(cmd, {}), now=0))
    assert sent["callbackId"] == "11"
    assert connection.pending == (PendingCommand(11, cmd),)


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
    (answer,) = events_after(connection, line("getWatchedVariable", "12", [{"name": "x", "value": "1"}]))
    assert isinstance(answer, CommandAnswered)
    assert answer.command.context is other
    assert connection.pending == (PendingCommand(11, "getVariable", None, waiter),)


@pytest.mark.requirement("luapanda:callback-id:nobodys-ack")
@pytest.mark.parametrize("callback_id", ["0", "", 0, None, "77", 2**63, "abc", [1]])
def test_an_answer_under_nobodys_id_disturbs_no_waiter(callback_id: Any) -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    pending = connection.pending
    (event,) = events_after(connection, line("stopOnStep", callback_id, []))
    assert isinstance(event, UnexpectedAnswer)
    assert connection.pending == pending


def test_an_answer_without_any_id_disturbs_no_waiter() -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    (event,) = events_after(connection, b'{"cmd":"stopOnStep","info":[]}|*|\n')
    assert isinstance(event, UnexpectedAnswer)
    assert len(connection.pending) == 1


def test_a_stale_id_under_another_cmd_settles_nothing() -> None:
    connection = stopped()
    connection.send_command("getVariable", LOCALS, now=0)
    (event,) = events_after(connection, line("setBreakPoint", "11"))
    assert isinstance(event, UnexpectedAnswer)
    assert [command.callback_id for command in connection.pending] == [11]


@pytest.mark.requirement("luapanda:step:handled-response", "luapanda:peer:get-variable-with-waiter")
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
def test_a_reply_settles_the_command_with_its_id(cmd: str, info: Any) -> None:
    connection = stopped()
    connection.send_command(cmd, INFOS.get(cmd, {}), now=0)
    (event,) = events_after(connection, line(cmd, "11", info))
    assert isinstance(event, CommandAnswered)
    assert event.command == PendingCommand(11, cmd)
    acknowledged = cmd in ("continue", "setBreakPoint", "stopRun") or cmd.startswith("stopOnStep")
    assert classify(event.message) == ("ack" if acknowledged else "reply")


@pytest.mark.requirement("luapanda:reply:init-success")
def test_the_reply_to_initsuccess_says_what_the_runtime_is() -> None:
    connection = fresh()
    connection.send_command("initSuccess", INIT, now=0)
    (event,) = events_after(connection, line("initSuccess", "10", INIT_REPLY | {"isNeedB64EncodeStr": "true"}))
    assert isinstance(event, CommandAnswered)
    assert connection.runtime == RuntimeInfo(
        version="3.3.1", has_hook_library=False, has_loadstring=True, encodes_strings=True
    )
    assert connection.state is LuaPandaState.RUNNING


@pytest.mark.requirement("luapanda:runtime:initial-id")
@pytest.mark.parametrize("callback_id", ["", "0", 0, None])
def test_an_initsuccess_under_the_id_that_a_runtime_begins_with_answers_ours(callback_id: Any) -> None:
    connection, waiter = fresh(), object()
    connection.send_command("initSuccess", INIT, now=0, context=waiter)
    first, again = events_after(connection, *2 * [line("initSuccess", callback_id, [])])
    assert isinstance(first, CommandAnswered)
    assert first.command.context is waiter
    assert isinstance(again, UnexpectedAnswer)
    assert (connection.state, connection.runtime, connection.pending) == (LuaPandaState.RUNNING, RuntimeInfo(), ())


def test_an_initsuccess_under_an_id_of_somebody_else_answers_nobody() -> None:
    connection = fresh()
    connection.send_command("initSuccess", INIT, now=0)
    (answer,) = events_after(connection, line("initSuccess", "4711", []))
    assert isinstance(answer, UnexpectedAnswer)
    assert len(connection.pending) == 1


# Kinds


@pytest.mark.requirement("luapanda:stop:told-from-ack", "luapanda:message:stack")
def test_a_stop_is_distinguished_from_an_acknowledgement_by_its_stack_and_not_by_its_id() -> None:
    connection = stopped()
    connection.send_command("stopOnStep", now=0)
    ack, stopped_again = events_after(connection, line("stopOnStep", "11"), stop("stopOnStep", "11"))
    assert isinstance(ack, CommandAnswered)
    assert isinstance(stopped_again, StopReceived)
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
    (event,) = events_after(connection, stop(cmd, callback_id))
    assert isinstance(event, StopReceived)
    assert event.message.stack is not None
    assert (event.message.stack[0].file, event.message.stack[0].line, event.message.stack[0].index) == (
        "/w/a.lua",
        4,
        2,
    )
    assert connection.state is LuaPandaState.STOPPED


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
    (event,) = events_after(connection, line(cmd, callback_id, {field: "12.5"}))
    assert isinstance(event, NoticeReceived)
    assert event.message.text == "12.5"
    assert len(connection.pending) == 1


def test_a_message_that_nobody_knows_is_a_notice_without_an_id_and_a_reply_with_one() -> None:
    notice, reply = events_after(running(), line("novelty", "0", {"a": 1}), line("novelty", "55"))
    assert isinstance(notice, NoticeReceived)
    assert isinstance(reply, UnexpectedAnswer)
    assert (classify(notice.message), notice.message.text) == ("notice", "")
    assert (classify(reply.message), reply.message.fields["callbackId"]) == ("reply", "55")


# Steps


@pytest.mark.requirement("luapanda:step:over", "luapanda:step:default-over", "luapanda:step:empty-info")
def test_a_step_is_a_step_over_unless_another_is_named() -> None:
    sent = sent_message(stopped().send_step(now=0))
    assert (sent["cmd"], sent["info"]) == ("stopOnStep", {})
    assert sent_message(stopped().send_step("over", now=0))["cmd"] == "stopOnStep"


@pytest.mark.requirement("luapanda:step:in", "luapanda:step:out")
def test_steps_in_and_out_have_their_own_commands() -> None:
    assert sent_message(stopped().send_step("in", now=0))["cmd"] == "stopOnStepIn"
    assert sent_message(stopped().send_step("out", now=0))["cmd"] == "stopOnStepOut"
