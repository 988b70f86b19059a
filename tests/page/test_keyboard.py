"""Every view by keyboard alone: what can be clicked can be reached, and does the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")

FOCUSED = """selector => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.matches(selector) ?? false;
}"""
RING = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.matches(":focus-visible") && getComputedStyle(at).outlineStyle !== "none";
}"""
CUT = """() => {
  const above = (it) => it.assignedSlot ?? it.parentElement ?? it.getRootNode().host;
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  // An editor's text is larger than what is in sight of it, so the ring is that of the box around it.
  while (at && getComputedStyle(at).outlineStyle === "none") at = above(at);
  if (!at) return "";
  const { outlineWidth, outlineOffset } = getComputedStyle(at);
  const reach = parseFloat(outlineWidth) + parseFloat(outlineOffset);
  const { left, right, top, bottom } = at.getBoundingClientRect();
  const ring = { left: left - reach, right: right + reach, top: top - reach, bottom: bottom + reach };
  for (let box = above(at); box; box = above(box)) {
    const { overflowX, overflowY } = getComputedStyle(box);
    if (overflowX === "visible" && overflowY === "visible") continue;
    const edge = box.getBoundingClientRect();
    const isCut = (overflowX !== "visible" && (ring.left < edge.left - 0.5 || ring.right > edge.right + 0.5)) ||
      (overflowY !== "visible" && (ring.top < edge.top - 0.5 || ring.bottom > edge.bottom + 0.5));
    if (isCut) return `${at.outerHTML.slice(0, 200)} in ${box.outerHTML.slice(0, 100)}`;
  }
  return "";
}"""
MOST_STEPS = 80


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("keys")) as place:
        place.tool("run_in_terminal", command="echo by keys")
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


def step_to(page: Page, selector: str, *, key: str = "Tab") -> None:
    for _ in range(MOST_STEPS):
        page.keyboard.press(key)
        if page.evaluate(FOCUSED, selector):
            assert page.evaluate(RING), f"no ring around {selector}"
            return
    raise AssertionError(f"{selector} is not reached by {key}")


def walk_to(page: Page, view: str) -> None:
    """Back to the tabs, and along them by the arrow keys."""
    step_to(page, "[role=tablist] > [role=tab]", key="Shift+Tab")
    for _ in range(page.get_by_role("tab").count()):
        if page.get_by_role("tab", name=view).get_attribute("aria-selected") == "true":
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(view)


def test_who_opens_the_chat_can_write_at_once_and_who_walks_along_the_tabs_stays_on_them(tab: Tab) -> None:
    page = tab.page
    page.wait_for_function(FOCUSED, arg="textarea")
    tab.show("Terminals")
    page.get_by_role("tab", name="Chat").press("Enter")
    page.wait_for_function(FOCUSED, arg="textarea")
    page.get_by_role("tab", name="Chat").press("End")
    page.keyboard.press("Home")
    expect(page.get_by_role("tab", name="Get started")).to_have_attribute("aria-selected", "true")
    assert page.evaluate(FOCUSED, "[role=tab]")


def test_every_view_is_used_without_a_mouse(tab: Tab) -> None:
    page = tab.page
    walk_to(page, "Chat")
    step_to(page, "textarea")
    page.keyboard.type("/status")
    page.keyboard.press("Enter")
    expect(page.locator("dragoman-chat article.assistant .prose")).to_be_visible()
    walk_to(page, "Chat")
    step_to(page, "details.tool summary")
    page.keyboard.press("Enter")
    expect(page.locator("dragoman-chat details.tool pre").first).to_be_visible()

    walk_to(page, "Terminals")
    step_to(page, "#commands .command")
    page.keyboard.press("Enter")
    expect(page.locator("dragoman-terminals #output")).to_contain_text("by keys")
    walk_to(page, "Terminals")
    step_to(page, "#terminals .item[title]:not([title=''])")
    page.keyboard.press("Enter")
    expect(page.locator("#screen")).to_contain_text("by keys")
    step_to(page, "#screen")
    walk_to(page, "Terminals")
    step_to(page, "#shows-ask")
    page.keyboard.press("Space")
    step_to(page, "#question")

    walk_to(page, "Activity")
    step_to(page, ".row")
    page.keyboard.press("Enter")
    expect(page.locator("dragoman-activity aside")).to_be_visible()

    walk_to(page, "Settings")
    step_to(page, "input[type=checkbox]")
    page.keyboard.press("Space")
    expect(page.locator("dragoman-settings").get_by_text("Saved.")).to_be_visible()
    page.keyboard.press("Space")

    walk_to(page, "Debugger")
    step_to(page, "input")
    walk_to(page, "Canvas")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_fits_a_window_as_narrow_as_a_telephone(browser: Browser, daemon: TargetDaemon, scheme: str) -> None:
    context = browser.new_context(
        locale="zh-CN",
        color_scheme=scheme,  # type: ignore[arg-type]
        viewport={"width": 360, "height": 640},
    )
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    for view in ("chat", "canvas", "debugger", "terminals", "activity", "settings"):
        tab.page.locator(f"#tab-{view}").click()
        shown = tab.page.locator(f"dragoman-{view}")
        expect(shown).to_be_visible()
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 360, view
        assert shown.evaluate("it => it.scrollWidth <= it.clientWidth"), view
    tab.assert_at_home()
    context.close()


@pytest.mark.parametrize("view", ["Chat", "Canvas", "Debugger", "Evidence", "Terminals", "Activity", "Settings"])
def test_the_ring_around_what_has_the_focus_is_whole(tab: Tab, view: str) -> None:
    """What scrolls cuts off what lies outside of it: a ring that is drawn there is missing a side."""
    tab.show(view)
    cut: set[str] = set()
    for _ in range(30):
        tab.page.keyboard.press("Tab")
        cut.add(str(tab.page.evaluate(CUT)))
    assert cut <= {""}, cut
