"""docs/reach.md: the results of the last run of `make test-reach`, and on what it ran."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.reach.machines import WAYS

PAGE = Path(__file__).parents[2] / "docs" / "reach.md"
HEAD = """\
# Other machines, tested

`make test-reach` tests `--on` at length: logins, environments, faults in the middle of calls, a full disk, clocks that
differ, and machines that are against us. Each run rewrites this page. `make test` runs a brief selection,
and `make bench` measures what a step costs ([performance](performance.md#on-another-machine)).
"""


class Report:
    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[str, float]]] = {}
        self.left_out = 0

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.left_out += len(items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.rows.setdefault(_title(report.nodeid), []).append((report.outcome, report.duration))

    def pytest_sessionfinish(self) -> None:
        if self.rows:
            PAGE.write_text(page(self.rows, self.left_out))


def page(rows: dict[str, list[tuple[str, float]]], left_out: int) -> str:
    every = [it for results in rows.values() for it in results]
    passed = sum(outcome == "passed" for outcome, _ in every)
    seconds = sum(took for _, took in every)
    day = datetime.now(UTC).date().isoformat()
    ways = [f"- {name}: {way}" for name, way in sorted(WAYS.items())]
    counted = f"Last run {day}: {passed} of {len(every)} passed, {seconds:.0f} s of tests, with {_ssh_version()}."
    counted += f" {left_out} other cases were left out of this run." if left_out else ""
    table = [_row(title, results) for title, results in sorted(rows.items())]
    head = ["", "| test | cases passed | seconds |", "| --- | --- | --- |"]
    return "\n".join([HEAD, counted, "", *ways, *head, *table, ""])


def _row(title: str, results: list[tuple[str, float]]) -> str:
    passed = sum(outcome == "passed" for outcome, _ in results)
    return f"| {title} | {passed} of {len(results)} | {sum(took for _, took in results):.1f} |"


def _title(name: str) -> str:
    """`test_faults.py::test_a_call_ends[die]` as words, without the case."""
    return name.rpartition("::")[2].removeprefix("test_").partition("[")[0].replace("_", " ")


def _ssh_version() -> str:
    return subprocess.run(["ssh", "-V"], capture_output=True, text=True, check=False).stderr.partition(",")[0]
