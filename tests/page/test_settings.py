"""The settings in the page: shown, changed, refused beside the field, and what is not for pages."""

from __future__ import annotations

import re
import tomllib

import pytest
from playwright.sync_api import Browser, Locator, expect

from dragoman.cli.commands import build_app
from tests.daemons import call
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")


@pytest.fixture
def view(tab: Tab) -> Locator:
    return tab.show("Settings")


def forgive_refusals(tab: Tab) -> None:
    """The browser itself writes down that a request was answered with 400."""
    assert all("400 (Bad Request)" in it for it in tab.complaints)
    tab.complaints.clear()


def written(daemon: TargetDaemon) -> dict[str, object]:
    file = daemon.paths.settings_file
    return tomllib.loads(file.read_text()) if file.exists() else {}


def test_the_server_is_shown_as_it_runs(view: Locator, daemon: TargetDaemon) -> None:
    server = view.get_by_role("region", name="Server")
    expect(server).to_contain_text(f"http://127.0.0.1:{daemon.port}")
    expect(server).to_contain_text(str(daemon.process.pid))
    expect(server).to_contain_text(str(daemon.paths.settings_file))
    expect(server).to_contain_text(call(daemon.paths, "status")["workspace"])
    named = [it.removeprefix("dragoman ") for it in server.locator("code").all_inner_texts()]
    assert set(named) >= {"restart", "down"}
    assert set(named) <= set(build_app())


def test_a_value_is_saved_and_a_wrong_one_is_reported_beside_its_field_and_stays_written(
    view: Locator, tab: Tab, daemon: TargetDaemon
) -> None:
    field = view.locator("dragoman-setting#port")
    box = field.get_by_role("textbox")
    box.fill("70000")
    box.press("Enter")
    sentence = "Invalid value 70000 for the setting port: it must be an integer from 0 to 65535"
    expect(field.get_by_role("alert")).to_contain_text(sentence)
    expect(box).to_have_value("70000")
    expect(box).to_have_attribute("aria-invalid", "true")
    assert "port" not in written(daemon)
    box.fill("8911")
    field.get_by_role("button", name="Save").click()
    expect(field.get_by_text("Saved.")).to_be_visible()
    assert written(daemon)["port"] == 8911
    expect(field).to_contain_text(
        "Takes effect after a restart. The page's address changes then: run dragoman page for a link."
    )
    expect(view.locator(".banner")).to_contain_text("port")
    box.fill("8177")
    box.press("Enter")
    expect(view.locator(".banner")).to_have_count(0)
    forgive_refusals(tab)


def test_switches_and_choices_are_saved_at_once_and_another_page_sees_it(
    view: Locator, tab: Tab, browser: Browser, daemon: TargetDaemon
) -> None:
    context = browser.new_context()
    other = Tab.opened(context, daemon)
    other.log_in()
    second = other.show("Settings")
    expect(second.locator("#auto_start").get_by_role("checkbox")).to_be_checked()
    view.locator("#auto_start").get_by_role("checkbox").uncheck()
    expect(second.locator("#auto_start").get_by_role("checkbox")).not_to_be_checked()
    view.locator("#model").get_by_role("combobox").select_option("anthropic")
    expect(second.locator("#model").get_by_role("combobox")).to_have_value("anthropic")
    assert written(daemon) | {"auto_start": False, "model": "anthropic"} == written(daemon)
    activity = other.show("Activity")
    expect(activity.locator(".row").first).to_contain_text("changed the setting model")
    expect(activity.locator(".row .who").first).to_have_text("you")
    other.show("Settings")
    second.locator("#model").get_by_role("combobox").select_option("none")
    expect(view.locator("#model").get_by_role("combobox")).to_have_value("none")  # also where a hand chose before
    view.locator("#auto_start").get_by_role("checkbox").check()
    expect(view.locator("#auto_start").get_by_text("Saved.")).to_be_visible()
    other.assert_at_home()
    context.close()


def test_what_runs_programs_is_shown_and_cannot_be_changed(view: Locator) -> None:
    for key in ("model_key_command", "model_key_variable", "adapters", "bind", "allowed_folders", "gateway_token_file"):
        field = view.locator(f"dragoman-setting#{key}")
        expect(field.locator("input, select, button")).to_have_count(0)
        expect(field).to_contain_text(f"dragoman config set {key}")


def test_an_address_of_another_machine_is_refused_beside_its_field(
    view: Locator, tab: Tab, daemon: TargetDaemon
) -> None:
    field = view.locator("dragoman-setting#model_address")
    expect(field).to_contain_text("On the page, use an address of this machine")
    field.get_by_role("textbox").fill("https://evil.example/v1")
    field.get_by_role("textbox").press("Enter")
    expect(field.get_by_role("alert")).to_contain_text("dragoman config set model_address")
    expect(field.get_by_role("textbox")).to_have_value("https://evil.example/v1")
    assert "model_address" not in written(daemon)
    assert all("403 (Forbidden)" in it for it in tab.complaints)
    tab.complaints.clear()


def test_a_switch_that_was_not_taken_shows_what_holds(view: Locator, tab: Tab, daemon: TargetDaemon) -> None:
    switch = view.locator("#auto_start").get_by_role("checkbox")
    expect(switch).to_be_checked()
    daemon.paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    before = daemon.paths.settings_file.read_text() if daemon.paths.settings_file.exists() else ""
    daemon.paths.settings_file.write_text("this is no TOML")
    switch.click()
    expect(view.locator("#auto_start").get_by_role("alert")).to_be_visible()
    expect(switch).to_be_checked()
    daemon.paths.settings_file.write_text(before)
    tab.complaints.clear()


def test_how_long_it_runs_is_counted_on_and_commands_are_without_marks(view: Locator) -> None:
    server = view.get_by_role("region", name="Server")
    before = server.inner_text()
    expect(server).not_to_have_text(before)
    assert "`" not in view.locator(".all").inner_text()
    assert "`" not in "".join(view.locator("dragoman-setting").all_inner_texts())


def test_a_gateway_that_is_not_there_is_reported_with_its_reason_and_can_be_given_up(view: Locator) -> None:
    expect(view.locator("#gateway-state")).to_have_text("not connected")
    view.get_by_role("button", name="Connect", exact=True).click()
    expect(view.locator(".standing")).to_contain_text("ws://127.0.0.1:18789")
    expect(view.locator("#gateway-state")).to_have_text("connecting…")
    expect(view.locator(".standing p").nth(1)).not_to_be_empty()
    view.get_by_role("button", name="Disconnect").click()
    expect(view.locator("#gateway-state")).to_have_text("not connected")


def show_all_clients(view: Locator) -> None:
    """Also those that are not installed here."""
    view.locator("#client-codex").wait_for(state="attached")
    view.locator("details.others:not([open]) > summary").evaluate_all("found => found.forEach((it) => it.click())")


def test_a_clients_configuration_is_copied_whole_and_has_no_token(
    view: Locator, tab: Tab, daemon: TargetDaemon
) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show_all_clients(view)
    client = view.locator("#client-codex")
    client.locator("summary").press("Enter")
    client.get_by_role("button", name="Copy: The client starts Dragoman (stdio)").press("Enter")
    expect(client.get_by_text("Copied.")).to_be_visible()
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert tomllib.loads(copied)["mcp_servers"]["dragoman"]["args"][-1] == "mcp"
    http = view.locator("#client-claude-code")
    http.locator("summary").click()
    expect(http.locator("pre").nth(1)).to_contain_text(f"http://127.0.0.1:{daemon.port}/mcp")
    expect(http).to_contain_text("dragoman client-config claude-code --http --write")
    token = call(daemon.paths, "token_show", {"purpose": "mcp"})["token"]
    assert token not in tab.page.content()
    assert token not in view.evaluate("it => it.shadowRoot.textContent")


def test_the_language_is_chosen_here_and_is_also_that_of_the_daemons_words(view: Locator, tab: Tab) -> None:
    view.get_by_label("Language of this page").select_option("zh")
    expect(tab.page.get_by_role("tab", name="设置")).to_be_visible()
    expect(view.locator("dragoman-setting#port label")).to_contain_text("端口")
    expect(view.get_by_role("region", name="服务器")).not_to_contain_text(re.compile("[AP]M"))  # dates too
    box = view.locator("dragoman-setting#port").get_by_role("textbox")
    box.fill("x")
    box.press("Enter")
    expect(view.locator("dragoman-setting#port").get_by_role("alert")).to_contain_text("允许的值")
    view.get_by_label("本页面的语言").select_option("")
    expect(tab.page.get_by_role("tab", name="Settings")).to_be_visible()
    forgive_refusals(tab)


def test_settings_are_found_by_words_and_reset_one_by_one(view: Locator, daemon: TargetDaemon) -> None:
    view.get_by_label("Search settings").fill("log level")
    expect(view.locator("dragoman-setting")).to_have_count(1)
    field = view.locator("#log_level")
    expect(field).to_contain_text("needs a restart")
    field.get_by_role("combobox").select_option("debug")
    field.get_by_role("button", name="Reset log_level to info").click()
    expect(field.get_by_role("combobox")).to_have_value("info")
    expect(field.get_by_role("button", name="Reset")).to_have_count(0)
    assert written(daemon)["log_level"] == "info"
    view.get_by_label("Search settings").fill("no such thing")
    view.get_by_role("button", name="Clear the search").click()
    view.get_by_role("button", name="Retention").click()
    expect(view.get_by_role("heading", name="Retention")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_narrow_window(browser: Browser, daemon: TargetDaemon, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 360, "height": 640})  # type: ignore[arg-type]
    tab = Tab.opened(context, daemon)
    tab.log_in()
    view = tab.show("Settings")
    show_all_clients(view)
    for details in view.locator("details.more").all():
        details.locator("summary").click()
    assert view.locator(".all").evaluate("it => it.scrollWidth <= it.clientWidth")
    tab.assert_at_home()
    context.close()
