"""The words of one index shard, so that a part of a word finds the words that contain it.

100 MB of output have about ten thousand distinct words. Scanning them takes a millisecond; an index of all substrings
would be several times as large as the output. Hashes and numbers are unbounded, so only their leading letters are
kept, as a prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import islice

import apsw

_SHORTEST_PART = 3
_LONGEST_WORD = 40
_WORDS_IN_MEMORY = 50_000
_ALTERNATIVES = 1_000
_DIGITS = b"0123456789"
_MOST_DIGITS = 3
_FOLDED = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in bytes(range(256)).lower())
_WORD = re.compile(r"[^\W_]+")
# Letters that SQLite also treats as letters in any Unicode version: two words in one quotation would be an error.
_LETTERS = "a-zß-öø-ɏа-ӿ"
_FEW_DIGITS = re.compile(f"[{_LETTERS}]*(?:[0-9][{_LETTERS}]*){{0,{_MOST_DIGITS}}}")
_STEM = re.compile(f"[{_LETTERS}]{{{_SHORTEST_PART},{_LONGEST_WORD}}}")


class Vocabulary:
    """The listed words of the newest shard. Its memory is bounded, so some words are listed twice."""

    def __init__(self) -> None:
        self._shard = -1
        self._known: set[bytes] = set()

    def add(self, connection: apsw.Connection, shard: int, text: str) -> None:
        if shard != self._shard or len(self._known) > _WORDS_IN_MEMORY:
            self._shard, self._known = shard, set()
        fresh = set(_entries(text, self._known)) - self._known
        if fresh:
            self._known |= fresh
            joined = b"\n".join((b"", *fresh, b"")).decode()
            connection.execute("insert into vocabulary values (?, ?)", (shard, joined))


def may_be_inside(word: str) -> bool:
    """Whether the part may match inside a word; otherwise it matches only at the start."""
    return _SHORTEST_PART <= len(word) <= _LONGEST_WORD and _FEW_DIGITS.fullmatch(word) is not None


def expand_part(connection: apsw.Connection, shard: int, part: str) -> tuple[str, bool]:
    """The words of a shard that contain the part, as an expression, and whether the list is complete."""
    if not may_be_inside(part):
        return f'("{part}"*)', True
    rows = connection.execute("select words from vocabulary where shard = ? and instr(words, ?)", (shard, part))
    having = (entry for (listed,) in rows for entry in _words_with(part, str(listed)))
    found = dict.fromkeys(islice(having, _ALTERNATIVES))
    # Words with many digits are listed by their first letters only, so a part with a digit is also searched as a
    # prefix.
    words = [_quoted(part if _STEM.fullmatch(part) else f"{part}*"), *map(_quoted, found)]
    return f"({' OR '.join(words)})", len(found) < _ALTERNATIVES


def _entries(text: str, known: Set[bytes]) -> Iterator[bytes]:
    """The entries for its words. Few words of a line are new, so they are compared as bytes first."""
    if not text.isascii():
        yield from (entry.encode() for word in set(_WORD.findall(text.lower())) if (entry := _entry(word)))
        return
    for word in set(text.encode().translate(_FOLDED).split()) - known:
        if len(word) <= _SHORTEST_PART:
            continue
        if len(word) <= _LONGEST_WORD and len(word) - len(word.translate(None, _DIGITS)) <= _MOST_DIGITS:
            yield word
        elif word[:_SHORTEST_PART].isalpha():
            yield _entry(word.decode()).encode()


def _entry(word: str) -> str:
    """Empty if the word cannot be matched by a part."""
    if len(word) <= _SHORTEST_PART:
        return ""
    if may_be_inside(word):
        return word
    stem = _STEM.match(word)
    return f"{stem[0]}*" if stem else ""


def _quoted(entry: str) -> str:
    return f'"{entry[:-1]}"*' if entry.endswith("*") else f'"{entry}"'


def _words_with(part: str, words: str) -> Iterator[str]:
    at = words.find(part)
    while at >= 0:
        start, end = words.rfind("\n", 0, at) + 1, words.find("\n", at)
        yield words[start:end]
        at = words.find(part, end)
