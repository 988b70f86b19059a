"""The server managed from the editor, through its real interface: the status bar, the menu, two windows."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from dragoman.access.proof import ProofSession
from tests.daemons import PATIENCE, call, cli_with_home, daemons_of, eventually
from tests.proving import ForeignServerError, Proof, from_link
from tests.raw_http import Ask, ask
from tests.vscode.conftest import RUNNING
from tests.vscode.editor import ROOT, Editor, free_port
from tests.vscode.window import Window

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(120 * PATIENCE)]


@pytest.mark.requirement("vscode:manage:typescript-extension")
@pytest.mark.requirement("vscode:extension:commands")
@pytest.mark.requirement("vscode:manage:windows-start")
@pytest.mark.requirement("vscode:manage:auto-start-on")
@pytest.mark.requirement("foundation:auto-start:on")
@pytest.mark.requirement("vscode:status-bar:state")
def test_the_first_window_starts_the_server_and_says_once_that_it_outlives_it(edited: Editor, first: Window) -> None:
    first.expect_status(RUNNING)
    first.toast("keeps running when this window closes")
    status = edited.cli.status()
    assert status["workspace"] == str(first.folder)
    expect(first.status).to_have_text(re.compile(rf"Dragoman {status['port']}$"))


@pytest.mark.requirement("vscode:manage:windows-join")
def test_a_second_window_uses_the_server_that_runs(edited: Editor, second: Window) -> None:
    before = edited.cli.status()
    second.expect_status(f"Dragoman {before['port']}")
    assert edited.cli.status()["pid"] == before["pid"]
    assert len(daemons_of(edited.cli.home)) == 1


@pytest.mark.requirement("vscode:status-bar:click")
@pytest.mark.requirement("vscode:manage:no-webview")
def test_a_click_on_the_status_bar_opens_a_menu_of_the_editor_itself(running: Editor, first: Window) -> None:
    rows = first.menu().all_text_contents()
    wanted = ("Stop", "Restart", "Status", "Change port", "Automatic start", "Copy client", "Write client", "Show log")
    assert [name for name in wanted if not any(name in row for row in rows)] == []
    first.picture("menu")
    assert first.page.locator("iframe.webview").count() == 0
    first.page.keyboard.press("Escape")


@pytest.mark.requirement("vscode:manage:stop")
@pytest.mark.requirement("vscode:manage:start")
@pytest.mark.requirement("vscode:panel:start-stop")
def test_both_windows_know_within_a_second_what_one_did(both: Editor, first: Window, second: Window) -> None:
    first.menu()
    first.choose("Stop")
    first.expect_stopped()
    second.expect_stopped(within_s=1)
    eventually(lambda: daemons_of(both.cli.home) == [])
    second.menu()
    second.choose("Start")
    second.expect_status(RUNNING)
    first.expect_status(RUNNING, within_s=1)
    assert both.cli.status()["workspace"] == str(second.folder)


@pytest.mark.requirement("vscode:manage:restart")
@pytest.mark.requirement("vscode:manage:status")
def test_restarted_by_command_it_is_another_process_and_the_status_says_where(running: Editor, first: Window) -> None:
    before = running.cli.status()
    first.command("Dragoman: Restart server")
    eventually(lambda: running.cli.status().get("pid", before["pid"]) != before["pid"], within_s=30, every_s=0.1)
    status = running.cli.status()
    first.expect_status(f"Dragoman {status['port']}")
    first.command("Dragoman: Show server status")
    first.toast(f"running on port {status['port']}")


@pytest.mark.requirement("vscode:manage:windows-take-over")
def test_started_by_hand_in_another_window_it_asks_before_live_sessions_end(
    both: Editor, first: Window, second: Window
) -> None:
    before = both.cli.status()
    started = both.cli("debug", "adding.py", "--break", "adding.py:4", cwd=first.folder)
    assert started.returncode == 0, started.stdout + started.stderr
    for window in (first, second):
        window.expect_status(f"Dragoman {before['port']} · 1")

    _take_over(second)
    expect(second.dialog()).to_contain_text("adding.py")
    second.picture("asking")
    second.dialog().get_by_role("button", name="Cancel").click()
    second.expect_status(f"Dragoman {before['port']} · 1")
    assert both.cli.status()["pid"] == before["pid"]

    _take_over(second)
    second.dialog().get_by_role("button", name="End them").click()
    second.expect_status(RUNNING)
    first.expect_status(RUNNING, within_s=2)
    after = both.cli.status()
    assert (after["workspace"], after["sessions"]) == (str(second.folder), [])
    assert after["pid"] != before["pid"]


def _take_over(window: Window) -> None:
    window.menu()
    window.choose("Start for this window")


def test_a_take_over_leaves_no_old_token_alive(running: Editor, first: Window) -> None:
    """One that was rotated stays dead in the server that takes over, and of the old server nothing is left."""
    before, old = running.cli.status(), {purpose: running.cli.token(purpose) for purpose in ("mcp", "editor")}
    assert _status_with(before["port"], old["mcp"]) != 401
    assert _is_proved_with(before["port"], old["editor"])
    for purpose in old:
        assert running.cli("token", "rotate", purpose).returncode == 0
    first.expect_status(f"Dragoman {before['port']}")  # it came back by itself, with the new one from the file
    first.command("Dragoman: Start server for this window")
    after = eventually(lambda: _another(running, before["pid"]), within_s=30, every_s=0.1)
    first.expect_status(f"Dragoman {after['port']}")
    assert _status_with(after["port"], old["mcp"]) == 401
    assert _status_with(after["port"], running.cli.token("mcp")) != 401
    assert not _is_proved_with(after["port"], old["editor"])
    assert _is_proved_with(after["port"], running.cli.token("editor"))
    assert len(daemons_of(running.cli.home)) == 1


def _another(editor: Editor, old: int) -> dict[str, Any] | None:
    status = editor.cli.status()
    return status if status.get("pid", old) != old else None


def _is_proved_with(port: int, token: str) -> bool:
    """Whether that key opens the socket by which windows come."""
    with contextlib.suppress(ForeignServerError):
        Proof(ProofSession("editor", token), f"127.0.0.1:{port}").open("/link/editor").socket.close()
        return True
    return False


def _status_with(port: int, token: str) -> int:
    headers = [("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {token}")]
    return ask(port, Ask("/mcp", headers=headers)).status


@pytest.mark.requirement("vscode:manage:port")
@pytest.mark.requirement("vscode:panel:port")
def test_the_port_is_changed_from_the_menu_and_one_that_is_taken_changes_nothing(
    both: Editor, first: Window, second: Window
) -> None:
    before = both.cli.status()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        _change_port(first, str(taken.getsockname()[1]))
        result = first.toast("is in use by")
        expect(result).not_to_contain_text("--port")  # words of the command line
        result.get_by_role("button", name="Choose another port…").click()
        expect(first.page.locator(".quick-input-title")).to_have_text("Port of the Dragoman server")
        first.page.keyboard.press("Escape")
        assert both.cli.status()["pid"] == before["pid"]
    _change_port(first, "65536", is_taken=False)
    expect(first.page.locator(".quick-input-message")).to_contain_text("whole number from 1 to 65535")
    wanted = free_port()
    first.enter(str(wanted))
    for window in (first, second):
        window.expect_status(f"Dragoman {wanted}")
    assert both.cli.status()["workspace"] == before["workspace"]
    assert both.cli("config", "get", "port").stdout == f"{wanted}\n"
    eventually(lambda: both.machine_settings().get("dragoman.port") == wanted)


def _change_port(window: Window, port: str, *, is_taken: bool = True) -> None:
    window.menu()
    window.choose("Change port")
    if is_taken:
        window.enter(port)
    else:
        window.page.locator(".quick-input-widget input[type=text]").fill(port)


@pytest.mark.requirement("vscode:panel:copy-template")
@pytest.mark.parametrize(("label", "client", "transport"), [
    ("Claude Code (stdio)", "claude-code", "stdio"),
    ("Cursor (streamable HTTP)", "cursor", "http"),
    ("Cline (streamable HTTP)", "cline", "http"),
])  # fmt: skip
def test_a_clients_configuration_is_copied_ready_to_be_pasted(
    running: Editor, first: Window, label: str, client: str, transport: str
) -> None:
    first.menu()
    first.choose("Copy client configuration")
    expect(first.page.locator(".quick-input-title")).to_have_text("Copy the configuration for …")
    first.choose(label)
    first.toast(f"Copied for {label.partition(' (')[0]}.")
    template = running.cli.json("client-config", client)[0][transport]["text"]
    own = running.cli("token", "show", "mcp", client).stdout.strip() if transport == "http" else ""
    eventually(lambda: _entry(first.clipboard()) == _entry(template.replace("PASTE-THE-TOKEN-HERE", own)))
    assert "PASTE" not in first.clipboard()
    assert running.cli.token("mcp") not in first.clipboard()  # the shared one cannot be revoked for one client


def _entry(text: str) -> object:
    """Who prints it names itself by its own path; the rest is the same."""
    try:
        return {**json.loads(text)["mcpServers"]["dragoman"], "args": None}
    except ValueError:
        return None


def test_a_clients_configuration_is_written_into_its_file_after_a_look_and_a_yes(
    running: Editor, first: Window
) -> None:
    file = running.room / "person" / ".cursor" / "mcp.json"
    first.clear_toasts()
    _write_for(first, "Cursor", "Cursor (streamable HTTP)")
    expect(first.dialog()).to_contain_text(str(file))
    expect(first.dialog()).to_contain_text("The file will contain a secret")
    expect(first.dialog()).not_to_contain_text(running.cli.token("mcp"))
    first.dialog().get_by_role("button", name="Cancel").click()
    assert not file.exists()
    _write_for(first, "Cursor", "Cursor (stdio)")
    expect(first.dialog()).to_contain_text('"mcpServers"')
    expect(first.dialog()).not_to_contain_text("A secret")
    first.picture("writing")
    first.dialog().get_by_role("button", name="Write").click()
    first.toast("Cursor").get_by_role("button", name="Open file").click()
    expect(first.tab("mcp.json")).to_be_visible()
    assert "dragoman" in json.loads(file.read_text())["mcpServers"]
    first.command("View: Close All Editors")


def _write_for(window: Window, typed: str, label: str) -> None:
    """A list that is searched is sorted anew: the one without a secret stays the first."""
    window.menu()
    window.choose("Write client configuration")
    expect(window.page.locator(".quick-input-title")).to_have_text("Write the configuration for …")
    window.page.locator(".quick-input-widget input[type=text]").fill(typed)
    expect(window.rows.first).to_contain_text("Cursor (stdio)")
    window.choose(label)


def test_a_page_that_a_browser_elsewhere_cannot_have_is_said_to_be_where_it_is(running: Editor, first: Window) -> None:
    """This editor leads to other ports by an address of its own, under which the server answers nobody."""
    status = running.cli.status()
    page = f"{status['instance']}.localhost:{status['port']}"
    first.clear_toasts()
    first.command("Dragoman: Open the page")
    result = first.toast(f"at {page}. Open it there, or forward that port")
    result.get_by_role("button", name="Copy the link").click()
    eventually(lambda: first.clipboard().startswith(f"http://{page}/#code="))
    from_link(first.clipboard()).log_in()  # as it was copied it opens the page


def test_a_server_that_was_killed_and_one_that_hangs_are_distinguished(
    both: Editor, first: Window, second: Window
) -> None:
    pid, workspace = both.cli.status()["pid"], both.cli.status()["workspace"]
    os.kill(pid, signal.SIGSTOP)
    try:
        expect(first.status.locator(".codicon-warning")).to_be_visible(timeout=20_000 * PATIENCE)
    finally:
        os.kill(pid, signal.SIGCONT)
    first.expect_status(RUNNING)
    os.kill(pid, signal.SIGKILL)
    for window in (first, second):
        window.expect_stopped(within_s=2)
    first.toast("The Dragoman server stopped unexpectedly")
    first.picture("died")
    assert both.cli("up", "--workspace", workspace).returncode == 0
    for window in (first, second):
        window.expect_status(RUNNING, within_s=2)
        window.clear_toasts()


def test_where_no_dragoman_is_found_it_says_so_and_installs_one_into_its_own_environment(
    running: Editor, first: Window
) -> None:
    kept = running.machine_settings()
    running.configure(**{**kept, "dragoman.path": "/nowhere/dragoman"})
    named = "The setting dragoman.path names /nowhere/dragoman, which is not dragoman."
    try:
        eventually(lambda: _refused(first, named), within_s=30, every_s=1)
        expect(first.toast(named).get_by_role("button", name="Choose a path…")).to_be_visible()
        first.clear_toasts()
        running.dragoman.unlink()
        running.configure(**kept)
        eventually(lambda: _refused(first, "dragoman was not found"), within_s=30, every_s=1)
        expect(first.status).to_have_attribute("aria-label", re.compile("running on port"))
        wheel = _wheel(running.room, "dragoman")
        _require(running, of="another content")
        first.toast("dragoman was not found").get_by_role("button", name="Install").click()
        _choose_the_wheel(first, wheel)
        first.toast("The package could not be installed")
        first.clear_toasts()
        _require(running)
        first.command("Dragoman: Install dragoman into its own environment")
        _choose_the_wheel(first, wheel)
        first.toast("Installing dragoman into its own environment")
        first.picture("installing")
        first.toast("dragoman is installed.")
        own = (
            running.room / "data" / "User" / "globalStorage" / "dragoman.dragoman" / "environment" / "bin" / "dragoman"
        )
        assert subprocess.run([own], capture_output=True, text=True, check=True).stdout == "dragoman 9.9\n"
    finally:
        running.dragoman.unlink(missing_ok=True)
        running.dragoman.symlink_to(Path(sys.executable).with_name("dragoman"))
        running.configure(**{**kept, "dragoman.path": str(running.dragoman)})
        first.clear_toasts()


def _refused(window: Window, words: str) -> bool:
    """As soon as the editor has read the setting."""
    window.command("Dragoman: Restart server")
    return window.toasts.filter(has_text=words).count() > 0


def _choose_the_wheel(window: Window, wheel: Path) -> None:
    """In the editor's own dialog, which takes a path when it has read the folder where it begins."""
    expect(window.page.locator(".quick-input-title")).to_have_text("Install dragoman from …")
    window.choose("A wheel…")
    expect(window.rows).to_have_text([re.compile(r"^\.\.")])
    window.page.locator(".quick-input-widget input[type=text]").fill(f"{wheel.parent}/")
    window.rows.filter(has_text=wheel.name).click()


def _require(running: Editor, of: str = "") -> None:
    """One package of ours in place of the extension's own list, by its hash: nothing is asked of a network."""
    (file,) = (running.room / "extensions").glob("dragoman.dragoman-*/dist/requirements.txt")
    assert "--hash=sha256:" in (ROOT / "requirements.txt").read_text()
    needed = _wheel(running.room, "needed")
    digest = hashlib.sha256(of.encode() or needed.read_bytes()).hexdigest()
    file.write_text(f"--no-index\n--find-links {needed.parent}\nneeded==9.9 --hash=sha256:{digest}\n")


def _wheel(room: Path, name: str) -> Path:
    """A package of that name in the smallest form that pip takes; it needs no network."""
    package = room / f"{name}-9.9-py3-none-any.whl"
    about = f"{name}-9.9.dist-info"
    needs = "Requires-Dist: needed\n" if name == "dragoman" else ""
    with zipfile.ZipFile(package, "w") as wheel:
        wheel.writestr(f"{name}_said.py", f"def main():\n    print('{name} 9.9')\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n{needs}")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/entry_points.txt", f"[console_scripts]\n{name} = {name}_said:main\n")
        wheel.writestr(f"{about}/RECORD", "")
    return package


def test_the_gateway_is_connected_by_its_command_and_ended_by_its_item(
    both: Editor, first: Window, tmp_path: Path
) -> None:
    kept, item = both.machine_settings(), first.page.locator('[id="dragoman.dragoman.gateway"]')
    with cli_with_home(tmp_path / "gateway", {"DRAGOMAN_PORT": "0"}) as gateway:
        assert gateway("up").returncode == 0
        token = gateway.token("gateway")
        both.configure(**{**kept, "dragoman.gateway.url": f"ws://127.0.0.1:{gateway.status()['port']}/gateway"})
        try:
            expect(item.locator(".codicon-debug-disconnect")).to_be_visible()
            first.command("Dragoman: Connect to the gateway")
            expect(first.page.locator(".quick-input-widget input[type=password]")).to_be_visible()
            _type_secret(first, "not the token")
            first.toast("The gateway refused the connection").get_by_role("button", name="Enter another token").click()
            expect(item.locator(".codicon-error")).to_be_visible()
            _type_secret(first, token)
            expect(item.locator(".codicon-plug")).to_be_visible()
            assert "Connected to the gateway" in (item.locator("a").get_attribute("aria-label") or "")
            eventually(lambda: gateway.status()["links"]["gateway"] == 1)
            first.clear_toasts()
            first.picture("gateway-connected")
            item.locator("a").click()
            expect(item.locator(".codicon-debug-disconnect")).to_be_visible()
            eventually(lambda: gateway.status()["links"]["gateway"] == 0)
            item.locator("a").click()  # the editor kept the token
            expect(item.locator(".codicon-plug")).to_be_visible()
            first.command("Dragoman: Disconnect from the gateway")
            expect(item.locator(".codicon-debug-disconnect")).to_be_visible()
            assert call(both.cli.paths, "gateway_status", {})["state"] == "disconnected"
            settings = (both.room / "data").rglob("settings.json")
            assert not any(token in it.read_text() for it in settings)
        finally:
            both.configure(**kept)


def _type_secret(window: Window, text: str) -> None:
    box = window.page.locator(".quick-input-widget input[type=password]")
    expect(box).to_be_visible()
    box.fill(text)
    box.press("Enter")


def test_no_token_is_in_an_address_or_an_argument(running: Editor, first: Window) -> None:
    asked: list[str] = []
    first.page.on("request", lambda request: asked.append(request.url))
    first.command("Dragoman: Show server status")
    tokens = [running.cli.token(purpose) for purpose in ("page", "mcp", "gateway", "omnish", "editor")]
    seen = [*running.arguments_of_all(), *asked]
    assert [token for token in tokens if any(token in text for text in seen)] == []


@pytest.mark.requirement("vscode:manage:auto-start-off")
@pytest.mark.requirement("foundation:auto-start:off")
@pytest.mark.requirement("vscode:panel:auto-start")
def test_with_automatic_start_off_a_window_starts_nothing(both: Editor, second: Window) -> None:
    second.menu()
    second.choose("Automatic start is on")
    second.toast("no longer starts with the editor")
    assert both.cli("config", "get", "auto_start").stdout == "false\n"
    both.cli("down", "--yes")
    try:
        second.reload()
        second.command("Dragoman: Show server status")
        second.toast("The server is not running")
        assert daemons_of(both.cli.home) == []
        second.menu()
        second.choose("Start")
        second.expect_status(RUNNING)  # by hand it still does
    finally:
        second.command("Dragoman: Turn automatic start on or off")
        second.toast("The server now starts with the editor")
