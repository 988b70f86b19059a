"""A tab with the page in it: how a person uses it, and what it did behind their back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Locator, Page, ViewportSize, expect

from tests.daemons import PATIENCE, call
from tests.page.held import INTERPOSE
from tests.proving import calls, log_in
from tests.servers.target_daemon import TargetDaemon

SIZE: ViewportSize = {"width": 1200, "height": 760}
REPORT_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""

FORGET = """(session) => {
  sessionStorage.clear();
  localStorage.clear();
  sessionStorage.session = JSON.stringify(session);
  history.replaceState(null, "", "/#chat");
}"""
NESTED = """view => {
  const scrolls = (it) => /auto|scroll/.test(getComputedStyle(it).overflowY) && it.scrollHeight > it.clientHeight + 1;
  const above = (it) => it.parentElement ?? it.getRootNode().host;
  const found = [];
  const walk = (root) => root.querySelectorAll("*").forEach((it) => {
    if (it.shadowRoot) walk(it.shadowRoot);
    if (!scrolls(it)) return;
    for (let at = above(it); at; at = above(at)) if (scrolls(at)) found.push(`${it.outerHTML} in ${at.outerHTML}`);
  });
  walk(view.shadowRoot);
  return found;
}"""
"""What scrolls inside of what scrolls, so that a finger moves now the one and now the other."""
BUSY = "task queue exceeded allotted deadline"
GIVEN_UP = "WebSocket is closed before the connection is established."
"""What xterm.js writes down where the machine is busy."""


def forget_preferences(daemon: TargetDaemon) -> None:
    with calls(log_in(daemon.paths)) as page:
        kept = page.ask("/api/preferences").json()
        changes = [{"unwatch": watch} for watch in kept["watches"]]
        changes += [{"unfold": pane} for pane in kept["folded_panes"]]
        for change in (*changes, {"language": "", "follows_agent": True, "theme": ""}):
            assert page.ask("/api/preferences/change", "POST", change).status == 200


@dataclass
class Tab:
    page: Page
    daemon: TargetDaemon
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    is_marked: bool = False
    """By something that no new beginning undoes, such as a clock of its own: no other test can use it."""

    @classmethod
    def opened(cls, context: BrowserContext, daemon: TargetDaemon) -> Tab:
        tab = cls(context.new_page(), daemon)
        tab.page.set_default_timeout(10_000 * PATIENCE)
        tab.page.add_init_script(REPORT_VIOLATIONS)
        tab.page.add_init_script(INTERPOSE)
        tab.page.on("request", lambda request: tab.requests.append(request.url))
        tab.page.on("websocket", lambda socket: tab.requests.append(socket.url))
        tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.page.on("console", lambda message: tab.record_complaint(message.text))
        return tab

    def begin_anew(self) -> None:
        """As in a tab that was just opened: of what was done, chosen and kept in it before, nothing is left."""
        self.page.unroute_all()
        self.page.context.clear_permissions()
        self.page.set_viewport_size(SIZE)
        self.page.emulate_media(color_scheme="light")
        self.page.bring_to_front()  # one that is behind another is drawn about once a second
        forget_preferences(self.daemon)
        self.page.evaluate(FORGET, self.session())
        self.requests.clear()
        self.complaints.clear()
        self.page.reload()
        self.assert_connected()

    def session(self) -> dict[str, str]:
        """What the page would make of the code of a link."""
        key = log_in(self.daemon.paths).key
        return {"id": key.id, "secret": key.secret}

    def record_complaint(self, complaint: str) -> None:
        """What the browser says of a socket that the page itself gave up while it was being opened is no fault."""
        if not complaint.startswith(BUSY) and not complaint.endswith(GIVEN_UP):
            self.complaints.append(complaint)

    def link(self) -> str:
        return str(call(self.daemon.paths, "login_link")["link"])

    def log_in(self) -> None:
        """What a first visit sees has tests of its own: the others begin in the chat."""
        self.page.goto(self.link())
        self.assert_connected()
        expect(self.page.get_by_role("tab", selected=True).first).to_be_visible()
        if self.page.url.endswith("#start"):
            self.page.evaluate("location.replace('#chat')")

    def assert_connected(self) -> None:
        expect(self.page.locator("#connection.good")).to_have_text("connected", timeout=10_000 * PATIENCE)

    def show(self, view: str) -> Locator:
        """Click on the tab of a view; returns the view."""
        self.page.locator(f"#tab-{view.lower()}").click()  # its name may have a number of what waits there
        return self.page.locator(f"dragoman-{view.lower()}")

    def ran(self) -> Any:
        """What hostile input sets, should it ever run."""
        return self.page.evaluate("window.pwned")

    def foreign(self) -> list[str]:
        return [url for url in self.requests if urlsplit(url).netloc != self.daemon.page_host]

    def assert_at_home(self) -> None:
        assert self.foreign() == []
        assert self.page.evaluate("window.violations") == []
        assert self.ran() is None
        assert self.complaints == [], self.complaints
