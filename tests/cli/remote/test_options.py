"""`--on` and `--env` are found anywhere before `--`, and only where they mean something."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.caller import caller_info
from dragoman.cli.remote.options import REMOTE_COMMANDS, choosing, chosen_target, crossing_variables, extract_options
from dragoman.core.errors import DragomanError, UsageError


def taken(line: str, **environment: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    words, options = extract_options(line.split(), environment)
    return " ".join(words), options.targets, options.variables


@pytest.mark.parametrize(
    ("line", "words", "targets", "variables"),
    [
        ("status --on ssh:a", "status", ("ssh:a",), ()),
        ("--on ssh:a status --json", "status --json", ("ssh:a",), ()),
        ("status --on=ssh:a --on docker:b", "status", ("ssh:a", "docker:b"), ()),
        ("status --on ssh:a --on ssh:a", "status", ("ssh:a",), ()),
        ("mcp --on ssh:a --on local", "mcp", ("ssh:a", "local"), ()),
        ("mcp --on local", "mcp", (), ()),
        ("up --on local", "up", (), ()),
        ("mcp --on ssh:a --env TOKEN --env=OTHER", "mcp", ("ssh:a",), ("TOKEN", "OTHER")),
        ("debug a.py --env A=1 --on ssh:a --env TOKEN", "debug a.py --env A=1", ("ssh:a",), ("TOKEN",)),
        ("debug a.py --env A=1", "debug a.py --env A=1", (), ()),
        ("debug a.py -- --on ssh:a", "debug a.py -- --on ssh:a", (), ()),
        ("why --on ssh:a -- make --env X", "why -- make --env X", ("ssh:a",), ()),
        ("status --help --on ssh:a", "status --help", (), ()),
        ("up", "up", (), ()),
        ("", "", (), ()),
    ],
)
def test_the_options_are_taken_out(line: str, words: str, targets: tuple[str, ...], variables: tuple[str, ...]) -> None:
    assert taken(line) == (words, targets, variables)


def test_the_variable_counts_where_no_option_is_given() -> None:
    assert taken("status", DRAGOMAN_ON="ssh:a")[1] == ("ssh:a",)
    assert taken("status --on ssh:b", DRAGOMAN_ON="ssh:a")[1] == ("ssh:b",)
    assert taken("shell", DRAGOMAN_ON="ssh:a")[1] == ()
    assert taken("pipe", DRAGOMAN_ON="ssh:a")[1] == ()
    assert taken("status --on local", DRAGOMAN_ON="ssh:a")[1] == ()


@pytest.mark.parametrize("command", ["up", "down", "restart", "forget --all", "token list", "share -o f", "open f"])
def test_with_the_variable_a_command_does_not_quietly_change_this_machine(command: str) -> None:
    with pytest.raises(UsageError, match="works on this machine only"):
        taken(command, DRAGOMAN_ON="ssh:a")


@pytest.mark.parametrize("line", ["up --on ssh:a", "pipe --on ssh:a", "dap --on ssh:a --on local", "status --on"])
def test_what_cannot_be_done_there_is_refused(line: str) -> None:
    with pytest.raises(UsageError):
        taken(line)


@pytest.mark.parametrize("name", ["A-B", "1A", "-x"])
def test_only_names_of_variables_cross(name: str) -> None:
    with pytest.raises(DragomanError):
        taken(f"mcp --on ssh:a --env {name}")


def test_only_the_named_variables_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "1")
    monkeypatch.setenv("SECRET", "2")
    _, options = extract_options(["mcp", "--on", "ssh:a", "--env", "TOKEN", "--env", "UNSET_ONE"], {})
    with choosing(options):
        assert crossing_variables() == {"TOKEN": "1"}
        found = chosen_target()
        assert found is not None
        assert found.name == "ssh:a"
    assert chosen_target() is None
    assert crossing_variables() == {}


def test_the_commands_for_other_machines_exist() -> None:
    from dragoman.cli.commands import build_app

    assert set(build_app()) >= REMOTE_COMMANDS


@pytest.mark.parametrize(
    ("line", "words", "allows"),
    [
        ("mcp --on ssh:a --allow-stop", "mcp", True),
        ("--allow-stop debug a.py --on ssh:a", "debug a.py", True),
        ("dap --on ssh:a", "dap", False),
        ("debug --on ssh:a -- a --allow-stop", "debug -- a --allow-stop", False),
        ("page --on ssh:a --allow-stop", "page", True),
        ("mcp --allow-stop", "mcp --allow-stop", False),
        ("status --on ssh:a --allow-stop", "status --allow-stop", False),
    ],
)
def test_only_a_word_on_the_command_line_allows_stops(line: str, words: str, allows: bool) -> None:
    left, options = extract_options(line.split(), {})
    assert (" ".join(left), options.allows_stop) == (words, allows)
    with choosing(options):
        assert caller_info(Path()).get("allow_stop", False) is allows
