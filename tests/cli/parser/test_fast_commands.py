"""A step from the shell is served before the library that parses options is loaded, and means what it means there."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli import dispatch
from dragoman.cli.commands import build_app
from dragoman.cli.daemon import lifecycle
from dragoman.cli.debug import run_control
from dragoman.cli.debug.commands import app
from dragoman.cli.parser.fast_commands import FAST_COMMANDS, FastCommand

RUN_CONTROL = sorted(run_control._TOOLS)
HEAVY = {"cyclopts", "rich", "attrs", "anyio", "pydantic", "msgspec"}
LOADED = """
import json, sys
from dragoman.cli.dispatch import run
status = run(json.loads(sys.argv[1]))
print(json.dumps([status, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("name", RUN_CONTROL)
def test_a_move_loads_nothing_heavy(name: str) -> None:
    words = json.dumps(["debug", name, "--json"])
    done = subprocess.run([sys.executable, "-c", LOADED, words], capture_output=True, text=True, timeout=60, check=True)
    status, loaded = json.loads(done.stdout.splitlines()[-1])
    assert status == 3  # no daemon is running in this home
    assert HEAVY.isdisjoint(loaded)


def test_every_move_is_a_command_that_can_also_be_given_options() -> None:
    assert set(RUN_CONTROL) == {name.partition(" ")[2] for name in FAST_COMMANDS if name.startswith("debug ")}
    assert set(app) >= set(RUN_CONTROL)


@pytest.mark.parametrize("words", FAST_COMMANDS)
def test_the_table_and_the_function_agree_on_names_and_defaults(words: str) -> None:
    command = FAST_COMMANDS[words]
    module, _, name = command.function.partition(":")
    function = getattr(importlib.import_module(f"dragoman.cli.{module}"), name)
    taken = {
        it.name: it.default for it in inspect.signature(function).parameters.values() if it.kind is it.KEYWORD_ONLY
    }
    declared = {it.keyword: Path(str(it.default)) if it.default == "." else it.default for it in command.options}
    assert declared.items() <= taken.items()
    assert words.startswith("debug ") or declared.keys() == taken.keys()


@pytest.mark.parametrize("words", FAST_COMMANDS)
def test_the_full_parser_knows_the_options_of_the_table(words: str) -> None:
    _, apps, _ = build_app().parse_commands(words.split())
    named = {name for it in apps[-1].assemble_argument_collection() for name in it.names if name.startswith("-")}
    assert named == {name for option in FAST_COMMANDS[words].options for name in option.names}


@pytest.mark.parametrize(
    "line",
    [
        "debug continue --until app.py:3 --session s --json",
        "debug next --workspace /w",
        "mcp --workspace /w --tools debug",
        "dap --stdio --attach s --read-only --workspace /w",
        "up --workspace /w --verbose --foreground",
        "stop-waiting --session s",
        "shell --private -l --agent someone -- make --keep-going -- all",
    ],
)
def test_the_fast_path_and_the_full_parser_read_a_line_alike(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[Any, ...]] = []

    def noted(self: FastCommand, *words: str, **given: Any) -> int:
        called.append((self.function, words, {name: value for name, value in given.items() if value}))
        return 0

    monkeypatch.setattr(FastCommand, "run", noted)
    fast = dispatch._find_fast(line.split())
    assert fast is not None
    assert fast() == dispatch._dispatch(line.split()) == 0
    assert called[0] == called[1]


@pytest.mark.parametrize(
    "words", [["next", "--timeout", "3"], ["next", "--help"], ["run"], [], ["next.py"], ["--json"]]
)
def test_what_is_more_than_a_plain_move_is_left_to_the_parser(words: list[str]) -> None:
    assert dispatch._find_fast(["debug", *words]) is None


@pytest.mark.parametrize("name", RUN_CONTROL)
def test_both_ways_call_the_same_tool_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[Any, ...]] = []

    def noted(name: str, *, json: bool, **result: Any) -> int:
        called.append((name, json, {key: value for key, value in result.items() if value is not None}))
        return 0

    monkeypatch.setattr(run_control, "control", noted)
    assert dispatch.run(["debug", name, "--json"]) == 0
    assert dispatch._dispatch(["debug", name, "--json"]) == 0
    assert called == [(name, True, {})] * 2


@pytest.mark.parametrize("words", [["up", "--json"], ["up", "--take-over", "--yes"], ["down"], ["restart", "--json"]])
def test_both_ways_start_and_end_the_daemon_alike(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[dict[str, bool]] = []

    def noted(**result: Any) -> int:
        called.append({name: value for name, value in result.items() if value is True})
        return 0

    monkeypatch.setattr(lifecycle, words[0], noted)
    assert dispatch._find_fast(words) is not None
    assert dispatch.run(words) == dispatch._dispatch(words) == 0
    assert called == [{word[2:].replace("-", "_"): True for word in words[1:]}] * 2


def test_an_end_loads_nothing_heavy() -> None:
    words = json.dumps(["down", "--json"])
    done = subprocess.run([sys.executable, "-c", LOADED, words], capture_output=True, text=True, timeout=60, check=True)
    status, loaded = json.loads(done.stdout.splitlines()[-1])
    assert status == 3  # no daemon is running in this home
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize("words", [["up", "--port", "0"], ["up", "--help"], ["down", "--now"], ["restart", "x"]])
def test_a_start_with_more_to_read_is_left_to_the_parser(words: list[str]) -> None:
    assert dispatch._find_fast(words) is None


@pytest.mark.parametrize("words", [["config", "path"], ["debug", "sessions", "--json"]])
def test_what_shows_help_is_not_loaded_for_a_command(words: list[str]) -> None:
    command = [sys.executable, "-c", LOADED, json.dumps(words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    _, loaded = json.loads(done.stdout.splitlines()[-1])
    assert "cyclopts" in loaded
    assert {"rich.console", "cyclopts.help"}.isdisjoint(loaded)
