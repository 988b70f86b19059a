"""What a person looks for in output: words that must all stand on one line.

The same rules as in the journal's search: words are all wanted, "quoted words" are a phrase, a closing `*` finds
beginnings, everything else is literal. Case does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.journal import words as journal_words
from dragoman.journal.records import split_words

_TERM = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')
_TOKEN = re.compile(r"[^\W_]+")
_LINE_CHARACTERS = 1_000


class Wanted(NamedTuple):
    expression: str
    """For an index that knows which words stand in a block, not where."""
    patterns: tuple[re.Pattern[str], ...]
    tokens: tuple[str, ...]
    """Every word or beginning, folded: a line without one of them needs no closer look."""

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


def wanted(query: str) -> Wanted:
    journal_words.expression(query)  # refuses what has no word, too many or too long a text
    terms = [term for match in _TERM.finditer(query.lower()) if (term := _tokens(match))]
    quoted = [f'"{token}"{star}' for tokens, star in terms for token in split_words(tokens[-1]).split()[-1:]]
    quoted += [f'"{token}"' for tokens, _ in terms for token in _all_but_last(tokens)]
    patterns = tuple(_pattern(tokens, star) for tokens, star in terms)
    every = dict.fromkeys(token for tokens, _ in terms for token in tokens)
    return Wanted(" AND ".join(dict.fromkeys(quoted)), patterns, tuple(every))


def _tokens(match: re.Match[str]) -> tuple[list[str], str] | None:
    raw = match["phrase"] if match["phrase"] is not None else match["word"]
    tokens = _TOKEN.findall(raw)
    star = "*" if match["word"] and raw.endswith("*") and len(raw) > 1 and raw[-2].isalnum() else ""
    return (tokens, star) if tokens else None


def _all_but_last(tokens: list[str]) -> list[str]:
    """As the index has them: each character of a script without spaces is a word."""
    return [word for token in tokens[:-1] for word in split_words(token).split()] + split_words(tokens[-1]).split()[:-1]


def _pattern(tokens: list[str], star: str) -> re.Pattern[str]:
    inner = r"[\W_]+".join(map(re.escape, tokens))
    begins = "" if split_words(tokens[0]) != tokens[0] else r"(?<![^\W_])"
    ends = "" if star or split_words(tokens[-1]) != tokens[-1] else r"(?![^\W_])"
    return re.compile(f"{begins}{inner.replace(chr(10), '')}{ends}", re.IGNORECASE)


def _shortened(line: str, at: int) -> str:
    if len(line) <= _LINE_CHARACTERS:
        return line
    start = max(0, min(at - _LINE_CHARACTERS // 4, len(line) - _LINE_CHARACTERS))
    return line[start : start + _LINE_CHARACTERS]
