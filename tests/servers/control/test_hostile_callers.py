"""Hostile callers at the daemon's own socket: stable codes, bounded memory, and the next caller is served."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.io.drivers.control_client import ControlClient
from dragoman.protocols.control import LINE_CAP, ControlItem
from dragoman.servers.control.server import MAX_QUEUED_CALLS
from tests.daemons import PATIENCE, call
from tests.servers.target_daemon import MB, TargetDaemon, settled

HELLO: dict[str, Any] = {"dragoman": 1, "role": "control", "version": "0"}
ROOM = 2 * LINE_CAP + 24 * MB  # the keys of the longest line, which the allocator keeps for the next


@pytest.fixture(autouse=True)
def _unharmed(victim: TargetDaemon) -> Iterator[None]:
    victim.assert_serves()
    before = victim.resident()
    yield
    victim.assert_serves()
    assert victim.resident() - before < ROOM
    victim.assert_punctual()


class Caller:
    """Says any bytes, and reads the lines that come back."""

    def __init__(self, victim: TargetDaemon) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10 * PATIENCE)
        self.socket.connect(str(victim.paths.socket))
        self._lines = self.socket.makefile("rb")

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self.socket.close()

    def say(self, *lines: object) -> None:
        self.say_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    def say_bytes(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    def receive(self) -> Any:
        """A line, or None at the end."""
        try:
            line = self._lines.readline()
        except ConnectionError:
            return None
        return json.loads(line) if line else None

    def failure(self) -> str:
        """The code of the failure that ends the connection."""
        code = str(self.receive()["error"]["code"])
        assert self.receive() is None
        return code


@pytest.fixture
def caller(victim: TargetDaemon) -> Iterator[Caller]:
    with Caller(victim) as caller:
        yield caller


@pytest.fixture
def greeted(caller: Caller) -> Caller:
    caller.say(HELLO)
    assert caller.receive()["dragoman"] == 1
    return caller


FIRST_LINES = {
    "nested": (b"[" * 100_000 + b"\n", "not_json"),
    "nested objects": (b'{"a":' * 100_000 + b"\n", "not_json"),
    "binary": (b"\x00\xff\xfe" * 1000 + b"\n", "not_json"),
    "invalid UTF-8": (b'{"dragoman":1,"role":"\xff"}\n', "not_json"),
    "a list": (b"[1]\n", "not_an_object"),
    "huge number": (b'{"dragoman":' + b"9" * 100_000 + b"}\n", "not_json"),
    "another protocol": (b'{"dragoman":2,"role":"control","version":"0"}\n', "not_dragoman"),
    "HTTP": (b"GET / HTTP/1.1\r\n\r\n", "not_json"),
    "role of another type": (b'{"dragoman":1,"role":["control"],"version":"0"}\n', "bad_field"),
    "unknown role": (b'{"dragoman":1,"role":"admin","version":"0"}\n', "unknown_role"),
    "lone surrogate as role": (b'{"dragoman":1,"role":"\\ud800","version":"0"}\n', "unknown_role"),
    "about is no object": (b'{"dragoman":1,"role":"control","version":"0","about":[]}\n', "bad_field"),
}


@pytest.mark.parametrize(("data", "code"), FIRST_LINES.values(), ids=FIRST_LINES)
def test_a_wrong_first_line_is_refused_before_any_welcome(caller: Caller, data: bytes, code: str) -> None:
    caller.say_bytes(data)
    assert caller.failure() == code


def test_a_line_without_end_is_refused_at_its_cap(victim: TargetDaemon, caller: Caller) -> None:
    """Of the four gigabytes that it would send, the caller gets rid of a few megabytes at most."""
    sent = 0
    with contextlib.suppress(OSError):
        while sent < 4 << 30:
            sent += caller.socket.send(b"x" * 65536)
    assert sent < LINE_CAP + 2 * MB
    assert caller.failure() == "line_too_long"


@pytest.mark.parametrize(("beyond", "expected"), [(-1, "unknown_method"), (0, "unknown_method"), (1, "line_too_long")])
def test_a_line_is_taken_up_to_its_cap_and_not_a_byte_further(greeted: Caller, beyond: int, expected: str) -> None:
    start, end = b'{"id":1,"method":"x","params":{"x":"', b'"}}'
    greeted.say_bytes(start + b"x" * (LINE_CAP + beyond - len(start + end)) + end + b"\n")
    assert greeted.receive()["error"]["code"] == expected


def test_as_many_keys_as_fit_are_read_and_forgotten(victim: TargetDaemon, greeted: Caller) -> None:
    greeted.say({"id": 1, "method": "status", "params": {f"{number:x}": 1 for number in range(90_000)}})
    assert greeted.receive()["result"]["state"] == "running"


CALLS = {
    "id is text": ({"id": "1", "method": "status"}, "bad_field"),
    "id is true": ({"id": True, "method": "status"}, "bad_field"),
    "no method": ({"id": 1}, "bad_field"),
    "params are a list": ({"id": 1, "method": "status", "params": []}, "bad_field"),
}


@pytest.mark.parametrize(("line", "code"), CALLS.values(), ids=CALLS)
def test_a_broken_call_ends_the_connection_behind_the_answers_before_it(greeted: Caller, line: Any, code: str) -> None:
    greeted.say({"id": 7, "method": "status"}, line)
    assert greeted.receive()["id"] == 7
    assert greeted.failure() == code


HOSTILE_PARAMS: list[tuple[str, dict[str, Any]]] = [
    ("no_such_method", {}),
    ("__class__", {}),
    ("_token_show", {"purpose": "page"}),
    ("token_show", {"purpose": ["page"]}),
    ("token_show", {"purpose": {"a": 1}}),
    ("token_rotate", {"purpose": "admin"}),
    ("token_rotate", {"purpose": None}),
    ("journal_tail", {"lines": -1}),
    ("journal_tail", {"lines": "1"}),
    ("journal_search", {"words": "\udc80", "limit": 2**70}),
    ("journal_search", {"words": '" OR 1=1 --', "limit": 0}),
    ("journal_search", {"words": "NEAR(" * 1000, "limit": 5}),
    ("journal_search", {"words": "x" * 100_000, "limit": 5}),
    ("journal_forget", {"before_ns": 2**70}),
    ("journal_forget", {"before_ns": -(2**70)}),
    ("journal_forget", {"session": "\x00\udc80"}),
    ("journal_forget", {"all": True, "session": "x"}),
    ("journal_forget", {}),
]


@pytest.mark.parametrize(("method", "params"), HOSTILE_PARAMS)
def test_hostile_parameters_are_answered_and_the_connection_stays_open(
    victim: TargetDaemon, greeted: Caller, method: str, params: dict[str, Any]
) -> None:
    greeted.say({"id": 2**63, "method": method, "params": params}, {"id": -1, "method": "status"})
    replies = []
    while (reply := greeted.receive())["id"] != -1:
        replies.append(reply)
    assert replies[-1]["id"] == 2**63
    assert "error" not in replies[-1] or replies[-1]["error"]["code"] != "internal_error"
    assert reply["result"]["state"] == "running"


def test_what_a_caller_declares_about_itself_counts_for_nothing(caller: Caller) -> None:
    everything = {"is_admin": True, "scopes": ["*"], "uid": 0, "purpose": "page", "token": "x"}
    caller.say({**HELLO, "about": everything, **everything}, {"id": 1, "method": "grant", "params": everything})
    assert caller.receive()["dragoman"] == 1
    assert caller.receive()["error"]["code"] == "unknown_method"


def test_a_caller_ahead_of_itself_is_cut_off_also_behind_an_endless_answer(greeted: Caller) -> None:
    following = {"id": 1, "method": "journal_tail", "params": {"lines": 0, "follow": True}}
    greeted.say(following, *({"id": number, "method": "status"} for number in range(2, MAX_QUEUED_CALLS + 100)))
    assert greeted.failure() == "too_many_calls"


TOOL_CALL = {"id": 1, "method": "call", "params": {"name": "list_breakpoints", "arguments": {}}}
TOOL_FLOODS = {
    "calls of one id": ([TOOL_CALL] * 2_000, "repeated_id"),
    "calls of other ids": ([{**TOOL_CALL, "id": number} for number in range(2_000)], "too_many_calls"),
    "calls that are none": ([{"id": 1}] * 2_000, "bad_field"),
}


@pytest.mark.parametrize(("lines", "code"), TOOL_FLOODS.values(), ids=TOOL_FLOODS)
def test_a_flood_of_tool_calls_is_cut_off(caller: Caller, lines: list[object], code: str) -> None:
    caller.say({**HELLO, "role": "tools"}, *lines)
    codes = []
    while (result := caller.receive()) is not None:
        codes += [result["error"]["code"]] if "error" in result else []
    assert codes[-1:] == [code]


@pytest.mark.parametrize("role", ["control", "tools"])
def test_empty_lines_without_end_are_cut_off(caller: Caller, role: str) -> None:
    caller.say({**HELLO, "role": role})
    assert caller.receive()["dragoman"] == 1
    caller.say_bytes(b"\n \n\r\n" * 200_000)
    assert caller.failure() == "empty_lines"


def test_a_few_empty_lines_are_passed_over(greeted: Caller) -> None:
    greeted.say_bytes(b"\n\n\r\n")
    greeted.say({"id": 1, "method": "status"})
    assert greeted.receive()["result"]["state"] == "running"


def test_a_follower_that_disconnects_is_noticed_without_an_event(victim: TargetDaemon) -> None:
    victim.append(1)
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            link = stack.enter_context(ControlClient.open(victim.paths))
            next(link.stream("journal_tail", {"lines": 1, "follow": True}))
        assert victim.callers() == 20
    assert settled(victim.callers, 0) == 0


def test_an_event_is_delivered_when_it_happens_and_not_with_the_next_one(victim: TargetDaemon) -> None:
    victim.append(1)
    with ControlClient.open(victim.paths) as link:
        followed = link.stream("journal_tail", {"lines": 1, "follow": True})
        next(followed)
        last = victim.append(1)
        result = next(followed)
    assert isinstance(result, ControlItem)
    assert result.value["sequence"] == last


@pytest.fixture
def impatient(victim: TargetDaemon) -> Iterator[TargetDaemon]:
    with (
        victim.patched("dragoman.servers.control.server:HELLO_WITHIN_S", 0.3),
        victim.patched("dragoman.servers.control.server:SENT_WITHIN_S", 0.3),
    ):
        yield victim


def test_a_caller_that_reads_nothing_costs_little_and_is_disconnected(impatient: TargetDaemon) -> None:
    impatient.append(20_000, size=1000)
    before = impatient.resident()
    with Caller(impatient) as caller:
        caller.say(HELLO, {"id": 1, "method": "journal_export"})
        assert caller.receive()["dragoman"] == 1
        assert "item" in caller.receive()
        assert call(impatient.paths, "status")["state"] == "running"
        assert settled(impatient.callers, 0) == 0
    assert impatient.resident() - before < 20 * MB


def test_a_connection_without_a_hello_is_closed(impatient: TargetDaemon) -> None:
    for result in (b"", b'{"dragoman":1,'):
        with Caller(impatient) as caller:
            caller.say_bytes(result)
            assert caller.receive() is None
