"""Parses an output query: words that must all be on one line.

A word also matches inside other words (`python` in `python3`); a short word or a number matches only at the start of
a word. "Quoted words" match whole words in this order, and a trailing `*` matches prefixes only. Everything else is
literal, and case is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.journal import search_query as journal_words
from dragoman.journal.event_rows import split_words
from dragoman.terminal.search.index import may_be_inside

_TERM = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')
_TOKEN = re.compile(r"[^\W_]+")
_LINE_CHARACTERS = 1_000


class OutputQuery(NamedTuple):
    expression: str
    """Exact words, for an index that knows which words a line contains but not where; may be empty."""
    parts: tuple[str, ...]
    """Parts that may be inside words, for the same index."""
    patterns: tuple[re.Pattern[str], ...]
    tokens: tuple[str, ...]
    """Every word, prefix or part, folded: a line that lacks one of them needs no closer look."""

    def may_contain(self, data: bytes) -> bool:
        """A quick check on bytes. Colours or another encoding may split a word."""
        if b"\x1b" in data:
            return True
        folded = data.lower()
        return all(token.encode() in folded for token in self.tokens if token.isascii())

    def lines(self, text: str) -> Iterator[str]:
        """The matching lines in order. The search starts from the rarest word."""
        folded = text.lower()
        if len(folded) != len(text):  # a few letters change length when folded, which would shift the offsets
            yield from (_shortened(line, 0) for line in text.split("\n") if self._all_in(line))
            return
        rarest = min(self.tokens, key=folded.count)
        at = folded.find(rarest)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            line = text[start : len(text) if end < 0 else end]
            if self._all_in(line):
                yield _shortened(line, at - start)
            at = folded.find(rarest, start + len(line))

    def _all_in(self, line: str) -> bool:
        return all(pattern.search(line) for pattern in self.patterns)


class _Term(NamedTuple):
    tokens: list[str]
    begins: bool
    """It must be at the start of a word."""
    ends: bool

    @property
    def indexed(self) -> list[str]:
        """The words as indexed: in scripts without spaces, each character is a word."""
        return [word for token in self.tokens for word in split_words(token).split()]


def parse_output_query(query: str) -> OutputQuery:
    journal_words.fts_expression(query)  # raises for a query without words, or one that is too long
    terms = [term for match in _TERM.finditer(query.lower()) if (term := _term(match))]
    whole: dict[str, None] = {}
    parts: dict[str, None] = {}
    for term in terms:
        words = term.indexed
        if not term.ends and term.begins and len(words) == 1:
            whole[f'"{words.pop()}"*'] = None
        elif not term.ends:
            parts[words.pop()] = None
        if words and not term.begins:
            parts[words.pop(0)] = None
        whole |= {f'"{word}"': None for word in words}
    every = dict.fromkeys(token for term in terms for token in term.tokens)
    return OutputQuery(" AND ".join(whole), tuple(parts), tuple(map(_pattern, terms)), tuple(every))


def _term(match: re.Match[str]) -> _Term | None:
    raw = match["phrase"] if match["phrase"] is not None else match["word"]
    tokens = _TOKEN.findall(raw)
    if not tokens:
        return None
    is_phrase = match["phrase"] is not None
    is_beginning = not is_phrase and raw.endswith("*") and len(raw) > 1 and raw[-2].isalnum()
    return _Term(tokens, begins=is_phrase or is_beginning or not may_be_inside(tokens[0]), ends=is_phrase)


def _pattern(term: _Term) -> re.Pattern[str]:
    tokens = term.tokens
    inner = r"[\W_]+".join(map(re.escape, tokens))
    begins = r"(?<![^\W_])" if term.begins and split_words(tokens[0]) == tokens[0] else ""
    ends = r"(?![^\W_])" if term.ends and split_words(tokens[-1]) == tokens[-1] else ""
    return re.compile(f"{begins}{inner.replace(chr(10), '')}{ends}", re.IGNORECASE)


def _shortened(line: str, at: int) -> str:
    if len(line) <= _LINE_CHARACTERS:
        return line
    start = max(0, min(at - _LINE_CHARACTERS // 4, len(line) - _LINE_CHARACTERS))
    return line[start : start + _LINE_CHARACTERS]
