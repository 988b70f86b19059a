"""Another user takes the daemon's port while the page is open, or held it before: a real Chromium, a second uid.

Whoever listens there records every byte. Nothing of it opens a daemon, neither the one that was there nor the next.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dragoman.access.proof import ProofSession
from tests.daemons import PATIENCE, Cli, cli_with_home, eventually
from tests.proving import ForeignServerError, Proof, as_editor
from tests.raw_http import WebSocket
from tests.servers.control.test_other_users import as_nobody
from tests.servers.web.browser import chromium
from tests.servers.web.squatter import Answer, Squatter, claims_all_is_well, knows, lies, reflects, relayed, squatter

pytestmark = [
    pytest.mark.needs("chromium", "page"),
    pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user"),
]


expect.set_options(timeout=20_000 * PATIENCE)  # a tab tries again every five seconds


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("home")) as cli:
        yield cli


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.set_default_timeout(15_000 * PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def port(cli: Cli) -> Iterator[int]:
    """Of a daemon that runs."""
    if cli.status()["state"] != "running":
        assert cli("up", "--port", "0").returncode == 0
    yield int(cli.status()["port"])
    cli("down", "--yes")


def log_in(cli: Cli, page: Page) -> Proof:
    """A tab with its session, which is read here so that it can be looked for in what others got."""
    page.goto(cli("page").stdout.strip())
    expect(page.locator("#connection.good")).to_have_text("connected")
    page.get_by_role("tab", name="Chat").click()
    kept = page.evaluate("JSON.parse(sessionStorage.session)")
    return Proof(ProofSession(kept["id"], kept["secret"]), page.evaluate("location.host"))


def goes_down(cli: Cli) -> None:
    assert cli("down", "--yes").returncode == 0


def is_killed(cli: Cli) -> None:
    cli.kill()


def opens(proof: Proof, path: str = "/link/feed") -> bool:
    try:
        proof.open(path).socket.close()
    except ForeignServerError:
        return False
    return True


@pytest.mark.parametrize(
    ("ends", "answer"), [(goes_down, lies), (is_killed, reflects), (is_killed, claims_all_is_well)]
)
def test_a_tab_sends_another_server_on_the_port_nothing_that_opens_a_daemon(
    cli: Cli, page: Page, port: int, ends: Callable[[Cli], None], answer: Answer
) -> None:
    session = log_in(cli, page)
    page.locator("textarea").fill("half a thought")
    ends(cli)
    with squatter(port, answer) as taken:
        expect(page.locator("#connection.bad")).to_contain_text("another program answers at this address")
        expect(page.locator("textarea")).to_have_value("half a thought")
        eventually(taken.messages)
        assert {frozenset(it) for it in taken.messages()} == {frozenset({"key", "nonce", "dialled"})}
        assert_worthless(taken, session)
        result = taken.messages()
    assert cli("up", "--port", str(port)).returncode == 0
    assert not opens(session)
    assert not opens(replace(session, dialled=f"127.0.0.1:{port}"))
    for message in result:
        for changed in ({}, {"dialled": f"127.0.0.1:{port}"}, {"key": "editor", "dialled": f"127.0.0.1:{port}"}):
            replayed(port, {**message, **changed}, *result)


def assert_worthless(taken: Squatter, session: Proof) -> None:
    text = taken.received().decode("latin-1").lower()
    assert session.key.secret not in text
    assert "half a thought" not in text
    for word in ("mac", "bearer", "authorization", "cookie", "code="):
        assert word not in text, text


def replayed(port: int, *messages: object) -> None:
    """What a listener heard, said to the real daemon in its order and again: it opens nothing."""
    with WebSocket(port, "/link/feed", [("Host", f"127.0.0.1:{port}")]) as socket:
        for message in messages:
            socket.send(json.dumps(message).encode())
        while (received := socket.receive())[0] == 1:
            assert set(json.loads(received[1])) == {"nonce", "instance", "mac"}
        assert int.from_bytes(received[1][:2]) == 4403


def test_a_client_with_the_key_is_accepted(cli: Cli, page: Page, port: int) -> None:
    """So it is the proof, and nothing else, that the others fail at."""
    session = log_in(cli, page)
    instance = str(cli.status()["instance"])
    is_killed(cli)
    with squatter(port, knows(session.key.secret, instance)) as taken:
        eventually(lambda: any("mac" in it for it in taken.messages()))


def test_no_half_of_the_port_is_left_to_others(cli: Cli, port: int) -> None:
    def take() -> str:
        taken = []
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::")):
            for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
                with socket.socket(family) as listener:
                    listener.setsockopt(socket.SOL_SOCKET, option, 1)
                    try:
                        listener.bind((host, port))
                        listener.listen()
                        taken.append(host)
                    except OSError:
                        continue
        return f"taken: {taken}"

    assert as_nobody(take) == "taken: []"
    assert cli("down", "--yes").returncode == 0
    assert as_nobody(take) != "taken: []"
    with socket.create_server(("::1", port), family=socket.AF_INET6):
        refused = cli("up", "--port", str(port))
        assert refused.returncode != 0
        assert str(port) in refused.stderr
    assert cli("up", "--port", str(port)).returncode == 0


@pytest.mark.parametrize("rewrites", [False, True])
def test_a_relay_on_another_port_fails(cli: Cli, port: int, rewrites: bool) -> None:
    """As it would face an editor with an old state file: it passes everything on to the real daemon."""
    honest = as_editor(cli.paths)
    assert opens(honest)
    with socket.create_server(("127.0.0.1", 0)) as relay:
        elsewhere = f"127.0.0.1:{relay.getsockname()[1]}"
        with relayed(relay, port, elsewhere if rewrites else ""), pytest.raises(ForeignServerError):
            replace(honest, dialled=elsewhere).open("/link/feed")


WORKER = """
const seen = [];
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  seen.push(event.request.url);
  event.respondWith(new Response(JSON.stringify(seen), { headers: { "Content-Type": "text/plain" } }));
});
"""
POISONED = """<!doctype html><title>poisoned</title><script>
navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)
  .then(() => { document.title = "armed"; });
</script>"""
PAGES = dict.fromkeys(("/", "/poisoned"), ("text/html", POISONED)) | {"/worker.js": ("text/javascript", WORKER)}


def test_a_worker_and_a_cache_that_were_left_on_the_port_see_no_later_login(
    cli: Cli, context: BrowserContext, port: int
) -> None:
    """Of `127.0.0.1` and of the last instance's own origin. They do see what is asked of their own origin."""
    before = str(cli.status()["instance"])
    goes_down(cli)
    origins = [f"http://{host}:{port}" for host in ("127.0.0.1", "localhost", f"{before}.localhost")]
    with squatter(port, pages=PAGES):
        for origin in origins:
            poisoned = context.new_page()
            poisoned.goto(f"{origin}/")
            expect(poisoned).to_have_title("armed")
            poisoned.close()
    assert cli("up", "--port", str(port)).returncode == 0
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    log_in(cli, page)
    own = page.evaluate("location.origin")
    assert {url[: len(own)] for url in requests} == {own}
    assert page.evaluate("navigator.serviceWorker.controller") is None
    for origin in origins:
        poisoned = context.new_page()
        poisoned.goto(f"{origin}/what-was-seen")
        seen = json.loads(str(poisoned.locator("body").text_content()))
        assert seen[-1] == f"{origin}/what-was-seen"
        assert not [url for url in seen if not url.startswith(origin)]
        poisoned.close()
