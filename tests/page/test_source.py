"""The source in the page: every language in colours, found, folded and scrolled, with what variables hold beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.daemons import PATIENCE, eventually
from tests.page.debugging_page import break_at, current, gutter, open_file, start
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")

LONG = 50_000
LANGUAGES = {
    "a.py": ("def f():\n    return 'x'  # why\n", "def"),
    "a.js": ("function f() {\n  return 'x'; // why\n}\n", "function"),
    "a.ts": ("interface A {\n  b: 'x'; // why\n}\n", "interface"),
    "a.go": ('func main() {\n\tx := "x" // why\n}\n', "func"),
    "a.c": ("struct a {\n  int b; // why\n};\n", "struct"),
    "a.cpp": ('class A {\n  char b[2] = "x"; // why\n};\n', "class"),
    "a.rs": ("fn main() {\n    let x = 1; // why\n}\n", "fn"),
    "a.rb": ("def f\n  'x' # why\nend\n", "def"),
    "a.lua": ("function f()\n  return 'x' -- why\nend\n", "function"),
}
MEMBERS = """\
class Order:
    limit = 3

    def __init__(self):
        self.total = 7

    @property
    def price(self):
        print("the property ran")
        return self.total


def check(order):
    note = "note and order"
    count = order.total
    count += order.price
    return count


check(Order())
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("source")) as place:
        for name, (text, _) in LANGUAGES.items():
            (place.folder / name).write_text(text)
        (place.folder / "endless.py").write_text(MEMBERS)
        block = 'def function_{0}(value):\n    """Adds."""\n    return value + {0}\n\n\n'
        (place.folder / "long.py").write_text("".join(block.format(number) for number in range(LONG // 5)))
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab, place: DebugWorkspace) -> Iterator[Locator]:
    yield tab.show("Debugger")
    tab.assert_at_home()
    place.clear()


def lines(view: Locator) -> Locator:
    return view.locator("dragoman-source .cm-line")


def open_long(view: Locator) -> None:
    open_file(view, "long.py")
    colours = view.get_by_role("textbox", name="long.py").locator(".tok-keyword")
    expect(colours.first).to_have_text("def")
    arrived = "it => it.text.isComplete"
    eventually(lambda: bool(view.locator("dragoman-source").evaluate(arrived)), within_s=30)


def test_every_language_that_is_debugged_is_in_colours(view: Locator) -> None:
    for name, (_, keyword) in LANGUAGES.items():
        open_file(view, name)
        expect(view.locator("dragoman-source .tok-keyword").first, name).to_have_text(keyword)
        expect(view.locator("dragoman-source .tok-comment"), name).to_contain_text("why")


def test_lines_are_found_by_their_words_and_by_their_numbers_and_blocks_are_folded(view: Locator, tab: Tab) -> None:
    keys = tab.page.keyboard
    open_long(view)
    text = view.get_by_role("textbox", name="long.py")
    text.focus()
    keys.press("Control+f")
    keys.type("function_9876(")
    keys.press("Enter")
    found = view.locator("dragoman-source .cm-searchMatch-selected")
    expect(found).to_have_text("function_9876(")  # far below what was in sight
    keys.press("Escape")
    expect(view.locator("dragoman-source .cm-search")).to_have_count(0)
    keys.press("Alt+g")
    line = view.get_by_label("Go to line")
    expect(line).to_be_focused()
    line.fill("6")
    keys.press("Enter")
    expect(gutter(view, 6)).to_be_visible()
    expect(view.locator("dragoman-source .cm-activeLine")).to_have_text("def function_1(value):")
    expect(text).to_be_focused()
    keys.press("Control+Shift+BracketLeft")
    expect(gutter(view, 7)).to_have_count(0)
    keys.press("Control+Shift+BracketRight")
    expect(gutter(view, 7)).to_be_visible()


def test_values_stand_at_the_ends_of_lines_and_open_where_they_are_pointed_at(
    view: Locator, tab: Tab, place: DebugWorkspace
) -> None:
    break_at(view, "endless.py", 16)
    start(view, "endless")
    expect(current(view)).to_contain_text("count += order.price")
    expect(current(view).locator(".value")).to_have_text(["count = 7", re.compile("^order = <.*Order object")])
    expect(lines(view).nth(13).locator(".value")).to_have_text(["note = 'note and order'"])  # not of words in a text
    hover(tab, lines(view).nth(14), "order.total", at="total")
    card = view.locator("dragoman-source .card")
    expect(card.locator(".name")).to_have_text("order.total")
    expect(card.locator(".value")).to_have_text("7")
    hover(tab, current(view), "count += order.price", at="price")
    expect(card.locator(".value").first).to_contain_text("property object")
    expect(view.locator("#output")).not_to_contain_text("the property ran")  # pointing at it runs nothing
    view.locator("#over").click()
    expect(current(view)).to_contain_text("return count")
    expect(current(view).locator(".value.changed")).to_have_text("count = 14")
    expect(view.locator("#output")).to_contain_text("the property ran")


def hover(tab: Tab, line: Locator, whole: str, *, at: str) -> None:
    """Over a word in a line."""
    box = line.evaluate(
        """(it, [whole, word]) => {
          const walker = document.createTreeWalker(it, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const start = walker.currentNode.data.indexOf(word);
            if (start < 0) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, start);
            range.setEnd(walker.currentNode, start + word.length);
            const { x, y, width, height } = range.getBoundingClientRect();
            return { x: x + width / 2, y: y + height / 2 };
          }
        }""",
        [whole, at],
    )
    tab.page.mouse.move(5, 5)
    tab.page.mouse.move(box["x"], box["y"], steps=3)


SCROLL = """async (box) => {
  const scroller = box.shadowRoot.querySelector(".cm-scroller");
  for (let count = 0; count < 120; count++) {
    await new Promise(requestAnimationFrame);
    scroller.scrollTop += 400;
  }
  await new Promise(requestIdleCallback);
  return scroller.scrollTop;
}"""
TRACED = "toplevel,devtools.timeline"


def task_ms(tab: Tab, action: Callable[[], object]) -> list[float]:
    """How long the page's main thread computed in each task: the time in which it waited for a core does not count."""
    session = tab.page.context.new_cdp_session(tab.page)
    events: list[dict[str, Any]] = []
    ended: list[bool] = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    session.send("Tracing.start", {"transferMode": "ReportEvents", "categories": TRACED})
    action()
    session.send("Tracing.end")
    eventually(lambda: tab.page.evaluate("1") == 1 and bool(ended))
    session.detach()
    threads = {it["tid"] for it in events if it["name"] == "FunctionCall"}
    tasks = [it for it in events if it["name"] == "ThreadControllerImpl::RunTask" and it["tid"] in threads]
    return sorted(it.get("tdur", 0) / 1000 for it in tasks)


def test_fifty_thousand_lines_are_scrolled_without_a_long_task(view: Locator, tab: Tab) -> None:
    open_long(view)
    box = view.locator("dragoman-source")
    took = task_ms(tab, lambda: box.evaluate(SCROLL))
    print(f"longest task {took[-1]:.1f} ms, 120th longest {took[-120]:.1f} ms, sum {sum(took):.0f} ms")
    assert took[-1] <= 50 * PATIENCE
    assert took[-6] <= 10 * PATIENCE  # of 120 frames, 95 % take less
    assert lines(view).count() < 200
    box.evaluate("it => it.shadowRoot.querySelector('.cm-scroller').scrollTop = 1e9")
    expect(gutter(view, LONG)).to_be_visible()
    expect(view.locator("dragoman-source .tok-number").last).to_have_text(str(LONG // 5 - 1))
