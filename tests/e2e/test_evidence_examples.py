"""A scripted agent finds each bug of the examples by the tools for evidence, through MCP, within a stated budget."""

from __future__ import annotations

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


def test_there_are_bugs_of_every_kind_in_every_language_and_the_readme_has_each() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    assert {bug["kind"] for bug in BUGS} >= KINDS
    assert {Path(bug["program"]).suffix for bug in BUGS} == {".py", ".js", ".go", ".c"}
    assert [bug["program"] for bug in BUGS if f"`{bug['program']}`" not in readme] == []
    assert all((EXAMPLES / bug["program"]).is_file() for bug in BUGS)
