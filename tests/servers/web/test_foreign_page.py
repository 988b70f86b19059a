"""A page of another origin in a real browser: whatever it tries, it reads nothing and has no effect."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page

from tests.daemons import call
from tests.proving import from_link
from tests.servers.target_daemon import TargetDaemon, target_daemon
from tests.servers.web.browser import chromium

pytestmark = pytest.mark.needs("chromium")


class _Blank(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><link rel=icon href='data:,'>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Blank) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with target_daemon(tmp_path_factory.mktemp("here")) as daemon:
        yield daemon


@pytest.fixture
def page(browser: Browser, elsewhere: str, daemon: TargetDaemon) -> Iterator[Page]:
    """It even knows the port, a login code and the token: what a browser adds by itself gives it away."""
    before = call(daemon.paths, "status")["journal_sequence"]
    context = browser.new_context()
    page = context.new_page()
    page.goto(elsewhere)
    code = str(call(daemon.paths, "login_link")["link"]).partition("#code=")[2]
    token = daemon.mcp_bearer[1].partition(" ")[2]
    page.evaluate(
        "([base, code, token]) => Object.assign(window, {base, code, token})",
        [f"http://127.0.0.1:{daemon.port}", code, token],
    )
    yield page
    context.close()
    assert call(daemon.paths, "status")["journal_sequence"] == before
    assert daemon.links() == 0
    from_link(f"http://{daemon.page_host}/#code={code}").log_in()  # the page has not spent it


READ = """async ([path, options]) => {
  try {
    const answer = await fetch(base + path, options);
    return {type: answer.type, status: answer.status, text: await answer.text()};
  } catch (error) { return {refused: error.name}; }
}"""
BEARER = "() => ({headers: {Authorization: `Bearer ${token}`}})"
LOGIN = "() => ({method: 'POST', headers: {'Content-Type': 'text/plain'}, body: JSON.stringify({code})})"
PATHS = ["/", "/health", "/mcp", "/api/status", "/api/call", "/link/calls", "/link/feed"]
OPTIONS = ["() => ({})", "() => ({credentials: 'include'})", BEARER, LOGIN]


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "credentials", "bearer", "login"])
def test_a_fetch_reads_nothing(page: Page, options: str) -> None:
    for path in PATHS:
        read = page.evaluate(f"(path) => ({READ})([path, ({options})()])", path)
        assert read == {"refused": "TypeError"}, path


@pytest.mark.parametrize("options", [*OPTIONS[:2], LOGIN], ids=["plain", "credentials", "login"])
def test_an_opaque_fetch_learns_nothing(page: Page, options: str) -> None:
    for path in PATHS:
        read = page.evaluate(f"(path) => ({READ})([path, {{...({options})(), mode: 'no-cors'}}])", path)
        assert read in ({"refused": "TypeError"}, {"type": "opaque", "status": 0, "text": ""}), path


OPEN_SOURCE = """() => new Promise((done) => {
  const source = new EventSource(base + "/mcp");
  source.onerror = () => { source.close(); done("refused"); };
  source.onmessage = source.onopen = () => done("open");
})"""
OPEN_WEBSOCKET = """() => new Promise((done) => {
  const socket = new WebSocket(base.replace("http", "ws") + "/link/feed", ["dragoman.v1", `bearer.${token}`]);
  socket.onclose = ({code}) => done(`closed ${code}`);
  socket.onopen = () => { done("opened"); socket.close(); };
})"""


def test_an_event_source_and_a_websocket_are_refused(page: Page) -> None:
    assert page.evaluate(OPEN_SOURCE) == "refused"
    assert page.evaluate(OPEN_WEBSOCKET) == "closed 1006"


LOAD = """([name, path]) => new Promise((done) => {
  const element = document.createElement(name);
  element.onload = () => done("loaded");
  element.onerror = () => done("refused");
  if (name === "link") element.rel = "stylesheet";
  element[name === "link" ? "href" : "src"] = base + path;
  document.head.append(element);
})"""


@pytest.mark.parametrize("element", ["script", "img", "link"])
def test_an_element_loads_nothing_of_ours(page: Page, element: str) -> None:
    assert {page.evaluate(LOAD, [element, path]) for path in [*PATHS, "/icon.svg"]} == {"refused"}


def test_a_frame_shows_nothing_of_ours(page: Page) -> None:
    page.evaluate(
        """() => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.onload = done;
          frame.src = base + "/#code=" + code;
          document.body.append(frame);
        })"""
    )
    assert page.evaluate("() => { try { return frames[0].document.title; } catch (error) { return error.name; } }") in {
        "SecurityError",
        "TypeError",
    }
    assert "Dragoman" not in page.frames[-1].content()


SUBMIT_FORM = """() => {
  const form = document.createElement("form");
  Object.assign(form, {method: "post", enctype: "text/plain", action: base + "/mcp"});
  const input = document.createElement("input");
  input.name = '{"code":"' + code + '","a';
  input.value = 'b":1}';
  form.append(input);
  document.body.append(form);
  form.submit();
}"""


def test_a_form_posts_without_effect(page: Page) -> None:
    """The trick with text/plain makes a form's body anything at all; its Origin cannot be hidden."""
    with page.expect_navigation():
        page.evaluate(SUBMIT_FORM)
    assert "wrong_origin" in page.content()


def test_an_opened_window_is_out_of_reach(page: Page) -> None:
    """Our page cuts the tie to its opener (COOP), so there is no handle to it."""
    with page.expect_popup() as opened:
        page.evaluate("() => { window.other = window.open(base + '/'); }")
    opened.value.wait_for_selector("text=dragoman page")
    page.wait_for_function("window.other.closed")
    assert opened.value.evaluate("window.opener") is None


def test_without_the_guard_the_same_page_would_open_a_socket(
    browser: Browser, elsewhere: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with target_daemon(tmp_path_factory.mktemp("open")) as daemon:
        daemon.switch_off("dragoman.servers.web.guard:judge", answer=None)
        page = browser.new_page()
        page.goto(elsewhere)
        page.evaluate("(base) => Object.assign(window, {base, token: 'x'})", f"http://127.0.0.1:{daemon.port}")
        assert page.evaluate(OPEN_WEBSOCKET) == "opened"
        page.close()
