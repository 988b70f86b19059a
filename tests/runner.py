"""The tests of `make test`, part by part: `python -m tests.runner [--strict] unit whole editor`.

Some parts run beside each other; the output of one is shown as it comes, that of the others when it is over. What
failed is run once more, alone, after everything else; then one summary over all parts is the last that is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.durations import ROOT, recorded, slow_files, unrecorded, with_estimates
from tests.peers import on_ci
from tests.run_report import FOLDER, RETRY, RunReport, read_report
from tests.verdict import Verdict, judge, read_list, worth_retrying

# The folders are those of src/dragoman; what needs daemons, debuggers or a browser is in WHOLE.
UNIT = ("tests/access", "tests/canvas", "tests/chat", "tests/clients", "tests/core", "tests/debug", "tests/editors",
        "tests/io", "tests/journal", "tests/models", "tests/protocols", "tests/shell", "tests/terminal", "tests/tools",
        "tests/workspace", "tests/bench", "tests/fuzz",
        *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "tests").glob("test_*.py")))  # fmt: skip
WHOLE = ("tests/e2e", "tests/conformance", "tests/page", "tests/servers", "tests/cli", "tests/lua")
EDITOR = ("tests/vscode",)
# With a command each: `make test-openclaw`, `make test-programs`, `make test-reach`.
APART = ("tests/openclaw", "tests/programs", "tests/reach")

# Workers for two cores: tests of daemons wait for more than half of their time. Where they share the cores, deadlines
# are multiplied by their number. What only computes keeps its deadlines. A slow file of UNIT runs in `whole` and not
# elsewhere (tests/durations.json), so its deadlines are the same in every run.
_WORKERS = 3
_PATIENCE = 2
_PASSED, _FAILED = 0, 1
_ENDS_WITHIN_S = 20


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    arguments: tuple[str, ...]
    patience: int = _PATIENCE

    @property
    def report_file(self) -> Path:
        return FOLDER / f"{self.name}.json"

    @property
    def log_file(self) -> Path:
        return FOLDER / f"{self.name}.log"

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "pytest", "--report-to", str(self.report_file), *self.arguments]


@dataclass(frozen=True, slots=True)
class PartResult:
    name: str
    status: int
    seconds: float
    report: RunReport | None

    def faults(self, *, strict: bool = False) -> Iterator[str]:
        """What makes a run fail although every failed test may pass alone."""
        if self.report is None or self.status not in (_PASSED, _FAILED):
            yield f"{self.name}: pytest ended with status {self.status}, before it was done"
            return
        if self.report.over < self.report.collected:
            yield f"{self.name}: only {self.report.over} of {self.report.collected} tests ran"
        missing = self.report.skipped if strict or on_ci() else []
        if missing:
            yield f"{self.name}: {len(missing)} tests did not run, and CI and STRICT=1 need them all"
        if self.status == _FAILED and not (missing or self.report.failed):
            yield f"{self.name}: pytest failed without a failed test"


def unit() -> Part:
    """Computes more than it waits: single tests go to whoever is free."""
    ignored = [f"--ignore={file}" for file in slow_files(with_estimates(recorded()), UNIT)]
    return Part("unit", ("-n", str(_WORKERS), *UNIT, *ignored), patience=1)


def whole(workers: int) -> Part:
    """Waits for processes and disks. Each file stays with one worker, so its daemon is started once."""
    order = ("--dist", "loadfile", "--no-loadscope-reorder")
    return Part("whole", ("-n", str(workers), *order, *WHOLE, *slow_files(with_estimates(recorded()), UNIT)), workers)


def editor() -> Part:
    """One editor for all its tests, one after another by name: what a first window does comes before the rest."""
    return Part("editor", EDITOR)


def stages(chosen: Sequence[str]) -> list[list[Part]]:
    """The parts of a stage run at once. On two cores each part has them alone: an editor beside daemons that measure
    their own lag made both unsteady."""
    parts = {"unit": unit, "whole": lambda: whole(_WORKERS), "editor": editor}
    return [[make()] for name, make in parts.items() if name in chosen]


def run_stage(parts: Sequence[Part]) -> list[PartResult]:
    """The first part speaks as it goes; each other part is shown whole once the ones before it are over."""
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(_running(part, shown=part is parts[0])) for part in parts]
        if len(parts) > 1:
            print(f"beside it, shown when it is over: {', '.join(part.name for part in parts[1:])}", flush=True)
        return [it.finish() for it in running]


class _Run:
    def __init__(self, part: Part, process: subprocess.Popen[bytes], *, shown: bool) -> None:
        self._part = part
        self._process = process
        self._shown = shown
        self._began = time.monotonic()

    def finish(self) -> PartResult:
        status = self._process.wait()
        # How long it took, also where the others took longer: its report is the last that it writes.
        ended = self._part.report_file.stat().st_mtime if self._part.report_file.exists() else time.time()
        seconds = max(0.0, time.monotonic() - self._began - (time.time() - ended))
        if not self._shown:
            _heading(self._part.name)
            sys.stdout.write(self._part.log_file.read_text(errors="replace"))
            sys.stdout.flush()
        return PartResult(self._part.name, status, seconds, read_report(self._part.report_file))


@contextlib.contextmanager
def _running(part: Part, *, shown: bool) -> Iterator[_Run]:
    FOLDER.mkdir(exist_ok=True)
    part.report_file.unlink(missing_ok=True)
    if shown:
        _heading(part.name)
    environment = {"TEST_PATIENCE": str(part.patience), **os.environ}
    with contextlib.ExitStack() as stack:
        log = None if shown else stack.enter_context(part.log_file.open("wb"))
        process = subprocess.Popen(part.command, env=environment, stdout=log, stderr=log)
        try:
            yield _Run(part, process, shown=shown)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(_ENDS_WITHIN_S)


def run_again(results: Sequence[PartResult]) -> set[str]:
    """Which of the failed tests did not pass alone either."""
    failed = _all_failed(results)
    if not worth_retrying(failed):
        return set(failed)
    print(f"\n{len(failed)} failed beside others; once more, alone:", *failed, sep="\n  ", flush=True)
    [again] = run_stage([Part(RETRY, tuple(failed))])
    if again.report is None or again.status not in (_PASSED, _FAILED):
        return set(failed)
    if again.status == _FAILED and not (again.report.failed or again.report.skipped):
        return set(failed)
    return {*again.report.failed, *again.report.skipped}


def _all_failed(results: Sequence[PartResult]) -> dict[str, bool]:
    return {name: stalled for it in results if it.report for name, stalled in it.report.failed.items()}


def _heading(name: str) -> None:
    print(f"\n==== {name} ====", flush=True)


def _times(results: Sequence[PartResult], total_s: float) -> Iterator[str]:
    for it in results:
        tests = len(it.report.files) if it.report else 0
        yield f"{it.name}: {_clock(it.seconds)}, {tests} files"
    yield f"all: {_clock(total_s)}"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def run(chosen: Sequence[str], *, strict: bool) -> Verdict:
    listed = read_list()
    began = time.monotonic()
    results = [result for stage in stages(chosen) for result in run_stage(stage)]
    again = run_again(results)
    faults = [fault for result in results for fault in result.faults(strict=strict)]
    verdict = judge(_all_failed(results), again, listed, faults=faults, strict=strict)
    _heading("summary")
    not_run = sum(len(it.report.skipped) for it in results if it.report)
    lines = [*_times(results, time.monotonic() - began), *([f"{not_run} tests not run"] if not_run else [])]
    if estimated := unrecorded(recorded(), without=APART):
        lines.append(
            f"{len(estimated)} files ran in an order that is estimated; `make durations` records how long they took"
        )
    print(*lines, *verdict.lines(datetime.now(UTC).date()), sep="\n", flush=True)
    return verdict


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.runner", description="Run the tests of `make test`.")
    parser.add_argument("--strict", action="store_true", help="what passes only at a second attempt fails the run")
    parser.add_argument("parts", nargs="+", choices=["unit", "whole", "editor"])
    chosen = parser.parse_args(arguments)
    return 0 if run(chosen.parts, strict=chosen.strict).passed else 1


if __name__ == "__main__":
    sys.exit(main())
