"""The rows of a recorded call, in groups: each pass through a loop is one, and passes that are alike become one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Dict

_NOVEL_PASSES = 2

Row = Dict[str, Any]


def groups(rows: list[Row], loops: Collection[int]) -> list[list[Row]]:
    """Rows that follow each other down the source. The head of a loop, and a way back, begin a new group, so that
    each pass through a loop is one.
    """
    found: list[list[Row]] = []
    for row in rows:
        group = found[-1] if found else []
        is_new = not group or "gap" in row or "gap" in group[-1]
        if is_new or row["line"] in loops or row["line"] <= group[0]["line"] or group[-1].get("note"):
            found.append([row])
        else:
            group.append(row)
    return found


def fold(grouped: list[list[Row]], most: int) -> list[list[Row]]:
    """Passes in the middle that go ways which were gone before become gaps. First and last ones are kept."""
    if len(grouped) <= most:
        return grouped
    tail = max(1, most // 4)
    last = len(grouped) - tail
    room = max(most - tail, 1)
    passes: dict[tuple[int, ...], int] = {}
    found: list[list[Row]] = []
    for at, group in enumerate(grouped):
        way = tuple(row.get("line", -1) for row in group)
        passes[way] = passes.get(way, 0) + 1
        is_novel = passes[way] <= _NOVEL_PASSES or any(row.get("note") for row in group)
        if at >= last or (is_novel and room > 0 and "gap" not in group[0]):
            room -= at < last
            found.append(group)
        else:
            for row in group:
                _into_gap(found, row)
    return found


def _into_gap(found: list[list[Row]], row: Row) -> None:
    if not found or "gap" not in found[-1][0]:
        line = row.get("line", 0)
        found.append([{"gap": 0, "lines": row.get("lines") or [line, line], "calls": 0, "changes": []}])
    gap = found[-1][0]
    low, high = row.get("lines") or (row["line"], row["line"])
    gap["gap"] += row.get("gap", 1)
    gap["lines"] = [min(low, gap["lines"][0]), max(high, gap["lines"][1])]
    calls = row.get("calls", 0)
    gap["calls"] += calls if isinstance(calls, int) else len(calls) + row.get("more_calls", 0)
    newest = dict(map(tuple, gap["changes"]))
    for path, text in row.get("changes", ()):
        newest.pop(path, None)
        newest[path] = text
    gap["changes"] = [list(it) for it in newest.items() if not it[0].endswith(" +")][-4:]


def merged(grouped: list[list[Row]]) -> list[list[Row]]:
    """Passes of the same lines that changed nothing but what the head of the loop counts are one."""
    found: list[list[Row]] = []
    for group in grouped:
        before = found[-1] if found else []
        if not before or not _is_idle(group) or not _is_alike(before, group):
            found.append(group)
        else:
            first = before[0].get("begin") or before[0].get("changes") or []
            found[-1] = [{**group[0], "begin": first, "passes": before[0].get("passes", 1) + 1}, *group[1:]]
    return found


def _is_idle(group: list[Row]) -> bool:
    return (
        "gap" not in group[0] and not any(map(_has_effect, group[1:])) and not _has_effect({**group[0], "changes": ()})
    )


def _has_effect(row: Row) -> bool:
    return any(row.get(it) for it in ("changes", "calls", "note", "yielded"))


def _is_alike(before: list[Row], group: list[Row]) -> bool:
    def paths(row: Row) -> list[str]:
        return [path for path, _ in row.get("changes", ())]

    lines = [row.get("line") for row in group]
    return [row.get("line") for row in before] == lines and _is_idle(before) and paths(before[0]) == paths(group[0])
