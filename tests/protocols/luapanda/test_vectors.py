"""Every line of every recorded session, in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.luapanda import (
    Closed,
    CommandAnswered,
    CommandLost,
    CommandReceived,
    IdeConnection,
    IdeEvent,
    LuaPandaCommand,
    Message,
    NoticeReceived,
    RuntimeConnection,
    StopReceived,
    UnexpectedAnswer,
    classify,
    read_assignment,
    read_variables,
)
from dragoman.protocols.luapanda.framing import message_text, read_command, read_message
from dragoman.protocols.luapanda.messages import ACKNOWLEDGED, NOTICES
from tests.protocols.luapanda.transcripts import FAULTS, GOOD, INDEX, NAMES, Record, to_ide, to_runtime, transcript

KINDS = {"stop": StopReceived, "notice": NoticeReceived}
VARIABLES = {"getVariable", "getWatchedVariable", "runREPLExpression"}
# What the real runtime died of, or hung on, and the code under which ours reports it.
FATAL = {
    "fault_continue_info_null": "missing_info",
    "fault_continue_without_info": "missing_info",
    "fault_empty_line": "empty_line",
    "fault_init_no_TempFilePath": "missing_field",
    "fault_init_no_luaFileExtension": "missing_field",
    "fault_newline_without_separator": "missing_separator",
    "fault_not_json": "bad_json",
    "fault_sep_inside_string": "bad_json",
    "fault_three_messages_one_line": "three_on_a_line",
}
# What it survived although it is wrong: ours takes it too, and our IDE refuses to say it.
SURVIVED = {
    "fault_bp_without_bks": "missing_field",
    "fault_getVariable_stackId_1": "bad_field",
    "fault_unknown_cmd_then_watch": "unknown_command",
    "fault_watch_no_stackId": "missing_field",
    "fault_step_info_null": "bad_info",
}
# Nothing is wrong with these but a reference that only the runtime can judge, numbers, which our IDE sends as text, and
# flags, which it sends as text too.
UNUSUAL = {"fault_getVariable_bad_ref", "fault_getVariable_numeric_fields", "fault_init_JSON_booleans"}


def ide() -> IdeConnection:
    return IdeConnection(count(10).__next__)


def plain(line: bytes) -> dict[str, Any]:
    return read_message(message_text(line.rstrip(b"\n")))


def expected_kind(fields: dict[str, Any]) -> str:
    """Written from the tables of the protocol document, independently of `classify`."""
    if "stack" in fields:
        return "stop"
    if fields["cmd"] in NOTICES:
        return "notice"
    return "ack" if fields["cmd"] in ACKNOWLEDGED else "reply"


def test_the_index_lists_every_transcript() -> None:
    assert len(NAMES) == len(INDEX) == 45
    assert set(FAULTS) == set(FATAL) | set(SURVIVED) | UNUSUAL


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_the_runtime_is_read_as_its_kind(name: str) -> None:
    connection = ide()
    for line in to_ide(name):
        connection.receive_data(line)
        (event,) = connection.events()
        assert not isinstance(event, Closed)
        kind = expected_kind(plain(line))
        assert classify(event.message) == kind
        assert isinstance(event, KINDS.get(kind, UnexpectedAnswer))
        check_payload(event.message)


def check_payload(message: Message) -> None:
    """What we look into is typed: numbers are numbers, however they were sent."""
    if message.stack is not None:
        assert message.stack[0].index == 2
        assert all(entry.file.endswith(".lua") and entry.line > 0 for entry in message.stack)
    elif message.cmd in VARIABLES:
        assert all(item.type and item.variables_reference >= 0 for item in read_variables(message))
    elif message.cmd == "setVariable":
        assert read_assignment(message).tip
    elif message.cmd in NOTICES:
        assert message.text


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_in_one_piece_and_in_single_bytes_gives_the_same_events(name: str) -> None:
    stream = b"".join(to_ide(name))
    whole, crumbs = ide(), ide()
    whole.receive_data(stream)
    for byte in stream:
        crumbs.receive_data(bytes([byte]))
    assert list(whole.events()) == list(crumbs.events())


@pytest.mark.parametrize("name", GOOD)
def test_every_command_is_read_by_the_runtime_and_written_again_by_the_ide(name: str) -> None:
    runtime = RuntimeConnection()
    runtime.receive_data(b"".join(to_runtime(name)))
    for event in runtime.events():
        if isinstance(event, CommandReceived) and event.command.cmd != "noSuchCommand":
            assert resent(event.command) == {"cmd": event.command.cmd, "info": event.command.info}


def resent(command: LuaPandaCommand) -> dict[str, Any]:
    """What the runtime hears when our IDE says the same, apart from the id."""
    connection = ide_that_may(command.cmd)
    line = connection.send_command(command.cmd, command.info, now=0)
    text = read_command(message_text(line.rstrip(b"\n")))
    assert ("callbackId" in text) == (command.cmd != "LuaGarbageCollect")
    text.pop("callbackId", None)
    return text


def ide_that_may(cmd: str) -> IdeConnection:
    connection = ide()
    if cmd != "initSuccess":
        connection.send_command("initSuccess", INIT, now=0)
        connection.receive_data(STOP_LINE)
    return connection


INIT = {"stopOnEntry": True, "luaFileExtension": "", "cwd": "/", "TempFilePath": "/"}
STOP_LINE = b'{"callbackId":0,"cmd":"stopOnEntry","stack":[{"index":"2","line":"4"}],"info":[]}|*|\n'


@pytest.mark.parametrize("name", GOOD)
def test_the_runtime_answers_with_the_ids_that_the_real_one_echoed(name: str) -> None:
    """Missing, empty, "0", 0, 5, 1.5, text and stale ids: replay the commands, send the same replies, compare."""
    runtime, decoder = RuntimeConnection(), ide()
    answers = 0
    for record in transcript(name):
        if record.to_runtime:
            runtime.receive_data(record.data)
        elif record.to_ide:
            answers += replay(runtime, decoder, record)
    assert answers > 0


def replay(runtime: RuntimeConnection, decoder: IdeConnection, record: Record) -> int:
    fields = plain(record.data)
    decoder.receive_data(record.data)
    (event,) = decoder.events()
    assert not isinstance(event, Closed)
    line = sent_by(runtime, event.message)
    assert line.endswith(b"|*|\n")
    assert plain(line) == fields
    return isinstance(event, UnexpectedAnswer)


def sent_by(runtime: RuntimeConnection, message: Message) -> bytes:
    if message.stack is not None:
        return runtime.send_stop(message.cmd, message.stack)
    if message.cmd in NOTICES:
        return runtime.send_notice(message.cmd, message.text)
    take_until(runtime, message.cmd)
    return runtime.send_reply(message.cmd, message.info)


def take_until(runtime: RuntimeConnection, cmd: str) -> None:
    for event in runtime.events():
        if isinstance(event, CommandReceived) and event.command.cmd == cmd:
            assert event.outcome == "answered"
            return
    pytest.fail(f"no command for the reply {cmd}")


@pytest.mark.parametrize(("name", "code"), FATAL.items())
def test_what_killed_the_real_runtime_is_a_fault_of_the_ide(name: str, code: str) -> None:
    runtime = RuntimeConnection()
    runtime.receive_data(b"".join(to_runtime(name)))
    with pytest.raises(RemoteProtocolError) as caught:
        list(runtime.events())
    assert caught.value.code == code


@pytest.mark.parametrize("name", sorted({*SURVIVED, *UNUSUAL}))
def test_what_the_real_runtime_survived_is_taken(name: str) -> None:
    runtime = RuntimeConnection()
    for line in to_runtime(name):
        runtime.receive_data(line)
    fates = [event.outcome for event in runtime.events() if isinstance(event, CommandReceived)]
    assert len(fates) == len(to_runtime(name))


def fault_in(name: str) -> dict[str, Any]:
    """The one command of a transcript that is wrong: neither the set-up nor the probes after it."""
    commands = [read_command(message_text(line.rstrip(b"\n"))) for line in to_runtime(name)]
    return next(command for command in commands if command["callbackId"] not in {"101", "102", "103"})


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *SURVIVED.items(),
        ("fault_continue_info_null", "bad_info"),
        ("fault_continue_without_info", "bad_info"),
        ("fault_init_no_TempFilePath", "missing_field"),
        ("fault_init_no_luaFileExtension", "missing_field"),
    ],
)
def test_our_ide_refuses_to_say_it(name: str, code: str) -> None:
    fault = fault_in(name)
    connection = ide_that_may(fault["cmd"])
    state = connection.state
    with pytest.raises(LocalProtocolError) as caught:
        connection.send_command(fault["cmd"], fault.get("info"), now=0)  # type: ignore[arg-type]
    assert (caught.value.code, connection.state, len(connection.pending)) == (code, state, state != "idle")


@pytest.mark.parametrize("name", sorted(UNUSUAL))
def test_our_ide_sends_numbers_and_flags_as_text(name: str) -> None:
    fault = fault_in(name)
    line = ide_that_may(fault["cmd"]).send_command(fault["cmd"], fault["info"], now=0)
    values = json.loads(message_text(line.rstrip(b"\n")))["info"].values()
    assert all(isinstance(value, str) for value in values)


def test_a_separator_inside_a_text_is_escaped_where_the_recorded_one_killed() -> None:
    line = ide_that_may("getWatchedVariable").send_command(
        "getWatchedVariable", {"varName": "'a|*|b'", "stackId": 2}, now=0
    )
    runtime = RuntimeConnection()
    runtime.receive_data(line)
    (event,) = runtime.events()
    assert isinstance(event, CommandReceived)
    assert event.command.info == {"varName": "'a|*|b'", "stackId": "2"}


def test_of_two_messages_on_one_line_the_second_is_lost_as_recorded() -> None:
    runtime = RuntimeConnection()
    runtime.receive_data(b"".join(to_runtime("framing")))
    events = list(runtime.events())
    lost = [event for event in events if isinstance(event, CommandLost)]
    ids = [event.command.callback_id for event in events if isinstance(event, CommandReceived)]
    assert [plain(event.data + b"|*|")["callbackId"] for event in lost] == ["25"]
    assert ids == ["101", *map(str, [11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 29]), "102"]


def events_of(name: str) -> Iterator[IdeEvent]:
    connection = ide()
    connection.receive_data(b"".join(to_ide(name)))
    yield from connection.events()


def test_base64_values_are_read_only_after_the_runtime_announced_them() -> None:
    values = [
        (variable.name, variable.value)
        for event in events_of("values_b64_true")
        if isinstance(event, UnexpectedAnswer) and event.message.cmd == "getVariable"
        for variable in read_variables(event.message)
        if variable.type == "string"
    ]
    assert ("me", '"n=1"') in values
    assert ("binary", '"\x01\x02\udcc8\udcff"') in values
    assert ("first", '"v1"') in values


def test_setvariable_replies_are_not_base64() -> None:
    first = next(
        read_assignment(event.message)
        for event in events_of("values_b64_true")
        if isinstance(event, UnexpectedAnswer) and event.message.cmd == "setVariable"
    )
    assert (first.success, first.name, first.value) == (True, "first", '"v1"')


def test_bytes_that_are_not_utf8_come_through() -> None:
    values = [
        variable.name
        for event in events_of("framing")
        if isinstance(event, UnexpectedAnswer) and event.message.cmd == "getWatchedVariable"
        for variable in read_variables(event.message)
    ]
    panda_as_two_halves = b"#'\xed\xa0\xbd\xed\xb0\xbc'"
    assert panda_as_two_halves in [name.encode("utf-8", "surrogateescape") for name in values]


def test_a_whole_session_settles_every_command_it_sends() -> None:
    """Say what the recorded IDE said, with the recorded ids; hear what the real runtime answered."""
    ids = iter(int(fields["callbackId"]) for fields in map(plain, to_runtime("basic_54")) if "callbackId" in fields)
    connection = IdeConnection(ids.__next__)
    answered = 0
    for record in transcript("basic_54"):
        if record.to_runtime:
            fields = plain(record.data)
            line = connection.send_command(fields["cmd"], fields["info"], now=0)
            assert plain(line).get("callbackId") == fields.get("callbackId")
        elif record.to_ide:
            connection.receive_data(record.data)
            answered += sum(isinstance(event, CommandAnswered) for event in connection.events())
    connection.receive_eof()
    assert list(connection.events()) == [Closed(())]
    assert answered == 35
