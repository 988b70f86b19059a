"""A message of very many parts is refused by its bytes, before a parser holds the daemon up."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dragoman.core.paths import find_paths
from dragoman.protocols.jsonrpc import LARGE, MESSAGE_CAP, PARTS_AT_MOST, has_too_many_parts
from tests.servers.mcp.mcp_fixture import serving_http
from tests.servers.mcp.raw_client import RawClient

MILLION = 1_000_000


@pytest.mark.parametrize(
    "value",
    [
        {f"k{number}": 0 for number in range(PARTS_AT_MOST + 2)},
        {f"k{number}\\": 0 for number in range(PARTS_AT_MOST + 2)},
        {f'k{number}\\"': 0 for number in range(PARTS_AT_MOST + 2)},
        [0] * (LARGE // 2),
        [1.5] * (LARGE // 4),
        [None, True] * (LARGE // 8),
        [["a"]] * (PARTS_AT_MOST + 2),
        [[]] * (LARGE // 3),
        [{}] * (LARGE // 3),
        ["\\"] * (PARTS_AT_MOST + 2),
    ],
)
def test_many_parts_are_seen(value: object) -> None:
    assert has_too_many_parts(json.dumps(value).encode())


@pytest.mark.parametrize("text", ['"', "\\", '\\"', '{"a": 1}\n', "数据,", "x,y;" * 10])
def test_a_long_text_of_any_letters_is_one_part(text: str) -> None:
    message = json.dumps({"stdin": (text * MILLION)[:MILLION], "args": ["[,{", "\\"], "n": 1})
    assert len(message) > LARGE
    assert not has_too_many_parts(message.encode())


def test_such_a_message_is_refused_by_its_id_and_the_next_is_served(client: RawClient) -> None:
    keys = b",".join(b'"k%d":0' % number for number in range(MILLION))
    head = b'{"jsonrpc":"2.0","id":"heavy","method":"tools/call","params":{"name":"start_debugging","arguments":{'
    client.send_bytes(head + keys + b"}}}\n")
    assert client.answer("heavy")["error"]["data"] == {"code": "too_many_parts"}
    assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize("part", [b"0,", b"1.5,", b"{},", b"[[]],", b'"",'])
def test_what_is_refused_costs_the_pump_no_more_than_its_bytes(client: RawClient, part: bytes) -> None:
    before = _peak_bytes(client)
    head = b'{"jsonrpc":"2.0","id":"heavy","method":"tools/call","params":{"name":"status","arguments":{"a":['
    client.send_bytes(head + part * ((MESSAGE_CAP - LARGE) // len(part)) + b"0]}}}\n")
    assert client.answer("heavy")["error"]["data"] == {"code": "too_many_parts"}
    assert _peak_bytes(client) - before < 6 * MESSAGE_CAP  # it parses to 20 times its bytes and more


def test_a_message_of_many_megabytes_is_refused_before_it_is_whole(client: RawClient) -> None:
    before = _peak_bytes(client)
    client.send_bytes(b'{"jsonrpc":"2.0","id":"long","method":"ping","params":[' + b"0," * (2 * MESSAGE_CAP) + b"0]}\n")
    assert client.answer("long")["error"]["data"] == {"code": "line_too_long"}
    assert _peak_bytes(client) - before < 3 * MESSAGE_CAP


def _peak_bytes(client: RawClient) -> int:
    """Of the pump, since it began: what was freed again counts as well."""
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) << 10


def test_over_http_it_is_refused_as_well() -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [{}] * (LARGE)}).encode()
    with serving_http(find_paths()) as (_, client):
        client.initialize()
        refused = client.ask("POST", body)
        assert (refused.status, refused.code) == (400, "too_many_parts")
        assert client.post("ping").message["result"] == {}
