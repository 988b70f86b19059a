"""Exit codes are as docs/reference/commands.md lists them, for every command there is."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from dragoman.cli.commands import build_app
from dragoman.cli.dispatch import run
from dragoman.cli.output import ExitCode
from tests.daemons import PATIENCE, Cli, cli_with_home

GUIDE = Path(__file__).parents[2] / "docs/reference/commands.md"
# Their words are free text, which may begin with a dash.
FREE_TEXT = {"ask", "debug eval", "gateway chat"}
# A word for each argument that a command needs.
NEEDS = {
    "adapters install": "python",
    "ask": "why",
    "completions": "bash",
    "config get": "port",
    "config set": "port 0",
    "debug": "/nowhere.py",
    "debug break": "a.py:1",
    "debug clear": "1",
    "debug eval": "1",
    "debug set": "a 1",
    "forget": "--all",
    "gateway chat": "hello",
    "journal search": "word",
    "lua install": "/nowhere",
    "open": "/nowhere",
    "replay": "t1",
    "share": "-o session.dragoman",
    "terminals export": "t1",
    "terminals import": "/nowhere",
    "terminals watch": "t1",
    "token create": "name",
    "token revoke": "name",
    "token show": "mcp",
    "wire decode": "dap",
    "wire encode": "dap",
}
# These start a daemon, are started by other programs, or need none.
ALONE = {
    *("debug breakpoints", "debug clear", "open"),
    *(
        "up",
        "restart",
        "mcp",
        "dap",
        "pipe",
        "shell",
        "demo",
        "why",
        "debug",
        "debug break",
        "logs",
        "setup",
        "doctor",
        "uninstall",
    ),
    *("client-config", "adapters", "adapters install", "lua path", "lua install", "lua doctor", "completions"),
    *("config get", "config set", "config list", "config path", "wire decode", "wire encode"),
}


def commands(app: App, *before: str) -> Iterator[str]:
    """Each that can be run, also the one that a group is by itself."""
    if before and app.default_command:
        yield " ".join(before)
    for name in app:
        if not name.startswith("-"):
            yield from commands(app[name], *before, name)


COMMANDS = sorted(commands(build_app()))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_HOME", str(tmp_path / "h"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_the_guide_lists_every_code_and_no_other() -> None:
    table = GUIDE.read_text("utf-8").split("## Exit codes")[1].split("##")[0]
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    assert listed == {code for name, code in vars(ExitCode).items() if name.isupper()}


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - FREE_TEXT))
def test_an_unknown_option_is_two_and_says_where_to_look(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--no-such-option"]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert (out, f"\n  See `dragoman {command} --help`" in err) == ("", True), err


@pytest.mark.parametrize("command", sorted(set(COMMANDS) & set(NEEDS) - {"forget", "debug", "debug clear", "share"}))
def test_what_is_missing_is_two(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command.split()) == ExitCode.USAGE
    assert "Missing argument " in capsys.readouterr().err


@pytest.mark.parametrize("line", ["status --json --nope", "up --port x --json", "last --json a b"])
def test_also_what_was_not_understood_is_json_where_that_is_asked_for(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == ExitCode.USAGE
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], bool(error["message"]), "--help" in error["hint"]) == ("usage", True, True)


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - ALONE))
def test_without_a_daemon_it_is_three_and_says_how_to_start_one(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command.split(), *NEEDS.get(command, "").split()]) == ExitCode.NOT_RUNNING
    assert "dragoman up" in "".join(capsys.readouterr())


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as made:
        assert made("up").returncode == 0
        yield made


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("status", ExitCode.OK),
        ("history nothing-of-the-kind", ExitCode.OK),
        ("journal search nothing-of-the-kind", ExitCode.OK),
        ("stop-waiting", ExitCode.OK),
        ("gateway disconnect", ExitCode.OK),
        ("debug sessions", ExitCode.OK),
        # Not there.
        ("last nowhere:1", ExitCode.FAILED),
        ("replay nowhere", ExitCode.FAILED),
        ("terminals watch nowhere", ExitCode.FAILED),
        ("terminals export nowhere", ExitCode.FAILED),
        ("terminals import /nowhere", ExitCode.FAILED),
        ("report nowhere", ExitCode.FAILED),
        ("token revoke nobody", ExitCode.FAILED),
        ("token show mcp nobody", ExitCode.FAILED),
        ("trust /nowhere", ExitCode.FAILED),
        ("debug step", ExitCode.FAILED),
        ("debug /nowhere.py", ExitCode.FAILED),
        ("debug clear 99", ExitCode.FAILED),
        ("config get nothing", ExitCode.FAILED),
        ("client-config nobody", ExitCode.FAILED),
        ("adapters install nothing", ExitCode.FAILED),
        ("lua install /nowhere", ExitCode.FAILED),
        ("up --workspace /nowhere", ExitCode.FAILED),
        ("dap --stdio --attach nothing", ExitCode.FAILED),
        # Refused.
        ("config set port abc", ExitCode.FAILED),
        ("token create default", ExitCode.FAILED),
        ("gateway chat hello", ExitCode.FAILED),
        ("gateway connect http://localhost", ExitCode.FAILED),
        ("history --since soon", ExitCode.FAILED),
        ("forget --before soon", ExitCode.FAILED),
        ("forget", ExitCode.FAILED),
        # Nobody could be asked.
        ("forget --all", ExitCode.DECLINED),
        ("uninstall", ExitCode.DECLINED),
    ],
)
def test_with_a_daemon(
    cli: Cli, line: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DRAGOMAN_HOME", str(cli.home))
    assert run(shlex.split(line)) == status
    out, err = capsys.readouterr()
    assert status in {ExitCode.OK, ExitCode.DECLINED} or err.count("\n") >= 1, "what failed, on standard error"
    assert "Traceback" not in out + err


@pytest.mark.parametrize("line", ["journal tail -f", "logs -f"])
def test_ctrl_c_is_130(cli: Cli, line: str) -> None:
    with cli.begin(*line.split()) as following:
        assert following.stdout
        assert following.stdout.readline(), "it follows"
        following.send_signal(signal.SIGINT)
        _, err = following.communicate(timeout=20 * PATIENCE)
    assert (following.returncode, err) == (ExitCode.INTERRUPTED, "")


@pytest.mark.parametrize("line", ["help", "--help", "help debug", "config"])
def test_a_reader_that_closes_early_is_not_a_failure(line: str) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "dragoman.cli.main", *line.split()]
    try:
        ended = subprocess.run(command, check=False, stdout=write, stderr=subprocess.PIPE, timeout=30 * PATIENCE)
    finally:
        os.close(write)
    assert (ended.returncode, ended.stderr) == (ExitCode.OK, b"")
