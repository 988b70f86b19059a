"""Where a function returns, by its source: for debuggers that cannot report what a function returned.

A returned expression is shown only if evaluating it once more changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.debug.evidence.stepping.source_functions import SourceFunction, SourceText

# `if (price < 0) return 0;`, `if price < 0 then return 0 end` and `return 0 if price < 0`: a line of its own would do
# without the condition, at which a debugger stops whether it holds or not.
_CONDITION_BEFORE = re.compile(r"[\s}]*if\b\s*(?P<condition>.+?)\s*(?:\{|\bthen\b)?\s*")
_CONDITION_AFTER = re.compile(r"(?P<value>.*?)\s*\bif\b\s*(?P<condition>.+)")
_COMMENTS = ("//", "/*", "#", "--")
_CLOSING = re.compile(r"[\s});]*|\s*end\b.*")


@dataclass(frozen=True, slots=True)
class ReturnPlace:
    path: str
    line: int
    values: tuple[str, ...] = ()
    """What is returned there. Empty where nothing is, or where reading it could change the program."""
    condition: str = ""
    """Under which the line returns."""
    is_certain: bool = True
    """Whether a stop there is a return: it is not where the line does something else first."""


def return_places(source: SourceText, function: SourceFunction) -> list[ReturnPlace]:
    """Each `return` of the function itself, and its last line if the function may end there."""
    found = list(_statements(source, function))
    end = _end(source, function)
    if end is not None and end.line not in {it.line for it in found}:
        found.append(end)
    return found


def _statements(source: SourceText, function: SourceFunction) -> Iterator[ReturnPlace]:
    inner = [it for it in source.functions if function.header < it.header and it.last <= function.last]
    for line in range(function.first, function.last + 1):
        match = source.language.returns.search(source.line(line))
        if match is None or any(it.has(line) for it in inner):
            continue
        text = source.lines[line - 1]
        yield _place(source, line, text[: match.start()], _value(text, match))


def _value(text: str, match: re.Match[str]) -> str:
    """From the line itself: in the masked one, at the same columns, strings and comments are blank."""
    begin = match.start() + len("return")
    code = match.string[begin : match.end("value")].rstrip()
    behind = text[begin + len(code) : match.end("value")]
    return text[begin : begin + len(code)] + ("" if behind.lstrip().startswith(_COMMENTS) else behind)


def _place(source: SourceText, line: int, before: str, value: str) -> ReturnPlace:
    behind = _CONDITION_AFTER.fullmatch(value) if source.language.has_last_value else None
    if behind is None and not before.strip(" \t}"):
        return ReturnPlace(source.path, line, _repeatable(source, value))
    found = behind or _CONDITION_BEFORE.fullmatch(before)
    condition = found["condition"] if found else ""
    if not condition or not source.language.may_repeat(condition):
        return ReturnPlace(source.path, line, is_certain=False)
    value = behind["value"] if behind else value.partition("}")[0].removesuffix(" end")
    return ReturnPlace(source.path, line, _repeatable(source, value), condition)


def _end(source: SourceText, function: SourceFunction) -> ReturnPlace | None:
    last = function.last
    body = [it for it in range(function.first, last) if source.line(it).strip()]
    if not body or source.language.returns.search(source.line(body[-1])):
        return None
    if source.language.has_last_value:
        text = source.lines[body[-1] - 1].strip()
        is_value = not _CLOSING.fullmatch(source.line(body[-1])) and not text.endswith((";", "}"))
        return ReturnPlace(source.path, body[-1], _repeatable(source, text)) if is_value else None
    return ReturnPlace(source.path, last, tuple(filter(None, [source.language.nothing])))


def _repeatable(source: SourceText, expression: str) -> tuple[str, ...]:
    """All values, or none: where one is computed by a call, its `return` is not read at all."""
    parts = split_values(expression.strip().rstrip(";").strip() or source.language.nothing)
    is_whole = all(it.count(one) == it.count(other) for it in parts for one, other in ("()", "[]", "{}"))
    return tuple(parts) if is_whole and all(it and source.language.may_repeat(it) for it in parts) else ()


_SEPARATOR = re.compile(r"""\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|[(\[{]|[)\]}]|,""")


def split_values(text: str) -> list[str]:
    """By the commas outside of parentheses and strings: some languages return several values."""
    parts, depth, since = list[str](), 0, 0
    for found in _SEPARATOR.finditer(text):
        if found[0] in "([{":
            depth += 1
        elif found[0] in ")]}":
            depth -= 1
        elif found[0] == "," and not depth:
            parts.append(text[since : found.start()].strip())
            since = found.end()
    return [*parts, text[since:].strip()] if text else []
