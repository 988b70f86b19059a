"""The codec: every variant of both revisions round trips, and nothing odd gets in or out."""

from __future__ import annotations

import math
import subprocess
import sys
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.omnish import (
    BASE_REVISION,
    OmnishFrame,
    Schema,
    decode_frame,
    decode_message,
    encode_frame,
    encode_message,
    schema_named,
)
from dragoman.protocols.omnish.bincode import bits_of_f32, f32_from_bits
from dragoman.protocols.omnish.layout import RecordLayout
from dragoman.protocols.omnish.messages import (
    Ack,
    CompletionRequest,
    CompletionResponse,
    CompletionSuggestion,
    IoData,
    IoDirection,
    Response,
    SessionEnd,
    SessionStart,
)
from dragoman.protocols.omnish.messages_v25 import ConfigQuery
from tests.protocols.omnish.vectors import SCHEMAS, VALID, messages_of, values_of

V25 = schema_named("v25")
EVERY_VARIANT = [(schema, variant) for schema in SCHEMAS for variant in schema.variants]


def test_there_are_ten_and_thirty_seven_variants() -> None:
    assert [len(schema.variants) for schema in SCHEMAS] == [10, 37]


@pytest.mark.parametrize(("schema", "variant"), EVERY_VARIANT, ids=lambda each: getattr(each, "name", None))
@given(data=st.data())
def test_every_variant_comes_back_equal(schema: Schema, variant: RecordLayout, data: st.DataObject) -> None:
    message = data.draw(values_of(variant))
    assert decode_message(encode_message(message, schema), schema) == message


@pytest.mark.parametrize("schema", SCHEMAS, ids=repr)
@given(data=st.data())
def test_a_frame_comes_back_with_its_id(schema: Schema, data: st.DataObject) -> None:
    frame = OmnishFrame(data.draw(st.integers(0, 2**64 - 1)), data.draw(messages_of(schema)))
    assert decode_frame(encode_frame(frame, schema), schema) == frame


@pytest.mark.parametrize(("schema", "vector"), VALID[::3])
def test_every_proper_prefix_of_a_message_is_refused(schema: Schema, vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["message_hex"])[:300]
    for size in range(6, len(raw)):
        cut = raw[:2] + (size - 6).to_bytes(4, "big") + raw[6:size]
        with pytest.raises(RemoteProtocolError) as caught:
            decode_message(cut, schema)
        assert caught.value.code == "bad_body"


@given(st.binary(max_size=200), st.sampled_from(SCHEMAS))
def test_any_body_is_a_message_or_a_remote_error(body: bytes, schema: Schema) -> None:
    try:
        message = decode_message(b"OS" + len(body).to_bytes(4, "big") + body, schema)
    except RemoteProtocolError:
        return
    assert len(encode_message(message, schema)) <= 6 + len(body)


@pytest.mark.parametrize(
    "prefix", ["00000000", "02000000" + "00" * 20, "08000000" + "00" * 8, "04000000" + "00" * 24 + "02000000"]
)
def test_a_count_beyond_the_body_allocates_nothing(prefix: str) -> None:
    body = bytes.fromhex(prefix) + (2**63).to_bytes(8, "little") + bytes(64)
    tracemalloc.start()
    with pytest.raises(RemoteProtocolError):
        decode_message(b"OS" + len(body).to_bytes(4, "big") + body, BASE_REVISION)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 1024


def test_bytes_beyond_the_declared_body_are_not_read_as_its_end() -> None:
    whole = encode_message(SessionEnd("abc", 1, 2), BASE_REVISION)
    short = whole[:2] + (len(whole) - 6 - 1).to_bytes(4, "big") + whole[6:] + b"\0\0\0"
    with pytest.raises(RemoteProtocolError, match="unexpected end"):
        decode_message(short, BASE_REVISION)


@pytest.mark.parametrize(
    "message",
    [
        SessionEnd("abc", -1, None),
        SessionEnd("abc", 2**64, None),
        SessionEnd("abc", 1, 2**31),
        SessionEnd("lone \ud800", 1, None),
        SessionEnd(None, 1, None),  # type: ignore[arg-type]
        SessionStart("abc", None, 1, {"k": 1}),  # type: ignore[dict-item]
        IoData("abc", "Input", 1, b""),  # type: ignore[arg-type]
        IoData("abc", IoDirection.INPUT, 1, "text"),  # type: ignore[arg-type]
        Response("r", "c", 2, True),  # type: ignore[arg-type]
        CompletionResponse(1, [CompletionSuggestion("x", 1e39)]),
    ],
    ids=repr,
)
def test_a_value_that_does_not_fit_its_field_is_our_own_fault(message: object) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        encode_message(message, BASE_REVISION)
    assert caught.value.code == "bad_message"


def test_a_message_of_another_revision_is_not_sent() -> None:
    with pytest.raises(LocalProtocolError, match="no message of seed") as caught:
        encode_message(ConfigQuery(), BASE_REVISION)
    assert caught.value.code == "not_in_schema"


@pytest.mark.parametrize("request_id", [-1, 2**64])
def test_a_request_id_has_64_bits(request_id: int) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        encode_frame(OmnishFrame(request_id, Ack()), BASE_REVISION)
    assert caught.value.code == "bad_request_id"


def test_the_working_directory_goes_to_peers_that_know_it() -> None:
    request = CompletionRequest("abc", "git", 3, 1, cwd="/tmp")
    assert decode_message(encode_message(request, V25), V25) == request
    assert decode_message(encode_message(request, BASE_REVISION), BASE_REVISION) == CompletionRequest(
        "abc", "git", 3, 1
    )


def test_the_same_index_means_another_message_in_the_other_revision() -> None:
    ours = encode_message(Ack(), BASE_REVISION)
    with pytest.raises(RemoteProtocolError):
        decode_message(ours, V25)


@given(st.integers(0, 2**32 - 1))
def test_a_float_keeps_its_bits_even_as_a_signalling_nan(bits: int) -> None:
    assert bits_of_f32(f32_from_bits(bits)) == bits


def test_a_nan_made_here_stays_one() -> None:
    assert math.isnan(f32_from_bits(bits_of_f32(math.nan)))
    tiny_payload = f32_from_bits(bits_of_f32(-math.nan))
    assert math.copysign(1, tiny_payload) == -1


PROBE = """
import sys
from dragoman.protocols.omnish import *
from dragoman.protocols.omnish.json_form import message_to_json
print(*sorted({name.split('.')[0] for name in sys.modules}))
print('dragoman.protocols.omnish.messages_v25' in sys.modules)
schema_named('v25')
print('msgspec' in sys.modules)
"""


def test_the_package_needs_the_standard_library_alone_and_loads_the_newer_tables_late() -> None:
    ran = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    loaded, newer, third_party = ran.stdout.splitlines()
    assert set(loaded.split()) <= sys.stdlib_module_names | {"dragoman", "__main__", *site_names()}
    assert (newer, third_party) == ("False", "False")


def site_names() -> set[str]:
    """What the interpreter of this environment loads before any program (path hooks of editable installs)."""
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; print(*{name.split('.')[0] for name in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stdout.split())
