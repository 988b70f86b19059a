"""How a person uses the debugger of the page."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

WATCH_FRAMES = """() => {
  window.gaps = [];
  let last = performance.now();
  const step = (now) => {
    window.gaps.push(now - last);
    last = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}"""


def frame_gaps(page: Page) -> list[float]:
    """Milliseconds between the frames since the last time this was asked, in order of length."""
    return sorted(float(gap) for gap in page.evaluate("() => window.gaps.splice(0)"))


def start(view: Locator, name: str) -> None:
    view.locator("#configuration").select_option(name)
    view.locator("#start").click()


def open_file(view: Locator, file: str) -> None:
    view.locator("#file").fill(file)
    view.locator("#file").press("Enter")


def gutter(view: Locator, line: int) -> Locator:
    return view.get_by_role("button", name=f"Breakpoint at line {line}", exact=True)


def break_at(view: Locator, file: str, line: int) -> None:
    open_file(view, file)
    gutter(view, line).click()
    expect(gutter(view, line)).to_have_attribute("aria-pressed", "true")


def current(view: Locator) -> Locator:
    return view.locator("dragoman-source .cm-line[aria-current]")


def variable(view: Locator, name: str, *, of: str = "#variables") -> Locator:
    return view.locator(f"{of} .row").filter(has=view.page.locator(".name", has_text=re.compile(f"^{name}$")))


def stop_three_times(view: Locator) -> None:
    """Of `adding.py`, at the same line; the page shows the third stop then."""
    break_at(view, "adding.py", 4)
    start(view, "adding")
    for total in ("0", "1", "3"):
        expect(variable(view, "total")).to_contain_text(total)
        if total != "3":
            view.locator("#continue").click()


def standing(view: Locator) -> Locator:
    return view.locator("#standing")
