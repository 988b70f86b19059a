"""The text of a recorded call: the source once, then a row per executed line, compact.

Words go through `translate`, which gets a template and its values; without it they are English.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .call_rows import Row, fold, groups, merged

if TYPE_CHECKING:
    from typing import TypeAlias

Translate: TypeAlias = "Callable[..., str]"  # as text, for Python 3.8

MAX_CHARACTERS = 4000
_SOURCE_LINES = 20
_SOURCE_WIDTH = 100
_PASSES = 16
_WIDTH = 120
_LOOP = re.compile(r"\s*(?:async )?(?:for|while|repeat|loop|do)\b")
_PLAIN_HEAD = re.compile(r"\s*(?:async )?def [^=]*:\s*(?:#.*)?$")
_DOCSTRING = re.compile(r"""\s*[rRbBuU]?("{3}|'{3}|"|')""")
_CODE = ("<module", "<class ", "<function ")
_LONG = 48
KNOWN = 24
# Passes through loops, lines of source, characters of a row, calls at each end of the list: what is shown, as far as
# there is room.
_ROOM = (
    (_PASSES, _SOURCE_LINES, 280, 4),
    (12, 14, 200, 3),
    (_PASSES, 0, 200, 3),
    (12, 0, 160, 2),
    (9, 0, 140, 2),
    (7, 0, 120, 1),
    (7, 0, 120, 0),
    (5, 0, 100, 1),
    (5, 0, 100, 0),
    (4, 0, 80, 1),
    (3, 0, 70, 1),
)
_HEAD_LINES = 3
_OWN_OBJECT = ("self", "cls")
_CONSTRUCTORS = ("__init__", ".constructor")
_ROW_NUMBER = 7  # before a row, with the brackets of a call
_LEAST_ROOM = 24
_FIRST_CALLS = 2  # as `call_recording` keeps them: the others are the newest


def english(template: str, **values: object) -> str:
    return template.format(**values)


def call_lines(
    record: dict[str, Any],
    translate: Translate = english,
    limit: int = MAX_CHARACTERS,
    *,
    has_source: bool = True,
    known: set[str] | None = None,
) -> list[str]:
    """The lines of the answer, at most `limit` characters in all.

    `known`: the beginnings of long arguments that the reader has seen. They are not shown whole again.
    """
    say = translate
    if "function" not in record:
        return _never_called(record, say)
    record = _without_known(record, set() if known is None else known)
    head = _head(record, say)
    found: list[str] = []
    ending: list[str] = []
    for passes, source, width, listed in _ROOM:
        body = _rows(record, say, passes, min(_WIDTH, width))
        found = [
            _cut(it, width) for it in (*head[:1], *(_source(record, source) if has_source else ()), *head[1:], *body)
        ]
        closing = [*_end(record, say), *_all_calls(record, say, listed), *_remarks(record, say)]
        ending = [_cut(it, width) for it in closing]
        if _size(found) + _size(ending) <= limit:
            return [*found, *ending]
    ending = ending[:1]  # how it ended says more than any row before it
    return [*_within(found, limit - _size(ending)), *ending]


def _without_known(record: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """A long argument is shown whole once; after that, its beginning."""

    def arguments(pairs: list[list[str]]) -> list[list[str]]:
        return [[name, _brief(text, known)] for name, text in pairs]

    data = {**record, "args": arguments(record.get("args") or [])}
    data["rows"] = [
        {**row, "calls": [[call[0], arguments(call[1]), *call[2:]] for call in row["calls"]]}
        if "line" in row and row.get("calls")
        else row
        for row in record["rows"]
    ]
    end = record["end"]
    data["end"] = {**end, **{key: _brief(end[key], known) for key in ("value", "error") if end.get(key)}}
    return data


def _brief(text: str, known: set[str]) -> str:
    if len(text) <= _LONG:
        return text
    if text[:KNOWN] in known:
        return text[:KNOWN].rstrip() + "\u2026"
    known.add(text[:KNOWN])
    return text


def _size(lines: list[str]) -> int:
    return sum(len(it) + 1 for it in lines)


def _within(lines: list[str], limit: int) -> list[str]:
    """The first lines and the last ones: what a call did last is nearer to its result."""
    if _size(lines) <= limit:
        return lines
    tail: list[str] = []
    for line in reversed(lines[_HEAD_LINES:]):
        if _size([line, *tail]) > limit // 3:
            break
        tail.insert(0, line)
    kept: list[str] = []
    left = limit - _size(tail) - 4
    for line in lines[: len(lines) - len(tail)]:
        if left < 0:
            break
        kept.append(_cut(line, max(left, 2)))
        left -= len(kept[-1]) + 1
    return [*kept, "\u2026", *tail] if tail else kept


def _cut(text: str, limit: int) -> str:
    if not text.isprintable():  # names of types and messages may hold what a terminal obeys, or what looks like a row
        text = "".join(it if it.isprintable() or it == "\t" else ascii(it)[1:-1] for it in text)
    return text if len(text) <= limit else text[: limit - 1] + "\u2026"


def _never_called(record: dict[str, Any], say: Translate) -> list[str]:
    found = []
    if record.get("most_steps"):
        limits = {"steps": record["most_steps"], "seconds": record["most_seconds"]}
        found.append(say("The function was called {count} times, and none was reached.", count=record["calls"]))
        found.append(say("Single steps end after {steps} steps or {seconds} s in all.", **limits))
    elif record.get("calls"):
        found.append(say("No such call: the function was called {count} times.", count=record["calls"]))
    elif record.get("is_unfinished"):
        found.append(say("The function was not called within the time limit."))
    elif record.get("untraced_threads"):
        found.append(say("The function was not called in the threads that are traced."))
    elif "calls" in record:
        found.append(say("The function was never called."))
    else:
        found.append(say("No call was recorded."))
    if record.get("where_error"):
        found.append(say("`where` failed: {error}", error=record["where_error"]))
    if record.get("untraced_threads"):
        count = record["untraced_threads"]
        found.append(
            say("Not traced, because they ran before or began without `threading`: {count} threads", count=count)
        )
    return found


def _head(record: dict[str, Any], say: Translate) -> list[str]:
    place = "%s:%s" % (record["file"], record["first"])
    calls = record.get("calls", 1)
    count = ""
    if calls > 1 and not record.get("uncounted"):
        count = "  (%s)" % say("call {number} of {count}", number=record["call"], count=calls)
    elif record["call"] > 1:
        count = "  (%s)" % say("call {number}", number=record["call"])
    found = ["%s  %s%s" % (record["function"], place, count)]
    if record.get("args"):
        shown = ", ".join("%s = %s" % (name, text) for name, text in record["args"])
        found.append(say("arguments: {values}", values=shown))
    if record.get("outer"):
        shown = ", ".join("%s = %s" % (name, text) for name, text in record["outer"])
        found.append(say("closure: {values}", values=shown))
    return found


def _source(record: dict[str, Any], most: int) -> list[str]:
    """All of a short function; of a long one the lines that ran. Its head, if it says no more than its arguments do,
    docstrings and empty lines are left out.
    """
    lines = [it for it in _without_docstring(record.get("source") or []) if it[1].strip()]
    if lines and _PLAIN_HEAD.match(lines[0][1]):
        del lines[0]
    if len(lines) > most:
        ran = {row["line"] for row in record["rows"] if "line" in row}
        ran.add(record["end"]["line"])
        wanted = [it for it in lines if it[0] in ran]
        lines = wanted[:most]
    margin = min((len(text) - len(text.lstrip()) for _, text in lines), default=0)
    width = max((len(str(number)) for number, _ in lines), default=0)
    return [("%*d  %s" % (width, number, _cut(text[margin:], _SOURCE_WIDTH))).rstrip() for number, text in lines]


def _without_docstring(lines: list[Any]) -> list[Any]:
    """It explains the purpose at length; the file has it for the reader who needs it."""
    begin = next((at for at, it in enumerate(lines) if it[1].rstrip().endswith(":")), len(lines)) + 1
    found = _DOCSTRING.match(lines[begin][1]) if begin < len(lines) else None
    if found is None:
        return lines
    quotes = found.group(1)
    is_short = lines[begin][1].count(quotes) > 1
    ends = (at for at in range(begin + 1, len(lines)) if quotes in lines[at][1])
    end = begin if is_short else next(ends, begin)
    return [*lines[:begin], *lines[end + 1 :]]


# Rows.


def _loops(record: Row) -> set[int]:
    return {number for number, text in record.get("source") or () if _LOOP.match(text)}


def _rows(record: Row, say: Translate, most: int, width: int) -> list[str]:
    rows = record["rows"]
    if rows and rows[-1].get("note") and rows[-1]["note"] == record["end"].get("error"):
        rows = [*rows[:-1], {**rows[-1], "note": ""}]  # said by the end
    found: list[str] = []
    for group in fold(merged(groups(rows, _loops(record))), most):
        if "gap" in group[0]:
            found.append(_gap(group[0], say))
        else:
            found += _pass(group, say, width)
    return found


def _pass(group: list[Row], say: Translate, width: int) -> list[str]:
    """Its lines one after another, as far as they fit into the width. Lines that changed nothing are numbers alone."""
    found: list[str] = []
    shown = ""
    quiet: list[str] = []
    for row in group:
        quiet.append(str(row["line"]))
        for text in _step(row, say, width):
            if shown and len(shown) + len(text) > width:
                found.append(shown)
                shown = ""
            number = ", ".join(quiet) if quiet else "" if shown else str(row["line"])
            quiet.clear()
            shown = "; ".join(filter(None, (shown, "%s: %s" % (number, text) if number else text)))
    if quiet:
        shown = "%s; %s" % (shown, ", ".join(quiet)) if shown else ", ".join(quiet)
    passes = group[0].get("passes", 1)
    return [*found, shown + (say(" ({count} times)", count=passes) if passes > 1 else "")]


def _gap(row: Row, say: Translate) -> str:
    low, high = row["lines"]
    lines = str(low) if low == high else "%d\u2013%d" % (low, high)
    text = say("\u2026 {count} more steps in lines {lines}", count=row["gap"], lines=lines)
    if row.get("calls"):
        text += say(", {count} calls", count=row["calls"])
    changed = sorted(row["changes"], key=lambda it: len(it[1]))  # a long one would hide the others
    shown = ", ".join("%s = %s" % (path, value) for path, value in changed)
    return text + (say("; after them {values}", values=shown) if shown else "")


def _step(row: Row, say: Translate, width: int) -> list[str]:
    """What one line did, in parts: each call, then the changes."""
    called = [it for it in row.get("calls") or () if it[3] or not it[0].endswith("__init__") or not row.get("changes")]
    changed = [it for it in row.get("changes") or () if it[0] != "_"]
    calls = [_called(it, say, width) for it in called]
    if len(called) == 1 and not row.get("more_calls") and len(changed) == 1 and _is_result(called[0], changed[0][1]):
        name, args, _, error, yields = called[0][:5]
        calls = [_called([name, args, "%s = %s" % tuple(changed.pop()), error, yields], say, width)]
    if row.get("more_calls"):
        calls.insert(_FIRST_CALLS, say("\u2026 {count} more calls", count=row["more_calls"]))
    begin = {it[0]: it[1] for it in row.get("begin") or ()}
    changed = [
        (path, text if begin.get(path, text) == text else "%s \u2026 %s" % (begin[path], text))
        for path, text in changed
    ]
    changed = _once([it for it in changed if it[0] != "_" and not it[1].startswith(_CODE)])
    shown = ", ".join(("%s= %s" if path.endswith(" +") else "%s = %s") % (path, text) for path, text in changed)
    yielded = [say("yields {value}", value=it) for it in row.get("yielded") or ()]
    is_known = row.get("note") in [it[3] for it in called]
    note = ["! " + row["note"]] if row.get("note") and not is_known else []
    return [*calls, *([shown] if shown else []), *yielded, *note]


def _once(changed: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """`menu.log.lines` and `log.lines` changed alike are one list: the shorter way to it will do."""

    def is_longer(path: str, text: str) -> bool:
        return any(text == it[1] and path.endswith("." + it[0]) for it in changed)

    return [it for it in changed if not is_longer(*it)]


def _is_result(call: list[Any], text: str) -> bool:
    """Whether what a line called returned is what it gave a variable: one of both may be cut."""
    result = str(call[2])
    known = result.partition("\u2026")[0]
    return not call[3] and not call[4] and (result == text or (len(known) > 20 and text.startswith(known)))


def _called(call: list[Any], say: Translate, width: int) -> str:
    """Where there is no room for all, its arguments are cut rather than its result."""
    name, args, result, error, yields = call[:5]
    outcome = ""
    if error:
        outcome = " ! %s" % error
    elif yields:
        outcome = " \u2192 " + say("{count} values, last {value}", count=yields, value=result)
    elif result is not None and not name.endswith(_CONSTRUCTORS):
        outcome = " \u2192 %s" % result
    given = _arguments(args)
    room = max(width - len(name) - _ROW_NUMBER, _LEAST_ROOM)
    if outcome and len(given) + len(outcome) > room:
        outcome = _cut(outcome, max(room - len(given), room * 2 // 3))
        given = _cut(given, max(room - len(outcome), _LEAST_ROOM // 2))
    return "%s(%s)%s" % (name, given, outcome)


def _arguments(args: list[Any]) -> str:
    """A method's own object is known from its caller."""
    shown = args[1:] if args and args[0][0] in _OWN_OBJECT else args
    return ", ".join("%s=%s" % (name, text) if text else name for name, text in shown)


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


def _all_calls(record: dict[str, Any], say: Translate, most: int) -> list[str]:
    """Of a recursive function, or one that was stepped through: every call in the order in which they ended, cut in the
    middle. After a stack overflow, in the order in which they began.
    """
    is_recursive = record.get("deepest", 1) > 1
    if not most or (not is_recursive and not (record.get("by_steps") and record.get("calls", 1) > 1)):
        return []
    first, last = record.get("all", []), record.get("all_last", [])
    left, left_cut = record.get("open", []), record.get("open_cut", 0)
    cut = record.get("all_cut", 0)
    found = []
    name = "" if is_recursive else record["function"].rpartition(".")[2]
    if (record["end"].get("error") or "").startswith("RecursionError"):
        began = sorted([*first, *last, *left], key=lambda it: int(it[0]))
        found.append(say("calls in the order they began (deepest: {depth}):", depth=record["deepest"]))
        found += _calls([[it[0], it[1], it[2], None, ""] for it in began], cut + left_cut, say, most)
    elif not is_recursive:
        found += _calls([*first, *last], cut, say, most, name)  # without the call that is shown
    elif (first or last) and (cut or left or record.get("deepest", 1) > 2 or _has_unseen_calls(record)):
        found.append(say("calls in the order they ended (deepest: {depth}):", depth=record["deepest"]))
        found += _calls([*first, *last], cut, say, most)
    if left and not found:
        found.append(say("calls that had not ended (deepest: {depth}):", depth=record["deepest"]))
        found += _calls(left, left_cut, say, most)
    if record.get("cycle"):
        found.append(say("cycle: {names}", names=" \u2192 ".join(record["cycle"])))
    return found


def _has_unseen_calls(record: dict[str, Any]) -> bool:
    """Whether there are more calls than this one and those in its rows."""
    seen = sum(len(it.get("calls") or ()) for it in record["rows"] if "line" in it)
    return len(record.get("all", ())) + len(record.get("all_last", ())) > seen + 1


def _calls(listed: list[list[Any]], cut: int, say: Translate, most: int, name: str = "") -> list[str]:
    """Alike ones that follow each other are one. The recorder cut, if it did, in the middle."""
    alike: list[list[Any]] = []
    for at, entry in enumerate(listed):
        is_gap = cut and at == len(listed) // 2
        if alike and alike[-1][1][2:] == entry[2:]:
            alike[-1][0] += 1 + (cut if is_gap else 0)
            alike[-1][2] = entry[0]
            cut = 0 if is_gap else cut
        else:
            alike.append([1, entry, entry[0]])
    shown = [_listed(entry, count, last, name) for count, entry, last in alike]
    hidden = sum(it[0] for it in alike[most:-most]) + cut
    if len(shown) <= 2 * most and not cut:
        return shown
    half = min(most, (len(shown) + 1) // 2)
    tail = shown[max(half, len(shown) - most) :]
    return [*shown[:half], say("  \u2026 {count} more calls", count=hidden), *tail]


def _listed(entry: list[Any], count: int, last: int, name: str) -> str:
    number, _, args, result, error = entry
    ended = "! " + error.partition(":")[0] if error else "\u2192 " + str(result) if result is not None else ""
    numbers = "#%d" % number if count == 1 else "#%d\u2013#%d" % (min(number, last), max(number, last))
    return _cut(("  %s %s(%s) %s" % (numbers, name, _arguments(args), ended)).rstrip(), 120)


def _remarks(record: dict[str, Any], say: Translate) -> list[str]:
    found = []
    if record.get("not_failing"):
        found.append(say("No call was on the stack when the run failed; this is the last one."))
    if record.get("most_steps"):
        limits = {"steps": record["most_steps"], "seconds": record["most_seconds"]}
        found.append(say("Single steps end after {steps} steps or {seconds} s in all.", **limits))
    if record.get("newest_passed"):
        count = record["newest_passed"]
        found.append(say("Not the last call: call {number} came later, and was not stepped through.", number=count))
    if record.get("counted_to"):
        found.append(say("Only the first {count} calls were counted.", count=record["counted_to"]))
    if record.get("locals_changed"):
        found.append(
            say("Before Python 3.13, tracing refreshes the dictionary that `locals()` returned in this function.")
        )
    if record.get("other_threads"):
        found.append(say("{count} calls in other threads", count=record["other_threads"]))
    return found
