"""The built page in a real browser, at a daemon of its own process; what it asks for and complains of is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.daemons import PATIENCE
from tests.faces.attacked import Attacked, attacked
from tests.faces.web.browser import chromium
from tests.page.tab import Tab

expect.set_options(timeout=10_000 * PATIENCE)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with attacked(tmp_path_factory.mktemp("page")) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def tab(browser: Browser, daemon: Attacked) -> Iterator[Tab]:
    """Logged in. At the end nothing was asked of anybody else, no policy broken, nothing complained of."""
    context = browser.new_context(viewport={"width": 1200, "height": 760})
    tab = Tab.opened(context, daemon)
    tab.log_in()
    yield tab
    tab.assert_at_home()
    context.close()
