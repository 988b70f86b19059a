"""Which of the recorded calls an explanation shows, and how long each may be.

A function that calls others which are shown too is shown by its calls and values alone: its source would say how they
fit together, but not which of them is wrong. One that calls none is shown with its source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from dragoman.debug.evidence.calls.call_text import KNOWN, Translate, call_lines
from dragoman.debug.evidence.stepping.source_languages import language_of_file

_ONLY = 900
_COMPUTING = 640
_PASSING_ON = 420
_GOAL = 985
"""Of the whole answer, in characters."""
_LEAST_TOTAL = 750
_RESULT = 40
_ALIKE = 2
_LEAST = 200
_RESERVE = 220
_RESERVED = 2
_CONSTRUCTORS = ("__init__", ".constructor", ".initialize")

Record = dict[str, Any]


def choose_calls(
    records: Iterable[Record], translate: Translate, shown_above: Sequence[str]
) -> list[tuple[Record, list[str]]]:
    """Each with its lines: the functions behind the failure, each followed by what it called.

    `shown_above`: the lines above. Who has read much gets less of the calls, and no long error a second time.
    """
    ordered = ordered_calls(records)
    limit = max(_LEAST_TOTAL, _GOAL - sum(len(it) + 1 for it in shown_above))
    known = {it[:KNOWN] for line in shown_above for it in (line, line.partition(": ")[2])}
    if len(ordered) == 1:
        return [(ordered[0], call_lines(ordered[0], translate, max(_ONLY, limit), known=known))]
    fitting = _fitting(ordered, ordered, translate, limit, known)
    shown = [record for record, _ in fitting]
    # Of a call for which there was no room, its caller has to show the arguments.
    return fitting if len(shown) == len(ordered) else _fitting(shown, ordered, translate, limit, known)


def _fitting(
    records: Sequence[Record], ordered: Sequence[Record], translate: Translate, limit: int, read_before: Iterable[str]
) -> list[tuple[Record, list[str]]]:
    """As many as there is room for. `ordered`: all that could be shown."""
    once = {it["function"]: it.get("calls", 1) == 1 for it in records}
    names = {it["function"] for it in ordered}
    known = set(read_before)
    found: list[_Shown] = []
    left = limit
    for at, record in enumerate(records):
        passes_on = any(name != record["function"] and name in names for name in _called(record))
        most = _PASSING_ON if passes_on else _COMPUTING
        # What a call was given stands in its caller; what went wrong mostly stands in the innermost one.
        reserved = _RESERVE * min(len(records) - at - 1, _RESERVED)
        share = min(most, left, max(_LEAST, left - reserved))
        if share < _LEAST:
            break
        shown = _Shown(_without_repeated(record, once), not passes_on, frozenset(known))
        shown.lines = call_lines(shown.record, translate, share, has_source=shown.computes, known=known)
        left -= shown.size
        found.append(shown)
    for shown in sorted(found, key=lambda it: not it.computes):
        room = shown.size + left
        shown.lines = call_lines(shown.record, translate, room - 1, has_source=shown.computes, known=set(shown.known))
        left = room - shown.size
    return [(record, it.lines) for record, it in zip(records, found, strict=False)]


@dataclass(slots=True)
class _Shown:
    """`known`: what the reader has read before it."""

    record: Record
    computes: bool
    known: frozenset[str]
    lines: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(it) + 1 for it in self.lines) + 1


def _without_repeated(record: Record, once: Mapping[str, bool]) -> Record:
    """Of a call that is shown itself, the row of its caller repeats neither arguments nor a long result."""
    return {
        **record,
        "rows": [_brief(it, record["function"], once) if it.get("calls") else it for it in record["rows"]],
    }


def _brief(row: Record, function: str, once: Mapping[str, bool]) -> Record:
    if "gap" in row:
        return row
    calls: list[list[Any]] = []
    changes = list(row.get("changes", ()))
    for call in row["calls"]:
        if [it[0] for it in calls].count(call[0]) >= _ALIKE:
            continue
        if call[0] == function or not once.get(call[0]):
            calls.append(call)
            continue
        result = call[2]
        if result is not None and len(result) > _RESULT:
            head = result[:_RESULT]
            result = f"{head}…"
            changes = [(path, result if text.startswith(head) else text) for path, text in changes]
        calls.append([call[0], [["…", ""]] if call[1] else [], result, *call[3:]])
    more = row.get("more_calls", 0) + len(row["calls"]) - len(calls)
    return {**row, "calls": calls, "changes": changes, "more_calls": more}


def ordered_calls(records: Iterable[Record]) -> list[Record]:
    """Each function once, followed by those that it called. What only prepared the failure is left out if anything
    else is there.
    """
    known: dict[tuple[str, int], Record] = {}
    for record in records:
        known.setdefault((record["file"], record["first"]), record)
    computing = [it for it in known.values() if not is_preparation(it)]
    computing = [it for it in computing if not _is_shown_by_caller(it)] or computing or list(known.values())
    found: list[Record] = []
    waiting = computing[::-1]
    while waiting:
        record = waiting.pop()
        if record in found:
            continue
        found.append(record)
        names = dict.fromkeys(_called(record))  # what was called last is nearest to the result, and popped first
        waiting += [it for name in names for it in computing if it["function"] == name]
    return found


def is_preparation(record: Record) -> bool:
    """A constructor, or a function of the tests themselves."""
    file = PurePath(record["file"]).name
    language = language_of_file(file)
    is_test = file.startswith("test") or bool(language and language.test.fullmatch(file))
    return is_test or str(record["function"]).endswith(_CONSTRUCTORS)


def _is_shown_by_caller(record: Record) -> bool:
    """A function of one line that was stepped through: its caller's row has its arguments and its result."""
    is_short = len(record["rows"]) <= 1 and not any(it.get("calls") for it in record["rows"])
    return bool(record.get("by_steps")) and is_short and "value" in record["end"]


def _called(record: Record) -> Iterator[str]:
    rows: Sequence[Record] = record.get("rows", ())
    yield from (str(call[0]) for row in rows if "line" in row for call in row.get("calls", ()))
