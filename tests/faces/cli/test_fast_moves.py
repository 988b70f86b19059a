"""A step from the shell is served before the library that parses options is loaded, and means what it means there."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from dragoman.cli import dispatch, up
from dragoman.cli.debug import moves
from dragoman.cli.debug.app import app

HEAVY = {"cyclopts", "rich", "attrs", "anyio", "pydantic", "msgspec"}
LOADED = """
import json, sys
from dragoman.cli.dispatch import run
status = run(json.loads(sys.argv[1]))
print(json.dumps([status, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("name", sorted(dispatch._MOVES))
def test_a_move_loads_nothing_heavy(name: str) -> None:
    words = json.dumps(["debug", name, "--json"])
    done = subprocess.run([sys.executable, "-c", LOADED, words], capture_output=True, text=True, timeout=60, check=True)
    status, loaded = json.loads(done.stdout.splitlines()[-1])
    assert status == 3  # no daemon is running in this home
    assert HEAVY.isdisjoint(loaded)


def test_every_move_is_a_command_that_can_also_be_given_options() -> None:
    assert set(moves._TOOLS) == dispatch._MOVES
    assert set(app) >= dispatch._MOVES


@pytest.mark.parametrize(
    "words", [["next", "--timeout", "3"], ["next", "--help"], ["run"], [], ["next.py"], ["--json"]]
)
def test_what_is_more_than_a_plain_move_is_left_to_the_parser(words: list[str]) -> None:
    assert dispatch._fast(["debug", *words]) is None


@pytest.mark.parametrize("name", sorted(dispatch._MOVES))
def test_both_ways_call_the_same_tool_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[Any, ...]] = []

    def noted(name: str, workspace: object = None, *, as_json: bool, **said: Any) -> int:
        given = {key: value for key, value in said.items() if value is not None}
        called.append((name, workspace, as_json, given))
        return 0

    monkeypatch.setattr(moves, "move", noted)
    monkeypatch.setattr("dragoman.cli.debug.motion.move", noted)
    assert dispatch.run(["debug", name, "--json"]) == 0
    assert dispatch._dispatch(["debug", name, "--json"]) == 0
    assert called == [(name, None, True, {})] * 2


@pytest.mark.parametrize("words", [["up", "--json"], ["up", "--take-over", "--yes"], ["down"], ["restart", "--json"]])
def test_both_ways_start_and_end_the_daemon_alike(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[dict[str, bool]] = []

    def noted(**said: Any) -> int:
        called.append({name: value for name, value in said.items() if value is True})
        return 0

    monkeypatch.setattr(up, words[0], noted)
    assert dispatch._fast(words) is not None
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
    assert dispatch._fast(words) is None


@pytest.mark.parametrize("words", [["config", "path"], ["debug", "sessions", "--json"]])
def test_what_shows_help_is_not_loaded_for_a_command(words: list[str]) -> None:
    command = [sys.executable, "-c", LOADED, json.dumps(words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    _, loaded = json.loads(done.stdout.splitlines()[-1])
    assert "cyclopts" in loaded
    assert {"rich.console", "cyclopts.help"}.isdisjoint(loaded)
