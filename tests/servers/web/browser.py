"""Debian's chromium without a window, for tests that need a real page.

The headless shell is the same engine without the browser's own windows, menus and extensions, which take a quarter of
the processor time of a test of the page.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@contextmanager
def chromium(**options: Any) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            headless=True,
            args=ARGUMENTS,
            **options,
        )
        try:
            yield browser
        finally:
            browser.close()
