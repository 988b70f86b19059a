"""The debugger of the page where things come late, come twice, come from others, or do not come at all."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.daemons import call, eventually
from tests.page.agent import Agent
from tests.page.debugging_page import break_at, current, gutter, standing, start, stop_three_times, variable
from tests.page.held import Held, cut_off
from tests.page.page_fixture import ADDING, PROGRAMS, DebugWorkspace, debug_workspace, furnish
from tests.page.tab import NESTED, Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")

FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.id ?? "";
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("apart")) as place:
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab, place: DebugWorkspace) -> Iterator[Locator]:
    yield tab.show("Debugger")
    place.clear()


def changed(view: Locator) -> Locator:
    return view.locator("#variables .changed")


def test_what_every_value_has_comes_after_its_items(view: Locator) -> None:
    break_at(view, "adding.py", 5)
    start(view, "adding")
    variable(view, "values").click()
    names = view.locator("#variables .row[aria-level='3'] .name")
    expect(names.nth(0)).to_have_text("0")
    expect(names).to_have_text(["0", "1", "2", "len()", "special variables", "function variables"])
    names.nth(4).click()
    expect(view.locator("#variables .row[aria-level='4'] .name").first).to_have_text("__add__")


def test_the_buttons_of_run_control_have_words_where_there_is_room(view: Locator, tab: Tab) -> None:
    tab.page.set_viewport_size({"width": 1280, "height": 760})
    expect(view.locator("#unwait .word")).to_be_visible()
    assert view.locator(".bar").evaluate("it => it.scrollWidth <= it.clientWidth")


def test_only_what_changed_in_the_same_frame_of_the_same_run_is_marked(view: Locator) -> None:
    break_at(view, "adding.py", 5)
    start(view, "adding")
    expect(variable(view, "total")).to_contain_text("6")
    expect(changed(view)).to_have_count(0)
    view.locator("#continue").click()
    expect(standing(view)).to_contain_text("Terminated")
    gutter(view, 4).click()
    start(view, "adding")  # another run, in which it is another at first
    expect(variable(view, "total")).to_contain_text("0")
    expect(changed(view)).to_have_count(0)
    view.locator("#stack .item").nth(1).click()
    expect(variable(view, "numbers")).to_contain_text("[1, 2, 3]")
    expect(changed(view)).to_have_count(0)
    view.locator("#over").click()
    expect(variable(view, "total")).to_contain_text("1")
    view.locator("#over").click()
    expect(variable(view, "value")).to_contain_text("2")
    expect(variable(view, "value").locator(".changed")).to_be_visible()


def test_a_list_that_is_older_than_a_session_does_not_take_it_away(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    start(view, "adding")
    expect(standing(view)).to_contain_text("Terminated: exit code 0")
    held = Held(tab.page, "list_sessions")
    place.tool("set_breakpoint", file_path="adding.py", line_number=4)
    held.until_asked()
    place.tool("start_debugging", configuration_name="adding")
    expect(view.locator("#timeline")).to_contain_text("set a breakpoint")  # the feed was heard
    held.let()
    expect(current(view)).to_contain_text("total += value")
    expect(standing(view)).to_contain_text("Stopped: breakpoint")


def test_a_key_for_a_stop_that_is_shown_before_the_step_to_it_is_answered_is_not_lost(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 2)
    start(view, "adding")
    expect(current(view)).to_contain_text("total = 0")
    held = Held(tab.page, "step_execution")
    tab.page.keyboard.press("F10")
    expect(current(view)).to_contain_text("for value in values")  # by the feed; the answer is held back
    held.until_asked()
    tab.page.keyboard.press("F10")
    held.let()
    expect(current(view)).to_contain_text("total += value")


def test_a_value_of_an_earlier_stop_that_is_clicked_opens_as_it_is_now(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(variable(view, "values")).to_be_visible()
    held = Held(tab.page, "get_variables")
    view.locator("#over").click()
    expect(current(view)).to_contain_text("for value in values")
    held.until_asked()
    variable(view, "values").click()  # what it shows is being read anew, and what stands there leads nowhere
    held.let()
    expect(variable(view, "2")).to_contain_text("3")


def test_earlier_events_are_delivered_though_a_new_one_came_first(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    place.tool("set_breakpoint", file_path="adding.py", line_number=2)
    expect(view.locator("#breakpoints .item")).to_have_count(1)
    held = Held.from_reload(tab.page, "/api/events")
    held.until_asked()
    place.tool("set_breakpoint", file_path="adding.py", line_number=3)
    timeline = view.locator("#timeline .item").filter(has_text="set a breakpoint")
    expect(timeline.filter(has_text="adding.py:3")).to_have_count(1)
    held.let()
    expect(timeline.filter(has_text="adding.py:2").first).to_be_visible()
    expect(timeline.filter(has_text="adding.py:3")).to_have_count(1)


def test_what_was_done_is_reported_however_much_else_was_recorded_around_it(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    """An answer of the daemon holds a mebibyte, and a program that prints fills the record between what people do."""
    place.tool("set_breakpoint", file_path="adding.py", line_number=2)
    place.daemon.append(300)
    place.daemon.append(8, size=200_000)
    place.tool("set_breakpoint", file_path="adding.py", line_number=3)
    expect(view.locator("#breakpoints .item")).to_have_count(2)
    tab.page.reload()
    timeline = view.locator("#timeline .item").filter(has_text="set a breakpoint")
    expect(timeline.nth(0)).to_contain_text("adding.py:3")
    expect(timeline.nth(1)).to_contain_text("adding.py:2")


def test_events_that_come_while_earlier_stops_are_loaded_stay(view: Locator, tab: Tab, place: DebugWorkspace) -> None:
    break_at(view, "adding.py", 4)
    held = Held(tab.page, address="/api/replay/stops")
    start(view, "adding")
    held.until_asked()
    place.tool("set_breakpoint", file_path="adding.py", line_number=11)
    added = view.locator("#timeline .item").filter(has_text="set a breakpoint").filter(has_text="adding.py:11")
    expect(added).to_have_count(1)
    held.let()
    expect(view.locator("#timeline .stop").first).to_be_visible()
    expect(added).to_have_count(1)


def test_live_events_do_not_wait_for_the_earlier_stops(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 4)
    held = Held(tab.page, address="/api/replay/stops")
    start(view, "adding")
    expect(variable(view, "total")).to_contain_text("0")
    held.until_asked()
    view.locator("#continue").click()
    expect(variable(view, "total")).to_contain_text("1")
    held.let()
    expect(view.locator("#timeline .stop")).to_have_count(2)
    expect(variable(view, "total")).to_contain_text("1")


def test_values_are_read_again_when_an_agent_sets_one_or_runs_something(view: Locator, place: DebugWorkspace) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    view.locator("#watch").fill("total * 2")
    view.locator("#watch").press("Enter")
    expect(variable(view, "total")).to_contain_text("0")
    place.tool("wait_for_stop", timeout_s=5)
    place.tool("set_variable", name="total", value="70")
    expect(variable(view, "total")).to_contain_text("70")
    expect(changed(view)).to_have_text(["70"])
    expect(variable(view, r"total \* 2", of="#watches")).to_contain_text("140")
    variable(view, "values").click()
    place.tool("evaluate_expression", expression="values.append(99)", context="repl")
    expect(variable(view, "3")).to_contain_text("99")
    variable(view, "values").click()


def test_what_was_before_is_read_again_where_the_answer_was_lost(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    place.tool("set_breakpoint", file_path="adding.py", line_number=2)
    expect(view.locator("#breakpoints .item")).to_have_count(1)
    held = Held.from_reload(tab.page, "/api/events")
    held.until_asked()
    held.lose()
    timeline = view.locator("#timeline .item").filter(has_text="set a breakpoint")
    expect(timeline.first).to_contain_text("adding.py:2")


def test_stops_are_looked_back_through_by_the_last_click_and_however_much_happened_since(
    view: Locator, tab: Tab, daemon: TargetDaemon
) -> None:
    stop_three_times(view)
    daemon.append(300)
    loading = Held.from_reload(tab.page, "/api/replay/stops")  # what they held is not there yet
    stops = view.locator("#timeline .stop")
    expect(stops).to_have_count(3)
    loading.until_asked()
    held = Held(tab.page, "stop_history")
    stops.nth(2).click()
    held.until_asked()
    stops.nth(1).click()
    expect(view.locator(".then")).to_contain_text("Stop 2 (past)")
    held.let()
    expect(view.locator(".then")).to_contain_text("Stop 2 (past)")
    expect(variable(view, "total", of="#variables-then")).to_contain_text("1")


def test_the_configuration_that_is_shown_is_the_one_that_is_started(
    view: Locator, place: DebugWorkspace, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    furnish(other, {"first": "print('the first')\n", "second": "print('the second')\n", "adding": ADDING})
    call(place.daemon.paths, "trust_add", {"folder": str(other)})
    place.tool("set_breakpoint", folder=other, file_path="adding.py", line_number=4)
    place.tool("start_debugging", folder=other, configuration_name="adding")
    expect(view.locator("#folder")).to_have_value(str(other))
    view.locator("#configuration").select_option("adding")
    view.locator("#folder").select_option(str(place.folder))
    expect(view.locator("#configuration option")).to_have_text([*PROGRAMS])
    view.locator("#configuration").select_option("printing")
    view.locator("#folder").select_option(str(other))
    expect(view.locator("#configuration option")).to_have_text(["first", "second", "adding"])
    expect(view.locator("#configuration")).to_have_value("first")
    place.tool("stop_debugging", folder=other)
    view.locator("#start").click()
    expect(view.locator("#output")).to_contain_text("the first")
    place.tool("remove_breakpoint", folder=other, clear_all=True)


def test_an_agent_and_a_person_in_one_session_see_each_other(
    view: Locator, daemon: TargetDaemon, place: DebugWorkspace
) -> None:
    agent = Agent.at(daemon, name="Raven", workspace=str(place.folder))
    agent.data_of("set_breakpoint", file_path="adding.py", line_number=4)
    agent.data_of("start_debugging", configuration_name="adding")
    expect(current(view)).to_contain_text("total += value")
    expect(view.locator("#timeline")).to_contain_text("Raven started adding")
    view.locator("#over").click()
    expect(standing(view)).to_contain_text("you stepped over")
    refused = agent.wire.call("step_execution", step_type="over").messages[-1]["result"]["structuredContent"]
    assert (refused["code"], "'the page' ran `next`" in refused["message"]) == ("moved_on", True)
    seen = agent.data_of("wait_for_stop", timeout_s=5)["stop_event_data"]
    assert (seen["stop_number"], seen["line"]) == (2, 3)  # where the person's step had led
    agent.data_of("step_execution", step_type="over")
    expect(standing(view)).to_contain_text("Raven stepped over")
    gutter(view, 5).click()
    expect(gutter(view, 5)).to_have_attribute("aria-pressed", "true")

    def lines() -> list[int]:
        return sorted(it["line"] for it in agent.data_of("get_breakpoints")["breakpoints"])

    eventually(lambda: lines() == [4, 5])  # the gutter shows what is wished before it is done


def test_a_stop_that_is_chosen_while_the_page_still_loads_stays_chosen(view: Locator, tab: Tab) -> None:
    stop_three_times(view)
    held = Held.from_reload(tab.page, tool="wait_for_stop")
    held.until_asked()
    view.locator("#timeline .stop").nth(1).click()
    expect(view.locator(".then")).to_contain_text("Stop 2 (past)")
    held.let()
    expect(view.locator("#over")).to_be_enabled()
    expect(view.locator(".then")).to_contain_text("Stop 2 (past)")


def test_two_pages_show_the_same_after_an_action_in_either(view: Locator, tab: Tab, daemon: TargetDaemon) -> None:
    second = Tab.opened(tab.page.context, daemon)
    second.log_in()
    other = second.show("Debugger")
    break_at(view, "adding.py", 4)
    expect(other.locator("#breakpoints .item")).to_have_count(1)
    start(other, "adding")
    for page in (view, other):
        expect(current(page)).to_contain_text("total += value")
    view.locator("#over").click()
    for page in (view, other):
        expect(current(page)).to_contain_text("for value in values")
    for page, expression in ((view, "total + 1"), (other, "total + 2")):
        page.locator("#watch").fill(expression)
        page.locator("#watch").press("Enter")
        expect(page.locator("#watches .row").filter(has_text=expression)).to_be_visible()
    tab.page.reload()  # what one of them watches does not take the other's away
    expect(view.locator("#watches .name")).to_have_text(["total + 1", "total + 2"])
    second.assert_at_home()
    second.page.close()


def test_a_daemon_that_is_gone_is_reported_plainly_and_as_nothing_else(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    cut_off(tab.page)
    view.locator("#stack .item").nth(1).click()
    view.locator("#watch").fill("total")
    view.locator("#watch").press("Enter")
    view.locator("#over").click()
    expect(view.get_by_role("alert")).to_contain_text("Dragoman is not running or does not respond.")
    expect(tab.page.get_by_text("Something went wrong on this page")).to_have_count(0)
    tab.is_marked = True


def test_a_line_that_never_ends_is_shown_in_pieces(view: Locator, tab: Tab) -> None:
    start(view, "unbroken")
    expect(standing(view)).to_contain_text("Terminated")
    printed = view.locator("#output .printed")
    expect(printed.last).to_have_text(re.compile("the end$"))
    assert printed.evaluate_all("them => Math.max(...them.map(it => it.textContent.length))") <= 2000
    expect(view.locator("#output [role=listitem]").last).to_have_attribute("aria-setsize", re.compile(r"^50\d$"))


def test_keys_keep_their_place_scroll_the_output_and_choose_lines_to_ask_about(view: Locator, tab: Tab) -> None:
    keys = tab.page.keyboard
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    view.locator("#over").focus()
    keys.press("Enter")
    expect(current(view)).to_contain_text("for value in values")
    assert tab.page.evaluate(FOCUSED) == "over"
    view.get_by_role("textbox", name="adding.py").focus()  # the cursor is at the line that the program stands at
    keys.press("ArrowUp")
    for _ in range(2):
        keys.press("Shift+ArrowDown")
    expect(view.locator("dragoman-source .picked")).to_have_count(3)
    expect(view.get_by_role("button", name="Ask about lines 2 to 4")).to_be_visible()
    keys.press("Alt+Shift+A")
    quoted = re.escape("\n".join(f"> {line}" for line in ADDING.splitlines()[1:4]))
    expect(tab.page.get_by_label("Message")).to_have_value(re.compile(rf"^About \S*adding\.py:2-4:\n{quoted}\n\n"))
    tab.page.get_by_label("Message").fill("")
    tab.show("Debugger")
    expect(view.locator("dragoman-source .picked")).to_have_count(0)
    output = view.get_by_role("group", name="Output")
    place_of = "it => it.scrollTop"
    start(view, "unbroken")
    expect(output.locator(".printed").last).to_have_text(re.compile("the end$"))
    output.focus()
    keys.press("Home")
    output.page.wait_for_function("it => it.scrollTop === 0", arg=output.element_handle())
    assert output.evaluate(place_of) == 0


def test_in_a_narrow_window_one_thing_at_a_time_is_below_the_source(
    browser: Browser, daemon: TargetDaemon, place: DebugWorkspace
) -> None:
    place.tool("set_breakpoint", file_path="adding.py", line_number=11)
    place.tool("start_debugging", configuration_name="adding")
    context = browser.new_context(locale="zh-CN", color_scheme="dark", viewport={"width": 400, "height": 760})
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    tab.page.get_by_role("tab", name="调试器").click()
    view = tab.page.locator("dragoman-debugger")
    expect(current(view)).to_contain_text("result = add(numbers)")
    variable(view, "many").click()
    panes = view.get_by_role("group", name="显示内容").get_by_role("button")
    shown = "section:not(.source)"
    for title, section in (("调用栈", "stack"), ("输出", "output"), ("时间线", "timeline"), ("变量", "variables")):
        panes.filter(has_text=title).click()
        expect(view.locator(f"{shown}.{section}")).to_be_visible()
        assert sum(it.is_visible() for it in view.locator(shown).all()) == 1
        for height in (760, 500):
            tab.page.set_viewport_size({"width": 400, "height": height})
            assert view.evaluate(NESTED) == []
            assert view.evaluate("it => it.scrollWidth <= it.clientWidth && it.scrollHeight <= it.clientHeight")
            assert view.locator(".desk").evaluate("it => it.scrollHeight <= it.clientHeight")  # all of it is in sight
    expect(variable(view, "7")).to_be_visible()
    expect(view.locator("dragoman-source .cm-line").first).to_be_visible()
    panes.filter(has_text="时间线").click()
    expect(view.locator("#timeline .item").first).to_be_visible()
    call(daemon.paths, "journal_forget", {"before_ns": time.time_ns()})
    expect(view.locator("#timeline .item")).to_have_count(0)
    tab.assert_at_home()
    context.close()
    place.tool("stop_debugging")
    place.tool("remove_breakpoint", clear_all=True)


def test_what_an_agent_starts_is_live_by_itself_and_its_wait_can_be_ended(
    view: Locator, place: DebugWorkspace, daemon: TargetDaemon
) -> None:
    (place.folder / "slow.py").write_text(
        "import time\ntime.sleep(0.2)\nprint('it runs', flush=True)\ntime.sleep(60)\n"
    )
    agent = Agent.at(daemon, name="starter", workspace=str(place.folder))
    place.tool("start_debugging", program="slow.py", wait=False)
    with ThreadPoolExecutor() as others:
        waiting = others.submit(agent.data_of, "start_debugging", program="slow.py", timeout_s=40)
        mine = view.locator("#sessions .item", has_text="starter")
        mine.click()  # perhaps while it starts
        expect(standing(view)).to_contain_text("Running")
        expect(mine).to_contain_text("Running")
        expect(view.locator("#output")).to_contain_text("it runs")
        expect(view.locator("#pause")).to_have_attribute("aria-disabled", "false")
        view.locator("#unwait").click()
        expect(view.locator("#notice")).to_contain_text("Ended one wait.")
        assert waiting.result(10)["status"] == "interrupted"
    expect(view.locator("#file")).to_have_value("slow.py")  # what was chosen is what is seen
    same = view.locator("#sessions .item", has_text="slow.py")
    expect(same).to_have_count(2)
    expect(same.locator(".begun").first).to_have_text(re.compile(r"\d\d:\d\d:\d\d the command line"))
    expect(same.locator(".begun").last).to_have_text(re.compile(r"\d\d:\d\d:\d\d starter"))
