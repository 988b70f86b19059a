"""The evidence view of the page: questions about a whole run, asked by a person, and what is drawn of the answers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import PATIENCE, call
from tests.page.page_fixture import ENDLESS, DebugWorkspace, furnish
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon, target_daemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")

RUN_MS = 40_000 * PATIENCE

CART = """\
def total(prices, discount):
    total = 0
    for price in prices:
        total += price
        if price > 5:
            total -= price * discount
    return total
"""
TESTS = """\
from cart import total


def test_a_discount_is_for_every_price():
    assert total([2.0, 7.0, 4.0], 0.5) == 6.5
"""
SAVING = """\
import sys

def save(rate):
    saved = 0
    for week in range(6):
        saved += rate
        word = "odd" if week % 2 else "even"
        sys.stdout.flush()
    return saved

print(save(int(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    room = tmp_path_factory.mktemp("evidence")
    folder = room / "work"
    furnish(folder, {"cart": CART, "test_cart": TESTS, "saving": SAVING, "endless": ENDLESS})
    with target_daemon(room / "home", folder=folder) as daemon:
        yield DebugWorkspace(folder, daemon)


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def untrusted_view(tab: Tab, place: DebugWorkspace) -> Locator:
    for method in ("trust_add", "trust_revoke"):  # only what is trusted can be revoked
        call(place.daemon.paths, method, {"folder": str(place.folder)})
    return opened(tab)


@pytest.fixture
def view(tab: Tab, place: DebugWorkspace) -> Locator:
    call(place.daemon.paths, "trust_add", {"folder": str(place.folder)})
    return opened(tab)


def opened(tab: Tab) -> Locator:
    view = tab.show("Evidence")
    expect(view.locator("#ask")).to_be_visible()
    return view


def choose(view: Locator, question: str, command: str) -> None:
    view.get_by_role("radio", name=question).check()
    view.locator("#kind").select_option("command")
    view.locator("#subject").fill(f"{sys.executable} {command}")


def answer(view: Locator) -> Locator:
    """Of the question that the form asks."""
    view.locator("#ask").click()
    verdict = view.locator("#verdict")
    expect(verdict).to_be_visible(timeout=RUN_MS)
    return verdict


def notes(view: Locator, line: int) -> Locator:
    return view.locator(f"dragoman-traced-call .line[data-line='{line}'] .note")


def test_a_failing_test_is_explained_after_a_person_trusts_the_folder(untrusted_view: Locator, tab: Tab) -> None:
    view = untrusted_view
    choose(view, "Explain a failure", "-m pytest -q test_cart.py")
    view.locator("#ask").click()
    expect(view.locator(".would-run")).to_contain_text("-m pytest", timeout=RUN_MS)
    view.locator("#trust").click()
    expect(view.locator("#verdict")).to_contain_text("failed", timeout=RUN_MS)
    expect(view.locator("#results .item")).to_contain_text("AssertionError: assert 9.5 == 6.5")
    expect(view.locator("#left mark")).to_have_text("9.5")
    expect(view.locator("#right mark")).to_have_text("6.5")
    expect(view.locator(".call > summary")).to_contain_text("total")
    # Its loop, pass by pass.
    expect(notes(view, 4)).to_have_text(re.compile(r"total = 0\s+2\.0"))
    view.get_by_role("button", name="Next iteration").click()
    expect(notes(view, 6)).to_have_text(re.compile(r"total = 9\.0\s+5\.5"))
    expect(notes(view, 7)).to_have_text("→ 9.5")
    # An agent reads what an agent would have got.
    view.locator("#hand").click()
    message = tab.page.locator("dragoman-chat textarea")
    expect(message).to_have_value(re.compile(r"^About Explain a failure.*\n> failed in", re.DOTALL))
    # A reload keeps the results, and the address leads to this one.
    tab.page.go_back()
    tab.page.reload()
    expect(view.locator("#left mark")).to_have_text("9.5")
    expect(view.locator("#results .item")).to_have_count(1)


def test_a_trace_is_a_table_that_leads_to_the_source(view: Locator) -> None:
    choose(view, "Trace lines", "saving.py 5")
    view.get_by_label("Line or function").fill("saving.py:8")
    view.get_by_label("Expressions").fill("saved, word")
    expect(answer(view)).to_contain_text("rows: 6")
    rows = view.locator("dragoman-trace-table .row")
    expect(rows).to_have_count(6)
    expect(rows.nth(1).locator(".changed")).to_have_text(["10", "'odd'"])
    expect(view.get_by_role("img", name="saved: from 5 to 30")).to_be_visible()
    view.get_by_role("button", name="Sort by saved").click()
    view.get_by_role("button", name="Sort by saved").click()
    expect(rows.first).to_contain_text("30")
    rows.first.click()
    expect(view.locator("#excerpt [aria-current]")).to_contain_text("saved = 30")
    view.locator("#filter").fill("odd")
    expect(rows).to_have_count(3)


def test_two_runs_stand_beside_each_other_at_their_first_difference(view: Locator) -> None:
    choose(view, "Compare two runs", "saving.py 5")
    view.get_by_label("Line or function").fill("saving.py:6")
    view.get_by_label("Expressions").fill("week, saved")
    view.locator("#differs").select_option("subject")
    view.locator("#other").fill(f"{sys.executable} saving.py 7")
    expect(answer(view)).to_contain_text("first difference at hit 2")
    for side, saved in (("one", "5"), ("other", "7")):
        expect(view.locator(f"#{side} .first .differs")).to_have_text(saved)
        expect(view.locator(f"#{side} .row")).to_have_count(6)


def test_a_broken_condition_shows_its_values_and_every_hit(view: Locator) -> None:
    choose(view, "Check a condition", "saving.py 5")
    view.get_by_label("Line or function").fill("saving.py:7")
    view.get_by_label("Condition that should hold").fill("saved < 15")
    expect(answer(view)).to_contain_text("broken at hit 3")
    expect(view.locator("#finding tbody tr")).to_have_text(re.compile(r"saved\s*10\s*15"))
    view.locator("#all-hits").click()
    expect(view.locator("#verdict")).to_contain_text("rows: 6", timeout=RUN_MS)
    expect(view.get_by_role("button", name="changes at 3")).to_be_visible()


def test_a_misspelt_function_is_offered_as_it_is_spelt(view: Locator) -> None:
    choose(view, "Trace one call", "saving.py 5")
    view.get_by_label("Function").fill("saved_")
    view.locator("#ask").click()
    view.locator(".similar").get_by_role("button", name="save", exact=True).click()
    expect(view.locator("#verdict")).to_contain_text("→ 30", timeout=RUN_MS)


def test_a_run_is_cancelled_and_its_program_ends(view: Locator, place: DebugWorkspace) -> None:
    choose(view, "Find a change", "endless.py")
    view.get_by_label("From the first hit of").fill("endless.py:5")
    view.get_by_label("Expression", exact=True).fill("time")
    view.locator("#ask").click()
    expect(view.locator("#elapsed")).to_have_text(re.compile(r"^[1-9]\d*\.\d s$"))
    view.locator("#cancel").click()
    expect(view.get_by_text("You cancelled this run.")).to_be_visible()
    expect(view.locator("#results .item").first).to_contain_text("cancelled")
    view.locator("#edit").click()
    expect(view.get_by_label("Expression", exact=True)).to_have_value("time")


def test_a_failed_command_of_a_terminal_leads_to_its_explanation(
    tab: Tab, view: Locator, place: DebugWorkspace
) -> None:
    command = f"{sys.executable} saving.py many"
    place.tool("run_in_terminal", command=command)
    terminals = tab.show("Terminals")
    terminals.locator("#commands .command").filter(has_text="saving.py many").click()
    terminals.locator("#explain").click()
    expect(view.locator("#subject")).to_have_value(command)
    expect(view.locator("#kind")).to_have_value("command")
    expect(answer(view)).to_contain_text("crashed")
    expect(view.locator(".headline")).to_contain_text("ValueError: invalid literal for int")
    tab.page.reload()
    view.locator("#new").click()
    expect(view.locator("#offer code")).to_have_text(command)
    expect(view.locator("#subject")).to_have_value(command)  # what was asked last


def test_a_trace_that_an_agent_makes_is_listed(view: Locator, place: DebugWorkspace) -> None:
    point = {"file_path": "saving.py", "line_number": 6, "expressions": ["week"]}
    place.tool("trace", program="saving.py", args=["5"], points=[point])
    view.locator("#results .item").filter(has_text="saving.py:6").click()
    expect(view.locator("pre.text")).to_contain_text("saving.py:6: week")
