"""How much work a JSON message makes, counted in its bytes before it is parsed.

A parser pays memory and time for each part, and holds the whole process meanwhile, also in another thread: a megabyte
of `0,` becomes half a million objects. Texts are cheap however long they are. Standard library alone: the pump counts
as well. Broken JSON may be counted wrongly; the parser refuses it at the first fault, before it has made many parts.
"""

from __future__ import annotations

from typing import NamedTuple


class PartLimits(NamedTuple):
    strings: int
    """Names of members and texts."""
    others: int
    """Brackets and commas."""
    light_bytes: int = 1 << 20
    """A message of no more than this has no room for so many parts that it matters."""
    is_exact: bool = False
    """Otherwise brackets and commas within texts count too, which is quicker: leave room for them."""

    def exceeded_by(self, message: bytes) -> bool:
        if len(message) <= self.light_bytes:
            return False
        # Without escaped backslashes an escaped quote looks like no other; the rest begin and end texts.
        bare = message.replace(b"\\\\", b"")
        if self.is_exact:
            bare = bare.replace(b'\\"', b"")
        if bare.count(b'"') - bare.count(b'\\"') > 2 * self.strings:
            return True
        counted = b"".join(bare.split(b'"')[::2]) if self.is_exact else bare
        return sum(map(counted.count, (b",", b"[", b"{"))) > self.others
