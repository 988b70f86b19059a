"""How long each test file took, as a full run recorded it: `python -m tests.durations` takes over the last run.

Long files begin first, since whoever begins a long file last keeps everybody waiting; and `make unit` leaves out what
takes long. Whole seconds, sorted by path: a new recording shows in its diff what changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from tests.run_report import FOLDER, RETRY, file_of, read_report

ROOT = Path(__file__).parent.parent
RECORD = Path(__file__).with_name("durations.json")
# A file of the fast folders that takes so long runs beside the daemons and debuggers, which leave the processor free.
SLOW_S = 10
# Nobody has measured it yet: neither among the first nor the last.
UNKNOWN_S = 5


def recorded() -> dict[str, int]:
    return dict(json.loads(RECORD.read_text()))


def longest_first(durations: Mapping[str, int]) -> Callable[[pytest.Item], int]:
    """For a stable sort: the tests of a file stay together, in their order."""
    return lambda item: -durations.get(file_of(item.nodeid), UNKNOWN_S)


def slow_files(durations: Mapping[str, int], folders: Collection[str]) -> list[str]:
    return sorted(
        file
        for file, seconds in durations.items()
        if seconds >= SLOW_S and any(file.startswith(f"{folder}/") for folder in folders) and (ROOT / file).exists()
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
