"""Hostile text in every field of Chat, Terminals, Activity and Settings that an agent, a program or a terminal fills.

The browser is the judge: no script ran, no policy was broken, and nobody but the daemon was asked for anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.daemons import call
from tests.page.chat_page import fresh, say, speak_as, with_model
from tests.page.hostile import ALL, PAYLOADS, SEQUENCES, assert_inert
from tests.page.page_fixture import DebugWorkspace
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon
from tests.support.fake_model import Calls, Ends, Refuses, Says, Step

pytestmark = pytest.mark.needs("bash", "chromium", "page")

IMAGE = PAYLOADS[0]
BOLD = "<img/onerror></b>"
NO_SPACE = "<img/src=x/onerror=window.pwned=1>"
SVG = "<svg/onload=window.pwned=1><style>*{background:url(https://evil.example/z)}</style>"
REPLIES: list[list[Step]] = [
    [
        Says([f"{payload}\n\n" for payload in PAYLOADS]),
        Says([f"```\n{ALL}\n```\n", f"| {IMAGE} |\n|--|\n| x |\n"]),
        Ends(),
    ],
    [Calls(IMAGE, [json.dumps({"<b>path</b>": ALL})]), Ends("tool_calls")],
    [Says(["so be it"]), Ends()],
    [Calls("run_in_terminal", [json.dumps({"command": ALL})]), Ends("tool_calls")],
    [Says(["as you wish"]), Ends()],
    [Refuses(400, ALL)],
]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRAGOMAN_GATEWAY_ADDRESS", f"ws://{NO_SPACE}")
        patch.setenv("DRAGOMAN_MODEL_KEY_COMMAND", f'["echo", "{NO_SPACE}"]')
        patch.setenv(f"DRAGOMAN_{BOLD}", "1")
        patch.setenv("CODEX_HOME", f"/{SVG}")
        with with_model(tmp_path_factory.mktemp("hostile"), *REPLIES) as daemon:
            yield daemon


@pytest.fixture(scope="module")
def place(daemon: TargetDaemon, tmp_path_factory: pytest.TempPathFactory) -> DebugWorkspace:
    folder = tmp_path_factory.mktemp("work") / IMAGE
    folder.mkdir()
    call(daemon.paths, "trust_add", {"folder": str(folder)})
    return DebugWorkspace(folder, daemon)


def test_what_a_model_says_calls_and_fails_with_is_text(tab: Tab) -> None:
    chat = fresh(tab)
    say(chat, ALL)
    expect(chat.locator("article.assistant .prose")).to_contain_text("window.pwned")
    expect(chat.locator(".going")).to_have_count(0)
    for link in chat.locator("article a").all():
        assert str(link.get_attribute("href")).startswith("https://evil.example")  # followed by a click alone
        assert link.get_attribute("rel") == "noopener noreferrer"
    say(chat, "now call something")
    expect(chat.locator("details.tool.failed summary")).to_contain_text(IMAGE)  # nobody knows such a tool
    assert_inert(tab, tab.page.locator("dragoman-app"))
    chat.locator("details.tool summary").first.click()
    expect(chat.locator("article.assistant").last).to_contain_text("so be it")
    say(chat, "run something")
    asked = chat.get_by_role("alertdialog")
    expect(asked).to_contain_text("window.pwned")
    assert_inert(tab, tab.page.locator("dragoman-app"))
    asked.get_by_role("button", name="Refuse").click()
    expect(chat.locator("article.assistant").last).to_contain_text("as you wish")
    say(chat, "and fail")
    expect(chat.locator("article.assistant .bad")).to_be_visible()
    assert_inert(tab, tab.page.locator("dragoman-app"))
    tab.page.reload()
    expect(chat.locator("details.tool.failed summary")).to_contain_text([IMAGE, "run_in_terminal"])
    assert_inert(tab, tab.page.locator("dragoman-app"))


def test_who_spoke_and_what_a_conversation_is_called_is_text(tab: Tab, daemon: TargetDaemon) -> None:
    chat = fresh(tab)
    key = tab.page.evaluate("sessionStorage.chat")
    speak_as(daemon, IMAGE, key, "/status")
    expect(chat.locator("article.user .who")).to_contain_text(IMAGE)
    speak_as(daemon, IMAGE, key, "", label=f"{SVG}")
    chat.get_by_label("Conversation").first.focus()
    expect(chat.get_by_label("Conversation").first.locator("option[selected]")).to_contain_text("<svg")
    assert_inert(tab, chat)


def recording(folder: Path) -> str:
    """What another machine's terminal could have been: every word of it is somebody else's."""
    head = {
        "version": 2,
        "width": 80,
        "height": 24,
        "timestamp": 1,
        "title": IMAGE,
        "env": {"SHELL": IMAGE, "TERM": IMAGE},
    }
    head["dragoman"] = {"attributes": {"shell": IMAGE, "cwd": SVG, "dragoman.agent": IMAGE, "dragoman.size": IMAGE}}
    events = [[0.1, "o", f"{ALL}\r\n"], [0.2, "o", SEQUENCES], [0.3, "m", IMAGE], [0.4, "o", "the end\r\n"]]
    file = folder / "hostile.cast"
    file.write_text("\n".join(json.dumps(it) for it in [head, *events]))
    return str(file)


def test_what_a_terminal_is_called_and_shows_is_text(tab: Tab, place: DebugWorkspace) -> None:
    line = f"printf '%s\\n' '{ALL.replace(chr(39), '').replace(chr(0), '')}'; printf '{SVG}'"
    place.tool("run_in_terminal", command=line)
    place.tool(
        "run_in_terminal",
        command=f"printf '\\033]0;{NO_SPACE}\\007\\033]8;;javascript:window.pwned=1\\007x\\033]8;;\\007'",
    )
    imported = call(place.daemon.paths, "terminal_import", {"path": recording(place.folder.parent)})["terminal"]
    view = tab.show("Terminals")
    expect(view.locator("#terminals .item")).to_have_count(3)
    view.locator("#everywhere").check()
    expect(view.locator("#commands .command").first).to_contain_text(IMAGE)  # the folder it ran in
    view.locator("#commands .command").last.click()
    expect(view.locator("#output")).to_contain_text("window.pwned")
    view.locator("#find").fill("pwned")
    expect(view.locator("#hits .item").first).to_contain_text("pwned")
    view.locator("#find").fill("")
    for item, shown in ((1, "pwned"), (2, "the end")):
        view.locator("#terminals .item").nth(item).click()
        expect(view.locator("#screen")).to_contain_text(shown)
        assert_inert(tab, tab.page.locator("dragoman-app"))
    assert imported
    view.locator("#shows-ask").click()
    view.locator("#question").fill(IMAGE)
    view.locator("#question").press("Enter")
    expect(view.locator("#answer")).not_to_be_empty()
    assert_inert(tab, tab.page.locator("dragoman-app"))
    assert tab.page.title() == "Dragoman"


def test_all_of_it_is_text_in_the_activity(tab: Tab) -> None:
    activity = tab.show("Activity")
    activity.locator("#find").fill("pwned")
    expect(activity.locator(".row").first).to_be_visible()
    for row in activity.locator(".row").all()[:8]:
        row.click()
        expect(activity.locator("aside pre")).to_be_visible()
    assert_inert(tab, activity)


def test_settings_of_others_making_are_text(tab: Tab) -> None:
    view = tab.show("Settings")
    expect(view.locator(".waits").first).to_contain_text(BOLD)
    expect(view.locator(".standing")).to_contain_text(NO_SPACE)
    expect(view.locator("#model_key_command")).to_contain_text(NO_SPACE)
    view.locator("details.others:not([open]) > summary").evaluate_all("found => found.forEach((it) => it.click())")
    view.locator("#client-codex summary").click()
    expect(view.locator("#client-codex")).to_contain_text("<svg/onload")
    view.get_by_role("button", name="Connect", exact=True).click()
    expect(view.locator(".standing p").nth(1)).not_to_be_empty()
    view.locator("#model_name").get_by_role("textbox").fill(ALL[:300])
    view.locator("#model_name").get_by_role("textbox").press("Enter")
    expect(view.locator("#model_name").get_by_role("alert")).to_contain_text("<img src=x")
    tab.complaints = [it for it in tab.complaints if "400 (Bad Request)" not in it]  # the browser's own line
    assert_inert(tab, view)
