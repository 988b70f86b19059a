"""The words of a shard of the index, so that a part of a word finds the words that have it.

A hundred megabytes of output have some ten thousand different words: looking through all of them takes a millisecond,
where an index of all parts would be several times as large as the output. Hashes, numbers and the like are no words,
and there is no end of them: of those only the letters they begin with are kept, as the beginning of something.
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
# Letters that are one for SQLite too, whichever Unicode it knows: two words in one quotation would be an error.
_LETTERS = "a-zß-öø-ɏа-ӿ"
_FEW_DIGITS = re.compile(f"[{_LETTERS}]*(?:[0-9][{_LETTERS}]*){{0,{_MOST_DIGITS}}}")
_STEM = re.compile(f"[{_LETTERS}]{{{_SHORTEST_PART},{_LONGEST_WORD}}}")


class Vocabulary:
    """Which words of the newest shard are written down; of more than it can hold, some are written twice."""

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
    """Whether it is looked for inside other words; elsewhere only where they begin."""
    return _SHORTEST_PART <= len(word) <= _LONGEST_WORD and _FEW_DIGITS.fullmatch(word) is not None


def expanded(connection: apsw.Connection, shard: int, part: str) -> tuple[str, bool]:
    """The words of a shard that have the part, as an expression; and whether that is all of them."""
    if not may_be_inside(part):
        return f'("{part}"*)', True
    rows = connection.execute("select words from vocabulary where shard = ? and instr(words, ?)", (shard, part))
    having = (entry for (listed,) in rows for entry in _having(part, str(listed)))
    found = dict.fromkeys(islice(having, _ALTERNATIVES))
    # Of what has many digits only the first letters are listed: a part with a digit is looked for as a beginning too.
    words = [_quoted(part if _STEM.fullmatch(part) else f"{part}*"), *map(_quoted, found)]
    return f"({' OR '.join(words)})", len(found) < _ALTERNATIVES


def _entries(text: str, known: Set[bytes]) -> Iterator[bytes]:
    """How its words are written down. Of a dozen words on a line few are new: they are looked at as bytes, at once."""
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
    """Empty where no part of it is looked for."""
    if len(word) <= _SHORTEST_PART:
        return ""
    if may_be_inside(word):
        return word
    stem = _STEM.match(word)
    return f"{stem[0]}*" if stem else ""


def _quoted(entry: str) -> str:
    return f'"{entry[:-1]}"*' if entry.endswith("*") else f'"{entry}"'


def _having(part: str, words: str) -> Iterator[str]:
    at = words.find(part)
    while at >= 0:
        start, end = words.rfind("\n", 0, at) + 1, words.find("\n", at)
        yield words[start:end]
        at = words.find(part, end)
