"""The forms that messages come in, the refusals and where they point, and the size limits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.a2ui import A2uiError, A2uiLimits, read
from dragoman.protocols.a2ui.pointer import MISSING, get, parse
from dragoman.protocols.a2ui.values import check, depth_of, to_text
from tests.protocols.a2ui.strategies import json_values
from tests.protocols.a2ui.vectors import one, played, refusals, text, v09, vector

MESSAGES: list[dict[str, Any]] = vector("show")["dialects"]["0.9"]


@pytest.mark.parametrize(
    ("document", "code", "pointer"), [row[1:] for row in refusals()], ids=[row[0] for row in refusals()]
)
def test_a_refusal_says_what_and_where(document: object, code: str, pointer: str) -> None:
    with pytest.raises(A2uiError) as caught:
        played(document)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)
    assert isinstance(caught.value, RemoteProtocolError)
    assert str(caught.value).startswith(caught.value.message)


@pytest.mark.parametrize(
    ("document", "pointer"), [(row[1], row[3]) for row in refusals()], ids=[row[0] for row in refusals()]
)
def test_a_refusals_pointer_leads_into_the_message_or_to_what_is_missing(document: object, pointer: str) -> None:
    tokens = parse(pointer)
    assert not tokens or get(document, tokens[:-1]) is not MISSING


def jsonl(messages: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in messages)


@pytest.mark.parametrize(
    "document",
    [
        MESSAGES,
        {"messages": MESSAGES},
        json.dumps(MESSAGES),
        json.dumps(MESSAGES, indent=2).encode(),
        json.dumps({"messages": MESSAGES}),
        jsonl(MESSAGES),
        jsonl(MESSAGES).encode() + b"\r\n\r\n",
        bytearray(jsonl(MESSAGES).encode()),
    ],
    ids=["list", "wrapped", "text", "pretty", "wrapped text", "jsonl", "jsonl bytes", "bytearray"],
)
def test_every_form_of_the_same_messages_is_read_alike(document: object) -> None:
    assert [incoming.message for incoming in read(document)] == [incoming.message for incoming in read(MESSAGES)]


def test_one_message_is_read_with_its_pointers_unprefixed() -> None:
    (incoming,) = read(json.dumps(MESSAGES[1]))
    assert incoming.origin.components[0] == "/updateComponents/components/0"
    assert read([MESSAGES[1]])[0].origin.components[0] == "/0/updateComponents/components/0"


def test_nothing_is_read_from_an_empty_list() -> None:
    assert read([]) == read("[]") == read({"messages": []}) == []


@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        (b"", "invalid_json", ""),
        (b"{", "invalid_json", ""),
        (b"\xff\xfe", "invalid_json", ""),
        (b'"\xed\xa0\x80"', "invalid_json", ""),
        (b'{"a":\n\n 1', "invalid_json", ""),
        (b'{"deleteSurface":{"surfaceId":"s"}}\n{"a":', "invalid_json", "/1"),
        (b'{"deleteSurface":{"surfaceId":"s"}}\n\n{"x":1}', "unknown_message", "/1"),
        (b'{"deleteSurface":{"surfaceId":1e999}}', "invalid_json", ""),
        ("\ud800", "invalid_json", ""),
        (b"[" * 100_000, "too_deep", ""),
        (b"[" * 100_000 + b"]" * 100_000, "too_deep", ""),
        (b'{"a":' * 100_000, "too_deep", ""),
        (b'{"deleteSurface":{"surfaceId":"s"}}\n' + b"[" * 100_000, "too_deep", "/1"),
    ],
)
def test_what_is_not_json_is_refused_and_never_a_crash(data: bytes | str, code: str, pointer: str) -> None:
    with pytest.raises(A2uiError) as caught:
        read(data)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_a_hundred_thousand_lists_inside_each_other_are_refused_as_objects_too() -> None:
    with pytest.raises(A2uiError) as caught:
        read(nested(100_000))
    assert caught.value.code == "too_deep"


@pytest.mark.parametrize(
    ("value", "place"),
    [(float("nan"), "/a/0"), (float("inf"), "/a/0"), (b"x", "/a/0"), ("\udc00", "/a/0"), ({1: 2}, "/a/0")],
)
def test_what_json_does_not_have_is_refused_where_it_is(value: object, place: str) -> None:
    with pytest.raises(A2uiError) as caught:
        read({"a": [value]})
    assert (caught.value.code, caught.value.pointer) == ("invalid_json", place)


def test_a_key_with_half_a_surrogate_is_refused_and_its_pointer_can_be_sent() -> None:
    with pytest.raises(A2uiError) as caught:
        read({"a": {"\ud800": {"deep": float("nan")}}})
    caught.value.pointer.encode()


# Bounds: one below, at, and one above.


@pytest.mark.parametrize(("depth", "fits"), [(5, True), (6, True), (7, False)])
def test_messages_are_nested_only_so_deep(depth: int, fits: bool) -> None:
    limits, message = A2uiLimits(json_depth=6), nested(depth - 2)
    document = {"updateDataModel": {"surfaceId": "s", "value": message}}
    assert depth_of(document) == depth
    _expect(lambda: read(document, limits), fits, "too_deep")


@pytest.mark.parametrize(("count", "fits"), [(2, True), (3, True), (4, False)])
def test_a_push_has_only_so_many_messages(count: int, fits: bool) -> None:
    messages = [v09("deleteSurface", surfaceId=f"s{index}") for index in range(count)]
    _expect(lambda: read(messages, A2uiLimits(messages=3)), fits, "too_many_messages")
    _expect(lambda: read(jsonl(messages), A2uiLimits(messages=3)), fits, "too_many_messages")


@pytest.mark.parametrize(("count", "fits"), [(1, True), (2, True), (3, False)])
def test_what_one_message_says_by_the_way_counts_as_messages(count: int, fits: bool) -> None:
    rows = [{"path": f"/{index}", "literalString": "first"} for index in range(count)]
    components = [{"id": "a", "component": {"Own": {"rows": rows}}}]
    message = {"surfaceUpdate": {"surfaceId": "s", "components": components}}
    limits = A2uiLimits(messages=3)
    _expect(lambda: read(message, limits), fits, "too_many_messages")
    _expect(lambda: read(json.dumps(message), limits), fits, "too_many_messages")


@pytest.mark.parametrize(("extra", "fits"), [(-1, True), (0, True), (1, False)])
def test_a_push_has_only_so_many_bytes(extra: int, fits: bool) -> None:
    message = {"deleteSurface": {"surfaceId": "s" * 50}}
    size = len(json.dumps(message, separators=(",", ":")))
    limits = A2uiLimits(document_bytes=size - extra)
    _expect(lambda: read(message, limits), fits, "document_too_large")
    _expect(lambda: read(json.dumps(message, separators=(",", ":")), limits), fits, "document_too_large")


@pytest.mark.parametrize(("extra", "fits"), [(-1, True), (0, True), (1, False)])
def test_a_line_has_only_so_many_bytes(extra: int, fits: bool) -> None:
    line = json.dumps({"deleteSurface": {"surfaceId": "s" * 50}})
    limits = A2uiLimits(message_bytes=len(line) - extra)
    _expect(lambda: read(f"{line}\n{line}", limits), fits, "message_too_large")


@pytest.mark.parametrize(("length", "fits"), [(255, True), (256, True), (257, False)])
def test_ids_have_only_so_many_characters(length: int, fits: bool) -> None:
    name = "i" * length
    _expect(lambda: read(v09("deleteSurface", surfaceId=name)), fits, "invalid_message")
    _expect(lambda: read(v09("updateComponents", surfaceId="s", components=[text(name)])), fits, "invalid_component")
    old = {"surfaceUpdate": {"surfaceId": "s", "components": [{"id": name, "component": {"Text": {}}}]}}
    _expect(lambda: read(old), fits, "invalid_message")
    typed = {"surfaceUpdate": {"surfaceId": "s", "components": [{"id": "a", "component": {name: {}}}]}}
    _expect(lambda: read(typed), fits, "invalid_message")


def _expect(call: Any, fits: bool, code: str) -> None:
    if fits:
        call()
        return
    with pytest.raises(A2uiError) as caught:
        call()
    assert caught.value.code == code


@given(json_values)
def test_any_json_is_read_or_refused_and_nothing_else(document: object) -> None:
    assert _read_or_refused(document)


def _read_or_refused(document: object) -> bool:
    try:
        return read(document) == []
    except A2uiError as error:
        return bool(error.code) and isinstance(parse(error.pointer), tuple)


@given(json_values)
def test_the_depth_of_a_value_is_what_the_check_counts(value: object) -> None:
    check(value, A2uiLimits(json_depth=depth_of(value)))
    if depth_of(value):
        with pytest.raises(A2uiError):
            check(value, A2uiLimits(json_depth=depth_of(value) - 1))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        ("x", "x"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (1.0, "1"),
        (-0.5, "-0.5"),
        (1e300, "1e+300"),
        ([1, "a", None], '[1,"a",null]'),
        ({"k": "ü"}, '{"k":"ü"}'),
    ],
)
def test_values_show_as_text_as_0_9_says(value: object, shown: str) -> None:
    assert to_text(value) in (shown, shown.replace("e+", "e"))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_and_nothing_else(data: bytes) -> None:
    assert _read_or_refused(data)


def test_a_push_is_taken_as_a_whole_or_not_at_all() -> None:
    before = {"s": one([v09("createSurface", surfaceId="s")])}
    push = [v09("updateDataModel", surfaceId="s", value={"a": 1}), v09("updateDataModel", surfaceId="no")]
    with pytest.raises(A2uiError):
        played(push, before)
    assert before["s"].data_model == {}
