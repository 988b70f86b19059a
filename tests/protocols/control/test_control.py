"""The control wire: any chunking gives the same messages, caps hold, and a hand-over loses no byte."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.control import (
    LINE_CAP,
    ClientConnection,
    ControlAnswer,
    ControlCall,
    ControlFailure,
    ControlItem,
    ControlLines,
    DaemonState,
    Hello,
    ServerConnection,
    Welcome,
    encode_line,
)

HELLO = Hello(role="control", version="1", language="zh", about={"cwd": "/x"})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def served(*pieces: bytes) -> list[object]:
    server = ServerConnection()
    return [message for piece in pieces for message in server.receive_data(piece)]


def conversation() -> bytes:
    client = ClientConnection()
    return client.send_hello(HELLO) + b"".join(client.send_call(f"m{n}", {"n": n})[1] for n in range(3))


def test_a_hello_is_followed_by_calls_with_growing_ids() -> None:
    assert served(conversation()) == [HELLO, *(ControlCall(n + 1, f"m{n}", {"n": n}) for n in range(3))]


@given(cuts=st.lists(st.integers(0, len(conversation())), max_size=20))
def test_any_chunking_gives_the_same_messages(cuts: list[int]) -> None:
    data = conversation()
    edges = [0, *sorted(cuts), len(data)]
    pieces = [data[a:b] for a, b in pairwise(edges)]
    assert served(*pieces) == served(data)


@given(value=json_values)
def test_items_answers_and_failures_come_back_as_they_were_sent(value: Any) -> None:
    client, server = ClientConnection(), ServerConnection()
    call_id, _ = client.send_call("m", {})
    replies: list[ControlItem | ControlFailure | ControlAnswer] = [
        ControlItem(call_id, value),
        ControlFailure(0, "c", "m", "h"),
        ControlAnswer(call_id, value),
    ]
    data = server.send_welcome(Welcome("1", 7)) + b"".join(server.send(reply) for reply in replies)
    assert list(client.receive_data(data)) == [Welcome("1", 7), *replies]


def test_what_follows_the_hello_of_another_role_is_handed_over_whole() -> None:
    hello = ClientConnection().send_hello(Hello(role="mcp", version="1"))
    server = ServerConnection()
    messages = list(server.receive_data(hello + b'{"jsonrpc":"2.0"}\n{"half'))
    assert [type(message) for message in messages] == [Hello]
    assert server.pop_rest() == b'{"jsonrpc":"2.0"}\n{"half'


@pytest.mark.parametrize("extra", [-1, 0])
def test_a_line_up_to_the_cap_is_read(extra: int) -> None:
    line = encode_line({"a": "x" * (1000 + extra)})
    lines = ControlLines(cap=len(encode_line({"a": "x" * 1000})) - 1)
    assert [len(value["a"]) for value in lines.feed(line)] == [1000 + extra]


@pytest.mark.parametrize("extra", [1, 2])
@pytest.mark.parametrize("ended", [b"\n", b""])
def test_a_line_past_the_cap_is_refused_whole_or_not(extra: int, ended: bytes) -> None:
    line = encode_line({"a": "x" * (1000 + extra)})[:-1] + ended
    lines = ControlLines(cap=len(encode_line({"a": "x" * 1000})) - 1)
    with pytest.raises(RemoteProtocolError, match="more than") as caught:
        list(lines.feed(line))
    assert caught.value.code == "line_too_long"
    assert not lines.unfinished


def test_an_endless_line_costs_no_more_than_the_cap() -> None:
    server = ServerConnection()
    tracemalloc.start()
    with pytest.raises(RemoteProtocolError):
        _feed(server, b"x" * 65536, times=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * LINE_CAP


def _feed(server: ServerConnection, piece: bytes, *, times: int) -> None:
    for _ in range(times):
        list(server.receive_data(piece))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\xff\xfe\n", "not_json"),
        (b"{\n", "not_json"),
        (b"[" * 100_000 + b"\n", "not_json"),
        (b"[1]\n", "not_an_object"),
        (b"{}\n", "not_dragoman"),
        (b'{"dragoman":2,"role":"control","version":"1"}\n', "not_dragoman"),
        (b'{"dragoman":1,"role":5,"version":"1"}\n', "bad_field"),
        (b'{"dragoman":1,"role":"control","version":"1","about":[]}\n', "bad_field"),
    ],
)
def test_a_first_line_that_is_not_a_hello_is_refused_with_its_code(line: bytes, code: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        served(line)
    assert caught.value.code == code


@pytest.mark.parametrize("line", [b'{"id":"1","method":"m"}\n', b'{"id":true,"method":"m"}\n', b'{"id":1}\n'])
def test_a_call_without_its_fields_is_refused(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        served(ClientConnection().send_hello(HELLO), line)
    assert caught.value.code == "bad_field"


def test_half_a_line_and_then_the_end_is_the_peers_fault() -> None:
    server = ServerConnection()
    list(server.receive_data(b'{"dragoman"'))
    with pytest.raises(RemoteProtocolError) as caught:
        server.receive_eof()
    assert caught.value.code == "cut_short"


def test_a_reply_to_a_call_that_is_not_open_is_refused() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        list(ClientConnection().receive_data(b'{"id":9,"result":1}\n'))
    assert caught.value.code == "unknown_id"


def test_a_call_without_a_method_is_our_own_mistake() -> None:
    with pytest.raises(LocalProtocolError):
        ClientConnection().send_call("", {})


STATE = DaemonState(
    pid=1, process_started=2.5, version="1", bind="127.0.0.1", port=3, wanted_port=4, socket="/s", workspace="/w",
    started_at_ns=5,
)  # fmt: skip


def test_a_state_file_comes_back_as_it_was_written() -> None:
    assert DaemonState.decode(STATE.encode()) == STATE


def test_a_state_file_of_an_ipv6_address_has_a_callable_address() -> None:
    assert DaemonState.from_json({**asdict(STATE), "bind": "::1"}).address == "http://[::1]:3"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        json.dumps({**asdict(STATE), "pid": "x"}).encode(),
        STATE.encode().replace(b": 3,", b": 1e999,"),
    ],
)
def test_a_damaged_state_file_is_reported_as_such(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        DaemonState.decode(data)
    assert caught.value.code == "bad_state_file"


def test_it_imports_the_standard_library_alone() -> None:
    code = "import dragoman.protocols.control, sys; print(*{n.split('.')[0] for n in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"msgspec", "anyio", "pydantic", "asyncio"} & set(loaded)
