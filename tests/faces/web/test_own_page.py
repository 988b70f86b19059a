"""The plain page in a real browser: login, live events, reload, refusal, rotation; nothing leaves the origin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.daemons import call
from tests.faces.attacked import Attacked
from tests.faces.web.browser import chromium
from tests.raw_http import Ask, ask

pytestmark = pytest.mark.needs("chromium")

REPORT_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""


@dataclass
class Tab:
    """A page, and everything it asked for and complained of."""

    page: Page
    context: BrowserContext
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, context: BrowserContext) -> Tab:
        tab = cls(context.new_page(), context)
        tab.page.add_init_script(REPORT_VIOLATIONS)
        tab.page.on("request", lambda request: tab.requests.append(request.url))
        tab.page.on("request", lambda request: tab.headers.append(request.headers))
        tab.page.on("websocket", lambda socket: tab.requests.append(socket.url))
        tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.page.on("console", lambda message: tab.complaints.append(message.text))
        return tab

    @property
    def said(self) -> str:
        return self.page.inner_text("#connection")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    context = browser.new_context()
    yield Tab.opened(context)
    context.close()


def link(victim: Attacked) -> str:
    return str(call(victim.places, "login_link")["link"]).replace("/#", "/plain#")


def connected(tab: Tab) -> None:
    expect(tab.page.locator("#connection.good")).to_have_text("connected")


def test_the_link_logs_in_and_what_happens_is_shown_live(victim: Attacked, tab: Tab) -> None:
    tab.page.goto(link(victim))
    connected(tab)
    assert tab.page.url == f"http://127.0.0.1:{victim.port}/plain"
    expect(tab.page.locator("#state")).to_contain_text(f"http://127.0.0.1:{victim.port}")
    expect(tab.page.locator("#events li").first).to_contain_text("daemon.started")
    last = victim.append(3)
    expect(tab.page.locator("#events li").first).to_contain_text(str(last))
    numbers = [int(text) for text in tab.page.locator("#events .number").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True) == list(range(last, 0, -1))


def test_nothing_leaves_the_origin_and_the_policy_is_never_broken(victim: Attacked, tab: Tab) -> None:
    secret = link(victim)
    code = secret.partition("#code=")[2]
    tab.page.goto(secret)
    connected(tab)
    expect(tab.page.locator("#events li").first).to_contain_text(str(victim.append(1)))
    own = f"127.0.0.1:{victim.port}/"
    assert {url.split("/", 3)[2] + "/" for url in tab.requests} == {own}
    assert tab.page.evaluate("window.violations") == []
    assert tab.complaints == []
    assert tab.context.cookies() == []
    assert not [headers for headers in tab.headers if headers.get("referer") or headers.get("cookie")]
    session = tab.page.evaluate("sessionStorage.session")
    for text in (*tab.requests, tab.page.content()):
        assert code not in text
        assert session not in text


def test_a_reload_keeps_the_session_and_another_tab_has_none(victim: Attacked, tab: Tab) -> None:
    tab.page.goto(link(victim))
    connected(tab)
    tab.page.reload()
    connected(tab)
    other = Tab.opened(tab.context)
    other.page.goto(f"http://127.0.0.1:{victim.port}/plain")
    expect(other.page.locator("#connection.bad")).to_contain_text("dragoman page")  # of this tab alone


def test_a_spent_link_says_so_and_shows_nothing(victim: Attacked, tab: Tab, browser: Browser) -> None:
    spent = link(victim)
    tab.page.goto(spent)
    connected(tab)
    context = browser.new_context(locale="zh-CN")
    second = Tab.opened(context)
    second.page.goto(spent)
    expect(second.page.locator("#connection.bad")).to_contain_text("此登录链接已被使用")
    expect(second.page.locator("#inside")).to_be_hidden()
    assert second.page.evaluate("sessionStorage.length") == 0
    context.close()


def test_a_rotated_token_ends_the_page_and_it_says_what_to_do(victim: Attacked, tab: Tab) -> None:
    tab.page.goto(link(victim))
    connected(tab)
    call(victim.places, "token_rotate", {"purpose": "page"})
    expect(tab.page.locator("#connection.bad")).to_contain_text("Run `dragoman page`", timeout=1000)
    expect(tab.page.locator("#inside")).to_be_hidden()
    assert tab.page.evaluate("sessionStorage.length") == 0


def test_a_session_of_an_old_token_asks_for_a_link_instead_of_trying_for_ever(victim: Attacked, tab: Tab) -> None:
    tab.page.goto(link(victim))
    connected(tab)
    old = tab.page.evaluate("sessionStorage.session")
    tab.page.goto("about:blank")
    call(victim.places, "token_rotate", {"purpose": "page"})
    tab.page.goto(f"http://127.0.0.1:{victim.port}/icon.svg")
    tab.page.evaluate("old => sessionStorage.setItem('session', old)", old)
    tab.requests.clear()
    tab.page.goto(f"http://127.0.0.1:{victim.port}/plain")
    expect(tab.page.locator("#connection.bad")).to_contain_text("Run `dragoman page`")
    assert len([url for url in tab.requests if url.endswith("/api/feed")]) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chinese_reader_gets_chinese_and_readable_colours(victim: Attacked, browser: Browser, scheme: str) -> None:
    context = browser.new_context(locale="zh-CN", color_scheme=scheme)  # type: ignore[arg-type]
    tab = Tab.opened(context)
    tab.page.goto(link(victim))
    expect(tab.page.locator("#connection.good")).to_have_text("已连接")
    assert tab.page.inner_text("#daemon") == "守护进程"
    assert tab.page.evaluate("document.documentElement.lang") == "zh"
    for selector in ("body", "#connection", "dt", ".kind", "time"):
        assert contrast(tab.page, selector) >= 4.5, selector
    context.close()


CONTRAST = """(selector) => {
  const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const ground = (it) => getComputedStyle(it).backgroundColor.endsWith(", 0)") ? ground(it.parentElement) : it;
  const it = document.querySelector(selector);
  const pair = [light(getComputedStyle(it).color), light(getComputedStyle(ground(it)).backgroundColor)].sort();
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}"""


def contrast(page: Page, selector: str) -> float:
    """WCAG 2's measure of text against what is behind it; 4.5 is its bound for body text."""
    return float(page.evaluate(CONTRAST, selector))


def test_what_programs_wrote_stays_text(victim: Attacked, tab: Tab) -> None:
    hostile = "<img src=x onerror=window.pwned=1><script>window.pwned=1</script>"
    call(victim.places, "test_append", {"count": 1, "size": 1, "text": hostile})
    tab.page.goto(link(victim))
    expect(tab.page.locator("#events li").first).to_contain_text("onerror")
    assert tab.page.evaluate("window.pwned") is None
    assert tab.complaints == []
    assert ask(victim.port, Ask("/health", headers=[victim.host])).status == 200
