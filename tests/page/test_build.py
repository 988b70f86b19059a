"""What a browser has to load: little before anything is seen, and nothing more once the page is there."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, expect

from tests.daemons import PATIENCE
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")

BUILT = files("dragoman.servers.web").joinpath("built")
WHOLE = 600_000
FIRST = 60_000
SECOND_MS = 1000


def zipped() -> dict[str, int]:
    assets = BUILT.joinpath("assets").iterdir()
    return {it.name: len(gzip.compress(it.read_bytes())) for it in assets}


def test_the_page_without_terminal_and_editor_is_within_its_bound() -> None:
    sizes = zipped()
    apart = {name for name in sizes if re.match(r"(screen|editor)-", name)}
    assert apart
    assert sum(size for name, size in sizes.items() if name not in apart) <= WHOLE


def test_what_is_run_before_anything_is_seen_is_small() -> None:
    """The scripts and styles that the page begins with, and what these import; the views are only fetched by then."""
    index = BUILT.joinpath("index.html").read_text()
    first = re.findall(r'<script[^>]* src="/assets/([^"]+)"|rel="stylesheet"[^>]* href="/assets/([^"]+)"', index)
    needed = [name for pair in first for name in pair if name]
    assert needed
    for name in needed:
        text = BUILT.joinpath("assets", name).read_text()
        needed += [it for it in re.findall(r'(?:from|import)"\./([^"]+)"', text) if it not in needed]
    assert sum(zipped()[name] for name in needed) <= FIRST


def test_all_code_comes_with_the_page(tab: Tab) -> None:
    """What were fetched when a view is first shown could come from whoever has the port by then."""
    tab.assert_connected()
    tab.page.wait_for_load_state("networkidle")
    fetched = len(tab.requests)
    for view in ("Chat", "Canvas", "Debugger", "Evidence", "Terminals", "Activity", "Settings"):
        tab.show(view)
        expect(tab.page.locator(f"dragoman-{view.lower()}")).to_be_visible()
    assert [url for url in tab.requests[fetched:] if "/assets/" in url] == []
    assert {name for name in zipped() if name.endswith(".js")} <= {url.rpartition("/")[2] for url in tab.requests}


def test_the_first_paint_comes_within_a_second(browser: Browser, daemon: TargetDaemon) -> None:
    context = browser.new_context()
    tab = Tab.opened(context, daemon)
    tab.log_in()
    tab.page.reload()
    tab.assert_connected()
    paints = tab.page.evaluate("performance.getEntriesByType('paint').map(it => [it.name, it.startTime])")
    assert dict(paints)["first-contentful-paint"] < SECOND_MS * PATIENCE
    context.close()
