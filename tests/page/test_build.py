"""What a browser has to load: little before anything is seen, and the terminals' emulator only for who watches one."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, expect

from tests.daemons import PATIENCE
from tests.faces.attacked import Attacked
from tests.page.tab import Tab

pytestmark = pytest.mark.needs("chromium", "page")

BUILT = files("dragoman.web").joinpath("built")
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


def test_what_is_loaded_before_anything_is_seen_is_small() -> None:
    index = BUILT.joinpath("index.html").read_text()
    first = re.findall(r'(?:src|href)="/assets/([^"]+)"', index)
    assert first
    assert sum(zipped()[name] for name in first) <= FIRST


def test_the_emulator_is_loaded_when_a_screen_is_shown_and_not_before(tab: Tab) -> None:
    for view in ("Chat", "Canvas", "Debugger", "Terminals", "Activity", "Settings"):
        tab.show(view)
        expect(tab.page.locator(f"dragoman-{view.lower()}")).to_be_visible()
    assert not [url for url in tab.requests if "/screen-" in url]


def test_the_first_paint_comes_within_a_second(browser: Browser, daemon: Attacked) -> None:
    context = browser.new_context()
    tab = Tab.opened(context, daemon)
    tab.log_in()
    tab.page.reload()
    tab.assert_connected()
    paints = tab.page.evaluate("performance.getEntriesByType('paint').map(it => [it.name, it.startTime])")
    assert dict(paints)["first-contentful-paint"] < SECOND_MS * PATIENCE
    context.close()
