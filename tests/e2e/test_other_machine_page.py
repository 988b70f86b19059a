"""`page --on` with a real sshd and a real browser: the page of the other machine, and nobody else at its port."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import expect

from dragoman.cli.output import ExitCode
from tests.daemons import PATIENCE, Cli, cli_with_home, eventually
from tests.debug.test_attached_from_afar import LINE_OF_BEAT, Program
from tests.debug.test_attached_from_afar import PROGRAM as BEAT
from tests.proving import calls, from_link
from tests.raw_http import Ask, ask
from tests.servers.web.browser import chromium
from tests.support.ssh_machine import SshMachine, ssh_machine

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path_factory.mktemp("m")) as machine:
        assert machine.there("up", cwd=machine.project).returncode == 0
        assert machine.there("trust", str(machine.project)).returncode == 0
        yield machine


@pytest.fixture(scope="module")
def here(machine: SshMachine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("n"), machine.variables()) as cli:
        yield cli


@contextmanager
def page_command(machine: SshMachine, here: Cli, *options: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        here.command("page", "--print", "--on", machine.name, *options),
        env=here.variables(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def command(machine: SshMachine, here: Cli) -> Iterator[subprocess.Popen[str]]:
    with page_command(machine, here) as process:
        yield process


def link_of(command: subprocess.Popen[str]) -> str:
    assert command.stdout is not None
    return command.stdout.readline().strip()


def test_a_browser_here_shows_the_page_there_until_the_command_ends(
    machine: SshMachine, command: subprocess.Popen[str]
) -> None:
    link = link_of(command)
    far = machine.there.status()
    port = urlsplit(link).port
    assert port not in {far["port"], None}
    with chromium() as browser:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(link)
        connected = page.locator("#connection.good")
        expect(connected).to_have_text("connected", timeout=20_000 * PATIENCE)
        assert {urlsplit(it).netloc for it in asked} == {urlsplit(link).netloc}
        for child in psutil.Process(command.pid).children():  # the links break, and the page connects again
            child.send_signal(signal.SIGKILL)
        expect(connected).to_have_count(0, timeout=20_000 * PATIENCE)
        expect(connected).to_have_text("connected", timeout=20_000 * PATIENCE)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=20)
    assert command.returncode == ExitCode.OK
    assert "End it with Ctrl-C." in errors
    eventually(lambda: ask(far["port"], Ask("/", headers=[("Host", urlsplit(link).netloc)])).status == 421)


def test_the_machine_there_serves_its_own_page_alone(machine: SshMachine, command: subprocess.Popen[str]) -> None:
    proof = from_link(link_of(command)).log_in()
    with calls(proof) as page:
        assert page.ask("/api/status").json()["pid"] == machine.there.status()["pid"]
    port = urlsplit(f"http://{proof.dialled}").port
    assert port is not None
    assert ask(port, Ask("/", headers=[("Host", f"127.0.0.1:{port}")])).status == 421
    with socket.create_connection(("127.0.0.1", port)) as nobody:
        nobody.sendall(b"no http\r\n\r\n")
        nobody.settimeout(20)
        assert b"400" in nobody.recv(100)


def test_without_a_daemon_there_is_no_page(machine: SshMachine, here: Cli) -> None:
    done = here("page", "--on", "ssh:nokey")
    assert done.returncode == ExitCode.FAILED
    assert "refused the login" in done.stderr


@pytest.fixture
def program(machine: SshMachine) -> Iterator[Program]:
    """It runs there before anybody debugs it."""
    folder = machine.project
    (folder / "main.py").write_text(BEAT)
    (folder / "beats").unlink(missing_ok=True)
    with subprocess.Popen([sys.executable, "main.py"], cwd=folder, stderr=subprocess.DEVNULL) as process:
        eventually((folder / "beats").exists)
        try:
            yield Program(folder, process)
        finally:
            process.kill()


@pytest.mark.parametrize("allow_stop", [(), ("--allow-stop",)])
def test_what_ran_there_before_is_halted_with_leave_only(
    machine: SshMachine, here: Cli, program: Program, allow_stop: tuple[str, ...]
) -> None:
    with page_command(machine, here, *allow_stop) as process, calls(from_link(link_of(process)).log_in()) as page:

        def call(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = page.ask("/api/call", "POST", {"tool": tool, "arguments": arguments}).json()
            found: dict[str, Any] = answer["data"]
            return found

        started = call("start_debugging", configuration=dict(program.request.configuration), wait=False)
        assert "session_id" in started, started
        session = started["session_id"]
        paused = call("pause_debugging", session_id=session)
        assert paused.get("code") == (None if allow_stop else "halt_refused"), paused
        if allow_stop:
            shown = next(it for it in call("list_sessions")["sessions"] if it["session_id"] == session)
            assert 0 < shown["resumes_in_s"] <= 30
            call("continue_debugging", session_id=session, wait=False)
        else:
            place = {"file_path": str(program.folder / "main.py"), "line_number": LINE_OF_BEAT}
            assert "--allow-stop" in str(call("set_breakpoint", **place))
        assert program.goes_on()
        call("stop_debugging", session_id=session)
