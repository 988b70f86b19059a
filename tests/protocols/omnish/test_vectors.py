"""The reference's own bytes, both ways, at both layers; and its verdict on every odd one."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.omnish import (
    BASE_REVISION,
    Schema,
    decode_frame,
    decode_message,
    encode_frame,
    encode_message,
    schema_named,
)
from dragoman.protocols.omnish.json_form import frame_from_json, frame_to_json, message_from_json, message_to_json
from tests.protocols.omnish.vectors import ODD, SEED_FILE, VALID, VALID_IDS

ACCEPTED = [each for each in ODD if each["reference"] == "accept"]
REFUSED = [each for each in ODD if each["reference"] == "error"]
NOT_UTF_8 = "bincode: string is not valid utf8"


def name_of(vector: dict[str, Any]) -> str:
    return str(vector["name"])


@pytest.mark.parametrize(("schema", "vector"), VALID, ids=VALID_IDS)
def test_a_golden_message_is_read_and_written_to_the_byte(schema: Schema, vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["message_hex"])
    message = decode_message(raw, schema)
    assert message_to_json(message, schema) == vector["message"]
    assert encode_message(message_from_json(vector["message"], schema), schema) == raw
    assert schema.indices[type(message)] == vector["variant_index"]


@pytest.mark.parametrize(("schema", "vector"), VALID, ids=VALID_IDS)
def test_a_golden_frame_is_read_and_written_to_the_byte(schema: Schema, vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["frame_hex"])
    frame = decode_frame(raw, schema)
    shown = {"request_id": vector["request_id"], "message": vector["message"]}
    assert frame.request_id == int(vector["request_id"])
    assert frame_to_json(frame, schema) == shown
    assert encode_frame(frame_from_json(shown, schema), schema) == raw


@pytest.mark.parametrize("vector", SEED_FILE["map_order"])
def test_map_entries_are_taken_in_any_order(vector: dict[str, Any]) -> None:
    message = decode_message(bytes.fromhex(vector["message_hex"]), BASE_REVISION)
    assert message_to_json(message, BASE_REVISION) == vector["message"]


@pytest.mark.parametrize("vector", ACCEPTED, ids=name_of)
def test_an_odd_message_that_the_reference_accepts_is_accepted(vector: dict[str, Any]) -> None:
    assert (
        message_to_json(decode_message(bytes.fromhex(vector["hex"]), BASE_REVISION), BASE_REVISION) == vector["message"]
    )


@pytest.mark.parametrize("vector", REFUSED, ids=name_of)
def test_what_the_reference_refuses_is_refused_in_its_words(vector: dict[str, Any]) -> None:
    decode = decode_message if vector["kind"] == "message" else decode_frame
    with pytest.raises(RemoteProtocolError) as caught:
        decode(bytes.fromhex(vector["hex"]), BASE_REVISION)
    assert str(caught.value) == vector["error"]


def test_the_variants_are_in_the_order_of_the_document() -> None:
    assert [variant.name for variant in BASE_REVISION.variants] == SEED_FILE["variants"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("1500000004000000000000003031320019000000", None),
        ("160000000219000000" + "00" * 8, "bincode: invalid u8 while decoding bool, expected 0 or 1, found 2"),
        ("2100000002000000", "bincode: invalid value: integer `2`, expected variant index 0 <= i < 2"),
        ("25000000", "bincode: invalid value: integer `37`, expected variant index 0 <= i < 37"),
        ("190000000100000000000000", "bincode: io error: unexpected end of file"),
        ("18000000ffffffffffffffff", "bincode: io error: unexpected end of file"),
        ("240000000200000000000000c3a9", None),
        ("240000000100000000000000c3", f"{NOT_UTF_8}: incomplete utf-8 byte sequence from index 0"),
        ("240000000300000000000000e28078", f"{NOT_UTF_8}: invalid utf-8 sequence of 2 bytes from index 0"),
    ],
)
def test_the_newer_revision_follows_the_same_rules(body: str, error: str | None) -> None:
    raw = bytes.fromhex(body)
    data = b"OS" + len(raw).to_bytes(4, "big") + raw
    if error is None:
        assert encode_message(decode_message(data, schema_named("v25")), schema_named("v25")) == data
        return
    with pytest.raises(RemoteProtocolError) as caught:
        decode_message(data, schema_named("v25"))
    assert str(caught.value) == error
