"""An editor here and a debug adapter on another machine that wants a command to run here."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.remote.adapter_guard import AdapterGuard
from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols import dap
from dragoman.protocols.dap import frame

OUTPUT = {"seq": 3, "type": "event", "event": "output", "body": {"output": "\ud800 ü"}}
ANSWER = {"seq": 4, "type": "response", "request_seq": 1, "success": True, "command": "threads", "body": {}}


def framed(*messages: Any) -> bytes:
    return b"".join(frame(json.dumps(it).encode()) for it in messages)


def messages(data: bytes) -> list[Any]:
    reader = dap.FrameReader()
    reader.feed(data)
    found = []
    while (body := reader.next_body()) is not None:
        found.append(json.loads(body))
    assert not reader.unread
    return found


@pytest.mark.parametrize("command", ["runInTerminal", "startDebugging", "anything", None])
def test_a_request_of_the_far_side_reaches_no_editor_and_is_refused(command: str | None) -> None:
    guard = AdapterGuard()
    asked = {"seq": 9, "type": "request", "command": command, "arguments": {"args": ["touch", "owned"]}}
    assert messages(guard.to_near(framed(OUTPUT, asked, ANSWER))) == [OUTPUT, ANSWER]
    (refusal,) = messages(guard.take_refusals())
    assert (refusal["type"], refusal["request_seq"], refusal["command"], refusal["success"]) == (
        "response", 9, command, False,
    )  # fmt: skip
    assert guard.take_refusals() == b""


@pytest.mark.parametrize(
    "body",
    [
        b'{"type":"event","Type":"request","command":"runInTerminal","event":"output"}',
        b'{"type":"request","command":"runInTerminal","type":"event","event":"output"}',
        b'{"type":"event","event":"output","TYPE":"request","COMMAND":"runInTerminal"}',
    ],
)
def test_no_reader_finds_another_message_in_one_than_the_guard(body: bytes) -> None:
    (passed,) = messages(AdapterGuard().to_near(frame(body)))
    assert passed == {"type": "event", "event": "output"}
    twice = b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"
    with pytest.raises(RemoteProtocolError):
        AdapterGuard().to_near(twice)


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 99999999\r\n\r\n",
        b"no header at all\r\n\r\n",
        b"x" * 9000,
        frame(b"[]"),
        frame(b"{}"),
        frame(b"no json"),
        frame(b'{"type":"reverse","command":"runInTerminal"}'),
        frame(b'{"type":"event","event":"x","body":' + b"[" * 5000 + b"]" * 5000 + b"}"),
        frame(b'{"type":"event","event":"x","body":[' + b"[]," * 500_000 + b"[]]}"),
        frame(b'{"type":"event","event":"x","body":1e999}'),
        framed({"seq": 1, "type": "request", "command": "runInTerminal"}) * 101,
    ],
)
def test_what_is_no_message_ends_the_connection(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        AdapterGuard().to_near(data)


def test_an_editor_offers_no_command_to_another_machine() -> None:
    offers = {"supportsRunInTerminalRequest": True, "supportsStartDebuggingRequest": True}
    first = {"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x", **offers}}
    second = {"seq": 2, "type": "request", "command": "evaluate", "arguments": {"expression": "initialize"}}
    sent = messages(AdapterGuard().to_far(framed(first, second)))
    assert sent == [{**first, "arguments": {"adapterID": "x", **dict.fromkeys(offers, False)}}, second]


@given(st.lists(st.integers(0, 300), max_size=6), st.sampled_from([b"", b"no frames\r\n\r\n and more"]))
def test_everything_else_of_an_editor_passes_in_whole_messages(cuts: list[int], rest: bytes) -> None:
    guard, data = AdapterGuard(), framed({"seq": 1, "type": "request", "command": "threads"}, ANSWER) + rest
    ends = sorted({0, *(min(it, len(data)) for it in cuts), len(data)})
    pieces = [guard.to_far(data[low:high]) for low, high in pairwise(ends)]
    assert b"".join(pieces) == data
