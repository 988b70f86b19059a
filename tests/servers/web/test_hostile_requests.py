"""Requests that no honest client sends: each gets its status, costs little memory, and the next one is served."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from dragoman.io.net.http_server import HEAD_CAP, PIPELINE_AT_MOST
from dragoman.servers.web.guard import BODY_CAP
from tests.daemons import PATIENCE
from tests.proving import log_in
from tests.raw_http import WEBSOCKET_HEADERS, Answer, Ask, ask, read_answer
from tests.servers.target_daemon import MB, TargetDaemon

# The parser's copy, the joined body, and what the allocator keeps of both.
ROOM = 2 * BODY_CAP + 6 * MB


@pytest.fixture(autouse=True)
def _unharmed(victim: TargetDaemon) -> Iterator[None]:
    """Whatever a test sends: memory stays, the loop is free, and the next ordinary requests are served."""
    victim.assert_serves()
    first = Ask("/mcp", "POST", [victim.host, victim.mcp_bearer], b"{}")
    ask(victim.port, first, within_s=20 * PATIENCE)  # what the first client of all brings into memory stays
    before = victim.resident()
    yield
    victim.assert_serves()
    assert victim.resident() - before < ROOM
    victim.assert_punctual()


def head_of(victim: TargetDaemon) -> str:
    name, token = victim.mcp_bearer
    return f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{victim.port}\r\n{name}: {token}\r\n"


def posted(victim: TargetDaemon, body: bytes, *, chunk: int = 0) -> Answer:
    host = (head_of(victim) + "Connection: close\r\n").encode()
    if not chunk:
        return ask(victim.port, host + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    pieces = (body[start : start + chunk] for start in range(0, len(body), chunk))
    coded = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return ask(victim.port, host + b"Transfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\n\r\n")


def code_of(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json()["error"]["code"]


def body_of(size: int) -> bytes:
    return b'{"code":"' + b"x" * (size - 11) + b'"}'


@pytest.mark.parametrize("chunk", [0, 65536, 1000])
@pytest.mark.parametrize("beyond", [-1, 0, 1, 2])
def test_a_body_is_taken_up_to_its_cap_and_not_a_byte_further(victim: TargetDaemon, beyond: int, chunk: int) -> None:
    answer = posted(victim, body_of(BODY_CAP + beyond), chunk=chunk)
    if beyond > 0:
        assert code_of(answer) == (413, "body_too_large")
    else:
        assert answer.status not in (0, 413)


def test_a_declared_length_is_not_a_reason_to_set_memory_aside(victim: TargetDaemon) -> None:
    head = (head_of(victim) + f"Content-Length: {1 << 40}\r\n\r\n").encode()
    with socket.create_connection(("127.0.0.1", victim.port), 10) as connection:
        connection.sendall(head + b"x" * (BODY_CAP + 1))
        assert code_of(read_answer(connection)) == (413, "body_too_large")


HOSTILE_BODIES = {
    "nested": b'{"code":' + b"[" * 100_000,
    "nested objects": b'{"code":' * 100_000,
    "as many keys as fit": b"{" + b",".join(b'"%x":1' % number for number in range(100_000)) + b"}",
    "lone surrogate": b'{"code":"\\ud800"}',
    "raw surrogate": b'{"code":"\xed\xa0\x80"}',
    "huge number": b'{"code":' + b"9" * 1_000_000 + b"}",
    "huge exponent": b'{"code":1e999999999}',
    "invalid UTF-8": b'{"code":"\xff\xfe"}',
    "NUL": b'{"code":"\x00"}',
    "more fields": b'{"code":"x","is_admin":true,"scopes":["all"],"purpose":"mcp"}',
    "a list": b'["code"]',
    "nothing": b"",
}


@pytest.mark.parametrize("body", HOSTILE_BODIES.values(), ids=HOSTILE_BODIES)
def test_a_hostile_body_is_a_bad_request(victim: TargetDaemon, body: bytes) -> None:
    """Over HTTP, and in what the page asks: there it may make nonsense of the whole frame, which ends the socket."""
    assert 400 <= posted(victim, body).status < 500
    with log_in(victim.paths).open("/link/calls") as page:
        page.send(b'{"id":1,"method":"POST","path":"/api/call","body":' + body + b"}")
        opcode, answer = page.receive()
        assert opcode == 8 or json.loads(answer)["status"] == 400, answer


def test_a_head_is_bounded_however_it_is_cut(victim: TargetDaemon) -> None:
    whole = Ask("/health", headers=[victim.host, ("X", "y" * HEAD_CAP)])
    many = Ask("/health", headers=[victim.host, *((f"X-{number}", "y") for number in range(20_000))])
    address = Ask("/health?" + "y" * HEAD_CAP, headers=[victim.host])
    for request in (whole, many, address):
        assert code_of(ask(victim.port, request)) == (431, "head_too_large")


# Where a head or a body begins, and a line of it that never ends.
POST = "{post}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
UNENDING = {
    "header value": ("", "GET /health HTTP/1.1\r\nX: "),
    "header name": ("", "GET /health HTTP/1.1\r\n"),
    "address": ("", "GET /"),
    "trailer": (POST, "0\r\nX: "),
    "chunk extension": (POST, "1;x="),
}


@pytest.mark.parametrize(("head", "line"), UNENDING.values(), ids=UNENDING)
def test_what_never_ends_is_refused_before_it_is_kept(victim: TargetDaemon, head: str, line: str) -> None:
    begun = head.replace("{post}", head_of(victim)).encode()
    with socket.create_connection(("127.0.0.1", victim.port), 10) as connection:
        connection.sendall(begun)
        if begun:
            assert read_answer(connection).status == 100
        connection.sendall(line.encode() + b"y" * HEAD_CAP)
        assert code_of(read_answer(connection)) == (431, "head_too_large")
    assert taken_of_an_endless_stream(victim, begun + line.encode()) < 8 * MB


def taken_of_an_endless_stream(victim: TargetDaemon, begun: bytes) -> int:
    """How much the server takes before it closes; the kernel's buffers take some of it."""
    taken = 0
    with socket.create_connection(("127.0.0.1", victim.port), 10) as connection, contextlib.suppress(OSError):
        connection.sendall(begun)
        while taken < 64 * MB:
            taken += connection.send(b"y" * 65536)
    return taken


def test_an_upgrade_with_an_oversized_head_is_answered_and_closed(victim: TargetDaemon) -> None:
    many = [(f"X-{number}", "y") for number in range(200)]
    for headers in (many, [("X", "y" * 9000)]):
        request = Ask("/link/feed", headers=[victim.host, *WEBSOCKET_HEADERS, *headers])
        assert ask(victim.port, request).status == 431


NOT_HTTP = {
    "unknown method": b"FOO /health HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "NUL in the path": b"GET /\x00 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "high bytes in the path": b"GET /\xff\xfe HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "NUL in a header": b"GET /health HTTP/1.1\r\nHost: {host}\r\nX: a\x00b\r\n\r\n",
    "folded header": b"GET /health HTTP/1.1\r\nHost: {host}\r\n folded: yes\r\n\r\n",
    "space before the colon": b"GET /health HTTP/1.1\r\nHost : {host}\r\n\r\n",
    "two lengths": b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "length and chunked": b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "negative length": b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
    "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "nonsense": b"\x00\xff" * 1000,
}


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(
    "target",
    [
        "http://evil.example/health",
        "http://evil.example:{port}/health",
        "http://127.0.0.1/health",
        "http://127.0.0.1:{port}.evil.example/health",
        "http://user@127.0.0.1:{port}/health",
        "https://127.0.0.1:{port}/health",
        "ftp://127.0.0.1:{port}/health",
        "HTTP://EVIL.EXAMPLE/health",
        "http://localhost:{port}/health",
        "http:///health",
    ],
)
def test_a_request_for_another_host_is_misdirected_whatever_its_host_header_says(
    victim: TargetDaemon, target: str, own: bool
) -> None:
    absolute = target.format(port=victim.port)
    host = f"127.0.0.1:{victim.port}" if own else absolute.partition("://")[2].partition("/")[0]
    is_ours = target.startswith("http://localhost") and not own
    for more in ([], WEBSOCKET_HEADERS):
        answer = ask(victim.port, Ask(absolute, headers=[("Host", host), *more]))
        refused = {400, 421} if not own else {421}  # a name that is none is no HTTP either
        assert answer.status in refused or (is_ours and answer.status in {200, 404}), (answer, more)


def test_a_request_that_names_our_own_host_twice_is_served(victim: TargetDaemon) -> None:
    assert ask(victim.port, Ask(f"http://127.0.0.1:{victim.port}/health", headers=[victim.host])).status == 200


@pytest.mark.parametrize("request_bytes", NOT_HTTP.values(), ids=NOT_HTTP)
def test_what_is_not_http_is_refused_as_such(victim: TargetDaemon, request_bytes: bytes) -> None:
    answer = ask(victim.port, request_bytes.replace(b"{host}", b"127.0.0.1:%d" % victim.port))
    assert code_of(answer) == (400, "not_http")


@pytest.mark.parametrize(
    "path", ["/%00", "/%ff%fe", "/%2e%2e/%2e%2e/etc/passwd", "/../tokens.json", "//", "/api/%65vents"]
)
def test_an_odd_path_is_not_an_address_of_ours(victim: TargetDaemon, path: str) -> None:
    for headers in ([victim.host], [victim.host, victim.mcp_bearer]):
        assert ask(victim.port, Ask(path, headers=headers)).status == 404


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "9" * 19, "9" * 5000, "٣", "1e3", "0x10", "\0", "NaN", "1_000"])
def test_an_invalid_number_is_a_bad_request(victim: TargetDaemon, value: str) -> None:
    for name in ("after", "limit"):
        answer = victim.ask_page(f"/api/events?{name}={quote(value)}")
        assert code_of(answer) == (400, "bad_request")


def test_the_largest_numbers_are_served(victim: TargetDaemon) -> None:
    answer = victim.ask_page(f"/api/events?after={'9' * 18}&limit={'9' * 18}")
    assert (answer.status, answer.json()["events"]) == (200, [])


def test_a_long_pipeline_is_cut_and_a_short_one_is_served(victim: TargetDaemon) -> None:
    one = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{victim.port}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", victim.port), 10) as connection:
        connection.sendall(one * 10)
        assert received(connection, 10).count(b"HTTP/1.1 200 OK") == 10
    with socket.create_connection(("127.0.0.1", victim.port), 10) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(one * 100_000)
        assert received(connection, 100_000).count(b"HTTP/1.1 200 OK") <= PIPELINE_AT_MOST + 1


def received(connection: socket.socket, answers: int) -> bytes:
    data = b""
    try:
        while data.count(b'{"status":"ok"') < answers and (piece := connection.recv(65536)):
            data += piece
    except ConnectionResetError:
        pass
    return data
