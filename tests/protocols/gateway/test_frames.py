"""Frames: every recorded line in and out again, the forms of errors, and the limits of reading."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.gateway import (
    MAX_DEPTH,
    MAX_HANDSHAKE_BYTES,
    MAX_PAYLOAD_BYTES,
    Challenge,
    ConnectParams,
    EventFrame,
    GatewayError,
    GatewayProtocolError,
    HelloOk,
    RequestFrame,
    ResponseFrame,
    StateVersion,
    decode_frame,
    decode_payload,
    encode_frame,
)
from dragoman.protocols.gateway.framing import raw
from tests.protocols.gateway.transcripts import NAMES, handshakes, sockets

EVENT = b'{"type":"event","event":"x","payload":%s}'


@pytest.fixture
def traced_memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def refusal_of(data: bytes, **limits: int) -> GatewayProtocolError:
    with pytest.raises(GatewayProtocolError) as caught:
        decode_frame(data, **limits)
    return caught.value


@pytest.mark.requirement(
    "gateway:frame:json-text",
    "gateway:request:type",
    "gateway:request:id",
    "gateway:request:method",
    "gateway:request:params",
    "gateway:response:type",
    "gateway:response:id",
    "gateway:response:ok",
    "gateway:response:payload",
    "gateway:response:error",
    "gateway:event:type",
    "gateway:event:event",
    "gateway:event:payload",
    "gateway:event:seq",
)
@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_frame_is_the_same_json_after_reading_and_writing(name: str) -> None:
    recorded = [line for socket in sockets(name) for line in socket.lines if line.direction != "close"]
    assert recorded
    for line in recorded:
        assert json.loads(encode_frame(decode_frame(line.data))) == line.frame


def test_the_recorded_traffic_has_all_kinds_of_frames() -> None:
    lines = [line for name in NAMES for socket in sockets(name) for line in socket.lines]
    frames = [decode_frame(line.data) for line in lines if line.direction != "close"]
    kinds = {
        kind: sum(isinstance(frame, kind) for frame in frames) for kind in (RequestFrame, ResponseFrame, EventFrame)
    }
    assert kinds == {RequestFrame: 161, ResponseFrame: 165, EventFrame: 457}


@pytest.mark.requirement(
    "gateway:connect:client-version", "gateway:connect:client-platform", "gateway:connect:permissions"
)
def test_every_recorded_connect_survives_its_type_except_where_the_gateway_refused_its_form() -> None:
    decoder = msgspec.json.Decoder(ConnectParams)
    refused = 0
    for _, socket in handshakes():
        connect = next(line.frame for line in socket.of("out"))
        if connect["method"] != "connect":
            continue
        try:
            known = decoder.decode(json.dumps(connect["params"]))
        except msgspec.ValidationError:
            refused += 1
            answer = socket.answer_to(connect)
            assert answer is not None
            assert answer["error"]["message"].startswith("invalid connect params")
        else:
            assert json.loads(msgspec.json.encode(known)) == connect["params"]
    assert refused == 4


@pytest.mark.requirement("gateway:hello:type", "gateway:hello:protocol")
def test_the_hello_of_the_specification_and_those_of_both_real_protocols_are_read() -> None:
    decoder = msgspec.json.Decoder(HelloOk)
    least = decoder.decode(b'{"type":"hello-ok","protocol":3}')
    assert (least.protocol, least.auth, least.policy.tick_interval_ms) == (3, UNSET, 30_000)
    recorded = [
        line.frame for _, socket in handshakes() for line in socket.of("in") if line.frame.get("id") == "connect"
    ]
    hellos = [decoder.decode(json.dumps(frame["payload"])) for frame in recorded if frame["ok"]]
    assert {hello.protocol for hello in hellos} == {3, 4}
    assert {hello.policy.max_payload for hello in hellos} == {26_214_400}
    assert {hello.snapshot.session_defaults.main_session_key for hello in hellos} == {"agent:main:main"}


def test_a_hello_of_ours_leaves_out_nothing_that_a_validating_client_needs() -> None:
    hello = json.loads(msgspec.json.encode(HelloOk(3)))
    assert list(hello) == ["type", "protocol", "server", "features", "snapshot", "policy"]
    assert hello["snapshot"]["sessionDefaults"]["mainSessionKey"] == "agent:main:main"


def test_the_additions_of_protocol_4_are_kept() -> None:
    request = RequestFrame("1", "m", Raw(b"{}"), traceparent="00-a-b-01", expected_profile_id="p")
    event = EventFrame("x", Raw(b"1"), 7, StateVersion(1, 2), recipient_profile_id="q")
    assert json.loads(encode_frame(request))["expectedProfileId"] == "p"
    assert json.loads(encode_frame(event))["recipientProfileId"] == "q"
    assert decode_frame(encode_frame(request)) == request
    assert decode_frame(encode_frame(event)) == event


def test_fields_that_nobody_knows_yet_do_no_harm() -> None:
    frame = decode_frame(b'{"type":"event","event":"x","later":{"a":[1]},"seq":3}')
    assert frame == EventFrame("x", seq=3)


@pytest.mark.requirement("gateway:response:error")
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ('"no such session"', GatewayError(message="no such session")),
        ('{"code":"NOT_PAIRED","message":"m"}', GatewayError(code="NOT_PAIRED", message="m")),
        ("null", GatewayError(message="the gateway gave no reason")),
        ("{}", GatewayError()),
    ],
)
def test_an_error_is_one_type_whether_it_came_as_text_or_as_an_object(error: str, expected: GatewayError) -> None:
    frame = decode_frame(f'{{"type":"res","id":"1","ok":false,"error":{error}}}'.encode())
    assert isinstance(frame, ResponseFrame)
    assert frame.failure == expected
    assert expected.code == "UNSPECIFIED" or expected.code == "NOT_PAIRED"


def test_an_error_has_its_details_and_when_to_retry() -> None:
    text = '{"code":"UNAVAILABLE","details":{"reason":"startup-sidecars"},"retryable":true,"retryAfterMs":500}'
    frame = decode_frame(f'{{"type":"res","id":"1","ok":false,"error":{text}}}'.encode())
    assert isinstance(frame, ResponseFrame)
    assert (frame.failure.retryable, frame.failure.retry_after_ms) == (True, 500)
    assert frame.failure.detail.reason == "startup-sidecars"


@pytest.mark.parametrize("details", [b'"text"', b"[1]", b'{"code":5}', b"null"])
def test_details_of_another_shape_are_not_details(details: bytes) -> None:
    assert GatewayError(details=Raw(details)).detail.code == ""


def test_an_id_may_be_a_number_of_any_size_but_only_in_an_answer() -> None:
    """Real gateways echo the id of a malformed request, even when it is a number."""
    assert decode_frame(b'{"type":"res","id":9223372036854775808,"ok":true}') == ResponseFrame(2**63, ok=True)
    assert refusal_of(b'{"type":"req","id":5,"method":"m"}').code == "invalid_frame"
    assert refusal_of(b'{"type":"res","id":%s,"ok":true}' % (b"9" * 5000)).code == "invalid_frame"


@pytest.mark.parametrize("seq", [b"9007199254740992", b"9223372036854775808", b"-1", b"1.5", b'"1"'])
def test_a_number_that_no_peer_can_count_to_is_not_a_sequence_number(seq: bytes) -> None:
    error = refusal_of(b'{"type":"event","event":"x","seq":%s}' % seq)
    assert (error.code, error.close_code) == ("invalid_frame", 1002)


@pytest.mark.parametrize("data", [b"[]", b"5", b"null", b'"x"', b"{}", b'{"type":"other"}', b'{"type":7}'])
def test_json_that_is_not_a_frame_is_named_so(data: bytes) -> None:
    assert refusal_of(data).code == "invalid_frame"


@pytest.mark.parametrize("data", [b"", b"{", b"nope", EVENT % b"{} x", EVENT % b"{'a':1}", EVENT % b'"a\nb"'])
def test_text_that_is_not_json_closes_with_1007(data: bytes) -> None:
    error = refusal_of(data)
    assert (error.code, error.close_code) == ("invalid_json", 1007)


def test_of_duplicate_keys_the_last_counts_and_two_types_are_refused() -> None:
    """A frame must not be a request to one reader and an event to the next."""
    assert decode_frame(b'{"type":"req","id":"a","id":"b","method":"m"}') == RequestFrame("b", "m")
    assert refusal_of(b'{"type":"req","type":"event","id":"a","method":"m","event":"x"}').code == "invalid_frame"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (rb"cut \ud83d", "cut \ufffd"),
        (rb"\udfff", "\ufffd"),
        (rb"\ud800\ud800", "\ufffd\ufffd"),
        (rb"\\ud800 \ud83d\udc3c", "\\ud800 \N{PANDA FACE}"),
        (rb"\ud83d\udc3c \ud83d", "\N{PANDA FACE} \ufffd"),
    ],
)
def test_a_lone_surrogate_is_repaired_and_the_rest_kept(text: bytes, read: str) -> None:
    frame = decode_frame(EVENT % b'"%s"' % text)
    assert isinstance(frame, EventFrame)
    assert decode_payload(frame.payload, msgspec.json.Decoder(str)) == read


@pytest.mark.parametrize("data", [EVENT % b'"\xff"', EVENT % b'"\xed\xa0\x80"', EVENT % b'"\xc0\x80"'])
def test_bytes_that_are_not_utf8_are_refused_though_nobody_looks_into_the_payload(data: bytes) -> None:
    error = refusal_of(data)
    assert (error.code, error.close_code) == ("invalid_utf8", 1007)


@pytest.mark.parametrize("cap", [MAX_HANDSHAKE_BYTES, MAX_PAYLOAD_BYTES])
@pytest.mark.parametrize("over", [-1, 0, 1, 2])
def test_a_frame_is_read_up_to_the_cap_and_not_a_byte_further(cap: int, over: int) -> None:
    data = EVENT % (b'"%s"' % (b"a" * (cap + over - len(EVENT) + 2 - 2)))
    assert len(data) == cap + over
    if over <= 0:
        assert isinstance(decode_frame(data, max_bytes=cap), EventFrame)
    else:
        error = refusal_of(data, max_bytes=cap)
        assert (error.code, error.close_code) == ("frame_too_large", 1009)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize("depth", [MAX_DEPTH - 2, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 990, 100_000])
def test_nesting_is_counted_and_never_recursed_into(opening: bytes, closing: bytes, depth: int) -> None:
    data = EVENT % (opening * depth + b"1" + closing * depth)
    if depth < MAX_DEPTH:
        assert isinstance(decode_frame(data), EventFrame)
    else:
        error = refusal_of(data)
        assert (error.code, error.close_code) == ("frame_too_deep", 1008)


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b'"[' * 100_000, b'[\\"' * 100_000])
def test_deep_text_that_is_not_even_json_gives_no_recursion_error(data: bytes) -> None:
    assert refusal_of(data).code in {"frame_too_deep", "invalid_json", "invalid_frame"}


@given(
    st.recursive(
        st.none() | st.integers(0, 9) | st.text(alphabet='[]{}"\\a中', max_size=12),
        lambda inner: (
            st.lists(inner, max_size=40) | st.dictionaries(st.text(alphabet='[{"\\', max_size=3), inner, max_size=8)
        ),
        max_leaves=120,
    ),
    st.integers(0, 70_000),
)
def test_brackets_in_strings_are_not_nesting(value: Any, padding: int) -> None:
    """With padding, so that strings and escapes lie across the blocks in which brackets are counted."""
    text = json.dumps({"type": "event", "event": "\\" * padding, "payload": [value, "[" * 200]}, ensure_ascii=False)
    frame = decode_frame(text.encode())
    assert isinstance(frame, EventFrame)
    assert decode_payload(frame.payload, msgspec.json.Decoder()) == [value, "[" * 200]


@pytest.mark.usefixtures("traced_memory")
@pytest.mark.parametrize("part", [b"1", b"{}", b'""', b'{"a":1}'])
def test_a_million_parts_are_refused_before_they_are_parsed_and_cost_no_more_than_their_bytes(part: bytes) -> None:
    data = EVENT % (b"[%s]" % b",".join([part] * 1_000_000))
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    error = refusal_of(data)
    _, peak = tracemalloc.get_traced_memory()
    assert (error.code, error.close_code) == ("too_many_parts", 1008)
    assert peak - before < 2 * len(data) + 100_000


def test_a_long_text_is_one_part_whatever_is_in_it() -> None:
    assert isinstance(decode_frame(EVENT % msgspec.json.encode('a, "b", [c], {d}\n' * 1_000_000)), EventFrame)


@pytest.mark.usefixtures("traced_memory")
@pytest.mark.parametrize("text", [b'"",', b"[],", b'"\\"",', b"[[]],"])
def test_counting_brackets_takes_little_memory_whatever_is_counted(text: bytes) -> None:
    data = EVENT % (b"[" + text * 120_000 + b"1]")
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    decode_frame(data)
    _, peak = tracemalloc.get_traced_memory()
    assert peak - before < 2 * len(data) + 100_000


def test_what_cannot_be_written_is_our_own_fault() -> None:
    for value in (object(), "\ud800", {1j: 1}):
        with pytest.raises(LocalProtocolError) as caught:
            raw(value)
        assert caught.value.code == "unencodable"
    with pytest.raises(LocalProtocolError) as caught:
        encode_frame(EventFrame("x", Raw(b'"aaaa"')), max_bytes=20)
    assert caught.value.code == "frame_too_large"


def test_a_payload_of_the_wrong_shape_is_the_peers_fault() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode_payload(Raw(b'{"nonce":1}'), msgspec.json.Decoder(Challenge))
    assert caught.value.code == "invalid_payload"


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=4),
    st.integers(0, 2**53 - 1),
)
def test_what_is_written_reads_the_same(payload: dict[str, Any], seq: int) -> None:
    frame = decode_frame(encode_frame(EventFrame("agent", raw(payload), seq)))
    assert isinstance(frame, EventFrame)
    assert (json.loads(bytes(frame.payload)), frame.seq) == (payload, seq)  # type: ignore[arg-type]
