"""`dragoman page`: a person gets the browser, a script the link."""

from __future__ import annotations

import os
import pty
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemons import Cli, cli_with_home, eventually


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("home")) as cli:
        assert cli("up", "--port", "0").returncode == 0
        yield cli


@pytest.fixture
def browser(cli: Cli, tmp_path: Path) -> Iterator[Path]:
    """One that only writes down what it is to open."""
    program, opened = tmp_path / "browser", tmp_path / "opened"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    cli.environment["BROWSER"] = str(program)
    yield opened
    del cli.environment["BROWSER"]


def on_a_terminal(cli: Cli, *arguments: str) -> str:
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, cli.command(*arguments), cli.variables())
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:  # it has ended
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return shown.decode()


def test_a_person_gets_the_browser(cli: Cli, browser: Path) -> None:
    shown = on_a_terminal(cli, "page")
    assert "Opening the page in your browser" in shown
    assert "#code=" not in shown
    assert eventually(lambda: browser.exists() and browser.read_text()).startswith("http://")
    assert "/#code=" in browser.read_text()


def test_asked_to_print_it_prints(cli: Cli, browser: Path) -> None:
    assert "/#code=" in on_a_terminal(cli, "page", "--print")
    assert not browser.exists()


def test_a_script_and_a_machine_without_a_browser_get_the_link(cli: Cli, browser: Path) -> None:
    assert "/#code=" in cli("page").stdout
    assert not browser.exists()
    del cli.environment["BROWSER"]
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        cli.environment[name] = ""
    assert "/#code=" in on_a_terminal(cli, "page")
    cli.environment["BROWSER"] = ""
