"""JSON as the runtime writes it, and as it must be written for the runtime."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError, RemoteProtocolError
from dragoman.protocols.luapanda.framing import (
    command_line,
    from_base64,
    map_base64,
    message_line,
    message_text,
    read_command,
    read_message,
    to_base64,
)

LUA_STRINGS = st.binary().map(lambda data: data.decode("utf-8", "surrogateescape"))


@given(st.dictionaries(st.text(), st.text() | st.booleans() | st.lists(st.text())))
def test_what_the_ide_writes_the_runtime_reads(fields: dict[str, Any]) -> None:
    assert read_command(message_text(command_line(fields).rstrip(b"\n"))) == fields


@given(st.dictionaries(LUA_STRINGS, LUA_STRINGS | st.integers() | st.none()))
def test_what_the_runtime_writes_the_ide_reads_byte_for_byte(fields: dict[str, Any]) -> None:
    assert read_message(message_text(message_line(fields).rstrip(b"\n"))) == fields


@given(LUA_STRINGS)
def test_base64_carries_any_bytes(text: str) -> None:
    assert from_base64(to_base64(text)) == text


@pytest.mark.requirement("luapanda:framing:line")
def test_only_the_ide_writes_a_space_before_the_separator() -> None:
    assert command_line({"cmd": "x"}) == b'{"cmd":"x"} |*|\n'
    assert message_line({"cmd": "x"}) == b'{"cmd":"x"}|*|\n'


def test_text_goes_out_as_utf8_since_the_runtime_makes_garbage_of_escaped_pairs() -> None:
    assert command_line({"e": "\U0001f43c é"}) == '{"e":"\U0001f43c é"} |*|\n'.encode()


def test_every_bar_is_escaped() -> None:
    assert command_line({"e": "a|*|b||"}) == b'{"e":"a\\u007c*\\u007cb\\u007c\\u007c"} |*|\n'


@pytest.mark.parametrize(
    ("value", "code"),
    [("\ud800", "not_utf8"), ("a\udcffb", "not_utf8"), (math.nan, "not_encodable"), (object(), "not_encodable")],
)
def test_what_cannot_be_written_is_refused(value: Any, code: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        command_line({"x": value})
    assert caught.value.code == code


def test_control_bytes_that_the_runtime_does_not_escape_are_survived() -> None:
    assert read_message(b'{"value":"\x01\x1b[31m\t"}') == {"value": "\x01\x1b[31m\t"}


@pytest.mark.parametrize(
    ("written", "value"),
    [(b"inf", math.inf), (b"-inf", -math.inf), (b"1.#INF", math.inf), (b"-1.#INF", -math.inf), (b"1e400", math.inf)],
)
def test_infinities_as_lua_prints_them_are_read(written: bytes, value: float) -> None:
    assert read_message(b'{"tip":"inf, \\"nan","value":%b}' % written) == {"tip": 'inf, "nan', "value": value}


@pytest.mark.parametrize("written", [b"nan", b"-nan", b"-1.#IND", b"1.#QNAN"])
def test_not_a_number_as_lua_prints_it_is_read(written: bytes) -> None:
    assert math.isnan(abs(read_message(b'{"value":%b}' % written)["value"]))


@pytest.mark.parametrize("read", [read_message, read_command])
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "bad_json"),
        (b"{", "bad_json"),
        (b'{"a":infinite}', "bad_json"),
        (b"{} {}", "bad_json"),
        (b"[]", "not_an_object"),
        (b"3", "not_an_object"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested_too_deeply"),
        (b'{"a":' * 100_000, "nested_too_deeply"),
    ],
)
def test_what_is_not_an_object_is_refused_with_its_code(read: Any, data: bytes, code: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        read(data)
    assert caught.value.code == code


def test_numbers_too_long_for_an_integer_are_the_ides_fault_only_where_they_are_numbers() -> None:
    digits = b"9" * 5_000
    assert read_command(b'{"a":%b}' % digits) == {"a": digits.decode()}
    with pytest.raises(RemoteProtocolError) as caught:
        read_message(b'{"a":%b}' % digits)
    assert caught.value.code == "bad_json"


def test_a_search_for_words_in_an_open_string_stays_linear() -> None:
    with pytest.raises(RemoteProtocolError):
        read_message(b'{"' + b'\\"' * 500_000)


def test_many_members_duplicates_and_large_ids_are_read() -> None:
    members = b",".join(b'"k%d":0' % number for number in range(400_000))
    assert len(read_message(b"{%b}" % members)) == 400_000
    assert read_message(b'{"a":1,"a":9223372036854775808}') == {"a": 2**63}


def test_so_many_members_that_reading_them_would_hold_everybody_up_are_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="too many parts"):
        read_message(b"{%b}" % b",".join(b'"k%d":0' % number for number in range(1_000_000)))


def test_the_runtime_makes_text_of_numbers_and_leaves_flags() -> None:
    assert read_command(b'{"a":1.50,"b":[7],"c":true}') == {"a": "1.50", "b": ["7"], "c": True}


def test_only_string_values_of_array_items_are_encoded() -> None:
    items = [
        {"type": "string", "name": "s", "value": "YQ=="},
        {"type": "table", "value": "YQ=="},
        {"type": "string"},
        7,
    ]
    assert map_base64(items, from_base64) == [{"type": "string", "name": "s", "value": "a"}, *items[1:]]
    assert map_base64({"type": "string", "value": "YQ=="}, from_base64) == {"type": "string", "value": "YQ=="}


@pytest.mark.parametrize("text", ["plain text", "YQ=", "ü"])
def test_a_value_that_is_not_base64_stays_as_it_came(text: str) -> None:
    assert from_base64(text) == text
