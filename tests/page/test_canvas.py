"""The canvas in the page: every component drawn, bound, acted on; and whatever an agent writes stays text."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.daemons import PATIENCE
from tests.page.agent import Agent
from tests.page.drawing import every_component
from tests.page.held import Held
from tests.page.hostile import ALL, PAYLOADS, assert_inert
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")


@pytest.fixture(scope="module")
def agent(daemon: TargetDaemon) -> Agent:
    return Agent.at(daemon)


def shown(tab: Tab, name: str) -> Locator:
    canvas = tab.show("Canvas")
    canvas.get_by_role("tab", name=name, exact=True).click()
    return canvas.get_by_role("tabpanel", name=name, exact=True)


@pytest.mark.requirement("page:canvas:surface-rendered", "page:canvas:interaction")
def test_a_surface_is_drawn_as_it_changes_and_its_button_reaches_the_agent(tab: Tab, agent: Agent) -> None:
    components = [
        {"id": "root", "component": "Column", "children": ["count", "name", "press"]},
        {"id": "count", "component": "Text", "text": {"path": "/count"}, "variant": "h2"},
        {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/name"}},
        {"id": "press", "component": "Button", "child": "label", "variant": "primary",
         "action": {"event": {"name": "greet", "context": {"who": {"path": "/name"}}}}},
        {"id": "label", "component": "Text", "text": "Greet"},
    ]  # fmt: skip
    drawn = agent.data_of("show_canvas", surface_id="greeting", components=components, data={"count": 1, "name": "Ada"})
    assert drawn["watchers"] >= 1
    surface = shown(tab, "greeting")
    expect(surface.get_by_role("heading", name="1")).to_be_visible()
    agent.data_of("update_canvas", surface_id="greeting", changes={"/count": 2})
    expect(surface.get_by_role("heading", name="2")).to_be_visible()
    field = surface.get_by_label("Name")
    expect(field).to_have_value("Ada")
    field.fill("Grace")
    agent.data_of("update_canvas", surface_id="greeting", changes={"/count": 3})
    expect(surface.get_by_role("heading", name="3")).to_be_visible()
    expect(field).to_have_value("Grace")  # what is being typed outlives a change by the agent
    surface.get_by_role("button", name="Greet").click()
    actions = agent.data_of("read_actions", surface_id="greeting", timeout_s=10)["actions"]
    assert [(it["name"], it["context"]) for it in actions] == [("greet", {"who": "Grace"})]
    tab.page.reload()
    expect(shown(tab, "greeting").get_by_label("Name")).to_have_value("Grace")


def test_a_list_is_drawn_from_a_template_and_each_button_names_its_own_item(tab: Tab, agent: Agent) -> None:
    components = [
        {"id": "root", "component": "List", "children": {"componentId": "row", "path": "/items"}},
        {"id": "row", "component": "Row", "children": ["pick"]},
        {"id": "pick", "component": "Button", "child": "what",
         "action": {"event": {"name": "picked", "context": {"what": {"path": "what"}}}}},
        {"id": "what", "component": "Text", "text": {"path": "what"}},
    ]  # fmt: skip
    items = [{"what": name} for name in ("ants", "bees", "crows")]
    agent.data_of("show_canvas", surface_id="template", components=components, data={"items": items})
    surface = shown(tab, "template")
    expect(surface.get_by_role("button")).to_have_text(["ants", "bees", "crows"])
    surface.get_by_role("button", name="bees").click()
    actions = agent.data_of("read_actions", surface_id="template", timeout_s=10)["actions"]
    assert [it["context"] for it in actions] == [{"what": "bees"}]


@pytest.mark.requirement("canvas:catalogue:confirm", "canvas:catalogue:confirm-yes", "canvas:catalogue:confirm-no")
def test_a_question_with_two_buttons_is_answered_by_either(
    browser: Browser, daemon: TargetDaemon, agent: Agent
) -> None:
    context = browser.new_context(locale="zh-CN")
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    tab.page.get_by_role("tab", name="画布").click()
    for label, confirmed in (("确认", True), ("取消", False)):
        question = [{"id": "root", "component": "Confirm", "message": "Sure?"}]
        agent.data_of("show_canvas", surface_id="one", title="Asked", components=question)
        tab.page.get_by_role("tab", name="Asked").click()
        surface = tab.page.get_by_role("tabpanel", name="Asked")
        expect(surface).to_contain_text("Sure?")
        surface.get_by_role("button", name=label).click()
        assert agent.actions("one") == [("onConfirm", {"componentId": "root", "confirmed": confirmed})]
    context.close()


@pytest.mark.requirement("canvas:catalogue:missing-property")
def test_a_text_that_is_not_there_is_empty(tab: Tab, agent: Agent) -> None:
    components = [
        {"id": "root", "component": "Column", "children": ["none", "bound", "press"]},
        {"id": "none", "component": "Text", "variant": "h3"},
        {"id": "bound", "component": "Text", "text": {"path": "/nowhere"}, "variant": "h3"},
        {"id": "press", "component": "Button", "child": "later"},
    ]
    agent.data_of("show_canvas", surface_id="missing", components=components)
    headings = shown(tab, "missing").get_by_role("heading", include_hidden=True)
    expect(headings).to_have_text(["", ""])


def test_a_button_waits_until_its_checks_hold(tab: Tab, agent: Agent) -> None:
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
    agent.data_of("show_canvas", surface_id="checked", components=components, data={"mail": "nobody"})
    surface = shown(tab, "checked")
    expect(surface.get_by_role("button", name="Write")).to_be_disabled()
    expect(surface.get_by_text("An address, please.")).to_be_visible()
    surface.get_by_label("Mail").fill("ada@example.org")
    surface.get_by_role("button", name="Write").click()
    assert len(agent.data_of("read_actions", surface_id="checked", timeout_s=10)["actions"]) == 1


def test_what_was_sent_is_in_its_field_until_the_surface_comes_with_it(tab: Tab, agent: Agent) -> None:
    components = [
        {"id": "root", "component": "Column", "children": ["name", "send"]},
        {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/name"}},
        {"id": "send", "component": "Button", "child": "label", "action": {"event": {"name": "sent"}}},
        {"id": "label", "component": "Text", "text": "Send"},
    ]
    agent.data_of("show_canvas", surface_id="late", components=components, data={"name": "Ada"})
    surface = shown(tab, "late")
    surface.get_by_label("Name").fill("Grace")
    held = Held(tab.page, address="/api/canvas")
    surface.get_by_role("button", name="Send").press("Enter")
    expect(surface.locator(".confirmation")).to_have_text("Sent to raw")
    held.until_asked()
    expect(surface.get_by_label("Name")).to_have_value("Grace")
    expect(surface.get_by_role("button", name="Send")).to_be_focused()  # who uses keys may press it again
    held.let()
    agent.data_of("update_canvas", surface_id="late", changes={"/name": "Barbara"})
    expect(surface.get_by_label("Name")).to_have_value("Barbara")
    assert agent.actions("late") == [("sent", {})]


def test_another_question_with_the_same_names_begins_with_its_own_values(tab: Tab, agent: Agent) -> None:
    for title in ("Delete the branch", "Delete everything"):
        which = {"name": "which", "label": "Which?", "kind": "choice", "options": ["a", "b"], "value": "a"}
        fields = [{"name": "sure", "label": "Sure?", "kind": "yes_no"}, which]
        form = [{"id": "root", "component": "Form", "title": title, "fields": fields}]
        agent.data_of("show_canvas", surface_id="asked", title="Asked twice", components=form)
        surface = shown(tab, "Asked twice")
        expect(surface.get_by_role("heading", name=title)).to_be_visible()
        expect(surface.get_by_label("Sure?")).not_to_be_checked()
        expect(surface.get_by_label("Which?")).to_have_value("a")
        surface.get_by_label("Sure?").check()
        surface.get_by_label("Which?").select_option("b")
        surface.get_by_role("button", name="Send").click()
        assert agent.actions("asked")[0][1]["values"] == {"sure": True, "which": "b"}


def test_a_canvas_is_used_by_keys_alone(tab: Tab, agent: Agent) -> None:
    components = [
        {"id": "root", "component": "Column", "children": ["words", "button", "code"]},
        {"id": "words", "component": "Modal", "trigger": "say", "content": "inner"},
        {"id": "say", "component": "Text", "text": "More"},
        {"id": "button", "component": "Modal", "trigger": "press", "content": "inner"},
        {"id": "press", "component": "Button", "child": "label"},
        {"id": "label", "component": "Text", "text": "Press"},
        {"id": "inner", "component": "Text", "text": "the rest of it"},
        {"id": "code", "component": "CodeBlock", "title": "long.py", "code": "x = 1\n" * 500},
    ]
    agent.data_of("show_canvas", surface_id="keys", components=components)
    agent.data_of("show_canvas", surface_id="beside", components=[{"id": "root", "component": "Text", "text": "x"}])
    surface = shown(tab, "keys")
    for name, key in (("More", "Enter"), ("Press", "Space")):
        opens = surface.get_by_role("button", name=name).first
        opens.press(key)
        expect(surface.get_by_role("dialog")).to_be_focused()
        tab.page.keyboard.press("Escape")
        expect(surface.get_by_role("dialog")).to_have_count(0)
        expect(opens).to_be_focused()
    surface.get_by_role("button", name="Press").first.click()
    expect(surface.get_by_role("dialog")).to_contain_text("the rest of it")
    code = (
        surface.get_by_role("group", name="long.py")
        .locator("dragoman-rows")
        .or_(surface.get_by_role("group", name="long.py"))
    )
    code.last.press("End")
    tab.page.wait_for_function("it => it.scrollTop > 9000", arg=code.last.element_handle())
    tab.page.get_by_role("button", name="Remove keys").press("Enter")
    expect(tab.page.get_by_role("tab", name="keys", exact=True)).to_have_count(0)
    expect(tab.page.locator("dragoman-canvas [role=tab][aria-selected=true]")).to_be_focused()


def test_bars_below_zero_hang_from_its_line(tab: Tab, agent: Agent) -> None:
    components = [
        {"id": "root", "component": "Chart", "kind": "bar", "series": [{"name": "loss", "values": [-5, -3]}]},
    ]
    agent.data_of("show_canvas", surface_id="charts", components=components)
    surface = shown(tab, "charts")
    bars = surface.locator("svg rect")
    expect(bars).to_have_count(2)
    tops = [float(str(bar.get_attribute("y"))) for bar in bars.all()]
    highest = min(float(str(it.get_attribute("y1"))) for it in surface.locator("svg .grid").all())
    assert tops == [pytest.approx(highest)] * 2


def test_questions_are_answered_in_the_page(tab: Tab, agent: Agent, daemon: TargetDaemon) -> None:
    fields = [{"name": "branch", "label": "Which?", "kind": "choice", "options": ["main", "dev"], "required": True},
              {"name": "sure", "label": "Sure?", "kind": "yes_no"}]  # fmt: skip
    asked: dict[str, Any] = {"title": "Release", "fields": fields, "timeout_s": 30}
    with ThreadPoolExecutor(1) as waits:
        answer = waits.submit(agent.data_of, "ask_user", **asked)
        form = shown(tab, "Release")
        form.get_by_label("Which?").select_option("dev")
        form.get_by_label("Sure?").check()
        form.get_by_role("button", name="Send").click()
        assert answer.result(30 * PATIENCE)["values"] == {"branch": "dev", "sure": True}
    expect(tab.page.get_by_role("tab", name="Release")).to_have_count(0)


def test_a_question_is_seen_from_every_view_until_it_is_answered(tab: Tab, agent: Agent) -> None:
    tab.show("Canvas")
    tab.show("Activity")
    fields = [{"name": "word", "label": "Password", "kind": "secret"}]
    badge = tab.page.locator("#tab-canvas .asks")
    expect(badge).to_have_count(0)
    with ThreadPoolExecutor(1) as waits:
        answer = waits.submit(agent.data_of, "ask_user", title="Log in", fields=fields, timeout_s=30)
        expect(badge).to_have_text("1")
        expect(tab.page).to_have_title("(1) Dragoman")
        expect(tab.page.locator("#news[role=status]")).to_have_text("raw asks on the canvas: Log in")
        tab.page.reload()
        expect(badge).to_have_text("1")
        canvas = tab.show("Canvas")
        expect(badge).to_have_text("1")  # looked at is not answered
        canvas.get_by_role("tab", name="Log in").click()
        form = canvas.get_by_role("tabpanel", name="Log in")
        expect(form).to_contain_text("Asked by raw")
        form.get_by_label("Password").fill("x")
        form.get_by_role("button", name="Send").click()
        assert answer.result(30 * PATIENCE)["values"] == {"word": "x"}
    expect(badge).to_have_count(0)
    expect(tab.page).to_have_title("Dragoman")


def test_a_person_that_opens_the_page_finds_the_question_open(tab: Tab, agent: Agent) -> None:
    agent.data_of("show_canvas", surface_id="looked at", components=[{"id": "root", "component": "Text", "text": "x"}])
    shown(tab, "looked at")
    tab.show("Activity")
    with ThreadPoolExecutor(1) as waits:
        answer = waits.submit(agent.data_of, "ask_user", title="Which one", fields=[{"name": "n"}], timeout_s=30)
        expect(tab.page.locator("#tab-canvas .asks")).to_have_text("1")
        form = tab.show("Canvas").get_by_role("tabpanel", name="Which one")
        expect(form).to_be_visible()
        form.get_by_role("button", name="Cancel").click()
        assert answer.result(30 * PATIENCE)["status"] == "cancelled"


def test_a_new_drawing_is_reported_until_the_canvas_is_looked_at(tab: Tab, agent: Agent) -> None:
    tab.show("Activity")
    drawn = [{"id": "root", "component": "Text", "text": "x"}]
    badge = tab.page.locator("#tab-canvas .asks")
    for _ in range(2):  # the second time it is known
        agent.data_of("show_canvas", surface_id="unseen", title="Unseen", components=drawn)
        expect(badge).to_have_text("1")
    expect(tab.page.locator("#news")).to_have_text("raw drew on the canvas: Unseen")
    tab.show("Canvas")
    expect(badge).to_have_count(0)
    expect(tab.page).to_have_title("Dragoman")


def test_a_sent_form_names_its_receiver_and_is_closed_until_it_is_drawn_again(tab: Tab, agent: Agent) -> None:
    form = [{"id": "root", "component": "Form", "title": "Deploy", "fields": [{"name": "where", "label": "Where?"}]}]
    agent.data_of("show_canvas", surface_id="sent", title="Sent once", components=form)
    surface = shown(tab, "Sent once")
    surface.get_by_label("Where?").fill("there")
    surface.get_by_label("Where?").press("Enter")
    expect(surface.locator(".answered")).to_contain_text("Sent to raw")
    expect(surface.locator(".answered")).to_be_focused()  # who writes by keyboard goes on from here
    expect(surface.get_by_label("Where?")).to_have_count(0)
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")
    expect(surface.get_by_label("Where?")).to_be_focused()
    surface.get_by_role("button", name="Cancel").press("Enter")
    expect(surface.locator(".answered")).to_be_visible()
    tab.page.reload()
    surface = shown(tab, "Sent once")
    expect(surface.locator(".answered")).to_contain_text("Sent to raw")
    expect(surface.get_by_role("button", name="Send")).to_have_count(0)
    surface.get_by_role("button", name="Answer again").click()
    expect(surface.get_by_label("Where?")).to_have_value("")
    surface.get_by_role("button", name="Cancel").click()
    expect(surface.locator(".answered")).to_be_visible()
    agent.data_of("show_canvas", surface_id="sent", title="Sent once", components=form)
    expect(surface.get_by_label("Where?")).to_be_visible()
    assert [context.get("values") for _, context in agent.actions("sent")] == [{"where": "there"}, None, None]


def test_in_a_narrow_window_the_chosen_tab_is_in_sight(tab: Tab, agent: Agent) -> None:
    for number in range(8):
        drawn = [{"id": "root", "component": "Text", "text": "x"}]
        agent.data_of("show_canvas", surface_id=f"one of many {number}", components=drawn)
    shown(tab, "one of many 7")
    tab.page.set_viewport_size({"width": 400, "height": 700})
    chosen = tab.page.locator("dragoman-canvas .surfaces [aria-selected=true]")
    expect(chosen).to_be_in_viewport(ratio=1)
    tab.show("Activity")
    tab.show("Canvas")
    expect(chosen).to_be_in_viewport(ratio=1)


def test_questions_that_nobody_answered_in_time_are_seen_to_be_closed(tab: Tab, agent: Agent) -> None:
    agent.data_of("ask_user", title="Too late", fields=[{"name": "n", "label": "How many?"}], timeout_s=0)
    surface = shown(tab, "Too late")
    expect(surface).to_contain_text("Closed: no answer came in time")
    expect(surface.get_by_label("How many?")).to_have_count(0)
    tab.page.get_by_role("button", name="Remove Too late").click()
    expect(tab.page.get_by_role("tab", name="Too late")).to_have_count(0)


def test_what_an_agent_writes_runs_nowhere_and_loads_nothing(tab: Tab, agent: Agent) -> None:
    canvas = tab.show("Canvas")
    for result in PAYLOADS:
        drawn = every_component(result, address="https://evil.example/x.png")
        agent.data_of("show_canvas", surface_id=f"hostile {result}"[:200], title=result[:150], components=drawn)
        surface = canvas.locator("dragoman-surface").last
        expect(surface.locator("[data-type=Form]")).to_contain_text(result[-20:])
        canvas.locator(".surfaces [role=tab]").last.click()
        expect(surface.locator("[data-type=Form]")).to_be_visible()
        assert surface.locator("[data-type]").count() > 35
        surface.locator("[data-type=FileTree] .name").last.click()
        expect(surface.locator(".confirmation")).to_have_text("Sent to raw")
        assert_inert(tab, canvas)


def test_the_verdict_sees_what_it_is_for(browser: Browser, daemon: TargetDaemon) -> None:
    """The same, written into the page as markup: each of the measures must tell."""
    context = browser.new_context()
    tab = Tab.opened(context, daemon)
    tab.log_in()
    canvas = tab.show("Canvas")
    canvas.evaluate("it => { it.shadowRoot.append(document.createElement('img')); }")
    with pytest.raises(AssertionError, match="img"):
        assert_inert(tab, canvas)
    tab.page.evaluate("() => { new Image().src = 'https://evil.example/x.png'; window.pwned = 1; }")
    expect(tab.page.locator("body")).to_be_visible()
    tab.page.wait_for_function("window.violations.length > 0")
    assert "evil.example" in str(tab.page.evaluate("window.violations"))
    assert tab.ran() == 1
    context.close()


def test_the_same_is_text_in_the_record(tab: Tab, agent: Agent) -> None:
    components = [{"id": "root", "component": "Text", "text": ALL}]
    agent.data_of("show_canvas", surface_id="recorded", title=ALL[:200], components=components)
    activity = tab.show("Activity")
    activity.locator("#find").fill("recorded")
    activity.locator(".row").first.click()
    expect(activity.locator("aside pre")).to_contain_text("window.pwned")
    assert_inert(tab, activity)
