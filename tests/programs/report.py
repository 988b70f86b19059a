"""docs/programs.md: the results of the last run of `make test-programs`, with versions and durations."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.programs.agent import PLACE

PAGE = Path(__file__).parents[2] / "docs" / "programs.md"
HEAD = """\
# Real programs

`make test-programs` debugs these projects (`tests/programs/projects`) the way an agent does: with a real daemon, over
MCP, and with nothing else. Their own lock files say what is installed, into `.peers/programs`. Every test also checks
that no process is left. `pytest --why` runs there too, also with pytest 7. Each run rewrites this page.
"""
PACKAGES = {
    "python": ("flask", "django", "fastapi", "uvicorn", "gunicorn", "celery", "pytest"),
    "pytest7": ("pytest",),
    "inflection": ("inflection",),
}
COMMANDS = {
    "Python": "python3 --version",
    "Node": "node --version",
    "Go": "go version",
    "Rust": "cargo --version",
    "Ruby": "ruby --version",
    "GCC": "g++ -dumpfullversion",
    "CMake": "cmake --version",
}
_NUMBER = re.compile(r"\d+(?:\.\d+)+")


class Report:
    def __init__(self) -> None:
        self.rows: list[tuple[str, str, float]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.rows.append((report.nodeid, report.outcome, report.duration))

    def pytest_sessionfinish(self) -> None:
        if self.rows:
            PAGE.write_text(page(sorted(self.rows)))


def page(rows: list[tuple[str, str, float]]) -> str:
    passed = sum(outcome == "passed" for _, outcome, _ in rows)
    seconds = sum(it for *_, it in rows)
    day = datetime.now(UTC).date().isoformat()
    counted = f"Last run {day}: {passed} of {len(rows)} passed, {seconds:.0f} s of tests."
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    table = [f"| {_title(name)} | {outcome} | {took:.1f} |" for name, outcome, took in rows]
    lines = [HEAD, counted, f"Versions: {used}.", "", "| test | result | seconds |", "| --- | --- | --- |", *table, ""]
    return "\n".join(lines)


def _title(name: str) -> str:
    """`test_web_servers.py::test_a_request_stops[flask]` as words."""
    function, _, case = name.rpartition("::")[2].removeprefix("test_").partition("[")
    return function.replace("_", " ") + (f": {case.removesuffix(']')}" if case else "")


def versions() -> dict[str, str]:
    package = json.loads((PLACE / "javascript" / "package.json").read_text())
    found: dict[str, str] = {}
    for project, names in PACKAGES.items():
        locked = (PLACE / project / "requirements.txt").read_text()
        for name in names:
            if match := re.search(rf"(?m)^{name}==(\S+)", locked):
                found[name] = f"{found[name]} and {match[1]}" if name in found else match[1]
    return {**found, **package["devDependencies"], **{name: _version(it) for name, it in COMMANDS.items()}}


def _version(command: str) -> str:
    printed = subprocess.run(command.split(), capture_output=True, text=True, check=False).stdout
    found = _NUMBER.search(printed)
    return found[0] if found else "?"
