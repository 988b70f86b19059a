"""What a model reads: the text of the benchmark's 14 calls, and of one question about a failing test, in its budget."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.agent import PROGRAMS, Agent, agent_in
from bench.bench_debug import LONG_TEXT_BYTES, LONG_VALUES, TEXT_BYTES, scenario
from tests.daemons import Cli, cli_with_home

pytestmark = pytest.mark.timeout(120)

SHOP = """\
def rate(codes, found=[]):
    found.extend(0.1 for code in codes)
    return sum(found)


def total(price, codes=()):
    kept = price * (1 - rate(codes))
    return round(kept, 2)
"""
TEST = """\
import unittest

from shop import total


class TotalTest(unittest.TestCase):
    def test_the_second_order(self):
        total(40.0, ["welcome"])
        self.assertEqual(total(50.0), 50.0)
"""
COMMAND = {"command": "python -m unittest -q test_shop"}
QUESTIONS: dict[str, dict[str, Any]] = {
    "debug_test": COMMAND,
    "explain_failure": COMMAND,
    "trace_call": {**COMMAND, "function": "rate", "call": "failing"},
}
# Characters of one answer, as in the benchmark of what an answer is worth; and bytes of its message beside the text.
ANSWER = 1000
ENVELOPE_BYTES = 150
# Of the object, which has every field.
OBJECT = 2000


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


def answered(cli: Cli, workspace: Path, tool: str, *options: str) -> tuple[str, int, Any]:
    """The text, the bytes of the whole message, and the object."""
    environment = {**cli.variables(), "PATH": f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"}
    environment.pop("VIRTUAL_ENV", None)
    with agent_in(environment, workspace, *options) as agent:
        line = agent.line(agent.begin(tool, **QUESTIONS[tool]))
    result = json.loads(line)["result"]
    assert not result.get("isError"), result
    return "".join(it["text"] for it in result["content"]), len(line), result.get("structuredContent")


@pytest.mark.parametrize("tool", QUESTIONS)
def test_one_answer_about_a_failing_test_is_short_and_is_sent_once(cli: Cli, tmp_path: Path, tool: str) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "test_shop.py").write_text(TEST)
    text, whole, data = answered(cli, tmp_path, tool)
    assert "found = [0.1]" in text or tool == "debug_test", text
    assert len(text) <= ANSWER, text
    assert len(json.dumps(data, ensure_ascii=False, separators=(",", ":"))) <= OBJECT
    if tool == "trace_call":  # the others would take a second run each, to show the same
        alone, sent, nothing = answered(cli, tmp_path, tool, "--structured", "never")
        assert nothing is None
        assert sent <= len(json.dumps(alone, ensure_ascii=False).encode()) + ENVELOPE_BYTES < whole
