"""A component is added as the documentation shows it: an entry of the catalogue, a file of the page, nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.agent import Agent
from tests.page.tab import Tab
from tests.servers.target_daemon import target_daemon

pytestmark = pytest.mark.needs("chromium", "page", "npm")

ROOT = Path(__file__).parents[2]
SHOWN = (ROOT / "docs" / "components.md").read_text()


def documented(language: str) -> str:
    (block,) = re.findall(rf"```{language}\n(.*?)```", SHOWN, re.DOTALL)
    return str(block)


def with_a_gauge(room: Path) -> Path:
    """A copy of the product with two additions; returns where its package stands."""
    left_out = shutil.ignore_patterns("__pycache__", "built*", ".built*", "node_modules")
    package = Path(shutil.copytree(ROOT / "src" / "dragoman", room / "src" / "dragoman", ignore=left_out))
    page = Path(shutil.copytree(ROOT / "web", room / "web", ignore=left_out))
    with (package / "canvas" / "components.py").open("a") as catalogue:
        catalogue.write(f"\n\n{documented('python')}")
    (page / "src" / "canvas" / "components" / "gauge.ts").write_text(documented("ts"))
    (page / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    builds = ["node", "node_modules/vite/bin/vite.js", "build", "--outDir", str(package / "servers" / "web" / "built")]
    subprocess.run(builds, cwd=page, check=True, capture_output=True, timeout=120)
    return package.parent


@pytest.mark.timeout(180)  # it builds the page
@pytest.mark.requirement("canvas:catalogue:extensible")
def test_what_the_documentation_shows_is_all_that_a_new_component_needs(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(with_a_gauge(tmp_path)))
    with target_daemon(tmp_path / "home") as daemon:
        agent = Agent.at(daemon)
        (listed,) = agent.data_of("list_components", names=["Gauge"])["components"]
        assert (listed["example"], listed["tells"]) == ({"value": 40}, ["value"])
        gauge = {"id": "root", "component": "Gauge", "value": {"path": "/load"}, "most": 10}
        assert agent.data_of("show_canvas", components=[gauge], data={"load": 4})["warnings"] == []
        tab = Tab.opened(browser.new_context(), daemon)
        tab.log_in()
        drawn = tab.show("Canvas").locator("[data-type=Gauge]")
        expect(drawn.locator("meter")).to_have_css("width", "192px")
        agent.data_of("update_canvas", changes={"/load": 7})
        expect(drawn).to_have_text("7")
        drawn.get_by_role("button").click()
        assert agent.actions("main") == [("onSelect", {"value": 7})]
        tab.assert_at_home()
        tab.page.context.close()
