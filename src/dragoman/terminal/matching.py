"""What a person looks for in output: words that must all stand on one line.

A word is found inside other words too (`python` in `python3`, `test` in `pytest`), a short one or a number only where a
word begins with it. "Quoted words" are a phrase of whole words, a closing `*` finds beginnings alone, everything
else is literal. Case does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.journal import words as journal_words
from dragoman.journal.records import split_words
from dragoman.terminal.vocabulary import may_be_inside

_TERM = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')
_TOKEN = re.compile(r"[^\W_]+")
_LINE_CHARACTERS = 1_000


class Wanted(NamedTuple):
    expression: str
    """Words as they are, for an index that knows which words stand in a line, not where; may be empty."""
    parts: tuple[str, ...]
    """What may stand inside words, for the same index."""
    patterns: tuple[re.Pattern[str], ...]
    tokens: tuple[str, ...]
    """Every word, beginning or part, folded: a line without one of them needs no closer look."""

    def may_stand_in(self, data: bytes) -> bool:
        """A first look at bytes; colours or another script may stand in the middle of a word."""
        if b"\x1b" in data:
            return True
        folded = data.lower()
        return all(token.encode() in folded for token in self.tokens if token.isascii())

    def lines(self, text: str) -> Iterator[str]:
        """The lines that have everything, in order; looked for around the word that comes least often."""
        folded = text.lower()
        if len(folded) != len(text):  # a few letters change their length: then places in it would be others
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
    """It stands where a word begins."""
    ends: bool

    @property
    def indexed(self) -> list[str]:
        """As the index has them: each character of a script without spaces is a word."""
        return [word for token in self.tokens for word in split_words(token).split()]


def wanted(query: str) -> Wanted:
    journal_words.expression(query)  # refuses what has no word, too many or too long a text
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
    return Wanted(" AND ".join(whole), tuple(parts), tuple(map(_pattern, terms)), tuple(every))


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
