"""`dragoman why`, as a person or a script runs it: real daemon, real pytest."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.agent import agent_in
from dragoman.cli.output import ExitCode
from tests.daemons import Cli, cli_with_home

pytestmark = pytest.mark.timeout(120)

SHOP = "def total(prices, seen=[]):\n    seen.extend(prices)\n    return sum(seen)\n"
TESTS = (
    "from shop import total\n\n\ndef test_second():\n    total([1])\n    assert total([2]) == 2\n\n\n"
    "def test_well():\n    assert sum([1]) == 1\n"
)
COLOUR = re.compile(r"\033\[[\d;]*m")
DURATION = re.compile(r"in [\d.]+ s$", re.MULTILINE)
NO_TESTS = "No tests ran. Check the test id, or pass the command that runs the test."


def in_a_terminal(cli: Cli, folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit code, and what stands on a terminal that is its standard output."""
    ours, theirs = pty.openpty()
    environment = {name: it for name, it in cli.variables().items() if name != "NO_COLOR"}
    command = cli.command(*arguments)
    with subprocess.Popen(
        command, cwd=folder, env={**environment, "TERM": "xterm"}, stdin=subprocess.DEVNULL, stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux: the other end is closed
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def test_a_person_is_shown_what_an_agent_is_and_the_exit_code_says_whether_it_failed_again(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP)
    (folder / "test_shop.py").write_text(TESTS)
    with cli_with_home(tmp_path / "home") as cli:
        cli("up", cwd=folder)
        cli("trust", ".", cwd=folder)
        failed = cli("why", "test_shop.py::test_second", cwd=folder)
        with agent_in(cli.variables(), folder) as agent:
            agent.call("explain_failure", test="test_shop.py::test_second")
        command = cli("why", "--json", "--", sys.executable, "-m", "pytest", "-q", "test_shop.py", cwd=folder)
        nowhere = cli("why", "test_shop.py::test_absent", cwd=folder)
        code, coloured = in_a_terminal(cli, folder, "why", "test_shop.py::test_second")
        well = cli("why", "test_shop.py::test_well", cwd=folder)
        nothing = cli("why", cwd=folder)
    assert failed.returncode == ExitCode.PROGRAM_FAILED, failed.stderr
    assert DURATION.sub("in 1 s", failed.stdout.rstrip("\n")) == DURATION.sub("in 1 s", agent.text)
    assert "total  shop.py:1  (call 2 of 2)" in failed.stdout
    assert "arguments: prices = [2], seen = [1]" in failed.stdout
    assert "\033" not in failed.stdout
    answer = json.loads(command.stdout)
    assert (command.returncode, answer["verdict"]) == (ExitCode.PROGRAM_FAILED, "failed")
    assert (well.returncode, "did not fail again (1 of 1)" in well.stdout) == (ExitCode.OK, True)
    assert (nowhere.returncode, nowhere.stdout.splitlines()[0]) == (ExitCode.FAILED, NO_TESTS), nowhere.stderr
    assert "test_absent" in nowhere.stdout
    assert code == ExitCode.PROGRAM_FAILED
    assert coloured.startswith("\033[31mfailed in ")
    assert "\033[1mtotal  shop.py:1  (call 2 of 2)\033[0m" in coloured
    assert "\033[31mAssertionError: assert 3 == 2\033[0m" in coloured
    assert "\033[2m2  " in coloured
    assert COLOUR.sub("", coloured).splitlines()[1:3] == failed.stdout.splitlines()[1:3]
    assert (nothing.returncode, "No failed command is recorded." in nothing.stderr) == (ExitCode.FAILED, True)
