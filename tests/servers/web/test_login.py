"""Login links, tokens and what ends with them; and that declared rights count for nothing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import anyio.to_thread
import psutil
import pytest

from dragoman.access.proof import CODE_LIFETIME_S, Keyring, ProofSession
from dragoman.core.paths import find_paths
from dragoman.daemon.app import RunningDaemon
from tests.daemons import Cli, call, cli_with_home, daemon_here
from tests.proving import ForeignServerError, Proof, from_link
from tests.raw_http import Ask, WebSocket, ask
from tests.support.clocks import VirtualClock


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
        ("/mcp", "", 401),
        ("/api/status", "", 404),
        ("/", "page", 200),
        ("/icon.svg", "page", 200),
        ("/icon.svg", "", 421),
        ("/", "evil.example", 421),
    ],
)
def test_no_answer_sends_a_referrer_is_framed_or_loads_from_elsewhere(
    cli: Cli, path: str, host: str, status: int
) -> None:
    port = port_of(cli)
    names = {"": f"127.0.0.1:{port}", "page": f"{cli.status()['instance']}.localhost:{port}"}
    answer = ask(port, Ask(path, headers=[("Host", names.get(host, host))]))
    found = {name.lower(): value for name, value in answer.headers.items()}
    assert answer.status == status
    assert found["referrer-policy"] == "no-referrer"
    assert (found["x-content-type-options"], found["cache-control"]) == ("nosniff", "no-store")
    policy = dict(part.strip().split(" ", 1) for part in found["content-security-policy"].split(";"))
    own = {"script-src", "style-src", "img-src", "connect-src"}
    closed = {"default-src", "base-uri", "form-action", "frame-ancestors"}
    assert policy == dict.fromkeys(own, "'self'") | dict.fromkeys(closed, "'none'")


def status(port: int, bearer: str, *headers: tuple[str, str]) -> int:
    request = [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {bearer}"), *headers]
    return ask(port, Ask("/mcp", "POST", request)).status


def link_of(cli: Cli) -> str:
    link = cli("page").stdout.strip()
    instance, port = cli.status()["instance"], port_of(cli)
    assert re.fullmatch(rf"http://{instance}\.localhost:{port}/#code=code-[0-9a-f]{{32}}\.[\w-]{{43}}", link)
    return link


def opens(proof: Proof) -> bool:
    try:
        proof.open("/link/feed").socket.close()
    except ForeignServerError:
        return False
    return True


def test_a_link_works_once_for_any_client(cli: Cli) -> None:
    link = from_link(link_of(cli))
    session = link.log_in()
    with pytest.raises(ForeignServerError):
        link.log_in()
    assert opens(session)


@pytest.fixture
async def running(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[RunningDaemon, VirtualClock]]:
    clock = VirtualClock()
    monkeypatch.setattr("dragoman.daemon.app.Keyring", lambda tokens, _: Keyring(tokens, clock))
    async with daemon_here() as running:
        yield running, clock


@pytest.mark.anyio
async def test_a_link_older_than_two_minutes_is_refused_by_the_daemon(
    running: tuple[RunningDaemon, VirtualClock],
) -> None:
    daemon, clock = running
    links = [from_link(f"{daemon.state.page_address}/#code={daemon.login_code}"), from_link(await _link())]
    await anyio.to_thread.run_sync(links[1].log_in)
    clock.advance(CODE_LIFETIME_S)
    with pytest.raises(ForeignServerError):
        await anyio.to_thread.run_sync(links[0].log_in)


async def _link() -> str:
    return str((await anyio.to_thread.run_sync(call, find_paths(), "login_link"))["link"])


def test_tokens_codes_and_sessions_are_written_nowhere(cli: Cli) -> None:
    """Not in logs, journal, command lines, environments or answers; the tokens' own files aside."""
    port, unspent, spent = port_of(cli), from_link(link_of(cli)), from_link(link_of(cli))
    session = spent.log_in()
    assert opens(session)
    for bearer in (cli.token("mcp"), "x" + cli.token("mcp")):
        status(port, bearer)
        ask(port, Ask(f"/api/status?token={bearer}", headers=[("Host", "evil.example"), ("Referer", bearer)]))
    keys = [it.key.secret for it in (unspent, spent, session)]
    secrets = [*keys, *(cli.token(purpose) for purpose in ("mcp", "gateway", "editor"))]
    texts = {"export": cli("journal", "export").stdout, "page": page_source(cli), **files_of(cli), **processes()}
    assert texts["export"]
    for place, text in texts.items():
        assert not [secret for secret in secrets if secret in text], place


def files_of(cli: Cli) -> dict[str, str]:
    files = (path for path in cli.home.rglob("*") if path.is_file() and path.parent != cli.paths.tokens_folder)
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


def page_source(cli: Cli) -> str:
    port, paths = port_of(cli), ("/", "/icon.svg", "/health")
    hosts = (f"127.0.0.1:{port}", f"{cli.status()['instance']}.localhost:{port}")
    return "".join(ask(port, Ask(path, headers=[("Host", host)])).body.decode() for path in paths for host in hosts)


def test_any_other_host_name_shows_a_notice_without_script_and_without_login(cli: Cli) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]"):
        answer = ask(port_of(cli), Ask("/", headers=[("Host", f"{name}:{port_of(cli)}")]))
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert b"dragoman page" in answer.body
        assert not re.search(rb"<(script|link|form|meta http)|/assets/|code", answer.body)


def test_a_rotation_ends_everything_of_its_purpose_within_a_second_and_nothing_else(cli: Cli) -> None:
    unspent, session = from_link(link_of(cli)), from_link(link_of(cli)).log_in()
    old = {purpose: cli.token(purpose) for purpose in ("mcp", "gateway")}
    with session.open("/link/feed") as feed:
        assert feed.receive_json()["type"] == "snapshot"
        assert cli("token", "rotate", "mcp").returncode == 0
        feed.send(b"still here?", opcode=9)
        assert feed.receive() == (10, b"still here?")
        assert cli("token", "rotate", "page").returncode == 0
        rotated = time.monotonic()
        assert feed.close_code() == 4401
        assert time.monotonic() - rotated < 1
    assert [opens(it) for it in (session, unspent)] == [False, False]
    assert status(port_of(cli), old["mcp"]) == 401
    assert cli.token("gateway") == old["gateway"]
    assert opens(from_link(link_of(cli)).log_in())


def test_a_restart_ends_sessions_and_codes_and_keeps_tokens(cli: Cli) -> None:
    before, token = cli.status(), cli.token("mcp")
    session, unspent = from_link(link_of(cli)).log_in(), from_link(link_of(cli))
    assert cli("restart").returncode == 0
    after = cli.status()
    assert after["port"] == before["port"]
    assert after["instance"] != before["instance"]
    assert re.fullmatch("[0-9a-f]{32}", after["instance"])
    assert json.loads(cli.paths.state_file.read_text())["instance"] == after["instance"]
    moved = [replace(it, dialled=f"127.0.0.1:{after['port']}") for it in (session, unspent)]
    assert [opens(it) for it in (session, unspent, *moved)] == [False] * 4
    assert cli.token("mcp") == token


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


def test_declared_rights_grant_nothing(cli: Cli) -> None:
    port = port_of(cli)
    weakest = [cli.token("editor"), cli.token("gateway"), "", "null", "undefined"]
    assert {status(port, bearer, *DECLARED) for bearer in weakest} == {401}
    assert status(port, cli.token("mcp"), *DECLARED) != 401
    with WebSocket(port, "/link/feed", [("Host", f"127.0.0.1:{port}"), *DECLARED]) as socket:
        everything = {"key": "editor", "nonce": "0" * 64, "dialled": f"127.0.0.1:{port}", "is_admin": True}
        socket.send(json.dumps(everything).encode())
        assert socket.close_code() == 4403


def test_a_page_session_is_worth_nothing_elsewhere(cli: Cli) -> None:
    """Neither half of it is a token, and halves of two cannot be put together."""
    session, other = (from_link(link_of(cli)).log_in() for _ in range(2))
    for text in (*session.key, f"{session.key.id}.{session.key.secret}"):
        assert status(port_of(cli), text) == 401
    assert not opens(replace(session, key=ProofSession(session.key.id, other.key.secret)))
    assert opens(session)
