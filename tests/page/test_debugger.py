"""The debugger of the page: a program debugged by clicks and keys, beside another who works in the same session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import PATIENCE, call, eventually
from tests.page.agent import Agent
from tests.page.debugging_page import (
    WATCH_FRAMES,
    break_at,
    current,
    frame_gaps,
    gutter,
    open_file,
    standing,
    start,
    stop_three_times,
    variable,
)
from tests.page.hostile import IMAGE, assert_inert
from tests.page.page_fixture import ADDING, DebugWorkspace, debug_workspace, furnish
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("debugged")) as place:
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab, place: DebugWorkspace) -> Iterator[Locator]:
    """The debugger, with nothing in it that an earlier test left."""
    yield tab.show("Debugger")
    place.clear()


def test_a_click_beside_a_line_is_never_lost(view: Locator, place: DebugWorkspace) -> None:
    """Twelve, as fast as they go, while others set and remove breakpoints and the file is read anew."""
    open_file(view, "adding.py")
    expect(gutter(view, 12)).to_be_visible()
    with ThreadPoolExecutor() as others:
        noise = others.submit(_disturb, place)
        for click in range(12):
            line = 2 + click % 3
            gutter(view, line).click()
            shown = "true" if click // 3 % 2 == 0 else "false"
            assert gutter(view, line).get_attribute("aria-pressed") == shown  # at once
        gutter(view, 3).click()
        noise.result(30)
    eventually(lambda: [it["line"] for it in place.tool("get_breakpoints")["breakpoints"]] == [3])
    expect(view.locator("#breakpoints .item")).to_have_count(1)
    for line, shown in ((2, "false"), (3, "true"), (4, "false")):
        expect(gutter(view, line)).to_have_attribute("aria-pressed", shown)


def _disturb(place: DebugWorkspace) -> None:
    for _ in range(4):
        made = place.tool("set_breakpoint", file_path="adding.py", line_number=9)["breakpoint"]
        place.tool("remove_breakpoint", breakpoint_id=made["id"])
    place.tool("start_debugging", configuration_name="adding", timeout_s=0)  # the page reads the source anew


def test_a_file_is_named_while_another_is_being_opened(view: Locator, tab: Tab) -> None:
    """What the page fills in by itself does not come between a hand and its words."""
    for _ in range(2):
        tab.page.reload()
        open_file(view, "endless.py")
        expect(view.locator("dragoman-source .cm-line").nth(2)).to_have_text("count = 0")


def test_two_clicks_on_one_line_set_and_remove(view: Locator, place: DebugWorkspace) -> None:
    open_file(view, "adding.py")
    gutter(view, 5).dblclick()
    start(view, "adding")  # after the breakpoints that were clicked before it
    expect(standing(view)).to_contain_text("Terminated: exit code 0")
    assert place.tool("get_breakpoints")["breakpoints"] == []


def test_a_program_is_debugged_by_clicks_to_its_end(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    expect(standing(view)).to_contain_text("Stopped: breakpoint")
    expect(view.locator("#stack .item").first).to_contain_text("add")
    expect(variable(view, "total")).to_contain_text("0")
    view.locator("#over").click()
    expect(current(view)).to_contain_text("for value in values")
    expect(variable(view, "total")).to_contain_text("1")
    expect(variable(view, "total").locator(".changed")).to_be_visible()
    variable(view, "values").click()
    expect(variable(view, "2")).to_contain_text("3")
    gutter(view, 4).click()
    expect(gutter(view, 4)).to_have_attribute("aria-pressed", "false")
    view.locator("#continue").click()
    expect(standing(view)).to_contain_text("Terminated: exit code 0")
    expect(view.locator("#output")).to_contain_text("the sum is 6")
    expect(view.locator("#output")).to_contain_text("onerror")  # as text: that it did not run is seen at the end
    expect(view.locator("#timeline")).to_contain_text("you continued")


def test_keys_step_and_a_frame_below_is_looked_at(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 11)
    start(view, "adding")
    expect(current(view)).to_contain_text("result = add(numbers)")
    tab.page.keyboard.press("F11")
    expect(current(view)).to_contain_text("total = 0")
    view.locator("#stack .item").nth(1).click()
    expect(current(view)).to_contain_text("result = add(numbers)")
    expect(variable(view, "numbers")).to_contain_text("[1, 2, 3]")
    tab.page.keyboard.press("Shift+F11")
    expect(view.locator("#stack .item")).to_have_count(1)
    tab.page.keyboard.press("Shift+F5")
    expect(standing(view)).to_contain_text("Terminated")


def test_ten_thousand_values_are_opened_and_few_are_drawn(view: Locator) -> None:
    break_at(view, "adding.py", 11)
    start(view, "adding")
    variable(view, "many").click()
    expect(variable(view, "0")).to_be_visible()
    view.locator("#variables dragoman-rows").evaluate("it => it.scrollTop = 24 * 6000")
    expect(view.locator("#variables .row .value", has_text=re.compile(r"^59\d\d$")).first).to_be_visible()
    assert view.locator("#variables .row").count() < 80


def test_a_watched_expression_is_evaluated_at_each_stop_and_outlives_a_reload(view: Locator, tab: Tab) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    for expression in ("total * 100 + value", "no_such_name"):
        view.locator("#watch").fill(expression)
        view.locator("#watch").press("Enter")
    watched = view.locator("#watches .row")
    expect(watched.first.locator(".value")).to_have_text("1")
    expect(watched.nth(1).locator(".bad")).to_contain_text("no_such_name")
    view.locator("#continue").click()
    expect(watched.first.locator(".value")).to_have_text("102")
    tab.page.reload()
    tab.assert_connected()
    expect(watched.first.locator(".value")).to_have_text("102")
    view.get_by_role("button", name="Stop watching no_such_name").click()
    expect(watched).to_have_count(1)


def test_an_action_of_another_client_shows_at_once_with_its_client(view: Locator, place: DebugWorkspace) -> None:
    place.tool("set_breakpoint", file_path="adding.py", line_number=4)
    started = place.tool("start_debugging", configuration_name="adding")
    expect(current(view)).to_contain_text("total += value")
    place.tool("step_execution", session_id=started["session_id"], step_type="over")
    expect(current(view)).to_contain_text("for value in values")
    expect(standing(view)).to_contain_text("the command line stepped over")
    view.locator("#over").click()
    expect(current(view)).to_contain_text("total += value")
    expect(standing(view)).to_contain_text("you stepped over")
    answer = place.tool("list_sessions")["sessions"]
    assert [it["stop_number"] for it in answer if it["session_id"] == started["session_id"]] == [3]


def test_a_running_program_is_paused_and_restarted(view: Locator) -> None:
    start(view, "endless")
    expect(standing(view)).to_contain_text("Running")
    view.locator("#pause").click()
    expect(standing(view)).to_contain_text("Stopped: pause")
    view.locator("#restart").click()
    expect(standing(view)).to_contain_text("Running")
    view.locator("#stop").click()
    expect(standing(view)).to_contain_text("Terminated")


def test_what_cannot_be_done_is_reported_with_what_to_do(view: Locator, place: DebugWorkspace) -> None:
    (place.folder / "adding.py").rename(place.folder / "gone.py")
    try:
        start(view, "adding")
        expect(view.get_by_role("alert")).to_contain_text("adding.py")
    finally:
        (place.folder / "gone.py").rename(place.folder / "adding.py")


def _ended(place: DebugWorkspace) -> set[str]:
    return {it["session_id"] for it in place.tool("list_sessions")["sessions"] if it["state"] == "Terminated"}


def trusted(place: DebugWorkspace) -> list[dict[str, Any]]:
    folders: list[dict[str, Any]] = call(place.daemon.paths, "trust_list")["trusted"]
    return folders


def test_a_folder_that_nobody_trusted_is_reported_with_what_would_run_and_the_command(
    view: Locator, place: DebugWorkspace
) -> None:
    call(place.daemon.paths, "trust_revoke", {"folder": str(place.folder)})
    earlier = _ended(place)
    try:
        start(view, "adding")
        for result in ("Nothing was started", f"dragoman trust {place.folder}", "It would run:", "adding.py"):
            expect(view.get_by_role("alert")).to_contain_text(result)
        assert trusted(place) == []
        view.get_by_role("alert").locator("#trust").click()  # where it was refused, after what would run was shown
        eventually(lambda: [it["folder"] for it in trusted(place)] == [str(place.folder)])
        eventually(lambda: _ended(place) > earlier)  # the page may still show the end of an earlier session
        expect(standing(view)).to_contain_text("Terminated")
    finally:
        call(place.daemon.paths, "trust_add", {"folder": str(place.folder)})


def test_watches_are_evaluated_only_while_somebody_looks(view: Locator, tab: Tab, place: DebugWorkspace) -> None:
    break_at(view, "adding.py", 4)
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    view.locator("#watch").fill("total + 1000")
    view.locator("#watch").press("Enter")
    watched = view.locator("#watches .row .value")
    expect(watched).to_have_text("1000")
    eventually(lambda: _evaluated(place) == 1)
    tab.show("Activity")
    for _ in range(2):
        answer = place.tool("continue_debugging")
        assert answer["status"] == "stopped", answer
    expect(tab.page.locator("dragoman-activity .row .kind").first).to_have_attribute("title", "debug.stopped")
    tab.show("Debugger")
    expect(watched).to_have_text("1003")
    eventually(lambda: _evaluated(place) >= 2)
    assert _evaluated(place) == 2  # in order: what was evaluated unseen would stand before this one
    view.locator("#timeline .stop").last.click()
    expect(watched).to_have_text("")  # what is so now was not so then
    view.locator("#now").click()
    expect(watched).to_have_text("1003")


def _evaluated(place: DebugWorkspace) -> int:
    return len(place.tool("search_journal", words='evaluated "total + 1000"', limit=50)["events"])


def test_past_stops_are_looked_back_through_with_what_variables_held(view: Locator, tab: Tab) -> None:
    stop_three_times(view)
    stops = view.locator("#timeline .stop")
    expect(stops).to_have_count(3)
    stops.nth(2).click()
    then = view.locator(".then")
    expect(then).to_contain_text("Stop 1 (past): breakpoint")
    expect(variable(view, "value", of="#variables-then")).to_contain_text("1")
    expect(current(view)).to_contain_text("total += value")
    then.get_by_label("Next stop").click()
    expect(variable(view, "total", of="#variables-then")).to_contain_text("1")
    expect(view.locator("#timeline .chosen")).to_have_count(1)
    view.locator("#now").click()
    expect(variable(view, "total")).to_contain_text("3")
    tab.daemon.record_event(
        "debug.stopped", {"reason": "pause", "stop": 2}
    )  # a place that nobody knows can be looked back at
    stops.filter(has_text="pause").click()
    expect(then).to_contain_text("Stop 2 (past)")
    view.locator("#now").click()
    tab.page.reload()  # the daemon keeps them, also those that no page saw
    tab.assert_connected()
    expect(stops).to_have_count(4)
    stops.nth(3).click()
    view.locator("#over").click()  # what the program does is the present again
    expect(then).to_have_count(0)
    expect(variable(view, "total")).to_contain_text("6")


def test_the_timeline_says_who_started_and_who_removed(view: Locator, place: DebugWorkspace) -> None:
    break_at(view, "adding.py", 4)
    place.tool("start_debugging", configuration_name="adding")
    timeline = view.locator("#timeline")
    expect(timeline).to_contain_text("you set a breakpoint")
    expect(timeline).to_contain_text("the command line started adding")
    view.get_by_role("button", name="Remove the breakpoint adding.py:4").click()
    expect(timeline).to_contain_text("you removed a breakpoint")
    place.tool("stop_debugging")
    expect(timeline).to_contain_text("the command line ended")


def test_evidence_runs_are_reported_with_their_client(view: Locator, place: DebugWorkspace) -> None:
    """Their breakpoints and sessions belong to the run, which is nobody that a person knows."""
    place.tool("trace", program="adding.py", points=[{"line_number": 4, "expressions": ["total"]}])
    expect(view.locator("#timeline")).to_contain_text("the command line started adding.py")


def test_a_session_of_another_folder_is_looked_at_from_there(
    view: Locator, place: DebugWorkspace, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    furnish(other, {"adding": ADDING.replace("total += value", "total += value * 2"), "elsewhere": "x = 1\n"})
    call(place.daemon.paths, "trust_add", {"folder": str(other)})
    place.tool("set_breakpoint", folder=other, file_path="adding.py", line_number=4)
    place.tool("start_debugging", folder=other, configuration_name="adding")
    expect(current(view)).to_contain_text("total += value * 2")
    expect(view.locator("#folder")).to_have_value(str(other))
    expect(view.locator("#configuration option")).to_have_text(["adding", "elsewhere"])
    expect(view.locator("#breakpoints .item")).to_have_count(1)
    view.locator("#over").click()
    expect(variable(view, "total")).to_contain_text("2")
    open_file(view, "elsewhere.py")
    expect(view.locator("dragoman-source .cm-line").first).to_have_text("x = 1")
    view.locator("#stop").click()
    expect(standing(view)).to_contain_text("Terminated")
    view.locator("#folder").select_option(str(place.folder))
    expect(view.locator("#configuration option").first).to_have_text("adding")
    expect(view.locator("#breakpoints .item")).to_have_count(0)
    place.tool("remove_breakpoint", folder=other, clear_all=True)


def test_a_hundred_thousand_lines_and_ten_thousand_values_leave_the_page_awake(view: Locator, tab: Tab) -> None:
    break_at(view, "printing.py", 4)
    tab.page.evaluate(WATCH_FRAMES)
    tab.page.wait_for_function("() => window.gaps.length > 60")
    idle = frame_gaps(tab.page)
    start(view, "printing")
    worst_s = 0.0
    while "Stopped" not in standing(view).inner_text() or worst_s == 0:
        for name in ("Activity", "Debugger"):
            worst_s = max(worst_s, _answered_in_s(tab, name))
    variable(view, "values").click()
    expect(variable(view, "'name 0'")).to_be_visible()
    worst_s = max(worst_s, _answered_in_s(tab, "Activity"), _answered_in_s(tab, "Debugger"))
    assert worst_s < 0.5 * PATIENCE, worst_s
    expect(view.locator("#output .printed").last).to_have_text("line 99999")
    busy = frame_gaps(tab.page)
    assert busy[-1] < 1000 * PATIENCE  # it never froze
    assert busy[len(busy) * 9 // 10] < 5 * idle[len(idle) * 9 // 10] + 50  # and was as quick as before, nearly always
    assert view.locator("#output .printed").count() < 80
    assert view.locator("#variables .row").count() < 80
    last = view.locator("#output [role=listitem]").last
    expect(last).to_have_attribute("aria-setsize", re.compile(r"^(9\d{4}|100000)$"))  # the daemon keeps a megabyte


def _answered_in_s(tab: Tab, name: str) -> float:
    """From a click on a tab to its view being there, as the page itself measures it."""
    return float(tab.page.get_by_role("tab", name=name, exact=True).first.evaluate(
        """async (tab) => {
          const begun = performance.now();
          tab.click();
          const view = tab.getRootNode().querySelector(`#${tab.getAttribute("aria-controls")}`);
          while (view.hidden || !view.checkVisibility()) await new Promise(requestAnimationFrame);
          return (performance.now() - begun) / 1000;
        }"""
    ))  # fmt: skip


def test_what_a_program_says_stays_text_wherever_it_shows(view: Locator, tab: Tab, place: DebugWorkspace) -> None:
    """Names and values of variables, output, source, files, functions, threads, conditions, agents, stops of before."""
    file = f"{IMAGE}.py"
    line = (place.folder / file).read_text().splitlines().index("    pass") + 1
    agent = Agent.at(place.daemon, name=IMAGE, workspace=str(place.folder))
    agent.data_of("set_breakpoint", file_path=file, line_number=line, condition=f"{IMAGE!r} == said", log_message=IMAGE)
    open_file(view, file)
    expect(view.locator("dragoman-source .cm-line").filter(has_text="said = ")).to_contain_text("<img src=x")
    start(view, IMAGE)
    expect(standing(view)).to_contain_text("Stopped: ValueError: <img src=x")
    expect(view.locator(".threads .item")).to_have_count(2)
    expect(view.locator("#stack .item").first).to_contain_text(IMAGE)
    expect(view.locator("#breakpoints .item")).to_contain_text(f"{file}:{line}")
    expect(view.locator("#timeline")).to_contain_text(f"{IMAGE} set a breakpoint")
    view.locator("#stack .item").last.click()
    variable(view, "values").click()
    for expression in ("[named, said]", "fail()"):
        view.locator("#watch").fill(expression)
        view.locator("#watch").press("Enter")
    expect(view.locator("#watches .row .value").first).to_contain_text("<img src=x")
    expect(view.locator("#watches .row .bad")).to_contain_text("<img src=x")
    expect(view.locator("#output")).to_contain_text("window.pwned=1")
    expect(view.locator("#output")).not_to_contain_text("\x1b")
    assert_inert(tab, view)
    view.locator("#stop").click()
    expect(standing(view)).to_contain_text("Terminated")
    view.locator("#timeline .stop").first.click()
    expect(view.locator(".then")).to_contain_text("<img src=x")
    assert_inert(tab, view)
    activity = tab.show("Activity")
    activity.locator("#find").fill("evaluated")
    activity.locator(".row").first.click()
    assert_inert(tab, activity)
