"""The built page in a real browser, at a daemon of its own process; what it asks for and complains of is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.daemons import PATIENCE
from tests.page.tab import SIZE, Tab
from tests.servers.target_daemon import TargetDaemon, target_daemon
from tests.servers.web.browser import chromium

expect.set_options(timeout=10_000 * PATIENCE)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with target_daemon(tmp_path_factory.mktemp("page")) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def left_open() -> Iterator[list[Tab]]:
    """The tab that the tests of a module use one after another: a new one costs more than most of them."""
    tabs: list[Tab] = []
    yield tabs
    for tab in tabs:
        tab.page.context.close()


@pytest.fixture
def tab(browser: Browser, daemon: TargetDaemon, left_open: list[Tab]) -> Iterator[Tab]:
    """Logged in. At the end nothing was asked of anybody else, no policy broken, nothing complained of."""
    if left_open:
        tab = left_open.pop()
        tab.begin_anew()
    else:
        tab = Tab.opened(browser.new_context(viewport=SIZE), daemon)
        tab.log_in()
    yield tab
    try:
        tab.assert_at_home()
    except BaseException:
        tab.is_marked = True
        raise
    finally:
        tab.page.context.close() if tab.is_marked else left_open.append(tab)
