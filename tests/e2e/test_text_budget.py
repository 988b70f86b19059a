"""What a model reads of a debug session: the text of the benchmark's 14 calls stays within its budget."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.agent import PROGRAMS, Agent, agent_in
from bench.bench_debug import LONG_TEXT_BYTES, LONG_VALUES, TEXT_BYTES, scenario
from tests.daemons import Cli, cli_with_home

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        yield cli


@pytest.fixture
def agent(cli: Cli, tmp_path: Path) -> Iterator[Agent]:
    """Its Python is the one behind ours, which is never used for a program."""
    workspace = Path(shutil.copytree(PROGRAMS, tmp_path / "project"))
    environment = {**cli.variables(), "PATH": f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"}
    environment.pop("VIRTUAL_ENV", None)
    with agent_in(environment, workspace) as agent:
        yield agent


@pytest.mark.parametrize(("program", "budget"), [("orders.py", TEXT_BYTES), (LONG_VALUES, LONG_TEXT_BYTES)])
def test_the_text_of_fourteen_calls_stays_within_its_budget(agent: Agent, program: str, budget: int) -> None:
    scenario(agent, program)
    assert agent.calls == 14
    assert agent.text_bytes <= budget
