"""The page while its daemon has rude, slow and half-dead guests, and while it is itself too slow to follow."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, expect

from dragoman.io.net.http_server import WEBSOCKET_MESSAGE_CAP
from dragoman.servers.web.feed import BEHIND_AT_MOST
from dragoman.servers.web.guard import BODY_CAP
from tests.daemons import PATIENCE, eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.proving import log_in
from tests.raw_http import Answer, WebSocket, frame
from tests.servers.target_daemon import MB, TargetDaemon, many_descriptors

pytestmark = pytest.mark.needs("bash", "chromium", "page")

ROOM = 2 * max(BODY_CAP, WEBSOCKET_MESSAGE_CAP) + 12 * MB
ASLEEP_S = 3.0
SLEEP = "s => { setTimeout(() => { const until = performance.now() + 1000 * s; while (performance.now() < until); }); }"
FEW = 60
NUMBERS = itertools.count(100)
COUNT_GAPS = """
window.gaps = 0;
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => (window.gaps += String(data).startsWith('{"type":"gap"')));
  }
};
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("faults")) as place:
        place.tool("run_in_terminal", command="echo ready")
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def unharmed(tab: Tab, place: DebugWorkspace) -> Iterator[Tab]:
    """Whatever a test does beside it: the page is told of things as ever, answers a click, and nothing was lost."""
    page_of = tab.show("Terminals")
    yield tab
    tab.assert_connected()
    words = f"and goes on {next(NUMBERS)}"
    place.tool("run_in_terminal", command=f"echo {words}")
    listed = page_of.locator("#commands .command").filter(has_text=words)
    expect(listed.get_by_label("exit code 0")).to_be_visible()
    listed.click()
    expect(page_of.locator("#output .shown").first).to_have_text(words)


@pytest.fixture
def frugal(unharmed: Tab, daemon: TargetDaemon) -> Iterator[Tab]:
    before = daemon.resident()
    yield unharmed
    assert daemon.resident() - before < ROOM


def door(daemon: TargetDaemon, path: str, first: bytes) -> WebSocket:
    socket = log_in(daemon.paths).open(path)
    if first:
        socket.send(first)
    return socket


def doors(place: DebugWorkspace) -> dict[str, bytes]:
    """The sockets of the page, and what each wants to hear first."""
    terminal = str(place.tool("list_terminals")["terminals"][0]["terminal"])
    return {"/link/feed": b"", "/link/terminal": terminal.encode(), "/link/chat": b"", "/link/calls": b""}


RUDE: dict[str, tuple[bytes, set[int]]] = {
    "25 MB": (b"", {1009}),
    "cap + 1": (frame(b"x" * (WEBSOCKET_MESSAGE_CAP + 1)), {1009}),
    "cap + 2": (frame(b"x" * (WEBSOCKET_MESSAGE_CAP + 2)), {1009}),
    "4 GiB promised": (frame(length=1 << 32), {1002, 1009}),
    "2^63 promised": (frame(length=1 << 63), {1002, 1009}),
    "compressed": (frame(b"\x00" * 100, first=0xC0), {1002}),
    "lone surrogate": (frame(b'"\xed\xa0\x80"'), {1007}),
}
"""Each is a frame, and how a door of the page may answer it."""


def test_rude_frames_at_every_socket_of_the_page_end_their_sender_alone(frugal: Tab, place: DebugWorkspace) -> None:
    daemon = place.daemon
    for path, first in doors(place).items():
        for what, (result, codes) in RUDE.items():
            with door(daemon, path, first) as rude:
                rude.send_raw(result or frame(b"x" * 25_000_000))
                assert rude.close_code() in codes | {0}, (path, what)
    expect(frugal.page.locator("#connection.good")).to_be_visible()


def test_messages_up_to_the_cap_and_deep_nonsense_change_nothing(frugal: Tab, place: DebugWorkspace) -> None:
    for path, first in doors(place).items():
        with door(place.daemon, path, first) as rude:
            for result in (
                b"x" * WEBSOCKET_MESSAGE_CAP,
                b"[" * 100_000,
                b'{"a":' * 100_000,
                b'{"id":9223372036854775808}',
            ):
                rude.send(result)
            rude.send(b"still here?", opcode=9)
            assert answered_or_closed(rude), path


def answered_or_closed(rude: WebSocket) -> bool:
    """A door that only tells goes on; one that expected something else has closed by then."""
    while (got := rude.receive())[0] not in {8, 10, -1}:
        pass
    return got[0] in {8, 10}


@functools.cache
def bodies() -> dict[str, bytes]:
    """Made where they are sent: everybody who runs tests reads this file."""
    return {
        "too large": b'{"tool":"x","arguments":{"a":"' + b"x" * 25_000_000 + b'"}}',
        "cap + 1": b'{"tool":"' + b"x" * (BODY_CAP - 10) + b'"}',
        "nested": b'{"tool":"list_sessions","arguments":{"a":' + b"[" * 100_000,
        "a million keys": b'{"arguments":{' + b",".join(b'"%x":1' % n for n in range(1_000_000)) + b"}}",
        "a key twice": b'{"tool":"list_sessions","tool":"no_such_tool"}',
        "2^63": b'{"tool":"get_variables","arguments":{"variables_reference":9223372036854775808}}',
        "lone surrogate": b'{"tool":"get_source","arguments":{"file_path":"\\ud800"}}',
    }


@pytest.mark.parametrize("path", ["/api/call", "/api/canvas/act", "/api/terminals/ask", "/api/debug/stop-waiting"])
def test_rude_bodies_at_every_address_of_the_page_are_refused(frugal: Tab, place: DebugWorkspace, path: str) -> None:
    for what, body in bodies().items():
        answer = posted(place.daemon, path, body)
        data = json.loads(answer.body) if answer.body else {}
        assert 400 <= answer.status < 500 or data.get("is_error") or answer.status == 0, (what, answer)


def posted(daemon: TargetDaemon, path: str, body: bytes) -> Answer:
    """Nothing at all (0) where it hung up while it was still being told."""
    with log_in(daemon.paths).open("/link/calls") as socket:
        socket.send(b'{"id":1,"method":"POST","path":"%b","body":%b}' % (path.encode(), body))
        opcode, result = socket.receive()
    if opcode != 1:
        return Answer(0, {}, b"")
    piece = json.loads(result)
    return Answer(piece["status"], {}, piece["text"].encode())


def test_a_page_that_falls_behind_learns_of_the_gap_and_shows_the_present(unharmed: Tab, place: DebugWorkspace) -> None:
    daemon, page = place.daemon, unharmed.page
    page.add_init_script(COUNT_GAPS)
    unharmed.is_marked = True
    page.reload()
    unharmed.assert_connected()
    daemon.patch("dragoman.servers.web.feed:BEHIND_AT_MOST", FEW)
    with daemon.feed() as beside:
        beside.receive_json()
        with held(unharmed):
            fill(daemon, beside)
    page.wait_for_function("() => window.gaps > 0")
    daemon.patch("dragoman.servers.web.feed:BEHIND_AT_MOST", BEHIND_AT_MOST)
    place.tool("set_breakpoint", file_path="adding.py", line_number=4)
    view = unharmed.show("Debugger")
    expect(view.locator("#breakpoints .item")).to_have_count(1)
    place.tool("remove_breakpoint", clear_all=True)
    unharmed.show("Terminals")


@contextlib.contextmanager
def held(tab: Tab) -> Iterator[None]:
    """The page stands still, and reads nothing, for exactly as long as this lasts, however slow the machine is."""
    devtools = tab.page.context.new_cdp_session(tab.page)
    devtools.send("Debugger.enable")
    paused: list[bool] = []
    devtools.on("Debugger.paused", lambda _: paused.append(True))
    tab.page.evaluate("() => { setTimeout(() => { debugger; }); }")
    eventually(lambda: devtools.send("Debugger.enable") and paused)
    yield
    devtools.send("Debugger.resume")
    devtools.detach()


def asleep(tab: Tab, meanwhile: Callable[[], object]) -> None:
    """The page computes for as long, and reads nothing."""
    tab.page.evaluate(SLEEP, ASLEEP_S * PATIENCE)
    meanwhile()


def fill(daemon: TargetDaemon, beside: WebSocket) -> None:
    """More than all buffers on the way to the page hold; another reader gets each step as it comes."""
    for _ in range(16):
        last = daemon.append(FEW // 2, size=40_000)
        while beside.receive_json()["events"][-1]["sequence"] != last:
            pass


def test_a_screen_that_falls_behind_shows_its_end_and_says_what_is_missing(
    unharmed: Tab, place: DebugWorkspace
) -> None:
    view = unharmed.show("Terminals")
    view.locator("#terminals .item").nth(1).click()
    screen = view.locator("dragoman-screen")
    expect(screen.locator(".state.live")).to_be_visible()
    asleep(unharmed, lambda: place.tool("run_in_terminal", command="seq 800000; echo the ve''ry end"))
    expect(screen.locator("#screen")).to_contain_text("the very end")
    expect(screen.locator(".status")).to_contain_text("bytes arrived too fast and were skipped")
    assert screen.locator(".line").count() < 120


def test_half_requests_by_the_hundred_leave_the_page_quick(unharmed: Tab, place: DebugWorkspace) -> None:
    line = f"POST /api/call HTTP/1.1\r\nHost: 127.0.0.1:{place.daemon.port}\r\nContent-Length: 100\r\n"
    with contextlib.ExitStack() as stack:
        stack.enter_context(many_descriptors())
        for number in range(300):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", place.daemon.port), 10))
            half.sendall((line if number % 2 else line + "\r\n{").encode())
        begun = time.monotonic()
        unharmed.page.reload()
        unharmed.assert_connected()
        assert time.monotonic() - begun < 5 * PATIENCE
        assert answered_in_ms(unharmed.show("Terminals")) < 500 * PATIENCE


def answered_in_ms(view: Locator) -> float:
    return float(view.evaluate(
        """async () => {
          const begun = performance.now();
          await fetch("/icon.svg", { cache: "no-store" });
          return performance.now() - begun;
        }"""
    ))  # fmt: skip
