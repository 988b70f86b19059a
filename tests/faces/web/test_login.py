"""Login links, tokens and what ends with them; and that declared rights count for nothing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio.to_thread
import psutil
import pytest

from dragoman.access.keys import CODE_LIFETIME_S, Keyring
from dragoman.daemon.app import Running
from dragoman.testing.clocks import VirtualClock
from tests.daemons import Cli, cli_with_home, daemon_here
from tests.raw_http import Answer, Ask, WebSocket, ask

BROWSERS = ["Mozilla/5.0 Firefox", "curl/8"]


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("home")) as cli:
        assert cli("up", "--port", "0").returncode == 0
        yield cli


def port_of(cli: Cli) -> int:
    return int(cli.status()["port"])


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("/", "", 200),
        ("/health", "", 200),
        ("/api/status", "", 401),
        ("/api/none", "", 401),
        ("/", "evil.example", 421),
    ],
)
def test_no_answer_tells_where_it_came_from_nor_stands_in_a_frame_nor_loads_from_elsewhere(
    cli: Cli, path: str, host: str, status: int
) -> None:
    port = port_of(cli)
    answer = ask(port, Ask(path, headers=[("Host", host or f"127.0.0.1:{port}")]))
    told = {name.lower(): value for name, value in answer.headers.items()}
    assert answer.status == status
    assert told["referrer-policy"] == "no-referrer"
    assert (told["x-content-type-options"], told["cache-control"]) == ("nosniff", "no-store")
    policy = dict(part.strip().split(" ", 1) for part in told["content-security-policy"].split(";"))
    own = {"script-src", "style-src", "img-src", "connect-src"}
    closed = {"default-src", "base-uri", "form-action", "frame-ancestors"}
    assert policy == dict.fromkeys(own, "'self'") | dict.fromkeys(closed, "'none'")


def login(port: int, code: str, *headers: tuple[str, str]) -> Answer:
    body = json.dumps({"code": code}).encode()
    return ask(port, Ask("/api/login", "POST", [("Host", f"127.0.0.1:{port}"), *headers], body))


def status(port: int, bearer: str, *headers: tuple[str, str]) -> int:
    request = [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {bearer}"), *headers]
    return ask(port, Ask("/api/status", headers=request)).status


def feed(port: int, bearer: str) -> WebSocket:
    return WebSocket(port, "/api/feed", [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {bearer}")])


def code_in(cli: Cli) -> str:
    link = cli("page").stdout.strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#code=code-[0-9a-f]{32}\.[\w-]{43}", link)
    return link.partition("#code=")[2]


def test_a_link_works_once_whoever_comes_second(cli: Cli) -> None:
    port, code = port_of(cli), code_in(cli)
    first, second = (login(port, code, ("User-Agent", agent)) for agent in BROWSERS)
    assert (first.status, second.status, second.json()["error"]["code"]) == (200, 401, "code_spent")
    assert "dragoman page" in second.json()["error"]["hint"]
    assert status(port, first.json()["session"]) == 200


@pytest.fixture
async def running(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Running, VirtualClock]]:
    clock = VirtualClock()
    monkeypatch.setattr("dragoman.daemon.app.Keyring", lambda tokens, _: Keyring(tokens, clock))
    async with daemon_here() as running:
        yield running, clock


@pytest.mark.anyio
async def test_a_link_older_than_two_minutes_is_refused_by_the_daemon(running: tuple[Running, VirtualClock]) -> None:
    daemon, clock = running
    clock.advance(CODE_LIFETIME_S)
    answer = await anyio.to_thread.run_sync(login, daemon.state.port, daemon.login_code)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "code_spent")


def test_tokens_codes_and_sessions_are_written_nowhere(cli: Cli) -> None:
    """Not in logs, journal, command lines, environments or answers; the tokens' own file aside."""
    port, code, spent = port_of(cli), code_in(cli), code_in(cli)
    session = login(port, spent).json()["session"]
    for bearer in (session, cli.token("page"), "x" + cli.token("page")):
        status(port, bearer)
        ask(port, Ask(f"/api/status?token={bearer}", headers=[("Host", "evil.example"), ("Referer", bearer)]))
    secrets = [code, spent, session, *(cli.token(purpose) for purpose in ("page", "mcp", "gateway"))]
    texts = {"export": cli("journal", "export").stdout, "page": page_source(port), **files_of(cli), **processes()}
    assert texts["export"]
    for place, text in texts.items():
        assert not [secret for secret in secrets if secret in text], place


def files_of(cli: Cli) -> dict[str, str]:
    files = (path for path in cli.home.rglob("*") if path.is_file() and path.parent != cli.places.tokens_folder)
    return {str(path): path.read_bytes().decode("latin-1") for path in files}


def processes() -> dict[str, str]:
    found = {}
    for process in psutil.process_iter(["pid"]):
        for name in ("cmdline", "environ"):
            try:
                found[f"{process.pid}/{name}"] = Path(f"/proc/{process.pid}/{name}").read_bytes().decode("latin-1")
            except OSError:
                continue
    return found


def page_source(port: int) -> str:
    paths = ("/", "/page.js", "/page.css", "/health")
    return "".join(ask(port, Ask(path, headers=[("Host", f"127.0.0.1:{port}")])).body.decode() for path in paths)


def test_a_rotation_ends_everything_of_its_purpose_within_a_second_and_nothing_else(cli: Cli) -> None:
    port, unspent = port_of(cli), code_in(cli)
    old = {purpose: cli.token(purpose) for purpose in ("page", "mcp", "gateway")}
    session = login(port, code_in(cli)).json()["session"]
    with ExitStack() as stack:
        feeds = [stack.enter_context(feed(port, bearer)) for bearer in (old["page"], session)]
        assert [it.receive_json()["type"] for it in feeds] == ["snapshot"] * 2
        assert cli("token", "rotate", "mcp").returncode == 0
        assert status(port, session) == 200
        for it in feeds:
            it.send(b"still here?", opcode=9)
            assert it.receive() == (10, b"still here?")
        assert cli("token", "rotate", "page").returncode == 0
        rotated = time.monotonic()
        assert [it.close_code() for it in feeds] == [4401] * 2
        assert time.monotonic() - rotated < 1
    assert [status(port, bearer) for bearer in (old["page"], session)] == [401, 401]
    assert login(port, unspent).json()["error"]["code"] == "code_spent"
    assert cli.token("gateway") == old["gateway"]
    assert status(port, cli.token("page")) == 200


def test_a_restart_keeps_tokens_and_sessions_and_a_rotation_outlives_it(cli: Cli) -> None:
    session = login(port_of(cli), code_in(cli)).json()["session"]
    assert cli("restart").returncode == 0
    assert [status(port_of(cli), bearer) for bearer in (session, cli.token("page"))] == [200, 200]
    old = cli.token("page")
    assert cli("token", "rotate").returncode == 0
    assert cli("restart").returncode == 0
    assert [status(port_of(cli), bearer) for bearer in (session, old, cli.token("page"))] == [401, 401, 200]


DECLARED: list[tuple[str, str]] = [
    ("X-Is-Admin", "true"),
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Forwarded-Host", "127.0.0.1"),
    ("X-Original-URL", "/health"),
    ("X-Rewrite-URL", "/health"),
    ("X-HTTP-Method-Override", "GET"),
    ("X-Scopes", "*"),
    ("X-User", "root"),
    ("Forwarded", "for=127.0.0.1;host=127.0.0.1"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Cookie", "session=admin; token=admin"),
    ("Proxy-Authorization", "Bearer x"),
]


def test_declared_rights_open_no_door(cli: Cli) -> None:
    port = port_of(cli)
    weakest = [cli.token("mcp"), cli.token("gateway"), "", "null", "undefined"]
    assert {status(port, bearer, *DECLARED) for bearer in weakest} == {401}
    assert status(port, cli.token("page"), *DECLARED) == 200
    body: dict[str, Any] = {"code": code_in(cli), "is_admin": True, "scopes": ["*"], "purpose": "mcp"}
    request = Ask("/api/login", "POST", [("Host", f"127.0.0.1:{port}")], json.dumps(body).encode())
    assert ask(port, request).json()["error"]["code"] == "bad_request"
    assert login(port, body["code"]).status == 200


def test_a_page_session_is_worth_nothing_elsewhere(cli: Cli) -> None:
    """It is derived from the page's token: no other purpose takes it, and no part of it can be moved."""
    from dragoman.access.tokens import Tokens

    tokens = Tokens(cli.places.tokens_folder)
    session, other = (login(port_of(cli), code_in(cli)).json()["session"] for _ in range(2))
    assert not tokens.accepts("mcp", session)
    assert not tokens.accepts("gateway", session)
    nonce, _, proof = session.partition(".")
    forged = [f"{other.partition('.')[0]}.{proof}", f"{nonce}.", f".{proof}", f"{nonce}.{proof.upper()}", nonce, proof]
    assert {status(port_of(cli), bearer) for bearer in forged} == {401}
