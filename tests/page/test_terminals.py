"""The terminals of the page: commands as they end, how they ended, what they printed, and the screen."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.daemons import PATIENCE, call
from tests.page.chat_page import fresh, say
from tests.page.held import Held
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.page.tab import NESTED, Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("bash", "chromium", "page")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    """With a terminal that an agent has."""
    with debug_workspace(tmp_path_factory.mktemp("terminals")) as place:
        assert run(place, "echo hello; seq 3")["exit_code"] == 0
        yield place


@pytest.fixture(scope="module")
def daemon(place: DebugWorkspace) -> TargetDaemon:
    return place.daemon


@pytest.fixture
def view(tab: Tab) -> Locator:
    return tab.show("Terminals")


def run(place: DebugWorkspace, line: str) -> dict[str, object]:
    command = place.tool("run_in_terminal", command=line)["command"]
    assert isinstance(command, dict)
    return command


def command(view: Locator, line: str) -> Locator:
    return view.locator("#commands .command").filter(has_text=line)


def test_a_command_is_listed_with_its_end_and_its_output_is_read(view: Locator) -> None:
    listed = command(view, "echo hello; seq 3")
    expect(listed.get_by_label("exit code 0")).to_be_visible()
    expect(listed.locator(".when")).to_have_text(re.compile(r"^\d+\.\d+ s\s*\d\d:\d\d:\d\d$"))  # how long, and when
    listed.click()
    expect(view.locator("#output .shown")).to_have_text(["hello", "1", "2", "3"])
    expect(view.locator(".head")).to_contain_text("echo hello; seq 3")


def test_a_command_that_ends_while_one_looks_appears_and_failures_can_be_filtered(
    view: Locator, place: DebugWorkspace
) -> None:
    expect(command(view, "echo hello; seq 3")).to_be_visible()
    run(place, "ls /no/such/folder")
    expect(command(view, "ls /no/such/folder").get_by_label("exit code 2")).to_be_visible()
    view.get_by_label("Only failed").check()
    expect(view.locator("#commands .command")).to_have_count(1)


def test_words_are_found_in_commands_and_in_what_they_printed(view: Locator, place: DebugWorkspace) -> None:
    run(place, "printf '%s\\n' need''le in a stack")
    view.locator("#find").fill("needle")
    hit = view.locator("#hits .item").filter(has_text="needle")
    expect(hit.locator(".by")).to_have_text("$ printf '%s\\n' need''le in a stack")
    expect(view.get_by_role("status").first).to_have_text("commands: 0, lines of output: 1")
    expect(view.locator(".list .none")).to_have_count(0)
    hit.first.click()
    expect(view.locator("#output .shown").first).to_have_text("needle")
    view.locator("#find").fill("no such thing anywhere")
    expect(view.locator(".list .none")).to_have_text("No matching commands.")


def test_a_terminal_is_named_after_the_client_that_opened_it_as_in_every_view(tab: Tab, place: DebugWorkspace) -> None:
    say(fresh(tab), "/run_in_terminal command='echo said in the chat' cwd=.")
    view = tab.show("Terminals")
    line = command(view, "echo said in the chat")
    expect(line.locator("b")).to_have_text("the chat")
    owners = view.locator("#terminals .owner")
    expect(owners.filter(has_text=re.compile("^the chat$"))).to_have_count(1)
    expect(owners.filter(has_text=re.compile("^you$"))).to_have_count(0)


def test_the_place_to_search_in_can_be_read_whole_in_an_ordinary_window(view: Locator) -> None:
    needed = """it => {
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = getComputedStyle(it).font;
      const { paddingLeft, paddingRight } = getComputedStyle(it);
      const room = it.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
      return room - pen.measureText(it.placeholder).width;
    }"""
    assert view.locator("#find").evaluate(needed) >= 0


def test_a_line_that_was_found_is_jumped_to_however_far_down_it_is(
    view: Locator, place: DebugWorkspace, tab: Tab
) -> None:
    run(place, "seq 200000 240000 | sed 's/^231337$/the hay''stack thing/'")
    command(view, "seq 200000 240000").click()
    expect(view.locator("#output .shown").first).to_have_text("200000")
    held = Held(tab.page, "get_command_output")
    view.get_by_role("button", name="Show more").click()
    held.until_asked()  # it is still being read on when the line is looked for
    view.locator("#find").fill("haystack thing")
    view.locator("#hits .item").first.click()
    found = view.locator("#output .shown.found")
    expect(found).to_have_text("the haystack thing")
    expect(found).to_be_in_viewport()
    held.let()
    expect(found).to_have_text("the haystack thing")


def test_of_two_commands_the_one_that_was_chosen_last_is_read(view: Locator, place: DebugWorkspace, tab: Tab) -> None:
    run(place, "echo slow answer")
    held = Held(tab.page, "get_command_output")
    command(view, "echo slow answer").click()
    held.until_asked()
    command(view, "echo hello; seq 3").click()
    expect(view.locator("#output .shown").first).to_have_text("hello")
    held.let()
    expect(view.locator("#output .shown").first).to_have_text("hello")
    expect(view.locator(".head code")).to_have_text("echo hello; seq 3")


def test_each_output_is_read_from_its_own_place_on(view: Locator, place: DebugWorkspace) -> None:
    """Also a line that was found before, and that somebody scrolled away from since."""
    for letter in "ab":
        run(place, f"seq -f '{letter} %g' 1000 | sed '700s/$/ is wan''ted {letter}/'")
    view.locator("#find").fill("is wanted")
    expect(view.locator("#hits .item")).to_have_count(2)
    for letter in "aabb":
        view.locator("#hits .item").filter(has_text=f"is wanted {letter}").click()
        expect(view.locator("#output .found")).to_have_text(f"{letter} 700 is wanted {letter}")
        expect(view.locator("#output .found")).to_be_in_viewport()
        view.locator("#output").evaluate("it => it.scrollTop = 0")
    view.locator("#find").fill("seq -f")
    view.locator("#output").evaluate("it => it.scrollTop = 9000")
    command(view, "'a %g'").click()
    expect(view.locator("#output .shown").first).to_have_text("a 1")
    expect(view.locator("#output .shown").first).to_be_in_viewport()


def test_what_was_read_of_older_commands_stays_when_something_new_ends(
    view: Locator, place: DebugWorkspace, tab: Tab
) -> None:
    for number in range(4):
        run(place, f"echo older {number}")
    tab.page.evaluate(THREE_AT_ONCE)
    view.locator("#find").fill("echo older")
    expect(view.locator("#commands .command")).to_have_count(3)
    view.get_by_role("button", name="Older commands").dblclick()
    expect(view.locator("#commands .command")).to_have_count(4)
    run(place, "echo older and newest")
    expect(view.locator("#commands .command").first).to_contain_text("and newest")
    expect(view.locator("#commands .command")).to_have_count(5)
    view.locator("#find").fill("echo older 2")  # what was found by other words is not kept beside it
    expect(view.locator("#commands .command")).to_have_count(1)


THREE_AT_ONCE = """() => {
  link.change = (asked) => {
    if (asked.body?.tool === "search_commands") asked.body.arguments.limit = 3;
    return asked;
  };
}"""


def test_a_question_that_is_written_while_another_is_answered_stays(view: Locator, tab: Tab) -> None:
    view.locator("#shows-ask").click()
    box = view.locator("#question")
    held = Held(tab.page, address="/api/terminals/ask")
    box.fill("what was run?")
    box.press("Enter")
    held.until_asked()
    box.fill("and what failed?")
    held.let()
    expect(view.locator("#answer")).to_have_attribute("aria-busy", "false")
    expect(view.locator("#answer")).not_to_be_empty()
    expect(box).to_have_value("and what failed?")
    box.fill("")


def open_screen(view: Locator) -> Locator:
    view.locator("#terminals .item").filter(has_text="the command line").click()  # the chat has one of its own
    screen = view.locator("dragoman-screen")
    expect(screen.locator(".state.live")).to_be_visible()
    return screen


def test_an_agents_screen_is_watched_live_and_nothing_in_it_is_markup(view: Locator, place: DebugWorkspace) -> None:
    expect(view.locator("#terminals")).to_contain_text("bash the command line")  # and whose it is
    screen = open_screen(view)
    run(
        place,
        "echo \"<img src=x onerror='window.pwned = 1'>\"; "
        "printf '\\033[31mred\\033[0m \\346\\274\\242\\345\\255\\227|\\n'",
    )
    expect(screen.locator("#screen")).to_contain_text("<img src=x")
    expect(screen.locator("#screen img")).to_have_count(0)
    red = screen.locator("#screen span").filter(has_text=re.compile("^red$"))
    assert red.evaluate("it => getComputedStyle(it).color") == "rgb(168, 38, 27)"
    wide = screen.locator("#screen span.cell").filter(has_text="漢")
    letter = red.evaluate("it => it.getBoundingClientRect().width / 3")
    assert abs(wide.evaluate("it => it.getBoundingClientRect().width") - 2 * letter) < 0.1


def test_what_a_program_draws_over_is_drawn_over_and_its_cursor_is_followed(
    view: Locator, place: DebugWorkspace
) -> None:
    screen = open_screen(view)
    run(
        place,
        "printf 'one\\rtwo\\n'; printf '\\033[?1049h\\033[2J\\033[3;5Hful''l screen'; sleep 0.2; "
        "printf '\\033[?1049l'; echo back",
    )
    expect(screen.locator("#screen")).to_contain_text("back")
    expect(screen.locator(".line").filter(has_text=re.compile("^two$"))).to_have_count(1)
    expect(screen.locator("#screen")).not_to_contain_text("full screen")
    expect(screen.locator("#screen .cursor")).to_have_count(1)


def test_a_window_that_changes_its_size_is_followed(view: Locator, place: DebugWorkspace) -> None:
    screen = open_screen(view)
    run(place, "printf '\\033[8;30;100t'")
    expect(screen.locator(".status")).to_contain_text("100×30")
    run(place, "printf '\\033[8;24;80t'")
    expect(screen.locator(".status")).to_contain_text("80×24")


ESCAPES = {
    "clipboard": "\\033]52;c;cHduZWQ=\\007",
    "link": "\\033]8;;https://evil.example/x\\007click\\033]8;;\\007",
    "title": "\\033]0;pwned\\007\\033]2;pwned\\007",
    "queries": "\\033[c\\033[6n\\033[5n\\033[>q\\033[21t\\033[18t\\033P$qm\\033\\\\\\033]11;?\\007\\005",
    "window": "\\033[3;0;0t\\033[2t\\033[9;1t\\033[8;99999;99999t",
    "note": "\\033]9;pwned\\007\\033]777;notify;pwned;pwned\\007",
    "image": "\\033]1337;File=inline=1:aGk=\\007",
}


def test_control_sequences_of_a_program_do_nothing(view: Locator, place: DebugWorkspace, tab: Tab) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.evaluate("navigator.clipboard.writeText('mine')")
    screen = open_screen(view)
    for escape in ESCAPES.values():
        run(place, f"printf '{escape}'")
    run(place, "printf '\\033[8;24;80t'; echo sti''ll here")
    expect(screen.locator("#screen")).to_contain_text("still here")
    screen.locator("#screen").get_by_text("click", exact=False).first.click()
    assert tab.page.title() == "Dragoman"
    assert tab.page.evaluate("navigator.clipboard.readText()") == "mine"
    expect(screen.locator("a")).to_have_count(0)
    screen.locator("#screen").focus()
    tab.page.keyboard.type("touch typed")
    tab.page.keyboard.press("Enter")
    run(place, "echo af''ter")
    expect(screen.locator("#screen")).to_contain_text("after")
    assert not (place.folder / "typed").exists()


def test_much_output_is_followed_to_its_end_and_the_page_stays_quick(
    view: Locator, place: DebugWorkspace, tab: Tab
) -> None:
    screen = open_screen(view)
    tab.page.evaluate(LONGEST_FRAME)
    run(place, "seq 100000; echo the e''nd")
    expect(screen.locator("#screen")).to_contain_text("the end")
    assert screen.locator(".line").count() < 120
    assert tab.page.evaluate("window.longest") < 1500 * PATIENCE


LONGEST_FRAME = """() => {
  window.longest = 0;
  let last = performance.now();
  const step = () => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}"""


def test_a_question_is_answered_from_the_terminals(view: Locator, place: DebugWorkspace) -> None:
    run(place, "cat /no/such/config.toml")
    view.get_by_role("button", name="Ask", exact=True).first.click()
    box = view.get_by_label("Ask about all terminals")
    box.fill("why did cat fail?")
    box.press("Enter")
    expect(view.locator("#answer")).to_contain_text("/no/such/config.toml")
    expect(view.locator("#answer")).to_have_attribute("aria-busy", "false")
    expect(view.locator("#answer code").first).to_have_text("cat /no/such/config.toml")
    expect(view.locator("#answer")).not_to_contain_text("`")
    expect(box).to_have_value("")


def test_a_long_output_is_drawn_in_part_and_read_to_its_end(view: Locator, place: DebugWorkspace) -> None:
    run(place, "seq 100000 130000")
    command(view, "seq 100000 130000").click()
    expect(view.locator("#output .shown").first).to_have_text("100000")
    assert view.locator("#output .shown").count() < 120
    view.get_by_role("button", name="Show more").click()
    expect(view.locator("#output [role=listitem]").first).to_have_attribute("aria-setsize", re.compile(r"^2\d{4}$"))
    view.locator("#output").evaluate("it => it.scrollTop = 19 * 14000")
    expect(view.get_by_text("114000", exact=True)).to_be_visible()


def test_it_speaks_chinese_and_fits_a_narrow_window(
    browser: Browser, daemon: TargetDaemon, place: DebugWorkspace
) -> None:
    context = browser.new_context(locale="zh-CN", color_scheme="dark", viewport={"width": 420, "height": 800})
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    tab.page.get_by_role("tab", name="终端").click()
    view = tab.page.locator("dragoman-terminals")
    expect(view.get_by_text("所有终端")).to_be_visible()
    assert view.evaluate("it => it.scrollWidth <= it.clientWidth")
    tab.page.set_viewport_size({"width": 400, "height": 500})
    shown = view.locator("section")
    view.locator("#commands .command").first.click()
    expect(shown.nth(1)).to_be_visible()
    for pane in ("output", "screen", "ask", "commands"):
        view.locator(f"#shows-{pane}").click()
        expect(view.locator(f"#shows-{pane}")).to_have_attribute("aria-pressed", "true")
        assert [it.is_visible() for it in shown.all()] == [pane == "commands", pane != "commands"]
        assert view.evaluate(NESTED) == []
        assert view.evaluate("it => it.scrollHeight <= it.clientHeight")
    run(place, f"PS1='{'x' * 70}> '")  # as long as a prompt with its folder may be
    view.locator("#terminals .item").filter(has_text="命令行").click()
    expect(view.locator("dragoman-screen .line").last).to_contain_text("xxx> ")
    expect(view.locator("dragoman-screen .cursor")).to_be_in_viewport()  # not the empty lines below it, nor beside it
    view.locator("#shows-commands").click()
    view.locator("#commands .command").first.click()
    expect(view.locator(".head code")).to_be_visible()
    call(daemon.paths, "journal_forget", {"before_ns": time.time_ns()})
    expect(view.locator(".read .empty")).to_have_text("请选择一条命令，查看它的输出。")
    tab.assert_at_home()
    context.close()
