"""Members that send what no client would: each is answered or ends alone, and nobody else notices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.gateway.gateway_fixture import running_gateway

pytestmark = pytest.mark.anyio


def _request(params: str, id: str = '"odd"', method: str = "chat.history") -> str:
    return f'{{"type": "req", "id": {id}, "method": "{method}", "params": {params}}}'


NESTED = {
    "lists": _request("[" * 100_000 + "]" * 100_000),
    "objects": _request('{"sessionKey": ' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}"),
}
ODD = {
    "keys": _request("{" + ",".join(f'"k{number}": 1' for number in range(50_000)) + "}"),
    "again": _request('{"sessionKey": "a", "sessionKey": 7}'),
    "numbers": _request('{"sessionKey": "a", "limit": 9223372036854775808}'),
    "exponents": _request('{"sessionKey": "a", "limit": 1e999}'),
    "half a pair": _request(
        '{"sessionKey": "\\ud800", "message": "\\udfff", "idempotencyKey": "\\ud800"}', method="chat.send"
    ),
    "half a pair as id": _request("{}", id='"\\ud800"', method="health"),
    "no text": _request("{}", id='"\\u0000"', method="health"),
    "method": _request("{}", method="x" * 100_000),
}


@pytest.mark.parametrize("frame", ODD.values(), ids=ODD)
async def test_what_is_odd_inside_a_frame_is_answered_and_nobody_notices(tmp_path: Path, frame: str) -> None:
    async with running_gateway(tmp_path) as it, it.member() as odd, it.member() as other:
        await odd.send(frame)
        answer = await odd.until(lambda result: "ok" in result)
        assert answer["ok"] or answer["error"]["message"] != "internal error", answer
        assert len(str(answer)) < 2_000
        assert (await other.ask("sessions.list", {}))["ok"]


@pytest.mark.parametrize("frame", NESTED.values(), ids=NESTED)
async def test_what_is_nested_too_deep_ends_its_sender_alone(tmp_path: Path, frame: str) -> None:
    async with running_gateway(tmp_path) as it, it.member() as odd, it.member() as other:
        await odd.send(frame)
        assert await odd.closed() in (1002, 1007, 1008)
        assert (await other.ask("health"))["ok"]


async def test_a_malformed_frame_of_a_member_is_answered_and_the_socket_stays(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as it, it.member() as peer:
        await peer.send({"type": "req", "id": 5, "method": "health"})
        assert (await peer.next())["error"]["code"] == "INVALID_REQUEST"
        assert (await peer.ask("health"))["ok"]
