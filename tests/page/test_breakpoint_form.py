"""Breakpoints of people and agents in the page: told apart, changed in a form, and switched in the list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import eventually
from tests.page.agent import Agent
from tests.page.debugging_page import break_at, current, gutter, open_file, start, variable
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("breakpoints")) as place:
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab, place: DebugWorkspace) -> Iterator[Locator]:
    yield tab.show("Debugger")
    place.clear()


def listed(place: DebugWorkspace) -> list[dict[str, Any]]:
    return list(place.tool("get_breakpoints")["breakpoints"])


def form(view: Locator, name: str) -> Locator:
    return view.get_by_role("dialog", name=f"Breakpoint: {name}")


def test_a_condition_that_is_set_beside_a_line_stops_the_program_only_where_it_is_true(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    open_file(view, "adding.py")
    gutter(view, 4).click(button="right")
    at_line = form(view, "adding.py:4")
    expect(at_line.get_by_label("Condition")).to_be_focused()
    tab.page.keyboard.type("value == 3")
    at_line.get_by_label("Hit count").fill("often")
    tab.page.keyboard.press("Enter")
    expect(at_line.get_by_role("alert")).to_contain_text("often")  # and what was typed is still there
    expect(at_line.get_by_label("Condition")).to_have_value("value == 3")
    at_line.get_by_label("Hit count").fill("")
    tab.page.keyboard.press("Enter")
    expect(at_line).to_have_count(0)
    expect(gutter(view, 4).locator(".mark")).to_have_class("mark person set conditional")
    start(view, "adding")
    expect(current(view)).to_contain_text("total += value")
    expect(variable(view, "value")).to_contain_text("3")


def test_breakpoints_of_agents_have_another_shape_and_their_name_and_only_they_change_them(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    break_at(view, "adding.py", 4)
    agent = Agent.at(place.daemon, name="claude", workspace=str(place.folder))
    agent.data_of("set_breakpoint", file_path="adding.py", line_number=5, condition="total > 2")
    expect(gutter(view, 4).locator(".mark")).to_have_class("mark person set")
    expect(gutter(view, 5).locator(".mark")).to_have_class("mark agent set conditional")
    looks = [gutter(view, line).locator(".mark").evaluate(LOOK) for line in (4, 5)]
    assert looks[0]["colour"] != looks[1]["colour"]
    assert [look["radius"] == "50%" for look in looks] == [True, False]
    expect(gutter(view, 5)).to_have_attribute("title", "Breakpoint, set by claude\nif total > 2")
    expect(view.locator("#breakpoints .item").nth(1)).to_contain_text("claude")
    gutter(view, 5).click(button="right")
    of_agent = form(view, "adding.py:5")
    expect(of_agent).to_contain_text("Only claude can change these conditions.")
    expect(of_agent.get_by_label("Condition")).not_to_be_editable()
    of_agent.get_by_label("On", exact=True).uncheck()
    expect(gutter(view, 5).locator(".mark")).to_have_class("mark agent off conditional")
    of_agent.get_by_label("On", exact=True).check()
    eventually(lambda: listed(place)[1]["enabled"])
    of_agent.get_by_role("button", name="Make it mine").click()
    expect(gutter(view, 5).locator(".mark")).to_have_class("mark person set conditional")
    assert [(it["owner"], it.get("condition")) for it in listed(place)] == [("page", None), ("page", "total > 2")]


LOOK = "it => ({ colour: getComputedStyle(it).backgroundColor, radius: getComputedStyle(it).borderRadius })"


def test_the_list_switches_exceptions_adds_functions_and_removes_all(view: Locator, place: DebugWorkspace) -> None:
    panel = view.locator("dragoman-breakpoints")
    panel.get_by_label("Raised exceptions").check()
    eventually(lambda: [it["exception"] for it in listed(place)] == ["raised"])
    panel.get_by_label("Uncaught exceptions").uncheck()
    eventually(lambda: [it["enabled"] for it in listed(place)] == [True, False])
    expect(panel.locator("#breakpoints")).to_have_count(0)  # their switches stand for them
    panel.get_by_role("button", name="Add…").click()
    panel.get_by_label("Name").fill("no_such_function")
    panel.get_by_role("button", name="Add", exact=True).click()
    expect(panel.get_by_role("alert")).to_contain_text("No function in the workspace has this name.")
    panel.get_by_label("Name").fill("add")
    panel.get_by_role("button", name="Add", exact=True).click()
    row = panel.locator("#breakpoints li")
    expect(row).to_contain_text("add")
    row.get_by_role("button", name="Edit the breakpoint add").click()
    form(view, "add").get_by_label("Hit count").fill("> 5")
    form(view, "add").get_by_role("button", name="Save").click()
    expect(row).to_contain_text("hits: > 5")
    row.get_by_label("add is on").uncheck()
    eventually(lambda: [it["enabled"] for it in listed(place)] == [True, False, False])
    panel.get_by_role("button", name="Remove all").click()
    expect(row).to_have_count(0)
    expect(panel.get_by_label("Uncaught exceptions")).to_be_checked()
    expect(panel.get_by_label("Raised exceptions")).not_to_be_checked()
    assert listed(place) == []


def test_keys_set_edit_and_leave_a_breakpoint(view: Locator, tab: Tab, place: DebugWorkspace) -> None:
    keys = tab.page.keyboard
    open_file(view, "adding.py")
    text = view.get_by_role("textbox", name="adding.py")
    text.focus()
    for key in ("ArrowDown", "ArrowDown", "F9"):
        keys.press(key)
    expect(gutter(view, 3)).to_have_attribute("aria-pressed", "true")
    eventually(lambda: [it["line"] for it in listed(place)] == [3])
    keys.press("Shift+F9")
    expect(form(view, "adding.py:3").get_by_label("Condition")).to_be_focused()
    keys.press("Escape")
    expect(form(view, "adding.py:3")).to_have_count(0)
    expect(text).to_be_focused()
    keys.press("F9")
    eventually(lambda: listed(place) == [])
    tab.assert_at_home()
