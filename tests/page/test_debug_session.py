"""A whole debug session in the page: by the mouse with a reload in the middle, by keys alone, and on the canvas."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dragoman.io.drivers.control_client import ControlClient
from tests.daemons import eventually
from tests.page.debugging_page import current, gutter, standing, variable
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")

FOCUSED = """(wanted) => {
  let it = document.activeElement;
  while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
  return it?.matches(wanted) ?? false;
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("session")) as place:
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp() / "pictures"
    folder.mkdir(exist_ok=True)
    return folder


def test_a_person_debugs_with_the_mouse_and_a_reload_changes_nothing(
    tab: Tab, place: DebugWorkspace, pictures: Path
) -> None:
    view = tab.show("Debugger")
    gutter(view, 4).click()  # the first configuration's program is open already
    view.locator("#configuration").select_option("adding")
    view.locator("#start").click()
    expect(current(view)).to_contain_text("total += value")
    view.locator("#over").click()
    expect(current(view)).to_contain_text("for value in values")
    variable(view, "values").click()
    expect(variable(view, "2")).to_contain_text("3")
    view.locator("#watch").fill("len(values)")
    view.locator("#watch").press("Enter")
    expect(view.locator("#watches .value")).to_have_text("3")
    photograph(tab, pictures)
    tab.page.reload()
    tab.assert_connected()
    expect(current(view)).to_contain_text("for value in values")
    expect(gutter(view, 4)).to_have_attribute("aria-pressed", "true")
    expect(view.locator("#watches .value")).to_have_text("3")
    expect(view.locator("#timeline")).to_contain_text("you stepped over")
    gutter(view, 4).click()
    view.locator("#continue").click()
    expect(standing(view)).to_contain_text("Terminated: exit code 0")


def photograph(tab: Tab, pictures: Path) -> None:
    for scheme in ("light", "dark"):
        for width in (1400, 420):
            tab.page.emulate_media(color_scheme=scheme)
            tab.page.set_viewport_size({"width": width, "height": 800})
            tab.page.screenshot(path=pictures / f"debugger-{scheme}-{width}.png")
    tab.page.emulate_media(color_scheme="light")
    tab.page.set_viewport_size({"width": 1200, "height": 760})


def test_waits_are_ended_and_a_program_is_stopped_with_the_mouse(tab: Tab, place: DebugWorkspace) -> None:
    view = tab.show("Debugger")
    view.locator("#configuration").select_option("endless")
    view.locator("#start").click()
    expect(standing(view)).to_contain_text("Running")
    with ThreadPoolExecutor() as others:
        waiting = others.submit(place.tool, "wait_for_stop", timeout_s=60)
        eventually(lambda: _ends_waits(view) and waiting.done())
        assert waiting.result(10)["status"] == "interrupted"
    view.locator("#stop").click()
    expect(standing(view)).to_contain_text("Terminated")


def _ends_waits(view: Locator) -> bool:
    """The page's own start may be one of them still."""
    view.locator("#unwait").click()
    pattern = re.compile(r"No calls were waiting\.|Ended one wait\.|Ended 2 waits\.")
    expect(view.locator("#notice")).to_have_text(pattern)
    expect(view.get_by_role("alert")).to_have_count(0)
    return True


def walk_to(page: Page, wanted: str) -> None:
    """By Tab, as somebody without a mouse gets there."""
    for _ in range(120):
        if page.evaluate(FOCUSED, wanted):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {wanted}")


def test_a_person_debugs_with_the_keyboard_alone(tab: Tab) -> None:
    page, keys = tab.page, tab.page.keyboard
    walk_to(page, "[role=tab][aria-selected=true]")
    for _ in range(2):
        keys.press("ArrowRight")
    view = page.locator("dragoman-debugger")
    expect(gutter(view, 4)).to_be_visible()
    walk_to(page, ".cm-content")
    for _ in range(3):
        keys.press("ArrowDown")
    expect(view.locator("dragoman-source .cm-activeLine")).to_contain_text("total += value")
    keys.press("F9")
    expect(gutter(view, 4)).to_have_attribute("aria-pressed", "true")
    expect(view.locator("#breakpoints .item")).to_have_count(1)  # the daemon has it
    page.reload()
    tab.assert_connected()
    walk_to(page, "#configuration")
    keys.type("add")
    walk_to(page, "#start")
    keys.press("Enter")
    expect(current(view)).to_contain_text("total += value")
    keys.press("F10")
    expect(current(view)).to_contain_text("for value in values")
    walk_to(page, ".row[data-key]")
    expect(variable(view, "values")).to_be_visible()
    for _ in range(10):
        if variable(view, "values").evaluate("it => it.matches(':focus')"):
            break
        keys.press("ArrowDown")
    keys.press("ArrowRight")
    expect(variable(view, "2")).to_contain_text("3")
    walk_to(page, "#watch")
    keys.type("total * 7")
    keys.press("Enter")
    expect(view.locator("#watches .value").filter(has_text="7")).to_be_visible()
    walk_to(page, "#timeline-rows .stop")
    keys.press("Enter")
    keys.press("Shift+F5")
    expect(standing(view)).to_contain_text("Terminated")


BEATS = """\
import pathlib, time
import debugpy
_, port = debugpy.listen(("127.0.0.1", 0))
pathlib.Path("port").write_text(str(port))
while True:
    time.sleep(0.01)
"""


def test_a_program_that_was_there_before_shows_when_it_runs_on_and_can_be_held(tab: Tab, place: DebugWorkspace) -> None:
    (place.folder / "beats.py").write_text(BEATS)
    here = str(place.folder)
    about = {"workspace": here, "cwd": here, "environment": {}, "remote": True, "allow_stop": True}
    place.tool("remove_breakpoint", clear_all=True)
    with (
        subprocess.Popen([sys.executable, "beats.py"], cwd=here, stderr=subprocess.DEVNULL) as program,
        ControlClient.open(place.daemon.paths, role="tools", about=about) as far,
    ):
        port = int(eventually(lambda: (place.folder / "port").exists() and (place.folder / "port").read_text()))
        attach = {"type": "debugpy", "request": "attach", "name": "a", "connect": {"host": "127.0.0.1", "port": port}}
        try:
            far.call("call", {"tool": "set_breakpoint", "arguments": {"file_path": "beats.py", "line_number": 6}})
            far.call("call", {"tool": "start_debugging", "arguments": {"configuration": attach}}, within_s=30)
            view = tab.show("Debugger")
            timer = view.get_by_role("timer")
            expect(timer).to_have_text(re.compile(r"runs on in [12]\d s"))
            view.locator("#hold").press("Enter")
            expect(timer).to_have_text(re.compile(r"runs on in 1\d\d s"))
            view.locator("#continue").click()
            place.tool("stop_debugging")
            expect(timer).to_have_count(0)
        finally:
            program.kill()
    place.tool("remove_breakpoint", clear_all=True)


def test_a_stop_and_a_failed_command_are_on_the_canvas_with_one_call(
    tab: Tab, place: DebugWorkspace, pictures: Path
) -> None:
    place.tool("remove_breakpoint", clear_all=True)
    place.tool("set_breakpoint", file_path="adding.py", line_number=5)
    place.tool("start_debugging", configuration_name="adding")
    place.tool("show_canvas", subject="stop", surface_id="stop")
    canvas = tab.show("Canvas")
    canvas.get_by_role("tab", name="stopped at adding.py:5").click()
    stop = canvas.get_by_role("tabpanel", name="stopped at adding.py:5")
    expect(stop.locator(".line.marked")).to_contain_text("return total")
    expect(stop.locator("[data-type=StackTrace] li").first).to_contain_text("add")
    expect(stop.locator("[data-type=VariableTree]")).to_contain_text("total int 6")
    drawn(tab, pictures / "stop")
    place.tool("stop_debugging")
    place.tool("run_in_terminal", command="echo '<b>error: no such price</b>'; exit 3")
    place.tool("show_canvas", subject="failure", surface_id="failure")
    failed = canvas.get_by_role("tabpanel", name="failed: echo")
    canvas.locator(".surfaces [role=tab]").filter(has_text="failed:").click()
    expect(failed.locator("[data-type=Terminal]")).to_contain_text("<b>error: no such price</b>")
    expect(failed).to_contain_text("exit code 3")
    drawn(tab, pictures / "failure")


def drawn(tab: Tab, path: Path) -> None:
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        tab.page.screenshot(path=f"{path}-{scheme}.png")


def test_the_views_speak_chinese_and_are_narrow(browser: Browser, daemon: TargetDaemon, pictures: Path) -> None:
    context = browser.new_context(locale="zh-CN", color_scheme="dark", viewport={"width": 420, "height": 800})
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    for name, view in (("调试器", "debugger"), ("画布", "canvas"), ("动态", "activity")):
        tab.page.get_by_role("tab", name=name).click()
        expect(tab.page.locator(f"dragoman-{view}")).to_be_visible()
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 420
        tab.page.screenshot(path=pictures / f"{view}-narrow-zh.png")
    tab.assert_at_home()
    context.close()
