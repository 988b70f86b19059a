"""What one pytest run leaves behind for the runner: failures, tests that did not run, and the seconds of each file."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.stalls import StallWatch

# One file for each part of the last run; not under version control.
FOLDER = Path(__file__).parent.parent / ".runs"
RETRY = "again"


@dataclass(frozen=True, slots=True)
class RunReport:
    failed: dict[str, bool] = field(default_factory=dict)
    """Each failed test, and whether the machine stood still while it ran."""
    skipped: list[str] = field(default_factory=list)
    files: dict[str, float] = field(default_factory=dict)
    collected: int = 0
    over: int = 0
    """How many of those that were collected ran to their end, or with their worker to its end."""

    def write(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1))


def read_report(path: Path) -> RunReport | None:
    """None where the run ended before it could write one."""
    try:
        return RunReport(**json.loads(path.read_text()))
    except (OSError, ValueError):
        return None


class RunRecorder:
    """Collects what the reports of one run say; lives in the process that reports, not in the workers."""

    def __init__(self) -> None:
        self.watch = StallWatch()
        self._seconds = defaultdict[str, float](float)
        self._over = set[str]()

    def add(self, nodeid: str, seconds: float, *, is_over: bool) -> None:
        """The seconds of one phase of a test: what a file's own fixtures take is part of the first test's setup."""
        self._seconds[file_of(nodeid)] += seconds
        if is_over:
            self._over.add(nodeid)

    def report(self, failed: Iterable[Any], skipped: Iterable[Any], collected: int = 0) -> RunReport:
        """Failures in the order in which they happened; one outside every pause makes its test an undisturbed one."""
        disturbed = dict[str, bool]()
        for it in failed:
            # A file that could not even be collected has no times.
            excused = hasattr(it, "start") and self.watch.disturbed(it.start, it.stop)
            disturbed[it.nodeid] = excused and disturbed.get(it.nodeid, True)
        seconds = {file: round(took, 1) for file, took in sorted(self._seconds.items())}
        return RunReport(disturbed, [it.nodeid for it in skipped], seconds, collected, len(self._over))


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]
