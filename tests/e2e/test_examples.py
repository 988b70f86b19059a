"""Every example goes wrong as its README says, and is caught where it says: by the command line, in each language."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemons import Cli, cli_with_home
from tests.peers import INSTALLED, give_adapters

pytestmark = pytest.mark.timeout(120)

EXAMPLES = Path(__file__).parents[2] / "examples"

# configuration, place, condition, what to look at there, what gives it away; and what must be here to run it
CASES = [
    pytest.param("orders", "orders.py:21", "not codes", "rate", "0.1", id="orders"),
    pytest.param("sales", "sales.py:10", "", "lines[-1]", "'alan,30'", id="sales"),
    pytest.param("counter", "counter.py:16", "seen != self.value", "seen < self.value", "True", id="counter"),
    pytest.param("waiting", "waiting.py:20", "status['done'] == '3'", "EXPECTED", "3", id="waiting"),
    pytest.param(
        "stock (JavaScript)", "javascript/stock.js:15", "", "String(found)", "10,NaN,2",
        marks=pytest.mark.needs("javascript"), id="stock",
    ),
    pytest.param("jobs (Go)", "go/jobs.go:8", "", "cap(first)", "4", marks=pytest.mark.needs("go"), id="jobs"),
    pytest.param(
        "drops (C)", "c/drops.c:8", "i == 2", "readings[i] - readings[i - 1]", "4294967293",
        marks=pytest.mark.needs("lldb", "c"), id="drops",
    ),
    pytest.param(
        "intervals (Rust)", "rust/intervals.rs:7", "", "to", "11",
        marks=pytest.mark.needs("lldb", "rust"), id="intervals",
    ),
    pytest.param(
        "groups (Ruby)", "ruby/groups.rb:7", "", "groups.default", '["apple", "avocado", "banana"]',
        marks=pytest.mark.needs("ruby"), id="groups",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    home = tmp_path_factory.mktemp("h")
    if INSTALLED.exists():
        give_adapters(home)
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    with cli_with_home(home, {"DRAGOMAN_PORT": "0", "PATH": path, "VIRTUAL_ENV": ""}) as cli:
        yield cli


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy: some are built there."""
    return Path(shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("e") / "examples"))


@pytest.mark.parametrize(("configuration", "place", "condition", "expression", "value"), CASES)
def test_it_is_caught_where_the_readme_says(
    cli: Cli, examples: Path, configuration: str, place: str, condition: str, expression: str, value: str
) -> None:
    words = ["--config", configuration, "--break", place, *(["--if", condition] if condition else [])]
    stopped = cli("debug", *words, "--json", cwd=examples, within_s=90)
    data = json.loads(stopped.stdout)
    assert data["status"] == "stopped", stopped.stdout
    file, _, line = place.rpartition(":")
    assert (data["stop_event_data"]["source"]["path"], data["stop_event_data"]["line"]) == (
        str(examples / file),
        int(line),
    )
    seen = json.loads(cli("debug", "eval", "--json", expression, cwd=examples).stdout)
    assert value in seen["result"], seen
    assert cli("debug", "stop", "--session", data["session_id"], cwd=examples).returncode == 0


def test_each_is_in_the_readme_with_its_configuration() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    for case in CASES:
        configuration, place, condition, *_ = map(str, case.values)
        assert configuration in readme
        assert f"`{place.rpartition(':')[0]}`" in readme
        assert condition in readme or "status" in condition
