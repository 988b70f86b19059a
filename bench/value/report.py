"""The table of a run and its summary, beside the goals."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from bench.value.bugs import Bug
from bench.value.ways import BASELINE, Answer

GOAL_EXPOSED = 0.90
GOAL_MEDIAN = 1000
GOAL_MOST = 4000


@dataclass(frozen=True, slots=True)
class Row:
    """What one way answered about one bug."""

    bug: str
    language: str
    kind: str
    way: str
    outcome: str
    calls: int
    characters: int
    seconds: float
    exposed: bool
    added: int | None = None
    """Characters of the section that the way adds to the runner's text, if it does."""


@dataclass(frozen=True, slots=True)
class Summary:
    """`worse`: the baseline exposes the bug and this way does not. `dearer`: it exposes no more and is longer."""

    group: str
    way: str
    bugs: int
    exposed: int
    median: int
    most: int
    refused: int
    worse: int
    dearer: int
    added_median: int | None = None
    added_most: int | None = None

    @property
    def share(self) -> float:
        return self.exposed / self.bugs

    def misses(self) -> list[str]:
        """Of a way that adds to the runner's text, what it adds is judged."""
        median = self.median if self.added_median is None else self.added_median
        most = self.most if self.added_most is None else self.added_most
        checks = {
            f"exposed {self.share:.0%}, goal at least {GOAL_EXPOSED:.0%}": self.share < GOAL_EXPOSED,
            f"median {median:,} characters, goal at most {GOAL_MEDIAN:,}": median > GOAL_MEDIAN,
            f"most {most:,} characters, goal at most {GOAL_MOST:,}": most > GOAL_MOST,
            f"worse than the baseline {self.worse} times, goal never": self.worse > 0,
        }
        return [text for text, missed in checks.items() if missed]


def row_of(bug: Bug, way: str, answer: Answer, *, exposed: bool) -> Row:
    return Row(
        bug.name, bug.language, bug.kind, way, answer.outcome, answer.calls, len(answer.text),
        round(answer.seconds, 2), exposed, None if answer.added is None else len(answer.added),
    )  # fmt: skip


def summarize(rows: Sequence[Row], group: str = "all") -> list[Summary]:
    """One for each way that was asked anything; ways that are not there have none."""
    baseline = {it.bug: it for it in rows if it.way == BASELINE}
    ways = dict.fromkeys(it.way for it in rows if it.calls)
    return [_summary(group, way, [it for it in rows if it.way == way and it.calls], baseline) for way in ways]


def _summary(group: str, way: str, rows: Sequence[Row], baseline: dict[str, Row]) -> Summary:
    sizes = [it.characters for it in rows]
    added = [it.added for it in rows if it.added is not None]
    pairs = [(it, baseline[it.bug]) for it in rows if it.bug in baseline]
    return Summary(
        group=group,
        way=way,
        bugs=len(rows),
        exposed=sum(it.exposed for it in rows),
        median=round(statistics.median(sizes)),
        most=max(sizes),
        refused=sum(it.outcome == "refused" for it in rows),
        worse=sum(plain.exposed and not it.exposed for it, plain in pairs),
        dearer=sum(it.exposed <= plain.exposed and it.characters > plain.characters for it, plain in pairs),
        added_median=round(statistics.median(added)) if added else None,
        added_most=max(added, default=None),
    )


def by(rows: Sequence[Row], key: Callable[[Row], str]) -> list[Summary]:
    groups = dict.fromkeys(map(key, rows))
    return [one for group in groups for one in summarize([it for it in rows if key(it) == group], group)]


def table(rows: Sequence[Row], ways: Sequence[str]) -> str:
    """A line for each bug: characters and whether they expose it, for each way."""
    lines = ["| bug | kind | " + " | ".join(ways) + " |", "| --- | --- |" + " --- |" * len(ways)]
    cells = {(it.bug, it.way): _cell(it) for it in rows}
    for bug, kind in dict.fromkeys((it.bug, it.kind) for it in rows):
        lines.append(f"| {bug} | {kind} | " + " | ".join(cells[bug, way] for way in ways) + " |")
    return "\n".join(lines)


def _cell(row: Row) -> str:
    if not row.calls:
        return row.outcome
    shown = "exposed" if row.exposed else "refused" if row.outcome == "refused" else "not exposed"
    return f"{row.calls} call, {row.characters:,} chars, {shown}"


def published(rows: Sequence[Row]) -> str:
    """The table of docs/performance.md."""
    return summary_table([*summarize(rows), *by(rows, lambda it: it.language)])


def summary_table(summaries: Iterable[Summary]) -> str:
    head = "| | way | exposed | median characters | most | refused | worse | longer |"
    lines = [head, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {it.group} | {it.way} | {it.exposed} of {it.bugs} ({it.share:.0%}) | {_size(it.median, it.added_median)} "
        f"| {_size(it.most, it.added_most)} | {it.refused} | {it.worse} | {it.dearer} |"
        for it in summaries
    ]
    return "\n".join(lines)


def _size(whole: int, added: int | None) -> str:
    return f"{whole:,}" if added is None else f"{whole:,} (its section {added:,})"


def as_text(rows: Sequence[Row], bad: Sequence[str] = ()) -> str:
    """JSON with a line for each row; summaries are computed from it."""
    lines = ",\n".join(f"  {json.dumps(asdict(it))}" for it in rows)
    return f'{{\n "rows": [\n{lines}\n ],\n "bad": {json.dumps(list(bad))}\n}}\n'


def rows_of(text: str) -> list[Row]:
    return [Row(**it) for it in json.loads(text)["rows"]]
