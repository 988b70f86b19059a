"""A session of two actors replayed in the page and from a saved file: dragged through, linked to, and played."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Locator, expect

from tests.page.agent import Agent
from tests.page.debugging_page import current, standing, variable
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import REPORT_VIOLATIONS, Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")

SHOP = """\
def discount(total, codes, seen=[]):
    seen.extend(codes)
    return total * 0.9 if "spring" in seen else total


for who, total, codes in [("<b>ada</b>", 20, ["spring"]), ("grace", 30, []), ("alan", 40, [])]:
    owed = discount(total, codes)
    print(who, owed)
assert owed == 40, "<img src=x onerror='window.pwned = 1'> alan had no code"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("replayed")) as place:
        (place.folder / "shop.py").write_text(SHOP)
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab, place: DebugWorkspace) -> Iterator[Locator]:
    """A session that an agent and the page stepped through, and that is over."""
    view = tab.show("Debugger")
    agent = Agent.at(place.daemon, name="Owl", workspace=str(place.folder))
    agent.data_of("set_breakpoint", file_path="shop.py", line_number=3)
    agent.data_of("set_breakpoint", file_path="shop.py", line_number=8)
    agent.data_of("start_debugging", program="shop.py")
    for _ in range(2):
        agent.data_of("continue_debugging")
    agent.data_of("evaluate_expression", expression="seen")
    expect(current(view)).to_contain_text("return total")
    view.locator("#over").click()
    expect(current(view)).to_contain_text("print(who, owed)")
    while agent.data_of("wait_for_stop", timeout_s=10)["status"] == "stopped":
        if agent.data_of("continue_debugging")["status"] != "stopped":
            break
    expect(standing(view)).to_contain_text("Terminated: exit code 1")
    yield view
    place.clear()


def plane(view: Locator) -> Locator:
    return view.get_by_role("slider", name="Moments")


def drag(tab: Tab, view: Locator, *shares: float) -> None:
    """Along the track, to so much of its width."""
    box = plane(view).bounding_box()
    assert box
    mouse, y = tab.page.mouse, box["y"] + 8
    mouse.move(box["x"] + shares[0] * box["width"], y)
    mouse.down()
    for share in shares[1:]:
        mouse.move(box["x"] + share * box["width"], y, steps=5)
    mouse.up()


def test_a_session_is_dragged_through_and_linked_to(view: Locator, tab: Tab) -> None:
    timeline, then = view.locator("dragoman-timeline"), view.locator(".then")
    for lane in ("Program", "Owl", "you"):
        expect(timeline.locator(".lane", has_text=lane)).to_have_count(1)
    expect(timeline.locator("#timeline-rows")).to_contain_text("Owl evaluated seen")
    expect(timeline.locator("#timeline-rows")).to_contain_text("= ['spring']")
    drag(tab, view, 0.9, 0.2, 0.0)
    expect(then).to_contain_text("Before the first stop")
    plane(view).press("Shift+ArrowRight")
    expect(then).to_contain_text("Stop 1 (past)")
    expect(current(view)).to_contain_text("return total")
    expect(variable(view, "total", of="#variables-then")).to_contain_text("20")
    expect(view.locator("#output .printed")).to_have_count(0)  # nothing had been printed
    for _ in range(2):
        plane(view).press("PageDown")
    expect(then).to_contain_text("Stop 3 (past): breakpoint · codes: ['spring'] → [], total: 20 → 30")
    expect(view.locator("#output .printed")).to_have_text(["<b>ada</b> 18.0"])
    expect(variable(view, "total", of="#variables-then")).to_contain_text("was 20")
    timeline.locator(".item", has_text="Owl evaluated seen").click()
    expect(then).to_contain_text("Stop 3 (past)")
    address = tab.page.url
    assert re.search(r"/3/\d+$", address)
    plane(view).press("End")
    expect(tab.page).not_to_have_url(address)
    tab.page.go_back()
    expect(timeline.locator(".about")).to_contain_text("Owl evaluated seen = ['spring']")
    tab.page.reload()
    expect(timeline.locator(".about")).to_contain_text("Owl evaluated seen = ['spring']")
    timeline.get_by_role("button", name="Back to the present").click()
    expect(then).to_have_count(0)


def test_a_replay_plays_to_its_end_and_the_list_can_be_searched(view: Locator, tab: Tab) -> None:
    timeline = view.locator("dragoman-timeline")
    plane(view).press("Home")
    timeline.get_by_label("Speed").select_option("16")
    plane(view).press("Space")
    expect(timeline.locator(".about")).to_contain_text("ended with exit code 1")
    expect(timeline.get_by_role("button", name="Play")).to_be_visible()
    timeline.get_by_label("Find in the timeline").fill("alan had no code")
    expect(timeline.locator(".item")).to_have_count(2)  # the exception, and what was printed of it
    expect(timeline.locator(".item.stop")).to_contain_text("AssertionError")


def test_values_over_time_lead_to_the_stop_that_differs_first(view: Locator, tab: Tab) -> None:
    timeline = view.locator("dragoman-timeline")
    plane(view).press("Home")
    timeline.get_by_role("button", name="Values over time").click()
    values = timeline.locator("dragoman-value-series")
    values.locator(".variable", has_text="total discount").click()
    expect(values.locator(".point").first).to_contain_text("20")
    values.get_by_role("button", name="Go to the first difference").click()
    expect(view.locator(".then")).to_contain_text("total: 20 → 30")
    expect(values.locator(".point.chosen")).to_contain_text("+10")
    values.get_by_label("Expected value").fill("20")
    values.get_by_label("Expected value").press("Enter")
    expect(values.locator(".point.chosen")).to_contain_text("30")


def test_a_saved_file_replays_itself_without_a_network(
    view: Locator, tab: Tab, browser: Browser, tmp_path: Path
) -> None:
    with tab.page.expect_download() as saving:
        view.get_by_role("button", name="Save as a file").click()
    file = tmp_path / saving.value.suggested_filename
    saving.value.save_as(file)
    assert file.name == "replay-shop.py.html"
    assert file.stat().st_size < 2_000_000
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(REPORT_VIOLATIONS)
    page.goto(file.as_uri())
    saved = page.locator("dragoman-replay-file")
    expect(saved.locator(".then")).to_contain_text("AssertionError: <img src=x")  # it begins where it went wrong
    expect(current(saved)).to_contain_text("assert owed == 40")
    saved.locator("#output").evaluate("it => it.scrollTo(0, 0)")  # the end is a traceback, as long as paths here are
    expect(saved.locator("#output")).to_contain_text("grace 27.0")
    plane(saved).press("Home")
    expect(saved.locator(".then")).to_contain_text("Before the first stop")
    expect(saved.locator("#output .printed")).to_have_count(0)
    drag(Tab(page, tab.daemon), saved, 0.0, 0.3, 0.98)
    expect(saved.locator(".then")).to_contain_text(re.compile(r"Stop \d+ \(past\)"))
    saved.locator("#timeline .stop").last.click()
    expect(variable(saved, "total", of="#variables-then")).to_contain_text("20")
    assert page.url.endswith("#1")
    assert asked == [file.as_uri()]
    assert page.evaluate("[window.violations, window.pwned ?? null]") == [[], None]
    context.close()


MANY = """async (count) => {
  const kinds = ["run", "stop", "evaluation", "output", "breakpoint"];
  const entries = Array.from({ length: count }, (_, index) => ({
    sequence: index + 1, at: 1e12 + index * 37, session: "s", kind: kinds[index % 5], text: `did ${index}`,
    actor: index % 5 === 1 || index % 5 === 3 ? "" : `agent ${index % 3}`, detail: "3", path: "/w/a.py", line: index,
    stop: index % 5 === 1 ? index : 0, printed: 0, isBad: index % 997 === 1, rows: [],
  }));
  const timeline = Object.assign(document.createElement("dragoman-timeline"), { id: "many", entries });
  timeline.style.cssText = "position:fixed;inset:0;z-index:9;height:400px";
  timeline.addEventListener("moment", ({ detail }) => (timeline.moment = detail.entry));
  document.body.append(timeline);
  await timeline.updateComplete;
  await new Promise((go) => setTimeout(go, 300));
}"""


def test_ten_thousand_moments_are_dragged_and_scrolled_through_without_a_pause(tab: Tab) -> None:
    tab.show("Debugger")
    tab.page.evaluate(MANY, 10_000)
    many = tab.page.locator("#many")
    metrics = tab.page.context.new_cdp_session(tab.page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})  # what other programs take does not count
    box, rows = plane(many).bounding_box(), many.locator("#timeline-rows").bounding_box()
    assert box
    assert rows
    busy = [_busy_ms(metrics)]
    tab.page.mouse.move(box["x"], box["y"] + 8)
    tab.page.mouse.down()
    for step in range(100):
        tab.page.mouse.move(box["x"] + step * box["width"] / 100, box["y"] + 8)
        busy.append(_busy_ms(metrics))
    tab.page.mouse.up()
    tab.page.mouse.move(rows["x"] + 20, rows["y"] + 40)
    for _ in range(100):
        tab.page.mouse.wheel(0, 400)
        busy.append(_busy_ms(metrics))
    spent = sorted(after - before for before, after in pairwise(busy))
    assert spent[len(spent) * 95 // 100] < 10, spent[-20:]
    assert spent[-1] < 50, spent[-20:]
    assert many.locator(".item").count() < 80
    tab.page.evaluate("document.querySelector('#many').remove()")


def _busy_ms(metrics: CDPSession) -> float:
    """Spent by the main thread on scripts, styles and layout until now."""
    found: dict[str, float] = {it["name"]: it["value"] for it in metrics.send("Performance.getMetrics")["metrics"]}
    return 1000 * sum(found[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration"))
