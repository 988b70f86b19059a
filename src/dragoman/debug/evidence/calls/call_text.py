"""The text of a recorded call: the source once, then a row per executed line, compact.

Words go through `translate`, which gets a template and its values; without it they are English.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Translate = Callable[..., str]

MAX_CHARACTERS = 4000
_SOURCE_LINES = 24
_SOURCE_WIDTH = 100
_TAIL_ROWS = 6
_NOVEL_PASSES = 2
_ROWS = 40
_ALL_CALLS = 6
_FIRST_CALLS = 2  # as `call_recording` keeps them: the others are the newest


def english(template: str, **values: object) -> str:
    return template.format(**values)


def call_lines(record: dict[str, Any], translate: Translate = english, limit: int = MAX_CHARACTERS) -> list[str]:
    """The lines of the answer, at most `limit` characters in all."""
    say = translate
    if "function" not in record:
        return _never_called(record, say)
    head = _head(record, say)
    found: list[str] = []
    ending: list[str] = []
    closing = [*_end(record, say), *_all_calls(record, say), *_remarks(record, say)]
    for rows, source, width in ((_ROWS, _SOURCE_LINES, 160), (24, 16, 110), (12, 10, 80), (6, 6, 60), (2, 2, 40)):
        body = _rows(record, say, rows, width)
        found = [_cut(it, width + 120) for it in (*head[:1], *_source(record, source), *head[1:], *body)]
        ending = [_cut(it, width + 120) for it in closing]
        if _size(found) + _size(ending) <= limit:
            return [*found, *ending]
    ending = ending[:1]  # how it ended says more than any row before it
    return [*_within(found, limit - _size(ending)), *ending]


def _size(lines: list[str]) -> int:
    return sum(len(it) + 1 for it in lines)


def _within(lines: list[str], limit: int) -> list[str]:
    kept: list[str] = []
    left = limit - 2
    for line in lines:
        if left < 0:
            break
        kept.append(_cut(line, max(left, 2)))
        left -= len(kept[-1]) + 1
    return kept


def _cut(text: str, limit: int) -> str:
    text = text.replace("\n", "\\n").replace("\r", "\\r")
    return text if len(text) <= limit else text[: limit - 1] + "\u2026"


def _never_called(record: dict[str, Any], say: Translate) -> list[str]:
    found = []
    if record.get("calls"):
        found.append(say("No such call: the function was called {count} times.", count=record["calls"]))
    elif "calls" in record:
        found.append(say("The function was never called."))
    else:
        found.append(say("No call was recorded."))
    if record.get("where_error"):
        found.append(say("`where` failed: {error}", error=record["where_error"]))
    return found


def _head(record: dict[str, Any], say: Translate) -> list[str]:
    place = "%s:%s" % (record["file"], record["first"])
    calls = record.get("calls", 1)
    if calls > 1 and not record.get("uncounted"):
        count = say("call {number} of {count}", number=record["call"], count=calls)
    else:
        count = say("call {number}", number=record["call"])
    found = ["%s  %s  (%s)" % (record["function"], place, count)]
    if record.get("args"):
        shown = ", ".join("%s = %s" % (name, text) for name, text in record["args"])
        found.append(say("arguments: {values}", values=shown))
    if record.get("outer"):
        shown = ", ".join("%s = %s" % (name, text) for name, text in record["outer"])
        found.append(say("closure: {values}", values=shown))
    return found


def _source(record: dict[str, Any], most: int) -> list[str]:
    """All of a short function; of a long one its first line and the lines that ran."""
    lines = record.get("source") or []
    if len(lines) > most:
        ran = {row["line"] for row in record["rows"] if "line" in row}
        ran.add(record["end"]["line"])
        wanted = [it for it in lines if it[0] in ran]
        lines = [lines[0], *(it for it in wanted if it is not lines[0])][:most]
    margin = min((len(text) - len(text.lstrip()) for _, text in lines if text.strip()), default=0)
    found: list[str] = []
    before = None
    for number, text in lines:
        if before is not None and number > before + 1:
            found.append("   \u22ee")
        before = number
        found.append(("%4d  %s" % (number, _cut(text[margin:], _SOURCE_WIDTH))).rstrip())
    return found


# Rows.


def fold(rows: list[dict[str, Any]], most: int, tail: int = _TAIL_ROWS) -> list[dict[str, Any]]:
    """Rows in the middle that go ways which were gone before become a gap. First and last rows are kept."""
    if len(rows) <= min(most, 12):
        return rows
    passes: dict[tuple[int, int], int] = {}
    found: list[dict[str, Any]] = []
    before = 0
    last = len(rows) - tail
    room = max(most - tail, 1)
    for at, row in enumerate(rows):
        if "gap" in row:
            _into_gap(found, row)
            before = -1
            continue
        way = (before, row["line"])
        passes[way] = passes.get(way, 0) + 1
        is_novel = passes[way] <= _NOVEL_PASSES if before >= 0 else row.get("new", False)
        before = row["line"]
        is_kept = at >= last or ((is_novel or row.get("note")) and room > 0)
        if is_kept:
            room -= at < last
            found.append(row)
        else:
            _into_gap(found, row)
    return found


def _into_gap(found: list[dict[str, Any]], row: dict[str, Any]) -> None:
    if not found or "gap" not in found[-1]:
        line = row.get("line", 0)
        found.append({"gap": 0, "lines": row.get("lines") or [line, line], "calls": 0, "changes": []})
    gap = found[-1]
    low, high = row.get("lines") or (row["line"], row["line"])
    gap["gap"] += row.get("gap", 1)
    gap["lines"] = [min(low, gap["lines"][0]), max(high, gap["lines"][1])]
    calls = row.get("calls", 0)
    gap["calls"] += calls if isinstance(calls, int) else len(calls) + row.get("more_calls", 0)
    newest = dict(map(tuple, gap["changes"]))
    for path, text in row.get("changes", ()):
        newest.pop(path, None)
        newest[path] = text
    gap["changes"] = [list(it) for it in newest.items() if not it[0].endswith(" +")][-6:]


def _rows(record: dict[str, Any], say: Translate, most: int, width: int) -> list[str]:
    found: list[str] = []
    quiet: list[int] = []
    rows = record["rows"]
    if rows and rows[-1].get("note") and rows[-1]["note"] == record["end"].get("error"):
        rows = [*rows[:-1], {**rows[-1], "note": ""}]  # said by the end
    for row in fold(rows, most):
        if "gap" in row:
            found += _quiet(quiet)
            found.append(_gap(row, say))
        elif row.get("changes") or row.get("calls") or row.get("note"):
            found += _quiet(quiet)
            found += _row(row, say, width)
        else:
            quiet.append(row["line"])
    return [*found, *_quiet(quiet)]


def _quiet(lines: list[int]) -> list[str]:
    """Lines that changed nothing, one after another, are one row."""
    shown = [", ".join(map(str, lines))] if lines else []
    lines.clear()
    return shown


def _gap(row: dict[str, Any], say: Translate) -> str:
    low, high = row["lines"]
    lines = str(low) if low == high else "%d\u2013%d" % (low, high)
    text = say("\u2026 {count} more steps in lines {lines}", count=row["gap"], lines=lines)
    if row.get("calls"):
        text += say(", {count} calls", count=row["calls"])
    shown = ", ".join("%s = %s" % (path, value) for path, value in row["changes"])
    return text + (say("; after them {values}", values=shown) if shown else "")


def _row(row: dict[str, Any], say: Translate, width: int) -> list[str]:
    changed = ", ".join(
        "%s= %s" % (path, text) if path.endswith(" +") else "%s = %s" % (path, text)
        for path, text in row.get("changes", ())
    )
    calls = [_called(it, say) for it in row.get("calls", ())]
    is_known = row.get("note") in [it[3] for it in row.get("calls", ())]
    note = "! " + row["note"] if row.get("note") and not is_known else ""
    if row.get("more_calls"):
        calls.insert(_FIRST_CALLS, say("\u2026 {count} more calls", count=row["more_calls"]))
    parts = [it for it in (changed, note) if it]
    if len(calls) == 1 and len(calls[0]) + len(changed) < width:
        return ["%d: %s" % (row["line"], "; ".join([*calls, *parts]))]
    told = ["%d: %s" % (row["line"], "; ".join(parts))] if parts or not calls else ["%d:" % row["line"]]
    return [*("%d: %s" % (row["line"], it) for it in calls), *(told if parts or not calls else [])]


def _called(call: list[Any], say: Translate) -> str:
    name, args, result, error, yields = call
    shown = "%s(%s)" % (name, _arguments(args))
    if error:
        return "%s ! %s" % (shown, error)
    if yields:
        return shown + " \u2192 " + say("{count} values, last {value}", count=yields, value=result)
    return shown if result is None else "%s \u2192 %s" % (shown, result)


def _arguments(args: list[Any]) -> str:
    return ", ".join("%s=%s" % (name, text) for name, text in args)


# The end.


def _end(record: dict[str, Any], say: Translate) -> list[str]:
    end = record["end"]
    how = end["how"]
    values = ", ".join("%s = %s" % (name, text) for name, text in end.get("values", ()))
    found = []
    if record.get("yields"):
        found.append(say("yielded {count} values", count=record["yields"]))
    if how == "returned" and "value" not in end:
        found.append(say("returned; this debugger does not say what"))
    elif how == "returned":
        found.append(say("returned {value}", value=end.get("value")))
    elif how == "raised":
        found.append(say("raised {error} at line {line}", error=end.get("error") or "?", line=end["line"]))
    else:
        found.append(_unfinished(record, say))
        found += [values] if values else []
    return found


def _unfinished(record: dict[str, Any], say: Translate) -> str:
    if record.get("lost"):
        return say("RecursionError: the stack overflowed, and Python ended tracing there")
    line = record["end"]["line"]
    if record["end"]["how"] == "suspended":
        return say("suspended at line {line}, and not resumed", line=line)
    return say("still running at line {line} ({count} lines so far)", line=line, count=record["lines"])


def _all_calls(record: dict[str, Any], say: Translate) -> list[str]:
    """Of a recursive function, or one that was stepped through: every call in the order in which they ended, cut in the
    middle.
    """
    is_listed = record.get("deepest", 1) > 1 or (record.get("by_steps") and record.get("calls", 1) > 1)
    if not is_listed:
        return []
    first, last = record.get("all", []), record.get("all_last", [])
    shown = [*first, *last]
    cut = record.get("all_cut", 0)
    if len(shown) > 2 * _ALL_CALLS:
        cut += len(shown) - 2 * _ALL_CALLS
        first, last = shown[:_ALL_CALLS], shown[-_ALL_CALLS:]
    found = []
    if shown:
        is_recursive = record.get("deepest", 1) > 1
        found += [say("calls in the order they ended (deepest: {depth}):", depth=record["deepest"])][:is_recursive]
        gap = [say("  \u2026 {count} more calls", count=cut)] if cut else []
        name = "" if is_recursive else record["function"].rpartition(".")[2]
        found += [*(_listed(it, name) for it in first), *gap, *(_listed(it, name) for it in last)]
    if record.get("open"):
        found.append(say("calls that had not ended (deepest: {depth}):", depth=record["deepest"]))
        half = len(record["open"]) // 2
        gap = [say("  \u2026 {count} more calls", count=record["open_cut"])] if record.get("open_cut") else []
        found += [*map(_listed, record["open"][:half]), *gap, *map(_listed, record["open"][half:])]
    if record.get("cycle"):
        found.append(say("cycle: {names}", names=" \u2192 ".join(record["cycle"])))
    return found


def _listed(entry: list[Any], name: str = "") -> str:
    number, _, args, result, error = entry
    ended = "! " + error.partition(":")[0] if error else "\u2192 " + str(result) if result is not None else ""
    return _cut(("  #%d %s(%s) %s" % (number, name, _arguments(args), ended)).rstrip(), 120)


def _remarks(record: dict[str, Any], say: Translate) -> list[str]:
    found = []
    if record.get("not_failing"):
        found.append(say("No call was on the stack when the run failed; this is the last one."))
    if record.get("by_steps") and record["end"]["how"] == "limit":
        found.append(say("by single steps: {count}", count=record["lines"]))
    if record.get("other_threads"):
        found.append(say("{count} calls in other threads", count=record["other_threads"]))
    return found
