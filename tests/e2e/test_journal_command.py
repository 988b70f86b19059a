"""`dragoman journal` and `dragoman forget` against a real daemon, as people and scripts use them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.daemons import Cli, cli_with_home, eventually


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """For those who only read."""
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        assert cli("up").returncode == 0
        yield cli


@pytest.fixture
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        assert cli("up").returncode == 0
        yield cli


def events(cli: Cli, *arguments: str) -> list[dict[str, object]]:
    done = cli("journal", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_same_event_is_tailed_found_and_exported(shared: Cli) -> None:
    (tailed,), (found,), (exported,) = (
        events(shared, "tail", "--json"),
        events(shared, "search", "daemon started", "--json"),
        events(shared, "export"),
    )
    assert tailed == found
    assert (exported["sequence"], exported["kind"]) == (tailed["sequence"], "daemon.started")
    assert "daemon.started" in shared("journal", "tail").stdout


def test_a_follower_in_a_pipe_sees_each_event_at_once(shared: Cli) -> None:
    buffered = {name: value for name, value in shared.variables().items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(shared.command("journal", "tail", "-f"), stdout=subprocess.PIPE, env=buffered) as following:
        assert following.stdout is not None
        try:
            os.set_blocking(following.stdout.fileno(), False)
            line = eventually(lambda: following.stdout and following.stdout.readline())
        finally:
            following.kill()
    assert b"daemon.started" in line


@pytest.mark.parametrize("words", ['"', "*", "'", "()", "--", "\N{GRINNING FACE}", "\x01", "\udcff", "", "x" * 10_000])
def test_what_holds_no_word_is_a_sentence_and_not_a_fault(shared: Cli, words: str) -> None:
    done = shared("journal", "search", "--all-workspaces", "--json", "--", words)
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, "bad_query")


@pytest.mark.parametrize("words", ["NEAR(", "a OR", "AND", "col:foo", "^foo", "-x", 'a" b', "守护", "a NEAR( b"])
def test_what_search_engines_take_for_syntax_is_only_words_here(shared: Cli, words: str) -> None:
    done = shared("journal", "search", "--all-workspaces", "--", words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "No results.\n")


@pytest.mark.parametrize(
    ("scope", "erased"),
    [
        (("--before", "0001-01-01"), 0),
        (("--session", "nobody"), 0),
        (("--session", "\udcff"), 0),
        (("--before", "9999-12-31T23:59:59Z"), 1),
        (("--all",), 1),
    ],
)
def test_forgetting_says_how_much_went(cli: Cli, scope: tuple[str, ...], erased: int) -> None:
    done = cli("forget", "--yes", *scope)
    assert (done.returncode, done.stdout) == (0, f"Events erased: {erased}.\n"), done.stderr
    assert len(events(cli, "export")) == 1 - erased


def test_nothing_is_forgotten_without_a_yes_or_without_saying_what(cli: Cli) -> None:
    declined = cli("forget", "--all", stdin=subprocess.DEVNULL)
    assert (declined.returncode, "Events to erase: 1." in declined.stderr) == (4, True)
    assert cli("forget", "--yes").returncode == 1
    assert cli("forget", "--yes", "--all", "--before", "2026-01-31").returncode == 1
    refused = cli("forget", "--yes", "--before", "yesterday")
    assert (refused.returncode, "Invalid date: yesterday." in refused.stderr) == (1, True)
    assert len(events(cli, "export")) == 1
