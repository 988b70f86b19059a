"""Messages as JSON: the form of the vectors, both dialects, and clear refusals."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.omnish import BASE_REVISION, OmnishFrame, Schema, encode_message, schema_named
from dragoman.protocols.omnish.bincode import f32_from_bits
from dragoman.protocols.omnish.json_form import (
    decimal_of_f32,
    frame_from_json,
    frame_to_json,
    message_from_json,
    message_to_json,
)
from dragoman.protocols.omnish.messages import Ack, CompletionResponse, CompletionSuggestion, IoData, IoDirection
from dragoman.protocols.omnish.messages_v25 import ConfigQuery
from tests.protocols.omnish.vectors import SCHEMAS, messages_of

V25 = schema_named("v25")
NAN = CompletionResponse(1, [CompletionSuggestion("x", f32_from_bits(0x7FC00001))])


@pytest.mark.parametrize("schema", SCHEMAS, ids=repr)
@given(data=st.data())
def test_json_text_and_back_gives_the_same_bytes(schema: Schema, data: st.DataObject) -> None:
    message = data.draw(messages_of(schema))
    text = json.dumps(message_to_json(message, schema), allow_nan=False)
    assert encode_message(message_from_json(json.loads(text), schema), schema) == encode_message(message, schema)


def test_bytes_and_floats_are_exact_in_one_dialect_and_plain_in_the_other() -> None:
    data = IoData("s", IoDirection.INPUT, 1, b"\x00\xff")
    half = CompletionResponse(1, [CompletionSuggestion("x", 0.5)])
    for schema, shown_bytes, shown_float in (
        (BASE_REVISION, {"hex": "00ff"}, {"approx": "0.5", "f32_bits_hex": "3f000000"}),
        (V25, [0, 255], 0.5),
    ):
        assert message_to_json(data, schema) == {
            "IoData": {"session_id": "s", "direction": "Input", "timestamp_ms": 1, "data": shown_bytes}
        }
        assert message_to_json(half, schema) == {
            "CompletionResponse": {"sequence_id": 1, "suggestions": [{"text": "x", "confidence": shown_float}]}
        }


@pytest.mark.parametrize("schema", SCHEMAS, ids=repr)
def test_a_float_that_json_lacks_is_shown_by_its_bits(schema: Schema) -> None:
    shown = message_to_json(NAN, schema)
    assert "7fc00001" in json.dumps(shown, allow_nan=False)
    assert encode_message(message_from_json(shown, schema), schema) == encode_message(NAN, schema)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0x3F733333, "0.95"),
        (0x00000000, "0"),
        (0x80000000, "-0"),
        (0x3F800000, "1"),
        (0xBF000000, "-0.5"),
        (0x42C80000, "100"),
        (0x7F7FFFFF, "340282350000000000000000000000000000000"),
        (0x00000001, "0." + "0" * 44 + "1"),
        (0x7F800000, "inf"),
        (0xFF800000, "-inf"),
        (0x7FC00000, "NaN"),
    ],
)
def test_a_float_is_named_by_its_fewest_digits(bits: int, text: str) -> None:
    assert decimal_of_f32(f32_from_bits(bits)) == text


def test_a_frame_shows_its_id_in_digits_and_takes_a_number_too() -> None:
    frame = OmnishFrame(2**64 - 1, Ack())
    assert frame_to_json(frame, BASE_REVISION) == {"request_id": "18446744073709551615", "message": "Ack"}
    assert frame_from_json({"request_id": 7, "message": "Ack"}, BASE_REVISION) == OmnishFrame(7, Ack())


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"message": "Ack"},
        {"request_id": "-1", "message": "Ack"},
        {"request_id": "x", "message": "Ack"},
        {"request_id": str(2**64), "message": "Ack"},
        {"request_id": "9" * 5_000, "message": "Ack"},
        {"request_id": "1", "message": "Ack", "more": 1},
    ],
)
def test_an_invalid_frame_is_refused(value: object) -> None:
    with pytest.raises(LocalProtocolError):
        frame_from_json(value, BASE_REVISION)


def io_data(**changes: object) -> object:
    return {"IoData": {"session_id": "s", "direction": "Input", "timestamp_ms": 1, "data": {"hex": ""}, **changes}}


def suggestion(confidence: object) -> object:
    return {"CompletionResponse": {"sequence_id": 1, "suggestions": [{"text": "", "confidence": confidence}]}}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ("Nonsense", "message"),
        (7, "message"),
        ({"Ack": {}}, "message"),
        ("IoData", "message"),
        ({"IoData": []}, "message.IoData"),
        ({"IoData": {}, "Ack": {}}, "message"),
        ({"IoData": {"session_id": "s"}}, "message.IoData"),
        (io_data(extra=1), "message.IoData"),
        (io_data(session_id=1), "message.IoData.session_id"),
        (io_data(direction="Sideways"), "message.IoData.direction"),
        (io_data(timestamp_ms=-1), "message.IoData.timestamp_ms"),
        (io_data(timestamp_ms=True), "message.IoData.timestamp_ms"),
        (io_data(timestamp_ms=1.0), "message.IoData.timestamp_ms"),
        (io_data(data="00"), "message.IoData.data"),
        (io_data(data={"hex": "0"}), "message.IoData.data"),
        (io_data(data=[256]), "message.IoData.data"),
        ({"SessionStart": {"session_id": "", "parent_session_id": None, "timestamp_ms": 1, "attrs": []}}, "attrs"),
        ({"CompletionResponse": {"sequence_id": 1, "suggestions": {}}}, "suggestions"),
        (suggestion("1"), "suggestions[0].confidence"),
        (suggestion(True), "suggestions[0].confidence"),
        (suggestion(1e39), "suggestions[0].confidence"),
        (suggestion({"f32_bits_hex": "3f00000000"}), "suggestions[0].confidence"),
        (suggestion({"approx": "0.5"}), "suggestions[0].confidence"),
        ({"Response": {"request_id": "", "content": "", "is_streaming": 0, "is_final": True}}, "is_streaming"),
    ],
)
def test_json_that_is_not_a_message_is_refused_with_the_place(value: object, where: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        message_from_json(value, BASE_REVISION)
    assert caught.value.code == "bad_json"
    assert where in str(caught.value)


def test_a_pair_is_a_list_of_two() -> None:
    fields = dict.fromkeys(V25.variants[12].fields) | {"request_id": "r", "thread_id": "t", "earlier_count": 0}
    with pytest.raises(LocalProtocolError, match="a list of two"):
        message_from_json({"ChatReady": fields | {"last_exchange": ["q"]}}, V25)


def test_a_message_of_another_revision_is_not_shown() -> None:
    with pytest.raises(LocalProtocolError, match="no message of seed"):
        message_to_json(ConfigQuery(), BASE_REVISION)
