"""A stream of JSONL: messages as they come, bad lines as events, and any chunking the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.a2ui import (
    A2uiError,
    A2uiLimits,
    Connection,
    CreateSurface,
    DeleteSurface,
    Incoming,
    RefusedLine,
    Surfaces,
    apply,
    encode_jsonl,
    error_message,
)
from tests.wire.a2ui.test_framing import cut
from tests.wire.a2ui.vectors import SURFACES, expected_surface, same, vector

STREAM = b"".join(encode_jsonl(vector(name)["dialects"]["0.8"]) for name in SURFACES)


def received(chunks: list[bytes]) -> list[object]:
    """Every event, with errors as what is seen of them."""
    connection, events = Connection(), list[object]()
    for chunk in chunks:
        connection.receive_data(chunk)
        events.extend(map(seen, connection.events()))
    connection.receive_eof()
    events.extend(map(seen, connection.events()))
    return events


def seen(event: Incoming | RefusedLine) -> object:
    return (event.line, event.error.args) if isinstance(event, RefusedLine) else event


def test_a_stream_makes_its_surfaces() -> None:
    connection = Connection()
    connection.receive_data(STREAM)
    surfaces: Surfaces = {}
    for event in connection.events():
        assert isinstance(event, Incoming)
        surfaces = apply(surfaces, event.message, event.origin)
    for name in SURFACES:
        expected = expected_surface(name)
        assert same(surfaces[expected.id], expected)


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_any_split_of_the_stream_gives_the_same_messages(places: list[int]) -> None:
    assert received(cut(STREAM, places)) == received([STREAM])


def test_a_bad_line_is_an_event_and_the_stream_goes_on() -> None:
    good = json.dumps({"deleteSurface": {"surfaceId": "s"}}).encode()
    connection = Connection()
    connection.receive_data(good + b'\nnot json\n{"deleteSurface":{}}\n' + good + b"\n")
    first, second, third, last = connection.events()
    assert isinstance(first, Incoming)
    assert first.message == DeleteSurface(surface_id="s")
    assert isinstance(second, RefusedLine)
    assert (second.line, second.error.code) == (2, "invalid_json")
    assert isinstance(third, RefusedLine)
    assert (third.line, third.error.pointer) == (3, "/deleteSurface")
    assert isinstance(last, Incoming)
    assert b'"VALIDATION_FAILED"' in connection.send([error_message(third.error)])


def test_a_line_without_end_ends_the_stream_after_what_came_before() -> None:
    connection = Connection(limits=A2uiLimits(message_bytes=40))
    connection.receive_data(b'{"deleteSurface":{"surfaceId":"s"}}\n' + b"x" * 100)
    events = connection.events()
    assert isinstance(next(events), Incoming)
    with pytest.raises(A2uiError) as caught:
        next(events)
    assert caught.value.code == "message_too_large"


def test_the_last_line_needs_no_end_of_line() -> None:
    connection = Connection()
    connection.receive_data(b'{"deleteSurface":{"surfaceId":"s"}}')
    assert list(connection.events()) == []
    connection.receive_eof()
    assert len(list(connection.events())) == 1


def test_what_is_sent_is_jsonl_in_the_dialect_of_the_other_side() -> None:
    message = CreateSurface(surface_id="s", catalog_id="c")
    assert Connection("0.8").send([message]) == b'{"beginRendering":{"surfaceId":"s","root":"root","catalogId":"c"}}\n'
    assert Connection("0.9").send([message, DeleteSurface(surface_id="s")]) == (
        b'{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"c"}}\n'
        b'{"version":"v0.9","deleteSurface":{"surfaceId":"s"}}\n'
    )
