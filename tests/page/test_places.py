"""Addresses of the page: Back and Forward lead where the person was, and a copied address leads to the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.daemons import PATIENCE, call
from tests.page.agent import Agent
from tests.page.chat_page import fresh, say
from tests.page.debugging_page import break_at, standing, start, variable
from tests.page.page_fixture import DebugWorkspace, debug_workspace, furnish
from tests.page.tab import SIZE, Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("places")) as place:
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture(scope="module")
def agent(daemon: TargetDaemon) -> Agent:
    return Agent.at(daemon)


@pytest.fixture
def desk(tab: Tab, place: DebugWorkspace) -> Iterator[Locator]:
    yield tab.show("Debugger")
    place.clear()


def shown(tab: Tab) -> Locator:
    return tab.page.get_by_role("tab", selected=True).first


def expect_address(tab: Tab, address: str) -> None:
    expect(tab.page).to_have_url(re.compile(f"{re.escape(address)}$"))


def test_back_and_forward_lead_through_the_views(tab: Tab) -> None:
    for view in ("Terminals", "Activity", "Settings"):
        tab.show(view)
    expect_address(tab, "#settings")
    for view in ("Activity", "Terminals"):
        tab.page.go_back()
        expect(shown(tab)).to_have_text(view)
        expect(tab.page.locator(f"dragoman-{view.lower()}")).to_be_visible()
    tab.page.go_back()
    expect(shown(tab)).to_have_text("Chat")  # where it was opened
    tab.page.go_forward()
    expect(shown(tab)).to_have_text("Terminals")
    tab.page.reload()
    expect(shown(tab)).to_have_text("Terminals")


def test_a_session_and_each_of_its_stops_have_an_address(desk: Locator, tab: Tab) -> None:
    break_at(desk, "adding.py", 4)
    start(desk, "adding")
    expect(variable(desk, "total")).to_contain_text("0")
    desk.locator("#continue").click()
    expect(variable(desk, "total")).to_contain_text("1")
    session = tab.page.url.partition("#debugger/")[2]
    assert session
    desk.locator("#timeline .stop").filter(has_text="adding.py:4").nth(1).click()
    expect(desk.locator(".then")).to_contain_text("Stop 1 (past)")
    expect_address(tab, f"#debugger/{session}/1")
    tab.page.go_back()
    expect(desk.locator(".then")).to_have_count(0)
    tab.page.go_forward()
    expect(desk.locator(".then")).to_contain_text("Stop 1 (past)")
    tab.page.reload()
    expect(desk.locator(".then")).to_contain_text("Stop 1 (past)")
    expect(variable(desk, "total", of="#variables-then")).to_contain_text("0")
    tab.show("Activity")
    tab.show("Debugger")
    expect_address(tab, f"#debugger/{session}/1")  # as it was left
    desk.locator("#now").click()
    expect_address(tab, f"#debugger/{session}")


def test_an_address_leads_to_its_session_not_to_the_newest_and_says_when_it_is_gone(
    desk: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    sessions = [place.tool("start_debugging", program="endless.py", timeout_s=0)["session_id"] for _ in range(2)]
    expect(desk.locator("#sessions .item")).not_to_have_count(0)
    tab.page.evaluate("(address) => { location.hash = address; }", f"#debugger/{sessions[0]}")
    chosen = desk.locator("#sessions .chosen")
    expect_address(tab, f"#debugger/{sessions[0]}")
    expect(standing(desk)).to_contain_text("Running")
    tab.page.reload()
    expect(chosen).to_have_count(1)
    expect_address(tab, f"#debugger/{sessions[0]}")
    expect(standing(desk)).to_contain_text("Running")  # loaded whole: the next address is not taken for a part of it
    tab.page.evaluate("() => { location.hash = '#debugger/no-such'; }")
    expect(desk.locator("#notice")).to_have_text(re.compile("The session in this address no longer exists."))


def test_conversations_have_addresses(tab: Tab) -> None:
    keys, words = [], tab.page.locator("dragoman-chat article.user .words")
    for number in range(2):
        chat = fresh(tab)
        keys.append(tab.page.evaluate("sessionStorage.chat").removeprefix("agent:main:"))
        expect_address(tab, f"#chat/{keys[-1]}")
        say(chat, f"/status number={number}")
        expect(words).to_have_text([f"/status number={number}"])
    tab.page.go_back()
    expect(words).to_have_text(["/status number=0"])
    tab.page.go_forward()
    expect(words).to_have_text(["/status number=1"])
    tab.page.reload()
    expect(words).to_have_text(["/status number=1"])
    tab.show("Activity")
    tab.show("Chat")
    expect_address(tab, f"#chat/{keys[1]}")  # as it was left
    tab.page.evaluate("(address) => { location.hash = address; }", f"#chat/agent%3Amain%3A{keys[0]}")
    expect(words).to_have_text(["/status number=0"])
    expect_address(tab, f"#chat/{keys[0]}")
    tab.page.evaluate("() => { location.hash = '#chat/no-such'; }")
    expect(tab.page.locator("dragoman-chat").get_by_role("alert")).to_have_text(
        "The conversation in this address no longer exists."
    )
    expect(words).to_have_text(["/status number=0"])
    expect_address(tab, f"#chat/{keys[0]}")
    choice = tab.page.locator("dragoman-chat").get_by_label("Conversation").first
    choice.select_option(label="/status number=1")
    expect_address(tab, f"#chat/{keys[1]}")
    expect(tab.page.locator("dragoman-chat").get_by_role("alert")).to_have_count(0)
    for _ in range(7):  # to where it was opened, which is the main conversation
        tab.page.go_back()
    expect(shown(tab)).to_have_text("Chat")
    expect(words).to_have_count(0)


@pytest.mark.parametrize(
    ("view", "parts", "data_of"),
    [
        ("Terminals", "no-such", "The terminal in this address no longer exists."),
        ("Terminals", "/no-such", "This command is no longer in the record."),
        ("Canvas", "raw/no-such", "The surface in this address no longer exists."),
    ],
)
def test_an_address_of_something_gone_says_so_and_becomes_that_of_what_is_shown(
    tab: Tab, place: DebugWorkspace, view: str, parts: str, data_of: str
) -> None:
    place.tool("run_in_terminal", command="echo here")
    shown_view = tab.show(view)
    tab.page.evaluate("(address) => { location.hash = address; }", f"#{view.lower()}/{parts}")
    notice = shown_view.locator("#notice")
    expect(notice).to_have_text(data_of)
    expect(tab.page).not_to_have_url(re.compile("no-such"))
    home = tab.page.url.partition("#")[0]
    tab.page.goto("about:blank")  # so that the page is loaded at this address, and not led to it
    tab.page.goto(f"{home}#{view.lower()}/{parts}")
    expect(notice).to_have_text(data_of)


def test_terminals_and_commands_have_addresses(tab: Tab, place: DebugWorkspace) -> None:
    for word in ("first", "second"):
        place.tool("run_in_terminal", command=f"echo the {word}")
    view = tab.show("Terminals")
    for word in ("first", "second"):
        view.locator("#commands .command").filter(has_text=f"echo the {word}").click()
        expect(view.locator("#output .shown")).to_have_text([f"the {word}"])
    second = tab.page.url
    tab.page.go_back()
    expect(view.locator("#output .shown")).to_have_text(["the first"])
    view.locator("#terminals .item").nth(1).click()
    expect(view.locator("dragoman-screen")).to_be_visible()
    assert re.search("#terminals/[^/]+$", tab.page.url)
    tab.page.reload()
    expect(view.locator("dragoman-screen")).to_be_visible()
    tab.page.goto(second)
    tab.page.reload()
    expect(view.locator("#output .shown")).to_have_text(["the second"])


def test_what_runs_now_is_listed_before_what_has_ended(tab: Tab, place: DebugWorkspace, tmp_path: Path) -> None:
    go_on = tmp_path / "go"
    view = tab.show("Terminals")
    listed = view.locator("#commands .command").filter(has_text="until test -e")
    with ThreadPoolExecutor(1) as waits:
        line = f"echo begun; until test -e {go_on}; do sleep 0.05; done"
        ended = waits.submit(place.tool, "run_in_terminal", command=line)
        expect(listed.get_by_label("running")).to_be_visible()
        expect(view.locator("#commands .command").first).to_contain_text("until test -e")
        listed.click()
        expect(view.locator("#output .shown").first).to_have_text("begun")
        view.get_by_label("Only failed").check()
        expect(listed).to_have_count(0)
        view.get_by_label("Only failed").uncheck()
        go_on.touch()
        assert ended.result(30 * PATIENCE)["command"]["exit_code"] == 0
    expect(listed.get_by_label("exit code 0")).to_be_visible()
    expect(listed).to_have_count(1)


def test_the_switch_shows_commands_of_every_folder_and_only_then(
    tab: Tab, place: DebugWorkspace, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    furnish(other, {})
    call(place.daemon.paths, "trust_add", {"folder": str(other)})
    place.tool("run_in_terminal", folder=other, command="echo from elsewhere")
    place.tool("run_in_terminal", command="echo from here")
    view = tab.show("Terminals")
    elsewhere, here = (
        view.locator("#commands .command").filter(has_text=f"echo from {it}") for it in ("elsewhere", "here")
    )
    expect(here.first).to_be_visible()
    expect(elsewhere).to_have_count(0)
    view.get_by_label("All workspaces").check()
    expect(elsewhere.first).to_be_visible()
    expect(here.first).to_be_visible()
    view.get_by_label("All workspaces").uncheck()
    expect(elsewhere).to_have_count(0)
    expect(here.first).to_be_visible()


def test_surfaces_have_addresses_and_a_question_leads_to_its_own(tab: Tab, agent: Agent) -> None:
    text = [{"id": "root", "component": "Text", "text": "x"}]
    for name in ("one", "two"):
        agent.data_of("show_canvas", surface_id=name, title=f"Surface {name}", components=text)
    canvas = tab.show("Canvas")
    for name in ("one", "two"):
        canvas.get_by_role("tab", name=f"Surface {name}").click()
        expect(tab.page).to_have_url(re.compile(f"#canvas/[^/]+/{name}$"))
    tab.page.go_back()
    expect(canvas.get_by_role("tabpanel", name="Surface one")).to_be_visible()
    tab.page.reload()
    expect(canvas.get_by_role("tabpanel", name="Surface one")).to_be_visible()


def test_a_question_is_announced_in_every_view_and_the_answer_stays_confirmed(tab: Tab, agent: Agent) -> None:
    text = [{"id": "root", "component": "Text", "text": "x"}]
    agent.data_of("show_canvas", surface_id="before", title="Before", components=text)
    asks, answered = tab.page.locator(".question:not(.answered)"), tab.page.locator(".question.answered")
    tab.show("Canvas").get_by_role("tab", name="Before").click()
    with ThreadPoolExecutor(1) as waits:
        answer = waits.submit(agent.data_of, "ask_user", title="Which port?", fields=[{"name": "n"}], timeout_s=60)
        for view in ("Canvas", "Chat", "Debugger", "Evidence", "Terminals", "Activity", "Settings"):
            tab.show(view)
            expect(asks).to_contain_text("raw asks: Which port?")
        asks.get_by_role("button", name="Answer").click()
        form = tab.page.locator("dragoman-canvas").get_by_role("tabpanel", name="Which port?")
        expect(form).to_be_visible()
        expect(asks).to_have_count(0)  # it is before their eyes
        form.locator("input").fill("8080")
        form.get_by_role("button", name="Send").click()
        assert answer.result(30 * PATIENCE)["values"] == {"n": "8080"}
    expect(answered).to_contain_text("You answered raw: Which port?")
    tab.show("Activity")
    expect(answered).to_contain_text("You answered raw: Which port?")
    answered.get_by_role("button", name="Close").click()
    expect(answered).to_have_count(0)
    with ThreadPoolExecutor(1) as waits:
        answer = waits.submit(agent.data_of, "ask_user", title="Sure?", fields=[{"name": "n"}], timeout_s=60)
        asks.get_by_role("button", name="Answer").click()
        form = tab.page.locator("dragoman-canvas").get_by_role("tabpanel", name="Sure?")
        form.get_by_role("button", name="Cancel").click()
        assert answer.result(30 * PATIENCE)["status"] == "cancelled"
    expect(answered).to_contain_text("You closed the question of raw: Sure?")


def test_a_columns_alignment_is_kept_though_the_policy_forbids_styles(tab: Tab, agent: Agent) -> None:
    table = "| l | c | r | n |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |\n\n```python\nx = 1\n```\n"
    agent.data_of(
        "show_canvas",
        surface_id="table",
        title="Table",
        components=[{"id": "root", "component": "Markdown", "text": table}],
    )
    canvas = tab.show("Canvas")
    canvas.get_by_role("tab", name="Table").click()
    cells = canvas.get_by_role("tabpanel", name="Table").locator("td")
    expect(cells).to_have_count(4)
    sides = cells.evaluate_all("them => them.map((it) => getComputedStyle(it).textAlign)")
    assert sides[:3] == ["left", "center", "right"]
    assert sides[3] in ("start", "left")
    assert canvas.get_by_role("tabpanel", name="Table").locator("td[style], th[style], code[class]").count() == 0


def test_what_a_person_chose_counts_in_a_tab_that_is_opened_later(
    tab: Tab, browser: Browser, daemon: TargetDaemon
) -> None:
    """The daemon keeps it: a browser keeps nothing of an origin that is new at each start."""
    desk = tab.show("Debugger")
    desk.locator("#watch").fill("kept + 1")
    desk.locator("#watch").press("Enter")
    expect(variable(desk, r"kept \+ 1", of="#watches")).to_be_visible()
    tab.show("Settings").locator("#language").select_option("zh")
    expect(tab.page.locator("#tab-chat")).to_have_text("聊天")
    context = browser.new_context(viewport=SIZE)
    other = Tab.opened(context, daemon)
    other.page.goto(other.link())
    expect(other.page.locator("#tab-chat")).to_have_text("聊天")
    kept = other.show("Debugger")
    expect(variable(kept, r"kept \+ 1", of="#watches")).to_be_visible()
    context.close()
