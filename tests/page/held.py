"""What the page asks over its socket, seen and held back in the page itself: answers that come late, or not at all."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

CALLS = "/api/call"

INTERPOSE = """(() => {
  const link = (window.link = { holds: [], counts: {}, change: null, fake: null, isCut: false });
  const kept = origin === "null" ? null : sessionStorage.getItem("hold");
  if (kept) {
    link.holds.push({ ...JSON.parse(kept), kept: [] });
    sessionStorage.removeItem("hold");
  }
  const read = (data) => { try { return JSON.parse(data); } catch { return {}; } };
  const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(address, ...rest) {
      super(address, ...rest);
      this.isWatched = String(address).endsWith("/link/calls");
      if (!this.isWatched) return;
      if (link.isCut) setTimeout(() => this.close());
      this.addEventListener("message", (event) => {
        const hold = event.isReplayed ? undefined : link.holds.find(({ id }) => id === read(event.data).id);
        if (!hold || hold.id === undefined) return;
        event.stopImmediatePropagation();
        hold.kept.push([this, event.data]);
        hold.isWhole = !read(event.data).more;
      });
    }
    replay(data) {
      const event = new MessageEvent("message", { data });
      event.isReplayed = true;
      this.dispatchEvent(event);
    }
    send(data) {
      const asked = this.isWatched ? read(data) : {};
      if (!asked.path) return super.send(data);
      const path = asked.path.split("?")[0];
      link.counts[path] = (link.counts[path] ?? 0) + 1;
      if (link.isCut) return this.close();
      const isMeant = (it) => it.id === undefined && it.path === path && (!it.tool || it.tool === asked.body.tool);
      const hold = link.holds.find(isMeant);
      if (hold) hold.id = asked.id;
      if (link.fake?.path === path) {
        const { status, text } = link.fake;
        return setTimeout(() => this.replay(JSON.stringify({ id: asked.id, status, text, more: false })));
      }
      super.send(link.change ? JSON.stringify(link.change(asked)) : data);
    }
  };
})();"""
HOLD = "([path, tool]) => link.holds.push({ path, tool, kept: [] }) - 1"
LET = """(number) => {
  const { kept } = link.holds[number];
  link.holds[number].id = null;
  for (const [socket, data] of kept) socket.replay(data);
  return new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
}"""
LOSE = """(number) => {
  const { kept } = link.holds[number];
  link.holds[number].id = null;
  for (const [socket] of kept) socket.close();
}"""


class Held:
    """The next answer of a tool, or of an address, is held back; those after it come as ever."""

    def __init__(self, page: Page, tool: str = "", *, address: str = CALLS) -> None:
        self._page = page
        self._number: int = page.evaluate(HOLD, [address, tool])

    @classmethod
    def from_reload(cls, page: Page, address: str = CALLS, tool: str = "") -> Held:
        """The first answer after the reload, which is made here."""
        page.evaluate("(hold) => sessionStorage.setItem('hold', JSON.stringify(hold))", {"path": address, "tool": tool})
        page.reload()
        held = cls.__new__(cls)
        held._page, held._number = page, 0
        return held

    def until_asked(self) -> None:
        """The daemon has answered."""
        self._page.wait_for_function("(number) => link.holds[number].isWhole", arg=self._number)

    def let(self) -> None:
        """Until the page has it, and has drawn what it makes of it."""
        self._page.evaluate(LET, self._number)

    def lose(self) -> None:
        """The connection that it came over ends, and the answer with it."""
        self._page.evaluate(LOSE, self._number)


def cut_off(page: Page) -> None:
    """As if nobody listened at the daemon's address any more."""
    page.evaluate("() => { link.isCut = true; }")


def answered_with(page: Page, path: str, status: int, text: str) -> None:
    """Whatever the daemon would answer there, the page gets this."""
    page.evaluate("(fake) => { link.fake = fake; }", {"path": path, "status": status, "text": text})


def asked_count(page: Page, path: str) -> Any:
    return page.evaluate("(path) => link.counts[path] ?? 0", path)
