"""A scripted agent finds each bug of the examples by the tools for evidence, through MCP, within a stated budget."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.agent import Agent, agent_in
from dragoman.cli.output import ExitCode
from tests.daemons import Cli, cli_with_home
from tests.peers import INSTALLED, give_adapters

pytestmark = pytest.mark.timeout(120)

EXAMPLES = Path(__file__).parents[2] / "examples"
BUGS: list[dict[str, Any]] = tomllib.loads((EXAMPLES / "bugs.toml").read_text())["bug"]
# What the specification wants at least one of.
KINDS = {
    "off by one", "aliasing", "wrong default", "race", "stale cache", "recursion", "encoding", "float", "closure",
    "exception swallowed",
}  # fmt: skip


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    home = tmp_path_factory.mktemp("h")
    if INSTALLED.exists():
        give_adapters(home)
    with cli_with_home(home, {"DRAGOMAN_PORT": "0"}) as cli:
        yield cli


@pytest.fixture(scope="module")
def agent(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """In a copy: some are built there. Its Python is the one behind ours, which is never used for a program."""
    workspace = Path(shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("e") / "examples"))
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    environment = {**cli.variables(), "PATH": path}
    environment.pop("VIRTUAL_ENV", None)
    with agent_in(environment, workspace) as agent:
        yield agent


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, marks=[pytest.mark.needs(*bug["needs"])] if "needs" in bug else [], id=bug["program"])
        for bug in BUGS
    ],
)
def test_the_bug_is_found_within_its_budget(agent: Agent, bug: dict[str, Any]) -> None:
    calls, characters = agent.calls, agent.text_bytes
    for ask in bug["ask"]:
        answer = agent.call(ask["tool"], **ask["arguments"])
        assert re.search(ask["shows"], agent.text), agent.text
        assert answer["status"] == "success"
        assert "session_id" not in answer, "a program was left behind"
    assert agent.calls - calls <= bug["calls"]
    assert agent.text_bytes - characters <= bug["characters"]


def test_a_shell_gets_the_same_table(cli: Cli, agent: Agent) -> None:
    words = ["python/savings.py", "--trace", "python/savings.py:8", "week", "saved", "--if", "week in (1, 9)"]
    result = cli("debug", *words, cwd=agent.workspace, within_s=60)
    assert result.stdout.splitlines()[1:3] == ["1 | 1 | 0.2", "2 | 9 | 0.9999999999999999"], result
    assert result.returncode == 0
    data = json.loads(cli("debug", *words, "--json", cwd=agent.workspace, within_s=60).stdout)
    assert [row["values"] for row in data["rows"]] == [
        {"week": "1", "saved": "0.2"},
        {"week": "9", "saved": "0.9999999999999999"},
    ]
    assert data["ended"]["output"] == "weeks 20\n"


def test_a_shell_learns_of_a_program_that_fails_and_of_a_trace_that_cannot_be(cli: Cli, agent: Agent) -> None:
    (agent.workspace / "fails.py").write_text("n = 3\nassert n == 4, 'no'\n")
    failed = cli("debug", "fails.py", "--trace=fails.py:2", "n", cwd=agent.workspace, within_s=60)
    assert (failed.returncode, "exception: AssertionError: no" in failed.stdout) == (ExitCode.PROGRAM_FAILED, True)
    nothing = cli("debug", "fails.py", "--trace", "fails.py:2", "--json", cwd=agent.workspace)
    both = cli("debug", "fails.py", "--trace", "fails.py:2", "n", "--break", "fails.py:1", cwd=agent.workspace)
    assert "nothing_to_trace" in nothing.stdout
    assert nothing.returncode == both.returncode == ExitCode.FAILED
    assert "--break" in both.stderr


def test_there_are_bugs_of_every_kind_in_every_language_and_the_readme_has_each() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    assert {bug["kind"] for bug in BUGS} >= KINDS
    assert {Path(bug["program"]).suffix for bug in BUGS} == {".py", ".js", ".go", ".c"}
    assert [bug["program"] for bug in BUGS if f"`{bug['program']}`" not in readme] == []
    assert all((EXAMPLES / bug["program"]).is_file() for bug in BUGS)
