"""Every route × transport × Host × Origin × token, walked over the route table; then again with the guard off.

The second walk is the proof of the first: with the guard switched off each refusal must disappear.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, fields

import anyio.to_thread
import psutil
import pytest
from starlette.routing import Route, WebSocketRoute

from dragoman.access.request_guard import AllowedNames, Audience
from dragoman.access.tokens import PURPOSES, Purpose, Tokens
from dragoman.core.paths import find_paths
from dragoman.daemon.app import RunningDaemon
from dragoman.servers.web.app import WebApis, build_table
from dragoman.servers.web.guard import GuardedRoute
from tests.daemons import call, daemon_here
from tests.proving import calls, log_in
from tests.raw_http import WEBSOCKET_HEADERS, Answer, Ask, ask

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Endpoint:
    """One way in: a route with one of its methods, or an upgrade."""

    path: str
    method: str
    purpose: Purpose | None
    upgrade: bool
    audience: Audience = "lobby"

    def ask(self, *headers: tuple[str, str]) -> Ask:
        return Ask(self.path, self.method, [*headers, *(WEBSOCKET_HEADERS if self.upgrade else [])])


NOWHERE = ["/no/such", "/api/status", "/api/call", "/api/feed", "/api/terminal", "/api/editor"]
"""What no token opens: the page and editors prove themselves on `/link/*`, and ask everything there."""


def endpoints() -> list[Endpoint]:
    """From the table itself: a route that is added tomorrow is walked tomorrow."""
    served = WebApis(*(_Nothing() for _ in fields(WebApis)))  # type: ignore[arg-type]
    names = AllowedNames.of("127.0.0.1", 1, page="page.localhost:1")
    table = build_table(served, _Nothing(), _Nothing(), _Nothing(), names)  # type: ignore[arg-type]
    return [door for gate in table for door in _doors_of(gate)] + [
        Endpoint(path, "GET", None, upgrade=False) for path in NOWHERE
    ]


class _Nothing:
    """Handlers are not called while the table is walked."""

    def __getattr__(self, name: str) -> object:
        return lambda *_: None

    def __call__(self, *_: object) -> None:
        """As an app that is mounted."""


def _doors_of(gate: GuardedRoute) -> Iterator[Endpoint]:
    if isinstance(gate.route, WebSocketRoute):
        yield Endpoint(gate.route.path, "GET", gate.purpose, upgrade=True, audience=gate.audience)
    elif isinstance(gate.route, Route):
        for method in sorted(gate.route.methods or ()):
            yield Endpoint(gate.route.path, method, gate.purpose, upgrade=False, audience=gate.audience)
        # A plain route is also tried as an upgrade, which is an unknown address, and by another method.
        yield Endpoint(gate.route.path, "GET", None, upgrade=True)
        yield Endpoint(gate.route.path, "DELETE", gate.purpose, upgrade=False, audience=gate.audience)
    else:
        raise AssertionError(f"the matrix does not know how to call {gate.route!r}")


@pytest.fixture
async def running() -> AsyncIterator[RunningDaemon]:
    async with daemon_here() as running:
        yield running


@pytest.fixture
def guard_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.servers.web.guard.judge", lambda *_: None)


def page_host(port: int) -> str:
    """By the state file: the daemon is in this very thread."""
    return f"{json.loads(find_paths().state_file.read_text())['instance']}.localhost:{port}"


def bad_hosts(door: Endpoint, port: int) -> list[list[str]]:
    page = page_host(port)
    of_others = {
        "page": [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"],
        "programs": [page],
        "link": [],
        "lobby": [],
    }
    names = [
        *of_others[door.audience],
        f"{'0' * 32}.localhost:{port}",
        f"x.{page}",
        page.removesuffix(f":{port}"),
        f"{page}0",
        "evil.example",
        f"evil.example:{port}",
        f"localhost.evil.example:{port}",
        f"localhost6:{port}",
        "127.0.0.1:1",
        f"[::ffff:127.0.0.1]:{port}",
        "127.0.0.1",
        "localhost",
        f"127.0.0.1:{port}.evil.example",
        f"127.0.0.1:0{port}",
    ]
    return [[name] for name in names] + [[], [good_host(door, port)] * 2, [good_host(door, port), "evil.example"]]


def good_host(door: Endpoint, port: int) -> str:
    return page_host(port) if door.audience == "page" else f"127.0.0.1:{port}"


def bad_origins(door: Endpoint, port: int) -> list[str]:
    """A link is for programs, which have no Origin, at every name but the page's."""
    own = [f"http://127.0.0.1:{port}", f"http://localhost:{port}"] if door.audience in {"page", "link"} else []
    return [
        *own,
        f"http://{'0' * 32}.localhost:{port}",
        *([f"http://{page_host(port)}"] if door.audience != "page" else []),
        "http://evil.example",
        "null",
        "http://localhost:3000",
        f"https://127.0.0.1:{port}",
        "http://127.0.0.1",
        f"http://127.0.0.1.evil.example:{port}",
        f"http://127.0.0.1:{port}0",
        f"http://127.0.0.1:{port}/",
        "file://",
    ]


def bad_tokens(purpose: Purpose) -> list[list[tuple[str, str]]]:
    tokens = Tokens(find_paths().tokens_folder)
    right = tokens.of(purpose)
    values = [
        "",
        right[:-1],
        right + "x",
        right[::-1],
        *(tokens.of(other) for other in PURPOSES if other != purpose),
        tokens.new_session(purpose)[:-1],
    ]
    headers = [[("Authorization", f"Bearer {value}")] for value in values]
    return [
        [],
        *headers,
        [("Authorization", right)],
        [("Authorization", f"Basic {right}")],
        [("Cookie", f"token={right}")],
        [("Authorization", f"Bearer {right}")] * 2,
        [("Sec-WebSocket-Protocol", f"bearer.{right}x")],
    ]


def good(door: Endpoint, port: int) -> tuple[tuple[str, str], ...]:
    token = Tokens(find_paths().tokens_folder).of(door.purpose or "page")
    return ("Host", good_host(door, port)), ("Authorization", f"Bearer {token}")


async def answer(port: int, request: Ask) -> Answer:
    return await anyio.to_thread.run_sync(ask, port, request)


async def statuses(port: int, requests: list[Ask]) -> set[int]:
    return {(await answer(port, request)).status for request in requests}


def host_requests(door: Endpoint, port: int) -> list[Ask]:
    token = good(door, port)[1]
    return [door.ask(*(("Host", host) for host in hosts), token) for hosts in bad_hosts(door, port)]


def origin_requests(door: Endpoint, port: int) -> list[Ask]:
    own = ("Origin", f"http://{good_host(door, port)}")
    return [door.ask(*good(door, port), ("Origin", origin)) for origin in bad_origins(door, port)] + [
        door.ask(*good(door, port), own, own)
    ]


def token_requests(door: Endpoint, port: int) -> list[Ask]:
    host = good(door, port)[0]
    purpose = door.purpose or "page"
    token = Tokens(find_paths().tokens_folder).of(purpose)
    in_query = Endpoint(f"{door.path}?token={token}&access_token={token}", door.method, door.purpose, door.upgrade)
    return [door.ask(host, *headers) for headers in bad_tokens(purpose)] + [in_query.ask(host)]


async def traces() -> tuple[int, int]:
    """Events in the journal and child processes: a refused caller leaves neither."""
    status = await anyio.to_thread.run_sync(call, find_paths(), "status")
    return status["journal_sequence"], len(psutil.Process().children(recursive=True))


async def test_every_endpoint_refuses_every_foreign_host(running: RunningDaemon) -> None:
    port = running.state.port
    for door in endpoints():
        assert await statuses(port, host_requests(door, port)) == {421}, door


async def test_every_endpoint_refuses_every_foreign_origin(running: RunningDaemon) -> None:
    port = running.state.port
    for door in endpoints():
        found = await statuses(port, origin_requests(door, port))
        # An upgrade with two Origins is malformed for the WebSocket library already.
        assert set() < found <= ({400, 403} if door.upgrade else {403}), door


async def test_every_private_endpoint_refuses_every_wrong_token_and_leaves_no_trace(running: RunningDaemon) -> None:
    port = running.state.port
    before = await traces()
    for door in endpoints():
        if door.purpose is not None:
            assert await statuses(port, token_requests(door, port)) == {401}, door
    assert await traces() == before


async def test_the_right_caller_passes_every_endpoint(running: RunningDaemon) -> None:
    port = running.state.port
    for door in endpoints():
        for headers in honest(door, port):
            got = await answer(port, door.ask(*headers, good(door, port)[1]))
            assert got.status not in {401, 403, 421}, (door, headers)


def honest(door: Endpoint, port: int) -> list[list[tuple[str, str]]]:
    """As the page in a browser calls, and as programs do."""
    page, names = page_host(port), [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
    in_page = [[("Host", page)], [("Host", page), ("Origin", f"http://{page}")]]
    plain = [[("Host", name)] for name in names]
    own = [[("Host", name), ("Origin", f"http://{name}")] for name in names]
    return {"page": in_page, "link": in_page + plain, "programs": plain + own, "lobby": in_page + plain + own}[
        door.audience
    ]


async def test_no_answer_ever_invites_other_origins_or_sets_a_cookie(running: RunningDaemon) -> None:
    port = running.state.port
    for door in endpoints():
        for request in (door.ask(*good(door, port)), door.ask(*good(door, port), ("Origin", "http://evil.example"))):
            headers = (await answer(port, request)).headers
            assert not [name for name in headers if name.startswith("access-control") or name == "set-cookie"], door


async def test_a_refusal_reveals_nothing(running: RunningDaemon) -> None:
    port = running.state.port
    host = ("Host", f"127.0.0.1:{port}")
    inside = await answer(port, Ask("/api/status", headers=[host]))
    unknown = await answer(port, Ask("/no/such", headers=[host]))
    assert (inside.status, inside.body) == (404, unknown.body)
    refused = await answer(port, Ask("/mcp", "POST", [host]))
    assert not [it.body for it in (unknown, refused) if b"dragoman" in it.body.lower()]


async def test_what_the_page_asks_is_answered_on_a_proved_socket_alone(running: RunningDaemon) -> None:
    """Whatever token is shown: what whoever once held the port was sent opens nothing."""
    port, tokens = running.state.port, Tokens(find_paths().tokens_folder)
    for path in NOWHERE[1:]:
        for purpose in PURPOSES:
            for token in (tokens.of(purpose), tokens.new_session(purpose)):
                headers = [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {token}")]
                for more in ([], WEBSOCKET_HEADERS):
                    assert (await answer(port, Ask(path, headers=[*headers, *more]))).status == 404, (path, purpose)
    status = await anyio.to_thread.run_sync(asked_as_the_page)
    assert status == 200


def asked_as_the_page() -> int:
    with calls(log_in(find_paths())) as page:
        return page.ask("/api/status").status


@pytest.mark.usefixtures("guard_off")
@pytest.mark.parametrize(("make", "refused"), [(host_requests, 421), (origin_requests, 403), (token_requests, 401)])
async def test_with_the_guard_off_the_same_walk_finds_no_refusal(
    running: RunningDaemon, make: object, refused: int
) -> None:
    port = running.state.port
    for door in endpoints():
        found = await statuses(port, make(door, port))  # type: ignore[operator]
        assert refused not in found, door
        assert found, door
