"""Activity: every kind of event there is has a sentence in both languages, and says who did it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.daemons import call
from tests.page.agent import Agent
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

SOURCES = Path(__file__).parents[2] / "src" / "dragoman"
RECORDERS = {
    "Event",
    "record_event",
    "_record_event",
    "_lifecycle_event",
    "_breakpoint_event",
    "_trust_event",
    "_keep",
    "_event",
    "notify",
    "publish",
}
OTHERS = {"sessions.changed", "gateway.state", "store.written"}
"""RecordedEvents to clients of the gateway and to editors, or passed through the redactor alone: kept in no record."""

PLACE = {"path": "/w/app.py", "line": 3}
BY = {"by": "page"}
SURFACE = {"drawer": "gateway", "surface": "report"}
HAPPENED: dict[str, dict[str, Any]] = {
    "breakpoint.changed": {"breakpoint": {**PLACE, "owner": "page"}},
    "breakpoint.removed": {"breakpoint": {"filter": "raised", "owner": "page"}, **BY},
    "breakpoint.set": {"breakpoint": {**PLACE, "owner": "page"}},
    "canvas.action_taken": {**SURFACE, "name": "accept", **BY},
    "canvas.hidden": {"drawer": "gateway-canvas"},
    "canvas.presented": {"drawer": "gateway-canvas"},
    "canvas.surface_removed": {**SURFACE, **BY},
    "canvas.surface_updated": {"drawer": "gateway", "versions": {"report": 1}, "removed": []},
    "canvas.surfaces_forgotten": {"count": 2},
    "chat.file_changed": {"path": "app.py"},
    "chat.said": {"role": "user", "by": "the page"},
    "chat.session_created": {},
    "chat.session_placed": {},
    "chat.session_removed": {},
    "chat.session_renamed": {},
    "daemon.ended": {"version": "1"},
    "daemon.setting_changed": {"key": "port", **BY},
    "daemon.started": {"version": "1"},
    "debug.afterwards_failed": {"code": "task_failed"},
    "debug.ended": {"exit_code": 3, **BY},
    "debug.evaluated": {"expression": "n", "result": "1", **BY},
    "debug.failed": {"code": "no_adapter"},
    "debug.held": {"seconds": 90, **BY},
    "debug.joined": BY,
    "debug.left": BY,
    "debug.paused": BY,
    "debug.released": {"stop": 2, "reason": "unattended"},
    "debug.resumed": {"command": "next", **BY},
    "debug.running": {},
    "debug.started": {"title": "app", **BY},
    "debug.stopped": {"reason": "breakpoint", "stop": 1, **PLACE},
    "debug.traced": {"place": "app.py:3", "table": "1 | 2", **BY},
    "debug.variable_set": {"name": "n", **BY},
    "journal.set_aside": {"file": "journal-1.broken"},
    "mcp.connected": {"client": "probe", "version": "2", "workspace": "/w"},
    "mcp.disconnected": {"client": "probe", "version": "2", "workspace": "/w"},
    "share.signed": {"session": "report"},
    "terminal.began": {"attributes": {"shell": "bash"}, "by": "terminal"},
    "terminal.command_ended": {"line": "make", "exit_code": 2, "by": "terminal"},
    "terminal.command_failed": {"line": "make 2", "exit_code": 2, "by": "terminal"},
    "terminal.ended": {"why": "unused", "by": ""},
    "terminal.pattern_seen": {"text": "segmentation fault", "by": "terminal"},
    "workspace.distrusted": {"folder": "/w"},
    "workspace.trusted": {"folder": "/w"},
}
GIVEN = (
    "Dragoman|breakpoint|/w/app.py|/w|app.py|report|raised|accept|probe|port|journal-1.broken|no_adapter|task_failed|"
    "bash|make|segmentation fault|said this|app|n|MCP"
)
"""What stands in a sentence as it was told, in whatever language that was."""


def kinds_of(path: Path) -> set[str]:
    calls = [it for it in ast.walk(ast.parse(path.read_text())) if isinstance(it, ast.Call)]
    telling = [it for it in calls if getattr(it.func, "attr", getattr(it.func, "id", "")) in RECORDERS]
    given = [value for it in telling for value in (*it.args, *(keyword.value for keyword in it.keywords))]
    texts = [it.value for it in given if isinstance(it, ast.Constant) and isinstance(it.value, str)]
    return {text for text in texts if re.fullmatch(r"[a-z]+\.[a-z_]+", text)}


def test_these_are_all_the_kinds_that_the_record_knows() -> None:
    result = set().union(*map(kinds_of, SOURCES.rglob("*.py"))) - OTHERS
    assert result == set(HAPPENED)


@pytest.fixture(scope="module")
def recorded(daemon: TargetDaemon) -> dict[str, int]:
    return {kind: daemon.record_event(kind, body, text="said this") for kind, body in HAPPENED.items()}


def sentences(tab: Tab, recorded: dict[str, int]) -> dict[str, str]:
    activity = tab.page.locator("dragoman-activity")
    found = {}
    for kind, sequence in recorded.items():
        activity.locator("#find").fill(kind)
        row = activity.locator(".row").filter(has=tab.page.get_by_text(str(sequence), exact=True))
        found[kind] = row.locator(".text").inner_text()
    return found


@pytest.mark.needs("chromium", "page")
def test_every_kind_has_a_sentence_in_english_and_in_chinese(
    tab: Tab, browser: Browser, daemon: TargetDaemon, recorded: dict[str, int]
) -> None:
    tab.show("Activity")
    english = sentences(tab, recorded)
    bare = {kind for kind, text in english.items() if not text or text == "said this" or "{" in text}
    assert bare == set()
    context = browser.new_context(locale="zh-CN", viewport={"width": 1200, "height": 760})
    other = Tab.opened(context, daemon)
    other.page.goto(other.link())
    other.page.locator("#tab-activity").click()
    chinese = {kind: re.sub(GIVEN, "", text) for kind, text in sentences(other, recorded).items()}
    assert {kind: text for kind, text in chinese.items() if re.search("[A-Za-z]{2}", text)} == {}
    assert {kind for kind, text in chinese.items() if not re.search("[\u4e00-\u9fff]", text)} == set()
    other.assert_at_home()
    context.close()


@pytest.mark.needs("chromium", "page")
def test_whose_terminal_it_was_and_what_failed_is_said(
    tab: Tab, recorded: dict[str, int], daemon: TargetDaemon
) -> None:
    activity = tab.show("Activity")
    for kind in ("ended", "failed"):
        daemon.record_event(f"terminal.command_{kind}", {"line": "make 7", "exit_code": 7, "by": "terminal"})
    daemon.record_event("terminal.command_ended", {"line": "make 8", "exit_code": 0, "by": "terminal"})
    activity.locator("#find").fill("terminal make")
    expect(activity.locator(".row .text").first).to_have_text("ran make 8")
    expect(activity.locator(".row .text").filter(has_text="make 7")).to_have_text("ran make 7: exit code 7")
    activity.locator("#find").fill("terminal.command_failed")
    expect(activity.locator(".row .text").first).to_have_text("failed with exit code 2: make 2")
    expect(activity.locator(".row .who").first).to_have_text("a person at the terminal")
    activity.locator("#find").fill("terminal.ended nobody used it")
    expect(activity.locator(".row .who").first).to_have_text("")
    activity.locator("#find").fill("you debug.resumed")
    expect(activity.locator(".row .text").first).to_have_text("stepped over")
    activity.locator("#find").fill("")
    activity.locator("#area").select_option("debug")
    expect(activity.locator(".row .kind").first).to_have_attribute("title", re.compile(r"^(debug|breakpoint)\."))
    expect(activity.locator(".row .kind").first).to_have_text("debug")


@pytest.mark.needs("chromium", "page")
def test_what_one_of_them_did_can_be_looked_at_alone(tab: Tab, recorded: dict[str, int]) -> None:
    activity = tab.show("Activity")
    activity.locator("#by").select_option("a person at the terminal")
    expect(activity.locator(".row .text").filter(has_text="failed with exit code 2: make 2")).to_be_visible()
    assert set(activity.locator(".row .who").all_inner_texts()) == {"a person at the terminal"}
    activity.locator("#by").select_option("everyone")
    expect(activity.locator(".row .who").filter(has_text="you").first).to_be_visible()


@pytest.mark.needs("chromium", "page")
def test_an_agent_has_one_name_in_every_view_also_one_that_came_long_before_the_page(
    tab: Tab, daemon: TargetDaemon
) -> None:
    agent = Agent.at(daemon)
    daemon.append(300)  # more than a page reads of what was
    drawn = [{"id": "root", "component": "Text", "text": "hello"}]
    agent.data_of("show_canvas", surface_id="named", title="Named", components=drawn)
    tab.page.reload()
    tab.assert_connected()
    activity = tab.show("Activity")
    activity.locator("#find").fill("drew named")
    expect(activity.locator(".row .who").first).not_to_have_text("an agent")
    name = activity.locator(".row .who").first.inner_text()
    canvas = tab.show("Canvas")
    expect(canvas.get_by_role("tab", name="Named")).to_have_attribute("title", f"Named, drawn by {name}")


@pytest.mark.needs("chromium", "page")
@pytest.mark.parametrize("name", ["You", "dragoman", "a person in VS Code"])
def test_an_agent_that_uses_one_of_our_names_is_not_confused_with_us(tab: Tab, daemon: TargetDaemon, name: str) -> None:
    activity = tab.show("Activity")
    drawn = [{"id": "root", "component": "Text", "text": "hello"}]
    Agent.at(daemon, name=name).data_of("show_canvas", surface_id="posing", components=drawn)
    activity.locator("#find").fill("drew posing named")
    expect(activity.locator(".row .who").first).to_have_text(f"a client named {name}")
    activity.locator("#find").fill("")


def test_a_view_that_is_opened_late_shows_the_latest_events_once_each(tab: Tab, daemon: TargetDaemon) -> None:
    last = daemon.append(500)
    view = tab.show("Activity")
    expect(view.locator(".number").first).to_have_text(str(last))
    numbers = [int(number) for number in view.locator(".number").all_inner_texts()]
    assert numbers == list(range(last, last - len(numbers), -1))


@pytest.mark.needs("chromium", "page")
def test_events_of_a_session_are_one_group_that_folds_filters_and_leads_to_the_moment(
    tab: Tab, daemon: TargetDaemon
) -> None:
    call(daemon.paths, "trust_add", {"folder": call(daemon.paths, "status")["workspace"]})
    agent = Agent.at(daemon, name="grouped")
    agent.data_of("run_in_terminal", command="false")
    activity = tab.show("Activity")
    group = activity.locator(".group").first
    expect(group).to_contain_text("grouped")
    expect(activity.locator(".kind.failed").first).to_be_visible()
    activity.get_by_label("only what failed").check()
    expect(activity.locator(".row .text").first).to_contain_text("exit code 1")
    activity.get_by_label("only what failed").uncheck()
    ran = activity.locator(".line.inside").filter(has_text="ran false")
    expect(ran).to_have_count(1)
    group.click()
    expect(group).to_have_attribute("aria-expanded", "false")
    expect(ran).to_have_count(0)
    group.click()
    usage = activity.get_by_role("button", name=re.compile("^grouped"))
    expect(usage).to_contain_text("calls: 1")
    usage.click()
    expect(activity.locator("#by")).to_have_value("grouped")
    activity.get_by_role("link", name="Show").first.click()
    expect(tab.page).to_have_url(re.compile("#terminals/"))
