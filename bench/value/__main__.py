"""Measure what one answer of a debugging tool is worth: `python -m bench.value [--bugs DIR] [--only NAME …]`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.value.bugs import FOLDER, BadBugError, Bug, complaints, copy_to, load_all
from bench.value.judge import exposes
from bench.value.report import Row, as_text, by, published, row_of, summarize, summary_table, table
from bench.value.ways import BASELINE, MEASURED, WAYS, Product, product, run_test


def main() -> int:
    wanted = _arguments()
    # Ended by `timeout`, it ends its daemon too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    ways = [BASELINE, *(it for it in wanted.tools if it != BASELINE)]
    rows: list[Row] = []
    bad: list[str] = []
    with product(ways) as (asked, workspace):
        for bug in load_all(wanted.bugs, wanted.only):
            try:
                rows += measure(asked, bug, ways, workspace, wanted.answers)
            except BadBugError as error:
                bad.append(f"{bug.name}: {error}")
                print(f"{bug.name}: cannot be judged: {error}", file=sys.stderr, flush=True)
            if wanted.json:  # after each bug: a run takes half an hour
                wanted.json.write_text(as_text(rows, bad))
    if rows:
        print_report(rows, ways)
    for it in bad:
        print(f"not judged: {it}")
    return 1 if bad else 0


def measure(asked: Product, bug: Bug, ways: Sequence[str], workspace: Path, answers: Path | None) -> list[Row]:
    """Ask each way about one bug, after the proof that its test fails, and passes with the fix."""
    if wrong := list(complaints(bug)):
        raise BadBugError("; ".join(wrong))
    place = copy_to(bug, workspace)
    fixed = copy_to(bug, workspace.parent / "fixed", fixed=True)
    if run_test(bug, fixed, asked.environment).failed:
        raise BadBugError("its test fails with the fix")
    rows = []
    for way in ways:
        answer = asked.ask(way, bug, place)
        if answer.failed is False:
            raise BadBugError(f"its test passes ({way})")
        rows.append(row_of(bug, way, answer, exposed=exposes(bug.conditions, answer.text)))
        if answers and answer.calls:
            answers.mkdir(parents=True, exist_ok=True)
            (answers / f"{bug.name}.{way.replace(' ', '')}.txt").write_text(answer.text)
    print(
        f"{bug.name}: " + ", ".join(f"{it.way} {it.outcome} {it.exposed}" for it in rows), file=sys.stderr, flush=True
    )
    return rows


def print_report(rows: Sequence[Row], ways: Sequence[str]) -> None:
    print(table(rows, ways), end="\n\n")
    print(published(rows), end="\n\n")
    print(summary_table(by(rows, lambda it: it.kind)), end="\n\n")
    there = {it.way for it in rows if it.outcome != "not available"}
    for way in ways:
        if way not in there:
            print(f"{way}: not available in the installed product")
    for one in summarize(rows):
        if one.way != BASELINE:
            print(f"{one.way}: " + ("; ".join(one.misses()) or "all goals met"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.value", description=__doc__)
    parser.add_argument("--bugs", type=Path, default=FOLDER, help="A folder of bugs.")
    parser.add_argument("--only", nargs="*", default=[], help="Parts of the names of the bugs.")
    parser.add_argument("--tools", nargs="*", default=list(MEASURED), choices=WAYS, help="Ways to ask.")
    parser.add_argument("--json", type=Path, help="Write the result to this file.")
    parser.add_argument("--answers", type=Path, help="Write each answer to a file in this folder.")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
