"""A message of very many parts is refused by its bytes, before a parser holds the daemon up."""

from __future__ import annotations

import json

import pytest

from dragoman.mcp.weight import BRACKETS_AT_MOST, LARGE, STRINGS_AT_MOST, has_too_many_parts
from dragoman.places import find_places
from tests.faces.mcp.raw import RawClient
from tests.faces.mcp.serving import serving_http

MILLION = 1_000_000


@pytest.mark.parametrize(
    "value",
    [
        {f"k{number}": 0 for number in range(STRINGS_AT_MOST + 1)},
        {f"k{number}\\": 0 for number in range(2 * STRINGS_AT_MOST + 2)},
        [[]] * (BRACKETS_AT_MOST + 1),
        [{}] * (BRACKETS_AT_MOST + 1),
    ],
)
def test_many_parts_are_seen(value: object) -> None:
    assert has_too_many_parts(json.dumps(value).encode())


@pytest.mark.parametrize("text", ['"', "\\", '\\"', '{"a": 1}\n', "数据,", "x,y;" * 10])
def test_a_long_text_of_any_letters_is_one_part(text: str) -> None:
    message = json.dumps({"stdin": (text * MILLION)[:MILLION]})
    assert len(message) > LARGE
    assert not has_too_many_parts(message.encode())


def test_such_a_message_is_refused_by_its_id_and_the_next_is_served(client: RawClient) -> None:
    keys = b",".join(b'"k%d":0' % number for number in range(MILLION))
    head = b'{"jsonrpc":"2.0","id":"heavy","method":"tools/call","params":{"name":"start_debugging","arguments":{'
    client.send_bytes(head + keys + b"}}}\n")
    assert client.answer("heavy")["error"]["data"] == {"code": "too_many_parts"}
    assert client.ask("ping")["result"] == {}


def test_over_http_it_is_refused_as_well() -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [{}] * (BRACKETS_AT_MOST + 1)}).encode()
    with serving_http(find_places()) as (_, client):
        client.initialize()
        refused = client.ask("POST", body)
        assert (refused.status, refused.code) == (400, "too_many_parts")
        assert client.post("ping").message["result"] == {}
