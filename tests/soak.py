"""The long versions of what `make test` does briefly: `python -m tests.soak [--minutes N] [--seed N] [--only WORDS]`.

Each part has a count to reach and a share of the time that bounds it; `--minutes` scales both. The result is printed
and written to docs/soak.md, which keeps the last result of each part that this run left out.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tests.daemons import Cli, cli_with_home, eventually
from tests.e2e.debug_kills import DebugKills
from tests.e2e.life.drops import connects_and_drops, open_files
from tests.e2e.life.process_watch import require_success
from tests.e2e.life.rounds import Kills, races_of_starts
from tests.e2e.terminal_kills.daemon_rounds import DaemonKills
from tests.e2e.terminal_kills.quick_daemon import quick_daemon
from tests.e2e.terminal_kills.shell_rounds import ShellKills
from tests.fuzz import driver
from tests.hostile import hostile_home
from tests.journal import kill_rounds
from tests.sizes import SOAK, VARIABLE

ROOT = Path(__file__).parent.parent
REPORT = ROOT / "docs" / "soak.md"
FULL_MINUTES = 45.0
_INPUTS_A_STEP = 500
_SPARE_FILES = 8
_KILLS_A_RECORD = 25
_SHOWN = 2000
_HEAD = "| test | count | goal | seconds | run | result |\n| --- | ---: | ---: | ---: | --- | --- |\n"

Steps = Iterator[int]
"""Does the work piece by piece, and yields the count of each piece."""


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    goal: int
    share: float
    steps: Callable[[int, int], Steps]
    """Given the count to reach and the seed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    count: int
    goal: int
    seconds: float
    failure: str = ""
    run: str = ""
    """When, for how long and with which seed."""

    @property
    def row(self) -> str:
        result = " ".join(self.result.split())[:300].replace("|", "\\|")
        return f"| {self.name} | {self.count:,} | {self.goal:,} | {self.seconds:.0f} | {self.run} | {result} |"

    @property
    def result(self) -> str:
        if self.failure:
            return f"FAILED: {self.failure}"
        return "passed" if self.count >= self.goal else "passed; its time was up before the goal"


@contextmanager
def own_home() -> Iterator[Cli]:
    with (
        tempfile.TemporaryDirectory(prefix="soak") as folder,
        cli_with_home(Path(folder) / "h", {"DRAGOMAN_PORT": "0"}) as cli,
    ):
        yield cli


def fuzzing(goal: int, seed: int) -> Steps:
    harnesses = [driver.load(name) for name in driver.harness_names()]
    for number in range(-(-goal // (_INPUTS_A_STEP * len(harnesses)))):
        for harness in harnesses:
            yield driver.run(harness, seed + number, rounds=_INPUTS_A_STEP)


def start_races(goal: int, seed: int) -> Steps:
    with own_home() as cli:
        for _ in races_of_starts(cli, goal, starters=2, seed=seed):
            yield 1


def journal_kills(goal: int, seed: int) -> Steps:
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        for _ in kill_rounds.rounds(Path(folder) / "j", goal, seed):
            yield 1


def daemon_kills(goal: int, seed: int) -> Steps:
    with own_home() as cli:
        kills = Kills(cli, seed)
        kills.require_usable()
        for _ in kills.rounds(goal):
            yield 1


def debug_kills(goal: int, seed: int) -> Steps:
    with tempfile.TemporaryDirectory(prefix="soak") as folder, hostile_home(Path(folder)) as cli:
        for _ in DebugKills(cli, Path(folder) / "project", seed).rounds(goal):
            yield 1


def record_kills(goal: int, seed: int) -> Steps:
    """The whole record is compared at the end of a batch, with a home of its own each."""
    for number in range(-(-goal // _KILLS_A_RECORD)):
        with tempfile.TemporaryDirectory(prefix="soak") as folder, quick_daemon(Path(folder) / "h") as daemon:
            for _ in DaemonKills(daemon, seed + number).rounds(_KILLS_A_RECORD):
                yield 1


def shell_kills(goal: int, seed: int) -> Steps:
    for number in range(-(-goal // _KILLS_A_RECORD)):
        with tempfile.TemporaryDirectory(prefix="soak") as folder, quick_daemon(Path(folder) / "h") as daemon:
            for _ in ShellKills(daemon, seed + number).rounds(_KILLS_A_RECORD):
                yield 1


def drops(goal: int, seed: int) -> Steps:
    with own_home() as cli:
        require_success(cli("up"))
        before = open_files(cli)
        for _ in connects_and_drops(cli, goal, seed=seed):
            yield 1
        eventually(lambda: open_files(cli) <= before + _SPARE_FILES, within_s=15)
        assert cli.status()["state"] == "running"


def full_test(name: str, *, counts: int = 1) -> Callable[[int, int], Steps]:
    """A test of `make test`, again and again, with the larger size that it has in a soak (tests/sizes.py)."""

    def steps(goal: int, _seed: int) -> Steps:
        for _ in range(-(-goal // counts)):
            command = [sys.executable, "-m", "pytest", "--no-header", "--tb=short", name]
            ran = subprocess.run(
                command, cwd=ROOT, env={**os.environ, VARIABLE: SOAK}, capture_output=True, text=True, check=False
            )
            assert ran.returncode == 0, ran.stdout[-_SHOWN:] + ran.stderr[-_SHOWN:]
            yield counts

    return steps


_FORKS = "tests/conformance/test_hostile_programs.py::test_forked_processes_end_with_the_session[bomb-200]"
_EIGHT = "tests/servers/mcp/test_debugging.py::test_a_whole_debug_session_over_every_transport_at_once"
_CROSSED = (
    "tests/servers/mcp/test_daemon_restarts.py::test_a_debug_session_ends_with_its_daemon_and_the_agent_learns_it"
)
_RACES = "tests/e2e/life/test_races.py"
_BOMB = "tests/servers/web/test_mcp_http_hostile.py::test_a_compressed_body_is_not_opened"

PARTS = (
    Part("malformed input to every protocol", 4_000_000, 0.24, fuzzing),
    Part("two daemons started at the same time", 1_000, 0.21, start_races),
    Part("process killed while it writes the journal", 500, 0.10, journal_kills),
    Part("daemon killed at random moments", 150, 0.10, daemon_kills),
    Part("processes of a debug session killed or suspended", 90, 0.17, debug_kills),
    Part("daemon killed or suspended while it records terminals", 250, 0.10, record_kills),
    Part("daemon, shell wrapper or shell killed", 250, 0.14, shell_kills),
    Part("clients that connect and disconnect", 10_000, 0.04, drops),
    Part("processes forked by a debugged program", 2_000, 0.06, full_test(_FORKS, counts=200)),
    Part("starts at once, against each other, other commands and kills", 4, 0.04, full_test(_RACES)),
    Part("eight agents at the same time", 10, 0.06, full_test(_EIGHT)),
    Part("daemon killed and restarted during MCP sessions, old and new protocol", 4, 0.04, full_test(_CROSSED)),
    Part("compressed request bodies of 200 MB", 4, 0.02, full_test(_BOMB)),
)


def run(part: Part, minutes: float, seed: int) -> Outcome:
    goal = max(1, round(part.goal * minutes / FULL_MINUTES))
    began, count = time.monotonic(), 0
    deadline = began + part.share * minutes * 60
    try:
        for done in part.steps(goal, seed):
            count += done
            if time.monotonic() > deadline:
                break
    except Exception as error:  # noqa: BLE001  whatever it is, the other parts still run
        return Outcome(part.name, count, goal, time.monotonic() - began, f"{type(error).__name__}: {error}")
    return Outcome(part.name, count, goal, time.monotonic() - began)


def report(outcomes: list[Outcome], before: str) -> str:
    """One row per part: the new one, or else the last one."""
    rows = {line.split("|")[1].strip(): line for line in before.splitlines() if line.startswith("| ")}
    rows |= {outcome.name: outcome.row for outcome in outcomes}
    kept = "".join(f"{rows[part.name]}\n" for part in PARTS if part.name in rows)
    return (
        "# Soak tests\n\n"
        "`make soak` (`python -m tests.soak`) runs the long versions of these tests and writes this page.\n\n"
        f"{_HEAD}{kept}\n"
        "Repeat one test with `python -m tests.soak --minutes N --seed N --only 'part of its name'`.\n"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Run the long tests.")
    parser.add_argument("--minutes", type=float, default=FULL_MINUTES)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--only", default="", help="the tests whose names contain this text")
    parser.add_argument("--report", type=Path, default=REPORT)
    chosen = parser.parse_args(arguments)
    print(f"seed {chosen.seed}", flush=True)
    run_text = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {chosen.minutes:g} min, seed {chosen.seed}"
    outcomes = list[Outcome]()
    for part in [it for it in PARTS if chosen.only in it.name]:
        outcomes.append(replace(run(part, chosen.minutes, chosen.seed), run=run_text))
        print(outcomes[-1].row, flush=True)
    chosen.report.write_text(report(outcomes, chosen.report.read_text() if chosen.report.exists() else ""))
    return 1 if any(outcome.failure for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
