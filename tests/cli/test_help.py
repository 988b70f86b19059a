"""What the command line says about itself and about what it did not understand, in both languages."""

from __future__ import annotations

import functools
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
from cyclopts import App

from dragoman.cli.commands import build_app
from dragoman.cli.dispatch import _preprocess, run
from dragoman.cli.help import EXAMPLES
from dragoman.cli.remote.options import extract_options


def all_commands(app: App, *before: str) -> Iterator[str]:
    for name in app:
        if not name.startswith("-"):
            yield " ".join([*before, name])
            yield from all_commands(app[name], *before, name)


COMMANDS = sorted(all_commands(build_app()))


def run_help(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = run(list(arguments))
    captured = capsys.readouterr()
    return status, " ".join((captured.out + captured.err).split())


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_LANG", "zh")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nope", "Unknown command `nope`."),
        ("statsu", "Unknown command `statsu`. Did you mean `status`? Run `dragoman --help` for a list."),
        ("up --prot 3", "Unknown option --prot. Did you mean `--port`?"),
        ("up a b", "Unexpected arguments: a b."),
        ("config get", "Missing argument KEY."),
        ("up --port x", "Invalid value 'x' for --port."),
        ("up --port", "Missing value for --port."),
        ("up --port 1 --port 2", "--port is specified twice."),
        ("completions tcsh", "Invalid value 'tcsh' for SHELL. Possible values: bash, zsh, fish."),
        ("help nope", "Unknown command `nope`."),
        ("help up nope", "Unknown command `nope`."),
        ("help debug nxet", "Did you mean `next`?"),
        ("version x", "Unexpected arguments: x."),
        ("terminals watch", "`dragoman terminals --ended` lists them."),
        ("token revoke", "Missing argument NAME. `dragoman token list` lists them."),
        ("client-config cursor --stdio --http", "Use only one of: --stdio, --http."),
        ("up --port 99999", "Invalid value '99999' for --port. Use a number from 0 to 65535."),
        ("debug next --timeout 1e9", "Invalid value '1e9' for --timeout. Use a number from 0 to 3600."),
    ],
)
def test_what_is_not_understood_is_said_and_ends_with_two(
    capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    status, output = run_help(capsys, *line.split())
    assert (status, words in output) == (2, True), output
    named = r"(?:help )?(up|config get|completions|debug next|debug|terminals watch|token revoke|client-config)?"
    command = re.match(named, line)
    assert command
    assert f"`{' '.join(filter(None, ('dragoman', command[1])))} --help`" in output


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("help", "--help"),
        ("help config set", "config set --help"),
        ("version", "--version"),
        ("help help", "--help"),
        ("help start", "up --help"),
        ("help version", "--help"),
        ("help --all", "--help --all"),
        ("help --all", "-h --all"),
    ],
)
def test_words_that_other_tools_use_for_it_work_too(capsys: pytest.CaptureFixture[str], line: str, same: str) -> None:
    assert run_help(capsys, *line.split()) == run_help(capsys, *same.split())


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
    output = run_help(capsys, *line.split())[1]
    assert re.search(rf"Missing argument [A-Z]+ \(one of: {choices}\)\.", output), output


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "line", ["nope", "stat", "up --prot 3", "up a b", "config get", "up --port x", "up --port", "up --port 99999"]
)
def test_no_english_is_left_in_what_was_not_understood(capsys: pytest.CaptureFixture[str], line: str) -> None:
    _, output = run_help(capsys, *line.split())
    names = {*line.split(), "dragoman", "--help", "--port", "open", "status", "KEY", "config", "get", "up"}
    assert set(re.findall("[A-Za-z-]+", output)) <= names, output


@pytest.mark.usefixtures("chinese")
def test_help_is_chinese_to_its_labels(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")  # one line per option
    _, output = run_help(capsys, "wire", "decode", "--help")
    assert output.startswith("用法：dragoman wire decode")
    assert "[可选值：omnish, dap, luapanda, gateway] [必填]" in output
    assert "[默认：frame]" in output
    assert not any(word in output for word in ("Usage", "default", "choices", "required"))


@pytest.mark.usefixtures("chinese")
def test_no_label_of_any_command_is_left_in_english() -> None:
    """Also of the commands behind a command, whose labels are made when their module is loaded."""
    commands = ("debug next", "terminals watch", "gateway chat", "adapters install", "lua install", "token show")
    program = f"from dragoman.cli.dispatch import run\nfor it in {commands}: run([*it.split(), '--help'])"
    text = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    labels = re.findall("╭─ (.+?) ─", text.stdout)
    assert len(labels) >= len(commands), text.stdout
    assert set(labels) <= {"参数", "选项"}


def test_help_names_only_defaults_that_say_something(capsys: pytest.CaptureFixture[str]) -> None:
    _, output = run_help(capsys, "journal", "tail", "--help")
    assert "[default: 20]" in output
    assert "False" not in output


def listed(*arguments: str, language: str = "en") -> dict[str, list[str]]:
    """The commands on 80 columns by the titles of their groups; a line that was broken would be one more entry."""
    environment = {**os.environ, "DRAGOMAN_LANG": language, "COLUMNS": "80"}
    command = [sys.executable, "-m", "dragoman.cli.main", *arguments]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout
    panels = re.findall(r"╭─ (.+?) ─+╮\n(.*?)╰", shown, re.DOTALL)
    return {title: re.findall(r"(?m)^│ (.+?) .*│$", lines) for title, lines in panels}


GROUPS = {
    "en": ["Connect an agent", "Debug", "Watch", "Terminals", "Maintain", "Protocols and plumbing", "Options"],
    "zh": ["连接智能体", "调试", "查看", "终端", "维护", "协议与底层命令", "选项"],
}


@pytest.mark.parametrize("language", GROUPS)
def test_help_lists_the_common_commands_by_what_people_want_to_do(language: str) -> None:
    *groups, _, options = GROUPS[language]
    common = listed("--help", language=language)
    assert list(common) == [*groups, options]
    assert common.pop(options) == ["--help", "--version"]
    assert sum(map(len, common.values())) <= 16
    assert {"setup", "debug", "page", "shell", "up"} <= set(itertools.chain(*common.values()))


@pytest.mark.parametrize("language", GROUPS)
def test_help_all_lists_every_command_once_and_on_one_line(language: str) -> None:
    everything = listed("help", "--all", language=language)
    assert list(everything) == GROUPS[language]
    names = sorted(itertools.chain(*everything.values()))
    assert names == sorted(name for name in build_app() if name != "-h")


def test_what_is_not_listed_can_still_be_run_and_completed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_help(capsys, "wire", "--help")[0] == 0
    _, script = run_help(capsys, "completions", "bash")
    assert all(f"{name} " in script for name in build_app() if not name.startswith("-"))


def test_help_says_what_each_argument_and_option_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Working directory of the client." in run_help(capsys, "mcp", "--help")[1]
    app = build_app(lists_all=True)
    runnable = {
        words: found
        for words in COMMANDS
        if (found := functools.reduce(App.__getitem__, words.split(), app)).default_command
    }
    unexplained = [
        f"{words} {it.name}"
        for words, command in runnable.items()
        for it in command.assemble_argument_collection()
        if it.show and not it.parameter.help
    ]
    assert unexplained == []


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_its_help_which_ends_with_two_examples(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words.split(), "--help"]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"Usage: dragoman {words}")
    assert output.partition("\nExamples:\n")[2].splitlines() == [f"  {line}" for line in EXAMPLES[words]]


def test_the_heading_of_the_examples_is_in_the_readers_language(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_LANG", "zh")
    assert run_help(capsys, "status", "--help")[1].endswith("示例： dragoman status dragoman status --json")


def test_there_are_two_examples_of_every_command_and_of_nothing_else() -> None:
    assert sorted(EXAMPLES) == COMMANDS
    assert all(len(set(pair)) == 2 for pair in EXAMPLES.values())


@pytest.mark.parametrize(("words", "line"), [(words, line) for words, pair in EXAMPLES.items() for line in pair])
def test_every_example_is_of_its_command_and_is_understood(words: str, line: str) -> None:
    example = re.search(r"(?:^|[ (])dragoman (.+)", line.partition("$(")[2].rpartition(")")[0] or line)
    assert example
    arguments = list(itertools.takewhile(lambda word: word not in {"|", ">", "<"}, shlex.split(example[1])))
    assert arguments[: len(words.split())] == words.split()
    own, _ = extract_options(arguments, {})
    build_app().parse_args(_preprocess(own), exit_on_error=False, print_error=False)


@pytest.mark.parametrize("module", ["dragoman.cli.dispatch", "dragoman.core.errors", "cyclopts", "dragoman.cli.config"])
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
