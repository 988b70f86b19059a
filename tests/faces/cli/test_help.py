"""What the command line says about itself and about what it did not understand, in both languages."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from dragoman.cli.dispatch import run


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = run(list(arguments))
    captured = capsys.readouterr()
    return status, " ".join((captured.out + captured.err).split())


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_LANG", "zh")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nope", "There is no command `nope`."),
        ("stat", "Did you mean `status`?"),
        ("up --prot 3", "There is no option --prot here. Did you mean `--port`?"),
        ("up a b", "This is too much: a b."),
        ("config get", "KEY needs a value."),
        ("up --port x", "--port cannot be 'x'."),
        ("up --port", "--port needs a value."),
        ("up --port 1 --port 2", "--port was given twice."),
        ("completions tcsh", "SHELL cannot be 'tcsh'. It is one of: bash, zsh, fish."),
        ("help nope", "There is no command `nope`."),
        ("help up nope", "There is no command `nope`."),
        ("help debug nxet", "Did you mean `next`?"),
        ("version x", "This is too much: x."),
        ("terminals watch", "`dragoman terminals --ended` lists what there is."),
        ("token revoke", "`dragoman token list` lists what there is."),
        ("client-config cursor --stdio --http", "Only one of these can be given: --stdio, --http."),
        ("up --port 99999", "--port cannot be '99999'. It is a number from 0 to 65535."),
        ("debug next --timeout 1e9", "--timeout cannot be '1e9'. It is a number from 0 to 3600."),
    ],
)
def test_what_is_not_understood_is_said_and_ends_with_two(
    capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    status, told = said(capsys, *line.split())
    assert (status, words in told) == (2, True), told
    named = r"(?:help )?(up|config get|completions|debug next|debug|terminals watch|token revoke|client-config)?"
    command = re.match(named, line)
    assert command
    assert f"`{' '.join(filter(None, ('dragoman', command[1])))} --help`" in told


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("help", "--help"),
        ("help config set", "config set --help"),
        ("version", "--version"),
        ("help help", "--help"),
        ("help start", "up --help"),
        ("help version", "--help"),
    ],
)
def test_words_that_other_tools_use_for_it_work_too(capsys: pytest.CaptureFixture[str], line: str, same: str) -> None:
    assert said(capsys, *line.split()) == said(capsys, *same.split())


@pytest.mark.parametrize(
    ("line", "choices"),
    [
        ("token show", "mcp, page, gateway, omnish, editor"),
        ("completions", "bash, zsh, fish"),
        ("wire decode", "omnish, dap, luapanda, gateway"),
        ("adapters install", "codelldb, go, javascript, lldb, lua, python, ruby"),
        ("config set model", "none, openai, anthropic"),
        ("config set mcp_starts_daemon", "true, false"),
    ],
)
def test_where_a_value_is_missing_the_choices_are_listed(
    capsys: pytest.CaptureFixture[str], line: str, choices: str
) -> None:
    assert f"needs a value. It is one of: {choices}." in said(capsys, *line.split())[1]


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "line", ["nope", "stat", "up --prot 3", "up a b", "config get", "up --port x", "up --port", "up --port 99999"]
)
def test_no_english_is_left_in_what_was_not_understood(capsys: pytest.CaptureFixture[str], line: str) -> None:
    _, told = said(capsys, *line.split())
    names = {*line.split(), "dragoman", "--help", "--port", "status", "KEY", "config", "get", "up"}
    assert set(re.findall("[A-Za-z-]+", told)) <= names, told


@pytest.mark.usefixtures("chinese")
def test_help_is_chinese_to_its_labels(capsys: pytest.CaptureFixture[str]) -> None:
    _, told = said(capsys, "wire", "decode", "--help")
    assert told.startswith("用法： dragoman wire decode")
    assert "[可选：omnish, dap, luapanda, gateway] [必填]" in told
    assert "[默认：frame]" in told
    assert not any(word in told for word in ("Usage", "default", "choices", "required"))


@pytest.mark.usefixtures("chinese")
def test_no_label_of_any_command_is_left_in_english() -> None:
    """Also of the commands behind a command, whose labels are made when their module is loaded."""
    commands = ("debug next", "terminals watch", "gateway chat", "adapters install", "lua install", "token show")
    program = f"from dragoman.cli.dispatch import run\nfor it in {commands}: run([*it.split(), '--help'])"
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    labels = re.findall("╭─ (.+?) ─", told.stdout)
    assert len(labels) >= len(commands), told.stdout
    assert set(labels) <= {"参数", "选项"}


def test_help_names_only_defaults_that_say_something(capsys: pytest.CaptureFixture[str]) -> None:
    _, told = said(capsys, "journal", "tail", "--help")
    assert "[default: 20]" in told
    assert "False" not in told


def test_help_says_where_to_begin_and_what_each_option_of_a_client_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    _, told = said(capsys, "--help")
    first, rest = told.split("Begin here")[1].split("Commands", 1)
    assert all(f" {name} " in first for name in ("debug", "demo", "setup", "shell"))
    assert " doctor " in rest
    assert "The folder that the client works in." in said(capsys, "mcp", "--help")[1]
    assert "A setting's name" in said(capsys, "config", "set", "--help")[1]


def test_every_command_has_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    from dragoman.cli.commands import _COMMANDS

    for command in _COMMANDS:
        status, told = said(capsys, *command.words.split(), "--help")
        assert (status, told.startswith(f"Usage: dragoman {command.words}")) == (0, True), told


@pytest.mark.parametrize("module", ["dragoman.cli.dispatch", "dragoman.errors", "cyclopts", "dragoman.cli.config"])
def test_ctrl_c_while_something_is_imported_ends_quietly(module: str) -> None:
    program = f"""
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["dragoman", "config", "path"]
from dragoman.cli.main import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=30)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
