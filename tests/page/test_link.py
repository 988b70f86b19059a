"""The page's connections when they fail it: what was sent runs once, what was missed is read, nobody listens twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.daemons import call, eventually
from tests.page.chat_page import fresh, say, speak_as
from tests.page.held import asked_count
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")

Judge = Callable[[WebSocketRoute, dict[str, Any]], bool]
"""Whether a frame goes on; it may end the connection instead."""


def everything(_: WebSocketRoute, __: dict[str, Any]) -> bool:
    return True


@dataclass
class Between:
    """Between the page and the gateway: sees every frame, and lets through what the test wants."""

    asked: list[dict[str, Any]] = field(default_factory=list)
    to_daemon: Judge = everything
    to_page: Judge = everything

    def stand(self, page: Page) -> None:
        page.route_web_socket("**/link/chat", self._connected)
        page.reload()

    def requests(self, method: str) -> list[dict[str, Any]]:
        return [it["params"] for it in self.asked if it["method"] == method]

    def _connected(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def outward(message: str | bytes) -> None:
            frame = json.loads(message)
            is_proof = "method" not in frame
            if not is_proof:
                self.asked.append(frame)
            if is_proof or self.to_daemon(route, frame):
                server.send(message)

        def inward(message: str | bytes) -> None:
            frame = json.loads(message)
            if "type" not in frame or self.to_page(route, frame):
                route.send(message)

        route.on_message(outward)
        server.on_message(inward)


@pytest.fixture
def between(tab: Tab) -> Between:
    between = Between()
    between.stand(tab.page)
    tab.assert_connected()
    return between


def keys_of(between: Between) -> list[str]:
    return [it["idempotencyKey"] for it in between.requests("chat.send")]


def test_what_never_came_is_given_back_and_sent_again_with_its_key_also_after_a_reload(
    tab: Tab, between: Between
) -> None:
    chat = fresh(tab)
    box = chat.get_by_label("Message")

    def loses(route: WebSocketRoute, frame: dict[str, Any]) -> bool:
        if frame["method"] != "chat.send":
            return True
        between.to_daemon = everything
        route.close(code=1012)
        return False

    between.to_daemon = loses
    say(chat, "/status")
    expect(box).to_have_value("/status")
    expect(chat.locator("article.user")).to_have_count(0)
    tab.page.reload()
    expect(box).to_have_value("/status")
    expect(chat.locator(".away")).to_have_count(0)
    box.press("Enter")
    expect(chat.locator("details.tool.done")).to_have_count(1)
    assert len(keys_of(between)) == 2
    assert len(set(keys_of(between))) == 1, "it is the same message"
    say(chat, "/status")
    expect(chat.locator("details.tool.done")).to_have_count(2)
    assert len(set(keys_of(between))) == 2, "to run it once more is another wish"


def test_a_run_that_ends_before_its_first_event_says_why(tab: Tab, between: Between) -> None:
    """A view in the editor, and a page that reads slowly, are told of its end alone."""
    chat = fresh(tab)
    between.to_page = lambda _, frame: frame.get("event") != "agent"
    say(chat, "/nonsense")
    expect(chat.locator("article.assistant .bad")).to_contain_text("Unknown command /nonsense.")
    expect(chat.locator(".going")).to_have_count(0)
    expect(chat.locator("article")).to_have_count(2)


def test_what_came_although_its_answer_did_not_is_not_offered_to_be_sent_again(tab: Tab, between: Between) -> None:
    chat = fresh(tab)

    def loses(route: WebSocketRoute, frame: dict[str, Any]) -> bool:
        if frame.get("type") != "res" or frame.get("payload", {}).get("status") != "started":
            return True
        between.to_page = everything
        route.close(code=1012)
        return False

    between.to_page = loses
    say(chat, "/status")
    expect(chat.locator("details.tool.done")).to_have_count(1)
    expect(chat.get_by_label("Message")).to_have_value("")
    expect(chat.locator("article.user .words")).to_have_text(["/status"])
    assert len(keys_of(between)) == 1


def test_what_was_missed_before_the_first_frame_is_read_again(tab: Tab, between: Between) -> None:
    chat = fresh(tab)
    tab.page.reload()  # a connection on which nothing was told yet
    expect(chat.locator(".empty")).to_be_visible()
    expect(chat.get_by_role("button", name="New conversation")).to_be_enabled()
    seen: list[int] = []

    def swallows(_: WebSocketRoute, frame: dict[str, Any]) -> bool:
        if "seq" not in frame or frame.get("payload", {}).get("state") == "final":
            return True
        seen.append(frame["seq"])
        return False

    between.to_page = swallows
    say(chat, "/status")
    expect(chat.locator("details.tool.done")).to_have_count(1)
    expect(chat.locator("article.assistant .prose")).not_to_be_empty()
    assert seen[0] == 1


def test_a_frame_that_is_sent_twice_counts_once(tab: Tab, between: Between) -> None:
    chat = fresh(tab)

    def repeats(route: WebSocketRoute, frame: dict[str, Any]) -> bool:
        if "seq" in frame:
            route.send(json.dumps(frame))
        return True

    between.to_page = repeats
    before = len(between.requests("chat.history"))
    say(chat, "/status")
    expect(chat.locator("article.assistant .prose")).to_have_count(1)
    expect(chat.locator(".going")).to_have_count(0)
    assert len(between.requests("chat.history")) == before


def test_a_daemon_that_says_nothing_is_left_and_tried_again(tab: Tab, between: Between) -> None:
    fresh(tab)
    before = len(between.requests("connect"))
    first: list[WebSocketRoute] = []

    def falls_silent(route: WebSocketRoute, frame: dict[str, Any]) -> bool:
        """The next connection alone: it says that it ticks often, and then not a word."""
        if frame.get("event") == "connect.challenge":
            first.append(route)
            return True
        welcome = frame.get("payload", {})
        if route not in first[:1]:
            return True
        if "policy" in welcome:
            hasty = {**welcome, "policy": {**welcome["policy"], "tickIntervalMs": 50}}
            route.send(json.dumps({**frame, "payload": hasty}))
        return False

    between.to_page = falls_silent
    tab.page.reload()
    chat = tab.show("Chat")
    eventually(lambda: tab.page.evaluate("() => true") and len(between.requests("connect")) == before + 2)
    say(chat, "/status")
    expect(chat.locator("details.tool.done")).to_have_count(1)
    expect(chat.locator(".away")).to_have_count(0)


HASTY = "() => { const real = AbortSignal.timeout; AbortSignal.timeout = (ms) => real.call(AbortSignal, ms / 10); }"


def test_a_daemon_that_is_halted_is_reported_and_the_page_continues_with_it(tab: Tab, daemon: TargetDaemon) -> None:
    sign = tab.page.locator("#connection")
    tab.page.clock.install()
    tab.is_marked = True
    tab.page.reload()
    tab.assert_connected()
    tab.page.evaluate(HASTY)
    daemon.process.suspend()
    try:
        tab.page.clock.fast_forward(6000)
        expect(sign).to_have_class("bad")
        expect(sign).to_contain_text("does not respond")
    finally:
        daemon.process.resume()
    tab.page.clock.fast_forward(6000)
    tab.assert_connected()
    tab.complaints = [it for it in tab.complaints if "closed before the connection" not in it]  # the browser's own


def test_what_is_forgotten_in_part_is_shown_by_no_view_any_more(tab: Tab, daemon: TargetDaemon) -> None:
    chat = fresh(tab)
    say(chat, "/help break")
    expect(chat.locator("article.assistant .prose")).to_have_count(1)
    daemon.record_event("terminal.command_ended", {"line": "make before", "exit_code": 0, "by": "terminal"})
    before_ns = time.time_ns()
    daemon.record_event("terminal.command_ended", {"line": "make after", "exit_code": 0, "by": "terminal"})
    say(chat, "/help clear")
    expect(chat.locator("article.assistant .prose")).to_have_count(2)
    rows = tab.show("Activity").locator(".row .text")
    expect(rows.filter(has_text="make")).to_have_text(["ran make after", "ran make before"])
    call(daemon.paths, "journal_forget", {"before_ns": before_ns})
    expect(rows.filter(has_text="make")).to_have_text(["ran make after"])
    expect(rows.filter(has_text="/help break")).to_have_count(0)
    expect(chat.locator("article.user")).to_contain_text(["/help clear"])
    expect(chat.locator("article.user")).to_have_count(1)


RETURN = """(view) => {
  const home = view.parentElement;
  for (let times = 0; times < 5; times++) { view.remove(); home.append(view); }
}"""


def test_a_view_that_went_and_came_back_listens_once(tab: Tab, between: Between, daemon: TargetDaemon) -> None:
    chat = fresh(tab)
    key = tab.page.evaluate("sessionStorage.chat")
    chat.evaluate(RETURN)
    name = chat.get_by_label("Conversation").first.locator("option[selected]")
    before: list[int] = []
    for label in ("once", "twice"):  # with the first, whatever the returns asked for is answered too
        before.append(len(between.requests("sessions.list")))
        speak_as(daemon, "somebody", key, "", label=label)
        expect(name).to_have_text(label)
    assert len(between.requests("sessions.list")) - before[-1] == 1

    activity = tab.show("Activity")
    activity.evaluate(RETURN)
    last = daemon.append(3)
    expect(activity.locator(".number").first).to_have_text(str(last))
    numbers = activity.locator(".number").all_inner_texts()
    assert len(numbers) == len(set(numbers))

    settings = tab.show("Settings")
    expect(settings.locator("dragoman-setting#port")).to_be_visible()
    settings.evaluate(RETURN)
    counted = asked_count(tab.page, "/api/settings")
    daemon.record_event("daemon.setting_changed", {"key": "port"})
    tab.page.wait_for_function("(before) => link.counts['/api/settings'] > before", arg=counted)
    assert asked_count(tab.page, "/api/settings") == counted + 1
