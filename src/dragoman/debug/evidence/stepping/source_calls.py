"""Which functions computed what a failing line compares, read from its text: for languages that Python cannot parse.

The same order as in `assertion_calls`: the functions called in the statement and in the heads of the blocks around it;
then those that gave its names their values, nearest first; then the methods called before on these names, and the
functions that they were passed to. The caller leaves out names that are not functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.debug.evidence.stepping.source_functions import SourceFunction, SourceText
from dragoman.debug.evidence.stepping.source_languages import SourceLanguage

_DEPTH = 5
_MOST_LINES = 400
_MOST_CHARACTERS = 1000  # characters of a line; longer ones are data
# Matches only at the start of a word and with bounded repetitions. Otherwise the time would grow with the square of
# the line's length.
_CALL = re.compile(
    r"(?<![\w$])(?P<before>(?:[\w$]++\s*+(?:\??\.|->|::|:)\s*+){0,16})"
    r"(?P<name>[A-Za-z_$][\w$]*+[?!]?)\s*+(?:::<[^>]{0,200}>)?\("
)
_NAME = re.compile(r"(?<![\w$.:>])(?P<name>[A-Za-z_$][\w$]*)(?![\w$]|\s*\()")
_ASSIGNS = (
    r"(?<![\w$.]){name}\b(?:[^=\n;(]*?(?::=|(?<![=!<>])=(?![=>]))|[^=\n]*?\b(?:of|in)\b|[\w,\s]*?(?:[-+*/%|&^]|<<|>>)=)"
)
_OF_CALLS = 60


def calls_behind(source: SourceText, line: int) -> list[str]:
    """The likeliest first, by their last names; a constructor as `Class.constructor`."""
    return list(dict.fromkeys(_CallSearch(source, line).functions()))[:_OF_CALLS]


def calls_in(source: SourceText, function: SourceFunction) -> list[str]:
    """In the order in which they are written."""
    return list(dict.fromkeys(_called(source.body(function), source.language)))[:_OF_CALLS]


def _called(text: str, language: SourceLanguage) -> Iterator[str]:
    for found in _CALL.finditer(text):
        name = found["name"]
        whole = re.sub(r"\s", "", found["before"]) + name
        if name not in language.keywords and not language.assertions.fullmatch(whole):
            yield name
    if language.constructed:
        for found in language.constructed.finditer(text):
            yield f"{found['name']}.{language.constructor}"


class _CallSearch:
    def __init__(self, source: SourceText, line: int) -> None:
        self._source = source
        self._language = source.language
        self._line = line
        scope = source.innermost(line)
        self._first = max(scope.first if scope else 1, line - _MOST_LINES)
        self._last = scope.last if scope else len(source.lines)

    def functions(self) -> Iterator[str]:
        first, last = self._statement(self._line)
        texts = [self._text(first, last), *self._heads(first)]
        for text in texts:
            yield from _called(text, self._language)
        names = [it for text in texts for it in self._names(text)]
        seen = set(names)
        for _ in range(_DEPTH):
            sources = [it for name in names for it in self._assigned(name, first)]
            for text in sources:
                yield from _called(text, self._language)
            names = [it for text in sources for it in self._names(text) if it not in seen]
            seen.update(names)
        before = [self._line_text(it) for it in range(first - 1, self._first - 1, -1)]
        for text in before:
            yield from (name for root, name in self._methods(text) if root in seen)
        for text in before:
            if any(it in seen for it in self._names(text)):
                yield from _called(text, self._language)
                yield from self._names(text)  # a function that is passed as an argument

    def _line_text(self, line: int) -> str:
        return self._source.line(line)[:_MOST_CHARACTERS]

    def _text(self, first: int, last: int) -> str:
        return "\n".join(self._line_text(it) for it in range(first, last + 1))

    def _statement(self, line: int) -> tuple[int, int]:
        """As many lines as its parentheses need."""
        first = last = line
        while first > self._first and _depth(self._text(first, line)) < 0:
            first -= 1
        while first > self._first and self._line_text(first).lstrip().startswith((".", "&&", "||")):
            first -= 1
        while last < min(self._last, line + _MOST_LINES) and (
            _depth(self._text(first, last)) > 0 or self._line_text(last + 1).lstrip().startswith((".", "&&", "||"))
        ):
            last += 1
        return first, last

    def _heads(self, first: int) -> Iterator[str]:
        """The lines that begin the blocks around a line."""
        indent = _indent(self._line_text(first))
        for at in range(first - 1, self._first - 1, -1):
            text = self._line_text(at)
            if text.strip() and _indent(text) < indent:
                indent = _indent(text)
                begin, end = self._statement(at)
                yield self._text(begin, end) if end < first else text

    def _names(self, text: str) -> list[str]:
        return [it["name"] for it in _NAME.finditer(text) if it["name"] not in self._language.keywords]

    def _assigned(self, name: str, before: int) -> Iterator[str]:
        """The nearest statement above that gave the name its value, and the nearest that began it."""
        pattern = re.compile(_ASSIGNS.format(name=re.escape(name)))
        found = [it for it in range(before - 1, self._first - 1, -1) if pattern.search(self._line_text(it))]
        for at in dict.fromkeys([*found[:2], *found[-1:]]):
            first, last = self._statement(at)
            yield self._text(first, min(last, before - 1))
            yield from self._heads(first)

    def _methods(self, text: str) -> Iterator[tuple[str, str]]:
        for found in _CALL.finditer(text):
            roots = re.match(r"[\w$]+", found["before"])
            if roots and found["name"] not in self._language.keywords:
                yield roots[0], found["name"]


def _depth(text: str) -> int:
    return sum(text.count(it) for it in "([") - sum(text.count(it) for it in ")]")


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
