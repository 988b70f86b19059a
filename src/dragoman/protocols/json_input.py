"""Checks and repairs of JSON bytes before a parser sees them.

`PartLimits` counts how much work a message makes: a parser pays memory and time for each part, and holds the whole
process meanwhile, so a megabyte of `0,` becomes half a million objects. Strings are cheap however long they are.
Broken JSON may be counted wrongly; the parser refuses it at the first fault, before it has made many parts.

`without_lone_surrogates` repairs what `JSON.stringify` lets through and strict decoders refuse. Standard library
alone: the pump counts as well.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class PartLimits(NamedTuple):
    strings: int
    """Names of members and texts."""
    others: int
    """Brackets and commas."""
    unchecked_bytes: int = 1 << 20
    """A message up to this size cannot have enough parts to matter."""
    is_exact: bool = False
    """If false, brackets and commas within texts count too, which is faster: leave room for them."""

    def exceeded_by(self, message: bytes) -> bool:
        if len(message) <= self.unchecked_bytes:
            return False
        # Without escaped backslashes an escaped quote looks like no other; the rest begin and end texts.
        bare = message.replace(b"\\\\", b"")
        if self.is_exact:
            bare = bare.replace(b'\\"', b"")
        if bare.count(b'"') - bare.count(b'\\"') > 2 * self.strings:
            return True
        counted = b"".join(bare.split(b'"')[::2]) if self.is_exact else bare
        return sum(map(counted.count, (b",", b"[", b"{"))) > self.others


# Walks from escape to escape, so that the second half of `\\\\ud800` is never taken for one; group 1 is a half
# of a surrogate pair that stands alone.
_LONE_SURROGATE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def without_lone_surrogates(text: bytes) -> bytes:
    """Each lone half becomes the replacement character; everything else keeps its bytes."""
    return _LONE_SURROGATE.sub(lambda found: b"\\ufffd" if found[1] else found[0], text)
