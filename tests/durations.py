"""How long each test file took, as a full run recorded it: `python -m tests.durations` takes over the last run.

Long files begin first, because a long file that begins last delays the whole run, and `make unit` leaves out what
takes long. A file that no run has recorded yet is estimated from its neighbours. Whole seconds, sorted by path: a new
recording shows in its diff what changed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.run_report import FOLDER, RETRY, file_of, read_report

ROOT = Path(__file__).parent.parent
RECORD = Path(__file__).with_name("durations.json")
# A file of the fast folders that takes so long runs beside the daemons and debuggers, which leave the processor free.
SLOW_S = 10
# What a file takes that has neither a record nor a recorded neighbour: neither among the first nor the last.
UNKNOWN_S = 5
# Estimates are rough. With more of them than this, it is time for `make durations`.
MOST_UNRECORDED = 30
_TEST = re.compile(r"^\s*(?:async )?def test_", re.MULTILINE)


def recorded() -> dict[str, int]:
    return dict(json.loads(RECORD.read_text()))


def unrecorded(durations: Mapping[str, int], without: Collection[str] = ()) -> list[str]:
    """The test files that no run has recorded, without those of some folders."""
    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
    return [file for file in files if file not in durations and not _in_any(file, without)]


def with_estimates(durations: Mapping[str, int]) -> dict[str, int]:
    return {**durations, **{file: estimated(file, durations) for file in unrecorded(durations)}}


def estimated(file: str, durations: Mapping[str, int]) -> int:
    """As long per test as the recorded files of the nearest folder that has any."""
    for folder in Path(file).parents:
        near = {it: seconds for it, seconds in durations.items() if it.startswith(f"{folder}/")}
        if tests := sum(map(_count_tests, near)):
            return round(_count_tests(file) * sum(near.values()) / tests)
    return UNKNOWN_S


@cache
def _count_tests(file: str) -> int:
    path = ROOT / file
    return len(_TEST.findall(path.read_text())) if path.exists() else 0


def _in_any(file: str, places: Collection[str]) -> bool:
    return any(file == place or file.startswith(f"{place}/") for place in places)


def longest_first(durations: Mapping[str, int]) -> Callable[[pytest.Item], int]:
    """For a stable sort: the tests of a file stay together, in their order."""
    return lambda item: -durations.get(file_of(item.nodeid), UNKNOWN_S)


def slow_files(durations: Mapping[str, int], folders: Collection[str]) -> list[str]:
    return sorted(
        file
        for file, seconds in durations.items()
        if seconds >= SLOW_S and _in_any(file, folders) and (ROOT / file).exists()
    )


def merged(before: Mapping[str, int], measured: Mapping[str, float]) -> dict[str, int]:
    """What was not measured this time keeps its last value; files that are gone are dropped."""
    after = {**before, **{file: round(seconds) for file, seconds in measured.items()}}
    return {file: seconds for file, seconds in sorted(after.items()) if (ROOT / file).is_file()}


def main() -> int:
    # What was run once more, alone, says little about how long the whole file takes.
    reports = [read_report(path) for path in sorted(FOLDER.glob("*.json")) if path.stem != RETRY]
    measured = {file: seconds for report in reports if report is not None for file, seconds in report.files.items()}
    if not measured:
        print("There is no run to take over. Run `make test` first.")
        return 1
    after = merged(recorded(), measured)
    RECORD.write_text(json.dumps(after, indent=1) + "\n")
    print(f"{len(measured)} files measured, {sum(measured.values()) / 60:.0f} minutes in all; {len(after)} recorded.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
