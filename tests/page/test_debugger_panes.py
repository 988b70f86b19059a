"""The panes of the debugger: sizes, sessions in tabs, the console, values that are edited, output, and threads."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import PATIENCE
from tests.page.agent import Agent
from tests.page.debugging_page import break_at, current, standing, start, variable
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")

SHOP = """\
import sys

class Cart:
    def __init__(self):
        self.items = [("pen", 120), ("book", 60226)]
        self.total = 0

    def add(self):
        for name, price in self.items:
            self.total += price
            print(f"\\x1b[32madded\\x1b[0m {name}", flush=True)
            print("warning: no tax for", name, file=sys.stderr, flush=True)
        return self.total

note = "long " * 600
cart = Cart()
cart.add()
"""
DEADLOCK = """\
import threading, time

a, b = threading.Lock(), threading.Lock()

def take(first, second):
    with first:
        time.sleep(0.2)
        with second:
            pass

for name, locks in (("teller", (a, b)), ("auditor", (b, a))):
    threading.Thread(target=take, args=locks, name=name, daemon=True).start()
for other in threading.enumerate():
    if other is not threading.main_thread():
        other.join()
"""
LONGEST_TASK = """async (rows) => {
  const worst = [];
  for (let pass = 0; pass < 3; pass++) {
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((it) => it.duration)));
    observer.observe({ entryTypes: ["longtask"] });
    for (let step = 0; step < 60; step++) {
      rows.scrollTop = (rows.scrollHeight / 60) * step;
      await new Promise(requestAnimationFrame);
    }
    await new Promise((go) => setTimeout(go, 50));
    observer.disconnect();
    worst.push(Math.max(0, ...tasks));
  }
  return Math.min(...worst);
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("panes")) as place:
        (place.folder / "shop.py").write_text(SHOP)
        (place.folder / "deadlock.py").write_text(DEADLOCK)
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab, place: DebugWorkspace) -> Iterator[Locator]:
    view = tab.show("Debugger")
    expect(view.locator("#start")).to_be_visible()  # it has read what there is, and hears what comes
    yield view
    place.clear()


def width(view: Locator, part: str) -> float:
    box = view.locator(part).bounding_box()
    assert box
    return box["width"]


def test_panes_are_resized_by_mouse_and_keys_and_folded_and_stay_so(view: Locator, tab: Tab) -> None:
    divider = view.get_by_role("separator", name="Width of the call stack")
    box = divider.bounding_box()
    assert box
    before = width(view, ".left")
    tab.page.mouse.move(box["x"] + 3, box["y"] + 60)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 63, box["y"] + 60, steps=4)
    tab.page.mouse.up()
    assert width(view, ".left") == pytest.approx(before + 60, abs=3)
    view.get_by_role("separator", name="Width of the variables").focus()
    right = width(view, ".right")
    tab.page.keyboard.press("ArrowLeft")
    expect(view.locator(".right")).to_have_css("width", re.compile(rf"{int(right) + 1}\d?.*px|{int(right + 16)}.*px"))
    view.get_by_role("button", name="Watch", exact=True).first.click()
    expect(view.locator("#watch")).to_be_hidden()
    kept = width(view, ".left")
    tab.page.wait_for_timeout(600)
    tab.page.reload()
    tab.assert_connected()
    expect(view.locator("#watch")).to_be_hidden()
    assert width(view, ".left") == pytest.approx(kept, abs=1)
    divider.dblclick()
    assert width(view, ".left") == pytest.approx(250, abs=2)


def test_the_keys_are_those_of_vs_code_and_listed_under_a_question_mark(view: Locator, tab: Tab) -> None:
    keys = tab.page.keyboard
    view.locator("#keys").focus()
    keys.press("?")
    dialog = view.get_by_role("dialog", name="Keys of the debugger")
    for key in ("F5", "Shift+F5", "Ctrl+Shift+F5", "F6", "F9", "F10", "F11", "Shift+F11"):
        expect(dialog.locator("kbd").get_by_text(key, exact=True).first).to_be_visible()
    keys.press("Escape")
    expect(dialog).to_be_hidden()
    view.locator("#configuration").select_option("adding")
    break_at(view, "adding.py", 4)
    view.locator("#keys").focus()
    keys.press("F5")  # starts, and reloads nothing
    expect(standing(view)).to_contain_text("Stopped: breakpoint")
    keys.press("F5")
    total = variable(view, "total").locator(".value")
    expect(total).to_have_text("1")
    keys.press("Control+Shift+F5")
    expect(total).to_have_text("0")
    keys.press("Shift+F5")
    expect(standing(view)).to_contain_text("Terminated")


def test_values_are_edited_in_place_compared_with_the_last_stop_watched_and_filtered(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    place.tool("set_breakpoint", file_path="shop.py", line_number=10)
    place.tool("start_debugging", program="shop.py", timeout_s=30)
    expect(current(view)).to_contain_text("self.total += price")
    variable(view, "self").click()
    expect(variable(view, "total")).to_be_visible()
    view.locator("#over").click()
    expect(variable(view, "total").locator(".was")).to_have_text("was 0")
    variable(view, "total").press("F2")
    tab.page.keyboard.type("1000")
    tab.page.keyboard.press("Enter")
    expect(variable(view, "total").locator(".value")).to_have_text("1000")
    assert place.tool("evaluate_expression", expression="self.total")["result"] == "1000"
    variable(view, "total").dblclick()
    tab.page.keyboard.type("no_such_name")
    tab.page.keyboard.press("Enter")
    expect(view.locator("#variables").get_by_role("alert")).to_contain_text("no_such_name")
    variable(view, "total").press("Control+c")
    assert tab.page.evaluate("navigator.clipboard.readText()") == "1000"
    variable(view, "total").click(button="right")
    view.get_by_role("menuitem", name="Add to watch").click()
    expect(variable(view, "self.total", of="#watches")).to_contain_text("1000")
    view.locator("#filter-variables").fill("pri")
    expect(view.locator("#variables .row[aria-level='2'] .name")).to_have_text(["price"])
    view.locator("#filter-variables").fill("")
    view.locator("#stack .item").nth(1).click()
    note = view.locator("#variables .line").filter(has=tab.page.locator(".name", has_text=re.compile("^note$")))
    note.get_by_role("button", name="Show the whole value").click()
    expect(view.get_by_role("region", name="The whole value of note").locator("pre")).to_have_text(
        re.compile(r"^.(long ){600}.$")
    )


def test_the_console_evaluates_keeps_what_was_typed_and_shows_what_agents_evaluated(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    agent = Agent.at(place.daemon, name="Raven", workspace=str(place.folder))
    agent.data_of("set_breakpoint", file_path="shop.py", line_number=10)
    agent.data_of("start_debugging", program="shop.py")
    agent.data_of("evaluate_expression", expression="len(self.items)")
    expect(current(view)).to_contain_text("self.total += price")
    view.get_by_role("tab", name="Console").click()
    log, field = view.get_by_role("log", name="Console"), view.locator("#console")
    expect(log.locator("article").last).to_have_text(re.compile(r"Raven\s*len\(self\.items\)\s*→\s*2"))
    field.fill("self.items")
    field.press("Enter")
    result = log.get_by_label("Result of self.items")
    result.locator(".row").first.click()
    expect(variable(view, "0", of="[label='Result of self.items']")).to_contain_text("('pen', 120)")
    field.fill("for it in range(3):")
    field.press("Shift+Enter")
    tab.page.keyboard.type("    self.total += it")
    field.press("Enter")
    expect(field).to_have_value("")
    field.fill("no_such_name")
    field.press("Enter")
    expect(log.get_by_role("alert")).to_contain_text("no_such_name")
    field.fill("self.total")
    field.press("Enter")
    expect(log.locator("article").last).to_contain_text("3")
    field.press_sequentially("self.tot")
    field.press("Control+Space")
    expect(view.get_by_role("option", name="total")).to_be_visible()
    field.press("Enter")
    expect(field).to_have_value("self.total")
    tab.page.reload()
    tab.assert_connected()
    view.get_by_role("tab", name="Console").click()
    expect(current(view)).to_be_visible()
    for earlier in ("self.total", "no_such_name", "for it in range(3):\n    self.total += it"):
        field.press("ArrowUp")
        expect(field).to_have_value(earlier)


def test_output_has_its_colours_tells_errors_apart_and_is_searched(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    place.tool("start_debugging", program="shop.py", timeout_s=30)
    output = view.locator("#output")
    expect(output.locator(".printed .ink-green")).to_have_text(["added", "added"])
    expect(output.locator(".stderr")).to_have_text(["warning: no tax for pen", "warning: no tax for book"])
    output.press("Control+f")
    view.locator("#find").fill("TAX FOR")
    expect(view.locator("#hits")).to_have_text("1 of 2")
    expect(output.locator(".found")).to_have_text("warning: no tax for pen")
    tab.page.keyboard.press("F3")
    expect(output.locator(".found")).to_have_text("warning: no tax for book")
    tab.page.keyboard.press("Escape")
    expect(output.locator("mark")).to_have_count(0)
    view.get_by_role("button", name="Clear the view").click()
    expect(output.locator(".printed")).to_have_count(0)


def test_a_hundred_thousand_lines_are_scrolled_without_a_long_task(view: Locator) -> None:
    start(view, "printing")
    expect(view.locator("#output .printed").last).to_have_text("all is printed")
    assert view.locator("#output").evaluate(LONGEST_TASK) < 50 * PATIENCE
    view.locator("#to-end").click()
    expect(view.locator("#to-end")).to_have_count(0)
    expect(view.locator("#output .printed").last).to_have_text("all is printed")


def test_the_view_follows_an_agent_to_its_session_only_while_the_switch_is_on(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    agent = Agent.at(place.daemon, name="Raven", workspace=str(place.folder))
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    chosen = view.locator("#sessions .chosen")
    agent.data_of("set_breakpoint", file_path="shop.py", line_number=10)
    shop = agent.data_of("start_debugging", program="shop.py")["session_id"]
    expect(chosen).to_contain_text("shop.py")
    expect(current(view)).to_contain_text("self.total += price")
    view.locator("#sessions .item", has_text="adding").last.click()
    expect(current(view)).to_contain_text("total += value")
    switch = view.get_by_role("switch", name="Follow the agent")
    switch.click()
    agent.data_of("step_execution", session_id=shop, step_type="over")
    expect(chosen).to_contain_text("adding")
    tab.page.reload()
    tab.assert_connected()
    expect(switch).not_to_be_checked()
    switch.click()
    agent.data_of("step_execution", session_id=shop, step_type="over")
    expect(chosen).to_contain_text("shop.py")
    agent.data_of("stop_debugging", session_id=shop)
    expect(standing(view)).to_contain_text("Terminated")
    count = view.locator("#sessions .item").count()
    chosen.locator("xpath=..").get_by_role("button", name="Close shop.py").click()
    expect(view.locator("#sessions .item")).to_have_count(count - 1)


def test_a_program_that_hangs_shows_what_each_thread_waits_for_and_who_holds_it(
    view: Locator, place: DebugWorkspace
) -> None:
    place.tool("start_debugging", program="deadlock.py", timeout_s=0)
    expect(standing(view)).to_contain_text("Running")
    table = view.get_by_role("table")
    for _ in range(10):  # the threads may not stand against each other yet
        view.locator("#hang").click()
        expect(table).to_be_visible()
        if view.locator("dragoman-wait-pane .deadlock").count():
            break
    expect(view.locator("dragoman-wait-pane .deadlock")).to_contain_text("Deadlock")
    row = table.get_by_role("row").filter(has=view.page.get_by_role("rowheader", name="teller"))
    expect(row).to_contain_text("waiting")
    expect(row).to_contain_text("auditor")
    expect(row.get_by_role("button").first).to_contain_text("deadlock.py:8")


def test_a_thread_is_chosen_and_its_stack_is_shown(view: Locator, place: DebugWorkspace) -> None:
    place.tool("set_breakpoint", file_path="deadlock.py", line_number=13)
    place.tool("start_debugging", program="deadlock.py", timeout_s=30)
    threads = view.locator(".threads .item")
    expect(threads).to_have_count(3)
    expect(threads.filter(has_text="teller")).to_contain_text("stopped")
    threads.filter(has_text="teller").click()
    expect(view.locator("#stack .item").first).to_contain_text("take")
    expect(variable(view, "first")).to_be_visible()
    threads.filter(has_text="MainThread").click()
    expect(view.locator("#stack .item").first).to_contain_text("<module>")


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 800)])
def test_stop_everything_is_in_sight_and_red_in_every_view(view: Locator, tab: Tab, size: tuple[int, int]) -> None:
    expect(view).to_be_visible()
    tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    button = tab.page.locator("#stop-all")
    for name in ("chat", "canvas", "debugger", "terminals", "activity", "settings"):
        tab.page.locator(f"#tab-{name}").click()
        expect(button).to_be_in_viewport(ratio=1)
    expect(button).to_have_css("background-color", "rgb(179, 38, 30)")
