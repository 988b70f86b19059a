"""The canvas in the page: every component drawn, bound, acted on; and whatever an agent writes stays text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.faces.attacked import Attacked
from tests.faces.mcp.over_http import Wire
from tests.page.drawing import every_component
from tests.page.tab import Tab

pytestmark = pytest.mark.needs("chromium", "page")

HOSTILE = [
    "<img src=x onerror=window.pwned=1>",
    "<script>window.pwned=1</script>",
    "<svg onload=window.pwned=1><a href='javascript:window.pwned=1'>x</a></svg>",
    "[x](javascript:window.pwned=1) ![y](https://evil.example/y.png) <https://evil.example>",
    '"><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
    "</style><style>@import 'https://evil.example/x.css';*{background:url(https://evil.example/z)}</style>",
    "${window.pwned=1}{{constructor.constructor('window.pwned=1')()}}",
    "\u202e\u0000 javascript:window.pwned=1",
]


@pytest.fixture(scope="module")
def agent(daemon: Attacked) -> Wire:
    wire = Wire(daemon.port, json.loads(daemon.places.tokens_file.read_text())["mcp"])
    assert wire.initialize().status == 200
    return wire


def told(agent: Wire, tool: str, **arguments: Any) -> dict[str, Any]:
    result = agent.call(tool, **arguments).messages[-1]["result"]
    assert not result.get("isError"), result
    data: dict[str, Any] = result["structuredContent"]
    return data


def shown(tab: Tab, name: str) -> Locator:
    canvas = tab.show("Canvas")
    canvas.get_by_role("tab", name=name, exact=True).click()
    return canvas.get_by_role("tabpanel", name=name, exact=True)


@pytest.mark.requirement("page:canvas:surface-rendered", "page:canvas:interaction")
def test_a_surface_is_drawn_as_it_changes_and_its_button_reaches_the_agent(tab: Tab, agent: Wire) -> None:
    components = [
        {"id": "root", "component": "Column", "children": ["count", "name", "press"]},
        {"id": "count", "component": "Text", "text": {"path": "/count"}, "variant": "h2"},
        {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/name"}},
        {"id": "press", "component": "Button", "child": "label", "variant": "primary",
         "action": {"event": {"name": "greet", "context": {"who": {"path": "/name"}}}}},
        {"id": "label", "component": "Text", "text": "Greet"},
    ]  # fmt: skip
    drawn = told(agent, "show_canvas", surface_id="greeting", components=components, data={"count": 1, "name": "Ada"})
    assert drawn["watchers"] >= 1
    surface = shown(tab, "greeting")
    expect(surface.get_by_role("heading", name="1")).to_be_visible()
    told(agent, "update_canvas", surface_id="greeting", changes={"/count": 2})
    expect(surface.get_by_role("heading", name="2")).to_be_visible()
    field = surface.get_by_label("Name")
    expect(field).to_have_value("Ada")
    field.fill("Grace")
    told(agent, "update_canvas", surface_id="greeting", changes={"/count": 3})
    expect(surface.get_by_role("heading", name="3")).to_be_visible()
    expect(field).to_have_value("Grace")  # what is being typed outlives a change by the agent
    surface.get_by_role("button", name="Greet").click()
    actions = told(agent, "read_actions", surface_id="greeting", timeout_s=10)["actions"]
    assert [(it["name"], it["context"]) for it in actions] == [("greet", {"who": "Grace"})]
    tab.page.reload()
    expect(shown(tab, "greeting").get_by_label("Name")).to_have_value("Grace")


def test_a_list_is_drawn_from_a_template_and_each_button_tells_its_own_item(tab: Tab, agent: Wire) -> None:
    components = [
        {"id": "root", "component": "List", "children": {"componentId": "row", "path": "/items"}},
        {"id": "row", "component": "Row", "children": ["pick"]},
        {"id": "pick", "component": "Button", "child": "what",
         "action": {"event": {"name": "picked", "context": {"what": {"path": "what"}}}}},
        {"id": "what", "component": "Text", "text": {"path": "what"}},
    ]  # fmt: skip
    items = [{"what": name} for name in ("ants", "bees", "crows")]
    told(agent, "show_canvas", surface_id="template", components=components, data={"items": items})
    surface = shown(tab, "template")
    expect(surface.get_by_role("button")).to_have_text(["ants", "bees", "crows"])
    surface.get_by_role("button", name="bees").click()
    actions = told(agent, "read_actions", surface_id="template", timeout_s=10)["actions"]
    assert [it["context"] for it in actions] == [{"what": "bees"}]


def own(agent: Wire, tab: Tab, component: dict[str, Any], **data: Any) -> Locator:
    told(agent, "show_canvas", surface_id="one", components=[{"id": "root", **component}], data=data)
    surface = shown(tab, "one")
    expect(surface.locator(f"[data-type={component['component']}]")).to_be_visible()
    return surface


def action(agent: Wire) -> tuple[str, dict[str, Any]]:
    (taken,) = told(agent, "read_actions", surface_id="one", timeout_s=10)["actions"]
    return taken["name"], taken["context"]


def test_what_is_chosen_in_a_component_is_told_as_its_catalogue_says(tab: Tab, agent: Wire) -> None:
    tree = own(agent, tab, {"component": "FileTree", "items": ["src/app.py", "README.md"]})
    tree.get_by_role("button", name="app.py").click()
    assert action(agent) == ("onSelect", {"path": "src/app.py"})
    changed = {"path": "a.py", "original": "a\nb\n", "modified": "a\nc\n"}
    diff = own(agent, tab, {"component": "Diff", **changed, "decides": True})
    assert diff.locator(".line").evaluate_all("them => them.map(it => it.className.trim())") == [
        "line same", "line removed", "line added"]  # fmt: skip
    diff.get_by_role("button", name="Accept").click()
    assert action(agent) == ("onDecide", {"path": "a.py", "accepted": True})


@pytest.mark.requirement("canvas:catalogue:confirm", "canvas:catalogue:confirm-yes", "canvas:catalogue:confirm-no")
def test_a_question_with_two_buttons_is_answered_by_either(browser: Browser, daemon: Attacked, agent: Wire) -> None:
    context = browser.new_context(locale="zh-CN")
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    tab.page.get_by_role("tab", name="画布").click()
    for label, confirmed in (("确认", True), ("取消", False)):
        question = [{"id": "root", "component": "Confirm", "message": "Sure?"}]
        told(agent, "show_canvas", surface_id="one", title="Asked", components=question)
        tab.page.get_by_role("tab", name="Asked").click()
        surface = tab.page.get_by_role("tabpanel", name="Asked")
        expect(surface).to_contain_text("Sure?")
        surface.get_by_role("button", name=label).click()
        assert action(agent) == ("onConfirm", {"componentId": "root", "confirmed": confirmed})
    context.close()


@pytest.mark.requirement("canvas:catalogue:missing-property")
def test_a_text_that_is_not_there_is_empty(tab: Tab, agent: Wire) -> None:
    components = [
        {"id": "root", "component": "Column", "children": ["none", "bound", "press"]},
        {"id": "none", "component": "Text", "variant": "h3"},
        {"id": "bound", "component": "Text", "text": {"path": "/nowhere"}, "variant": "h3"},
        {"id": "press", "component": "Button", "child": "later"},
    ]
    told(agent, "show_canvas", surface_id="missing", components=components)
    headings = shown(tab, "missing").get_by_role("heading", include_hidden=True)
    expect(headings).to_have_text(["", ""])


def test_a_chart_shows_lone_values_and_tells_its_numbers_as_a_table(tab: Tab, agent: Wire) -> None:
    series = [{"name": "memory", "values": [10, None, 90]}, {"name": "other", "values": {"path": "/all"}}]
    chart = own(
        agent, tab, {"component": "Chart", "kind": "line", "x": ["a", "b", "c"], "series": series}, all=[1, 2, 3]
    )
    expect(chart.locator("circle")).to_have_count(5)
    chart.get_by_text("As a table").click()
    expect(chart.locator("tbody tr")).to_have_text(["a101", "b2", "c903"])


def test_a_table_sorts_filters_and_tells_the_row(tab: Tab, agent: Wire) -> None:
    rows = [{"name": f"test {n}", "ms": n * 7 % 1000} for n in range(2500)]
    columns = [{"key": "name"}, {"key": "ms", "title": "Time", "align": "end"}]
    table = own(agent, tab, {"component": "Table", "columns": columns, "rows": {"path": "/rows"}}, rows=rows)
    assert table.locator(".cells").count() < 60
    table.get_by_role("columnheader", name="Time").click()
    table.get_by_role("columnheader", name="Time").click()
    expect(table.locator(".cells[tabindex] .end").first).to_have_text("999")
    table.get_by_label("Filter rows").fill("test 2499")
    expect(table.locator(".cells[tabindex]")).to_have_count(1)
    table.locator(".cells[tabindex]").click()
    assert action(agent) == ("onSelect", {"index": 2499, "row": rows[2499]})


def test_a_button_waits_until_its_checks_hold(tab: Tab, agent: Wire) -> None:
    check = {"condition": {"call": "email", "args": {"value": {"path": "/mail"}}}, "message": "An address, please."}
    components = [
        {"id": "root", "component": "Column", "children": ["mail", "send"]},
        {"id": "mail", "component": "TextField", "label": "Mail", "value": {"path": "/mail"}, "checks": [check]},
        {
            "id": "send",
            "component": "Button",
            "child": "label",
            "checks": [check],
            "action": {"event": {"name": "sent"}},
        },
        {"id": "label", "component": "Text", "text": "Write"},
    ]
    told(agent, "show_canvas", surface_id="checked", components=components, data={"mail": "nobody"})
    surface = shown(tab, "checked")
    expect(surface.get_by_role("button", name="Write")).to_be_disabled()
    expect(surface.get_by_text("An address, please.")).to_be_visible()
    surface.get_by_label("Mail").fill("ada@example.org")
    surface.get_by_role("button", name="Write").click()
    assert len(told(agent, "read_actions", surface_id="checked", timeout_s=10)["actions"]) == 1


def test_questions_are_answered_in_the_page(tab: Tab, agent: Wire, daemon: Attacked) -> None:
    fields = [{"name": "branch", "label": "Which?", "kind": "choice", "options": ["main", "dev"], "required": True},
              {"name": "sure", "label": "Sure?", "kind": "yes_no"}]  # fmt: skip
    asked: dict[str, Any] = {"title": "Release", "fields": fields, "timeout_s": 0}
    surface_id = told(agent, "ask_user", **asked)["surface_id"]
    form = shown(tab, "Release")
    form.get_by_label("Which?").select_option("dev")
    form.get_by_label("Sure?").check()
    form.get_by_role("button", name="Send").click()
    (taken,) = told(agent, "read_actions", surface_id=surface_id, timeout_s=10)["actions"]
    assert taken["context"]["values"] == {"branch": "dev", "sure": True}
    tab.page.get_by_role("button", name="Take Release away").click()
    expect(tab.page.get_by_role("tab", name="Release")).to_have_count(0)


@pytest.mark.requirement("canvas:catalogue:unknown-placeholder")
def test_an_unknown_component_says_its_name(tab: Tab, agent: Wire, daemon: Attacked) -> None:
    surface = own(agent, tab, {"component": "Text", "text": "soon"})
    surface.evaluate(
        """it => { it.surface = {...it.surface, tree: {...it.surface.tree, type: "Gauge", state: "ready"}} }"""
    )
    expect(surface).to_contain_text("[Gauge: not yet implemented]")


@pytest.mark.parametrize("said", HOSTILE)
def test_what_an_agent_writes_runs_nowhere_and_loads_nothing(tab: Tab, agent: Wire, said: str) -> None:
    drawn = every_component(said, address="https://evil.example/x.png")
    told(agent, "show_canvas", surface_id="hostile", title=said[:150], components=drawn)
    canvas = tab.show("Canvas")
    surface = canvas.locator("dragoman-surface").last
    expect(surface.locator("[data-type=Form]")).to_contain_text(said[-20:])
    canvas.locator(".surfaces [role=tab]").last.click()
    expect(surface.locator("[data-type=Form]")).to_be_visible()
    assert surface.locator("[data-type]").count() > 35
    assert surface.locator("img, script, iframe, style, a[href^='javascript']").count() == 0
    tab.show("Activity").locator(".row").first.click()  # the same in the record
    tab.assert_at_home()
