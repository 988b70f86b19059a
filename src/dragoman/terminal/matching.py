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
    rarest: bytes
    """A word that must be there: the longest, as a first look."""

    def lines(self, text: str) -> Iterator[str]:
        """The lines that have everything, in order."""
        first, *others = self.patterns
        last = -1
        for found in first.finditer(text):
            start = text.rfind("\n", 0, found.start()) + 1
            if start == last:
                continue
            last = start
            end = text.find("\n", found.end())
            line = text[start : len(text) if end < 0 else end]
            if all(pattern.search(line) for pattern in others):
                yield _shortened(line, found.start() - start)


def wanted(query: str) -> Wanted:
    journal_words.expression(query)  # refuses what has no word, too many or too long a text
    terms = [term for match in _TERM.finditer(query.lower()) if (term := _tokens(match))]
    quoted = [f'"{token}"{star}' for tokens, star in terms for token in split_words(tokens[-1]).split()[-1:]]
    quoted += [f'"{token}"' for tokens, _ in terms for token in _all_but_last(tokens)]
    patterns = sorted((_pattern(tokens, star) for tokens, star in terms), key=lambda it: -len(it.pattern))
    rarest = max((token for tokens, _ in terms for token in tokens), key=len)
    return Wanted(" AND ".join(dict.fromkeys(quoted)), tuple(patterns), rarest.encode())


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
