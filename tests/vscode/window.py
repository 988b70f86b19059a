"""A window of the editor, used as a person does."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import BrowserContext, Frame, Locator, Page, TimeoutError, expect

from tests.daemons import PATIENCE, eventually
from tests.vscode.editor import Editor

_OPENED_AT_MOST = 4
_CLICKED_WITHIN_S = 4.0

_SIGNS = {"dark": "vs-dark", "light": "vs"}
STATUS = '[id="dragoman.dragoman.status"]'
# Not what turns for ever: a sign that something is being waited for.
FADED_IN = """Promise.all(document.getAnimations()
  .filter((it) => it.playState === "running" && Number.isFinite(it.effect.getComputedTiming().endTime))
  .map((it) => it.finished.catch(() => 0)))"""
OPENS_WITHIN_MS = 60_000 * PATIENCE


@dataclass
class Window:
    page: Page
    editor: Editor
    folder: Path

    @classmethod
    def opened(cls, context: BrowserContext, editor: Editor, folder: Path) -> Window:
        window = cls(context.new_page(), editor, folder)
        window.page.set_default_timeout(15_000 * PATIENCE)
        window.page.goto(f"{editor.address}/?folder={folder}", wait_until="commit")
        expect(window.status).to_be_visible(timeout=OPENS_WITHIN_MS)
        return window

    @property
    def status(self) -> Locator:
        return self.page.locator(STATUS)

    @property
    def rows(self) -> Locator:
        return self.page.locator(".quick-input-list .monaco-list-row")

    @property
    def toasts(self) -> Locator:
        return self.page.locator(".notification-toast")

    def come_forward(self) -> None:
        """As a person who turns to it does: one that is behind another is drawn about once a second."""
        self.page.bring_to_front()

    def expect_status(self, text: str, *, within_s: float = 20) -> None:
        expect(self.status).to_have_text(re.compile(rf"^\s*{text}\s*$"), timeout=within_s * 1000 * PATIENCE)

    def expect_stopped(self, *, within_s: float = 20) -> None:
        self.expect_status("Dragoman", within_s=within_s)
        expect(self.status.locator(".codicon-circle-slash")).to_be_visible(timeout=within_s * 1000 * PATIENCE)

    def menu(self) -> Locator:
        self.come_forward()
        self.status.locator("a").click()
        expect(self.rows.first).to_be_visible()
        return self.rows

    def choose(self, name: str) -> None:
        """The row that begins so, in whatever list is open; typed for, since long lists draw only what fits."""
        self.page.locator(".quick-input-widget input[type=text]").fill(name)
        self.rows.filter(has_text=name).first.click()

    def command(self, title: str) -> None:
        self._find("F1", f">{title}", title)

    def open(self, name: str) -> None:
        """A file of the folder, with the cursor in it."""
        self._find("Control+P", name, name)  # by its row: what Enter takes before the files are found was open last
        expect(self.page.locator(f'.tab.active[aria-label^="{name}"]')).to_be_visible()

    def _find(self, key: str, text: str, name: str) -> None:
        """A view that has just come takes the focus, and the list closes: then it is opened again. So it is where what
        is looked for was not in it: a list that stays open is not made anew for the same text."""
        self.come_forward()
        row = self.rows.filter(has_text=name).first
        for _ in range(_OPENED_AT_MOST):
            self.page.keyboard.press(key)
            box = self.page.locator(".quick-input-widget input[type=text]")
            expect(box).to_be_visible()
            with contextlib.suppress(TimeoutError):
                box.fill(text, timeout=_CLICKED_WITHIN_S * 1000 * PATIENCE)
                row.click(timeout=_CLICKED_WITHIN_S * 1000 * PATIENCE)
                return
            self.page.keyboard.press("Escape")
        raise AssertionError(f"nothing is called {name}")

    def enter(self, text: str) -> None:
        box = self.page.locator(".quick-input-widget input[type=text]")
        expect(box).to_be_visible()
        box.fill(text)
        box.press("Enter")

    def toast(self, text: str) -> Locator:
        found = self.toasts.filter(has_text=text).first
        expect(found).to_be_visible(timeout=30_000 * PATIENCE)
        return found

    def clear_toasts(self) -> None:
        self.command("Notifications: Clear All Notifications")
        expect(self.toasts).to_have_count(0)

    def tab(self, title: str) -> Locator:
        return self.page.locator(f'.tab[aria-label^="{title}"]')

    def dialog(self) -> Locator:
        return self.page.locator(".monaco-dialog-box")

    def wear(self, scheme: Literal["dark", "light"]) -> None:
        """As the person's system does, which the editor follows."""
        self.page.emulate_media(color_scheme=scheme)
        expect(self.page.locator(f".monaco-workbench.{_SIGNS[scheme]}")).to_be_visible()

    def picture(self, name: str) -> None:
        """When what fades in has faded in. `PICTURES` names a folder that keeps it, for the guides."""
        self.page.evaluate(FADED_IN)
        folder = Path(os.environ.get("PICTURES") or self.editor.room)
        self.page.screenshot(path=folder / f"{name}.png")

    def clipboard(self) -> str:
        return str(self.page.evaluate("navigator.clipboard.readText()"))

    def frame_with(self, selector: str) -> Frame:
        """A webview's content stands two frames deep, in frames without a name."""

        def found() -> Frame | None:
            return next((frame for frame in self.page.frames if _holds(frame, selector)), None)

        frame: Frame = eventually(found, within_s=30, every_s=0.1)
        return frame

    def reload(self) -> None:
        """As if closed and opened again: its extension host ends, and another begins."""
        self.page.reload(wait_until="commit")
        expect(self.status).to_be_visible(timeout=OPENS_WITHIN_MS)

    def close(self) -> None:
        self.page.close(run_before_unload=False)


def _holds(frame: Frame, selector: str) -> bool:
    try:
        return frame.query_selector(selector) is not None
    except Exception:  # noqa: BLE001  a frame that is just being replaced has nothing to say
        return False
