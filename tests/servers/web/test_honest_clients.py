"""What the bounds must not break: keep-alive, pipelines, HEAD, upgrades, large events, impatient reconnects."""

from __future__ import annotations

import http.client
import socket
import statistics
import time

import pytest

from tests.raw_http import Ask, ask, read_answer
from tests.servers.target_daemon import TargetDaemon


def test_one_connection_serves_many_requests(victim: TargetDaemon) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", victim.port, timeout=10)
    headers = dict([victim.host, victim.mcp_bearer])
    delays: list[float] = []
    for path in ("/", "/health") * 50:
        started = time.monotonic()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert (answer.status, len(answer.read()) > 0) == (200, True)
        delays.append(time.monotonic() - started)
    connection.request("POST", "/mcp", body=b'{"code":"x"}', headers=headers)
    assert connection.getresponse().status == 400
    connection.close()
    assert statistics.median(delays) < 0.02, "a delayed acknowledgement costs 40 ms"


def test_a_pipeline_is_answered_in_order(victim: TargetDaemon) -> None:
    head = f"HTTP/1.1\r\nHost: 127.0.0.1:{victim.port}\r\nAuthorization: {victim.mcp_bearer[1]}\r\n"
    login = f'POST /mcp {head}Content-Length: 12\r\n\r\n{{"code":"x"}}'
    wanted = [
        f"GET /health {head}\r\n",
        login,
        f"GET / {head}\r\n",
        f"GET /none {head}Connection: close\r\n\r\n",
    ]
    with socket.create_connection(("127.0.0.1", victim.port), 10) as connection:
        connection.sendall("".join(wanted).encode())
        data = b""
        while piece := connection.recv(65536):
            data += piece
    assert [int(part[:3]) for part in data.split(b"HTTP/1.1 ")[1:]] == [200, 400, 200, 404]


def test_head_has_the_headers_of_get_and_no_body(victim: TargetDaemon) -> None:
    for path in ("/", "/health"):
        asked = [ask(victim.port, Ask(path, method, [victim.host])) for method in ("GET", "HEAD")]
        assert [it.status for it in asked] == [200, 200]
        assert asked[1].body == b""
        assert asked[0].headers == asked[1].headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"])
def test_another_method_is_refused_with_the_allowed_ones(victim: TargetDaemon, method: str) -> None:
    answer = ask(victim.port, Ask("/health", method, [victim.host]))
    assert (answer.status, answer.json()["error"]["code"]) == (405, "wrong_method")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_a_body_may_come_in_pieces_and_after_a_continue(victim: TargetDaemon) -> None:
    line = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{victim.port}\r\nAuthorization: {victim.mcp_bearer[1]}\r\n"
    head = line + "Expect: 100-continue\r\nContent-Length: 12\r\n\r\n"
    with socket.create_connection(("127.0.0.1", victim.port), 10) as connection:
        connection.sendall(head.encode())
        assert read_answer(connection).status == 100
        for byte in b'{"code":"x"}':
            connection.sendall(bytes([byte]))
        assert read_answer(connection).status == 400


def test_an_offer_of_http_2_is_answered_in_http_1(victim: TargetDaemon) -> None:
    headers = [
        victim.host,
        ("Connection", "Upgrade, HTTP2-Settings"),
        ("Upgrade", "h2c"),
        ("HTTP2-Settings", "AAMAAABk"),
    ]
    assert ask(victim.port, Ask("/health", headers=headers)).status == 200


def test_errors_speak_the_readers_language(victim: TargetDaemon) -> None:
    data = {
        language: ask(victim.port, Ask("/mcp", headers=[victim.host, ("Accept-Language", language)])).json()
        for language in ("zh-CN,zh;q=0.9", "en")
    }
    assert [it["error"]["message"] for it in data.values()] == ["需要令牌。", "A token is required."]
    assert ["令牌" in it["error"]["hint"] for it in data.values()] == [True, False]


def test_a_client_without_a_token_learns_how_to_get_one(victim: TargetDaemon) -> None:
    answer = ask(victim.port, Ask("/mcp", headers=[victim.host]))
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    for words in ("Authorization: Bearer", "`token show mcp`", "`page`"):
        assert words in answer.json()["error"]["hint"]


def test_a_proved_feed_begins_with_what_is(victim: TargetDaemon) -> None:
    with victim.feed() as feed:
        assert feed.receive_json()["type"] == "snapshot"
