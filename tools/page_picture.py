"""Take the README's picture of the page at a stop, from the real product: docs/pictures/page.png.

    .venv/bin/python tools/page_picture.py

Needs the development requirements, the built page and chromium.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "page.png"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(shutil.copytree(ROOT / "examples", Path(folder) / "shop"))
        environment = {**os.environ, "DRAGOMAN_HOME": f"{folder}/home", "DRAGOMAN_LANG": "en"}

        def dragoman(*words: str) -> str:
            command = [sys.executable, "-m", "dragoman.cli.main", *words]
            done = subprocess.run(
                command, cwd=workspace, env=environment, check=False, capture_output=True, text=True, timeout=60
            )
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
            return done.stdout

        dragoman("up", "--port", "0", "--workspace", str(workspace))
        try:
            dragoman("trust", ".")
            dragoman("debug", "orders.py", "--break", "orders.py:21", "--if", "not codes")
            photograph(re.search(r"http\S+", dragoman("page", "--print"))[0])
        finally:
            dragoman("down", "--yes")
    print(PICTURE.relative_to(ROOT))


def photograph(link: str) -> None:
    with sync_playwright() as playwright:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720}, device_scale_factor=1.5)
        page.goto(link)
        page.get_by_role("link", name="Debugger").or_(page.get_by_role("tab", name="Debugger")).first.click()
        expect(page.get_by_text("return round(price").first).to_be_visible(timeout=30_000)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
