"""Answers that come late: the daemon gave them, and the page gets them when a test lets it."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import APIResponse, Page, Route

CALLS = "**/api/call"


@dataclass
class Held:
    """The next answer of a tool, or of an address, is held back; those after it come as ever."""

    page: Page
    tool: str = ""
    address: str = CALLS
    _kept: list[tuple[Route, APIResponse]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.route(self.address, self._hold)

    def _hold(self, route: Route) -> None:
        if self._kept or (self.tool and self.tool != dict(route.request.post_data_json or {})["tool"]):
            route.continue_()
            return
        self._kept.append((route, route.fetch()))

    def until_asked(self) -> None:
        while not self._kept:
            self.page.evaluate("new Promise(requestAnimationFrame)")

    def let(self) -> None:
        """Until the page has it, and has drawn what it makes of it."""
        ((route, answer),) = self._kept
        with self.page.expect_response(lambda it: it.request == route.request) as had:
            route.fulfill(response=answer)
        had.value.finished()
        self.page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        self.page.unroute(self.address, self._hold)


def cut_off(page: Page) -> None:
    """As if nobody listened at the daemon's address any more."""
    page.route("**/api/**", lambda route: route.abort())
