"""Messages: typed where they route, untouched where they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.dap import Event, Request, Response, Unknown, decode_message, read_body, renumbered

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def code_of(body: bytes) -> str:
    with pytest.raises(RemoteProtocolError) as caught:
        decode_message(body)
    return caught.value.code


def test_a_request_keeps_its_arguments_as_they_were_written() -> None:
    request = decode_message(b'{"type":"request","seq":3,"command":"next","arguments":{ "threadId" : 1.0e0 }}')
    assert isinstance(request, Request)
    assert (request.seq, request.command, bytes(request.arguments or b"")) == (3, "next", b'{ "threadId" : 1.0e0 }')


def test_a_response_without_seq_message_and_body_is_a_response() -> None:
    response = decode_message(b'{"type":"response","request_seq":3,"success":false,"command":"next","message":null}')
    assert response == Response(request_seq=3, success=False, command="next")
    assert isinstance(response, Response)
    assert response.body is UNSET


def test_members_that_nobody_knows_are_allowed_everywhere() -> None:
    event = decode_message(b'{"vendor":{"x":1},"type":"event","event":"vendor/thing","seq":9,"body":[1],"more":null}')
    assert isinstance(event, Event)
    assert event.event == "vendor/thing"


def test_a_type_that_nobody_knows_is_a_message_of_its_own() -> None:
    assert decode_message(b'{"seq":4,"type":"telemetry","x":[1]}') == Unknown(type="telemetry", seq=4)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "bad_json"),
        (b"{", "bad_json"),
        (b"not json", "bad_json"),
        (b'{"type":"event","event":"x"} tail', "bad_json"),
        (b'{"type":"event","event":"x","body":{"a":tru}}', "bad_json"),
        (b'{"type":"telemetry","body":{"a":tru}}', "bad_json"),
        (b"[]", "bad_message"),
        (b"null", "bad_message"),
        (b"{}", "bad_message"),
        (b'{"type":7}', "bad_message"),
        (b'{"type":"event"}', "bad_message"),
        (b'{"type":"request","seq":1}', "bad_message"),
        (b'{"type":"request","seq":"1","command":"next"}', "bad_message"),
        (b'{"type":"response","request_seq":1}', "bad_message"),
        (b'{"type":"response","request_seq":1,"success":"yes"}', "bad_message"),
        (b'{"type":"event","event":"x","body":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested_too_deeply"),
        (b'{"type":"event","event":"x","vendor":' + b'{"a":' * 100_000, "nested_too_deeply"),
        (b'{"type":"telemetry","vendor":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested_too_deeply"),
    ],
)
def test_what_is_not_a_message_is_refused_with_its_code(body: bytes, code: str) -> None:
    assert code_of(body) == code


def test_a_million_members_and_huge_numbers_are_read() -> None:
    members = b",".join(b'"k%d":0' % number for number in range(1_000_000))
    event = decode_message(b'{"type":"event","event":"x","seq":9223372036854775808,"body":{%b}}' % members)
    assert isinstance(event, Event)
    assert event.seq == 2**63
    assert len(read_body(event, dict[str, int])) == 1_000_000


def test_of_duplicate_members_the_last_one_counts() -> None:
    assert decode_message(b'{"type":"event","event":"a","event":"b"}') == Event(event="b")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"\ud83d\udc3c", "\U0001f43c"),
        (rb"\ud83d", "\ufffd"),
        (rb"a\uDC3Cb", "a\ufffdb"),
        (rb"\udc3c\ud83d", "\ufffd\ufffd"),
        (rb"\ud83d\ud83d\udc3c", "\ufffd\U0001f43c"),
        (rb"\ud800\\ud83d\"", '\ufffd\\ud83d"'),
        (b"\xff", "\ufffd"),
    ],
)
def test_halves_of_pairs_and_stray_bytes_in_a_programs_text_are_survived(written: bytes, read: str) -> None:
    event = decode_message(b'{"type":"event","event":"output","body":{"output":"%b"}}' % written)
    assert isinstance(event, Event)
    assert read_body(event, dict[str, str]) == {"output": read}


@given(st.dictionaries(st.text(), JSON, max_size=4), JSON, st.integers(0, 2**70))
def test_a_relayed_message_differs_in_its_numbers_alone(extra: dict[str, Any], body: Any, seq: int) -> None:
    message = extra | {"seq": 1, "type": "response", "request_seq": 2, "success": True, "body": body}
    relayed = json.loads(renumbered(json.dumps(message).encode(), seq=seq, request_seq=5))
    assert relayed == message | {"seq": seq, "request_seq": 5}
    assert list(relayed) == list(message)


def test_a_relay_keeps_the_bytes_of_every_value() -> None:
    body = b'{ "seq":1 , "type":"event", "event":"x", "body":{ "n": 1.50e+01, "seq": 7, "s":"\\u00e9\\/" } }'
    assert renumbered(body, seq=88) == (
        b'{"seq":88,"type":"event","event":"x","body":{ "n": 1.50e+01, "seq": 7, "s":"\\u00e9\\/" }}'
    )


def test_a_relay_keeps_also_what_could_be_read_only_after_mending() -> None:
    body = b'\n{ "seq" : 1 ,"type":"event","event":"x", "e":[ ],"body":{"s":"\\ud83d \xff","n":1e400} \t}'
    assert renumbered(body, seq=88) == (
        b'{"seq":88,"type":"event","event":"x","e":[ ],"body":{"s":"\\ud83d \xff","n":1e400}}'
    )


def test_a_relay_adds_a_number_that_was_missing_and_keeps_strange_names() -> None:
    body = b'{"type":"response","request_seq":2,"success":true,"\\ud83d":"\xff"}'
    assert renumbered(body, seq=8, request_seq=9) == (
        b'{"type":"response","request_seq":9,"success":true,"\\ud83d":"\xff","seq":8}'
    )


@pytest.mark.parametrize("body", [b'{"s":"\\ud83d', b'{"\xff', b'{"a" "\xff"}', b'{"a":"\\ud83d" "b"}'])
def test_only_a_received_message_can_be_renumbered(body: bytes) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        renumbered(body, seq=1)
    assert caught.value.code == "not_a_message"
